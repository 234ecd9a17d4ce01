#include "unittests/conformance/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "ir/analysis/rounding_step.h"
#include "ir/base/status.h"
#include "ir/context.h"
#include "kernels/runtime/session.h"
#include "tools/cli/values/value_file.h"
#include "weft/io/model_io.h"
#include "weft/optimize/run_passes.h"

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

// The first output that is not what the data says, and the first that is but for rounding, each in
// one line; empty if there is none.
struct Findings {
  std::string difference, rounding;
};

// `steps` by output: RoundingStep.
absl::StatusOr<Findings> CheckOutputs(ir::IrContext& context, const TestCase& test,
                                      const DataSet& data, const std::vector<TensorInfo>& infos,
                                      const std::vector<std::optional<double>>& steps,
                                      const std::vector<RuntimeValue>& outputs) {
  Findings findings;
  if (data.outputs.size() > outputs.size()) {
    findings.difference =
        fmt::format("{} outputs, expected {}", outputs.size(), data.outputs.size());
    return findings;
  }
  for (size_t i = 0; i < data.outputs.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(const RuntimeValue expected,
                          tools::ReadValue(context, data.outputs[i], infos[i].type));
    const std::string difference = Difference(outputs[i], expected, test.tolerance, !test.random);
    if (difference.empty()) continue;
    const std::string off = steps[i] ? OffByOneStep(outputs[i], expected, *steps[i]) : "";
    std::string& finding = off.empty() ? findings.difference : findings.rounding;
    if (finding.empty())
      finding = fmt::format("output {} ({}): {}", i, infos[i].name, off.empty() ? difference : off);
  }
  return findings;
}

absl::StatusOr<Findings> RunPipeline(const ir::Program& original, const TestCase& test,
                                     const std::string& pipeline) {
  const auto program = original.Clone();
  ir::IrContext& context = *program->context();
  std::vector<std::optional<double>> steps;
  for (const ir::Value output : program->body().Terminator().operands())
    steps.push_back(ir::RoundingStep(output));
  PassRun run;
  WEFT_RETURN_IF_ERROR(
      RunSelectedPasses({.pipeline = pipeline, .widen_floats = true}, *program, &run));
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Create(*program, {}));
  Findings all;
  for (const DataSet& data : test.data_sets) {
    WEFT_ASSIGN_OR_RETURN(const auto inputs, ReadInputs(context, test, data, session->inputs()));
    WEFT_ASSIGN_OR_RETURN(const auto outputs, session->RunValues(inputs));
    WEFT_ASSIGN_OR_RETURN(const Findings findings,
                          CheckOutputs(context, test, data, session->outputs(), steps, outputs));
    if (all.rounding.empty()) all.rounding = findings.rounding;
    all.difference = findings.difference;
    if (!all.difference.empty()) break;
  }
  return all;
}

// Where the data lies says nothing about a test.
std::string WithoutFolder(std::string text, const TestCase& test) {
  const std::string folder = test.model.substr(0, test.model.rfind('/') + 1);
  for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
    text.erase(at, folder.size());
  const std::string model = "model.onnx: ";
  return text.starts_with(model) ? text.substr(model.size()) : text;
}

Outcome OutcomeOf(const TestCase& test, const absl::StatusOr<Findings>& findings) {
  Outcome outcome;
  if (findings.ok()) {
    if (findings->difference.empty()) return {Status::kPass, findings->rounding};
    outcome = {Status::kFail, findings->difference};
  } else {
    outcome.status =
        absl::IsUnimplemented(findings.status()) ? Status::kUnsupported : Status::kError;
    outcome.reason = WithoutFolder(std::string(ir::Message(findings.status())), test);
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
  const auto program = OrOutOfMemory([&] { return LoadModel(context, test.model); });
  for (const std::string& pipeline : pipelines) {
    const auto run = [&]() -> absl::StatusOr<Findings> {
      if (!program.ok()) return program.status();
      return RunPipeline(**program, test, pipeline);
    };
    report(OutcomeOf(test, OrOutOfMemory(run)));
  }
}

}  // namespace weft::conformance
