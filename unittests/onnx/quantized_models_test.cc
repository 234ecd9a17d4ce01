// What benchmarks/models/export.py --quantize makes: how far the integers of each fused op, and those
// of whole networks, are from their reference. The models are looked for where
// exported_models_test.cc looks; without them the tests are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/rewriter.h"
#include "kernels/reference/compare.h"
#include "kernels/runtime/random_inputs.h"
#include "tools/onnx/import.h"
#include "unittests/onnx/run_program.h"

namespace weft::onnx {
namespace {

using ir::Operation;
using ir::Value;
using kernels::StepDifference;
using kernels::Tensor;

std::string ModelPath(const std::string& name) {
  const char* folder = std::getenv("WEFT_MODELS");
  return std::string(folder ? folder : WEFT_BINARY_DIR "/../models") + "/" + name + ".onnx";
}

bool IsByte(Value v) {
  return v && v.type().IsTensor() &&
         (v.type().dtype() == ir::DataType::kI8 || v.type().dtype() == ir::DataType::kU8);
}

// Ops whose sums are rounded to 8 bits.
std::vector<Operation> RoundingOps(ir::Program& program) {
  std::vector<Operation> ops;
  for (const Operation op : program.body())
    if (op.name().starts_with("fused.q") && op.name() != "fused.qlookup") ops.push_back(op);
  return ops;
}

// Operands that a run computes.
std::vector<uint32_t> Activations(Operation op) {
  std::vector<uint32_t> operands;
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    if (op.operand(i) && !ir::Contents(op.operand(i))) operands.push_back(i);
  return operands;
}

void ReturnValues(ir::Program& program, const std::vector<Value>& values) {
  std::vector<std::pair<std::string, Value>> outputs;
  outputs.reserve(values.size());
  for (const Value v : values) outputs.emplace_back("v" + std::to_string(outputs.size()), v);
  ir::Rewriter rewriter(&program);
  rewriter.Erase(program.body().Terminator());
  rewriter.Return(std::move(outputs));
}

std::vector<Tensor> RunOn(ir::Program& program, const std::string& provider,
                          const std::vector<Tensor>& inputs) {
  auto session = kernels::Session::Create(program, {.threads = 2, .provider = provider});
  EXPECT_EQ(session.status().message(), "");
  if (!session.ok()) return {};
  std::vector<kernels::TensorView> views;
  for (const Tensor& input : inputs) views.push_back(input.view());
  auto results = (*session)->Run(views);
  EXPECT_EQ(results.status().message(), "");
  return results.ok() ? *std::move(results) : std::vector<Tensor>();
}

std::vector<Tensor> RandomInputsOf(ir::Program& program) {
  std::vector<Tensor> inputs;
  for (const Value v : program.body().arguments())
    inputs.push_back(*kernels::RandomTensor(v.type().dtype(), v.type().shape(), 7, inputs.size()));
  return inputs;
}

class QuantizedModel : public testing::TestWithParam<const char*> {};

// Each op on the inputs that it has in the network: what earlier ops rounded otherwise does not count.
TEST_P(QuantizedModel, RoundsEachResultAsTheReferenceDoes) {
  const std::string path = ModelPath(GetParam());
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  ir::IrContext context;
  auto program = ImportOnnx(context, path);
  ASSERT_EQ(program.status().message(), "");
  Optimise(**program, "fuse");
  const std::vector<Tensor> inputs = RandomInputsOf(**program);

  std::vector<Value> values;
  for (const Operation op : RoundingOps(**program)) {
    for (const uint32_t i : Activations(op)) values.push_back(op.operand(i));
    values.push_back(op.result());
  }
  ReturnValues(**program, values);
  const std::vector<Tensor> actual = RunOn(**program, "auto", inputs);
  ASSERT_EQ(actual.size(), values.size());

  const std::vector<Operation> ops = RoundingOps(**program);
  std::vector<size_t> results;  // in `actual`
  std::vector<Value> alone;
  ir::Rewriter rewriter(program->get());
  size_t at = 0;
  for (const Operation op : ops) {
    rewriter.SetInsertionPoint(op);
    for (const uint32_t i : Activations(op)) {
      const kernels::TensorView view = actual[at++].view();
      rewriter.SetOperand(
          op, i,
          rewriter.Constant(context.DenseAttr(context.TensorType(view.dtype, view.dims),
                                              {view.data, static_cast<size_t>(view.NumBytes())})));
    }
    results.push_back(at++);
    alone.push_back(op.result());
  }
  ReturnValues(**program, alone);
  const std::vector<Tensor> expected = RunOn(**program, "reference", inputs);
  ASSERT_EQ(expected.size(), alone.size());
  int64_t differing = 0, elements = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const StepDifference steps = kernels::CountSteps(actual[results[i]].view(), expected[i].view());
    EXPECT_TRUE(steps.IsRounding()) << ops[i].name() << " " << i << ": " << steps.largest
                                    << " steps, " << steps.differing << " of " << steps.elements;
    differing += steps.differing;
    elements += steps.elements;
  }
  std::cout << differing << " of " << elements << " in " << ops.size() << " ops\n";
}

INSTANTIATE_TEST_SUITE_P(Big, QuantizedModel,
                         testing::Values("mobilenet_v2_static", "resnet50_static"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::onnx
