#include "unittests/conformance/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "ir/base/status.h"
#include "ir/context.h"
#include "kernels/runtime/session.h"
#include "tools/cli/model_io.h"
#include "tools/cli/pass_flags.h"
#include "tools/cli/value_file.h"

namespace weft::conformance {
namespace {

using kernels::RuntimeValue;
using kernels::Session;
using kernels::Tensor;
using kernels::TensorInfo;

// What ONNX's runner feeds to the models it ships without inputs.
absl::StatusOr<Tensor> MakeInput(const TensorInfo& info) {
  if (!info.type.HasRank() || info.type.dtype() != ir::DataType::kF32)
    return ir::Unsupported("input '" + info.name + "' is no f32 tensor of known rank");
  ir::Shape dims = info.type.shape();
  for (int64_t& dim : dims) dim = ir::IsStaticDim(dim) ? dim : 1;
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(ir::DataType::kF32, std::move(dims)));
  const auto values = tensor.values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(values.size()));
  return tensor;
}

// By index in `infos`. Data that lacks some inputs lacks those that have a default.
absl::StatusOr<std::vector<RuntimeValue>> ReadInputs(ir::IrContext& context, const TestCase& test,
                                                     const DataSet& data,
                                                     const std::vector<TensorInfo>& infos) {
  const auto required = static_cast<size_t>(std::count_if(
      infos.begin(), infos.end(), [](const auto& info) { return !info.default_value; }));
  const bool skips_defaults = data.inputs.size() <= required;
  std::vector<RuntimeValue> inputs(infos.size());
  size_t next = 0;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (skips_defaults && infos[i].default_value) continue;
    if (test.made_inputs) {
      WEFT_ASSIGN_OR_RETURN(Tensor made, MakeInput(infos[i]));
      inputs[i] = RuntimeValue::Of(std::move(made));
    } else if (next < data.inputs.size()) {
      WEFT_ASSIGN_OR_RETURN(inputs[i],
                            tools::ReadValue(context, data.inputs[next++], infos[i].type));
    }
  }
  return inputs;
}

// The first output that is not what the data says, in one line; empty if there is none.
absl::StatusOr<std::string> CheckOutputs(ir::IrContext& context, const TestCase& test,
                                         const DataSet& data, const std::vector<TensorInfo>& infos,
                                         const std::vector<RuntimeValue>& outputs) {
  if (data.outputs.size() > outputs.size())
    return fmt::format("{} outputs, expected {}", outputs.size(), data.outputs.size());
  for (size_t i = 0; i < data.outputs.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const RuntimeValue expected,
                          tools::ReadValue(context, data.outputs[i], infos[i].type));
    const std::string difference = Difference(outputs[i], expected, test.tolerance, !test.random);
    if (!difference.empty()) return fmt::format("output {} ({}): {}", i, infos[i].name, difference);
  }
  return std::string();
}

// Empty when all outputs are right.
absl::StatusOr<std::string> RunPipeline(const ir::Program& original, const TestCase& test,
                                        const std::string& pipeline) {
  const auto program = original.Clone();
  ir::IrContext& context = *program->context();
  WEFT_RETURN_IF_ERROR(tools::RunPasses({.pipeline = pipeline, .widen_floats = true}, *program));
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Create(*program, {}));
  for (const DataSet& data : test.data_sets) {
    WEFT_ASSIGN_OR_RETURN(const auto inputs, ReadInputs(context, test, data, session->inputs()));
    WEFT_ASSIGN_OR_RETURN(const auto outputs, session->RunValues(inputs));
    WEFT_ASSIGN_OR_RETURN(const std::string difference,
                          CheckOutputs(context, test, data, session->outputs(), outputs));
    if (!difference.empty()) return difference;
  }
  return std::string();
}

// Where the data lies says nothing about a test.
std::string WithoutFolder(std::string text, const TestCase& test) {
  const std::string folder = test.model.substr(0, test.model.rfind('/') + 1);
  for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
    text.erase(at, folder.size());
  const std::string model = "model.onnx: ";
  return text.starts_with(model) ? text.substr(model.size()) : text;
}

Outcome OutcomeOf(const TestCase& test, const absl::StatusOr<std::string>& difference) {
  Outcome outcome;
  if (difference.ok()) {
    if (difference->empty()) return outcome;
    outcome = {Status::kFail, *difference};
  } else {
    outcome.status =
        absl::IsUnimplemented(difference.status()) ? Status::kUnsupported : Status::kError;
    outcome.reason = WithoutFolder(std::string(ir::Message(difference.status())), test);
  }
  if (test.disputed && outcome.status != Status::kUnsupported) outcome.status = Status::kDisputed;
  return outcome;
}

// An allocation that fails is an error, as in ir-run.
template <class Function>
auto OrOutOfMemory(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  }
}

}  // namespace

void RunCase(const TestCase& test, std::span<const std::string> pipelines,
             const std::function<void(const Outcome&)>& report) {
  ir::IrContext context;
  const auto program = OrOutOfMemory([&] { return tools::LoadModel(context, test.model); });
  for (const std::string& pipeline : pipelines) {
    const auto run = [&]() -> absl::StatusOr<std::string> {
      if (!program.ok()) return program.status();
      return RunPipeline(**program, test, pipeline);
    };
    report(OutcomeOf(test, OrOutOfMemory(run)));
  }
}

}  // namespace weft::conformance
