#include "passes/precision/convert_floats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ir/analysis/constant.h"
#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/text/printer.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/session.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "unittests/ir/region_builder.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using ir::Value;
using testing::HasSubstr;

class ConvertFloatsPass : public testing::Test {
 protected:
  ConvertFloatsPass() { ir::LoadFusedDialect(context); }

  Value Input(const std::string& name, ir::Shape dims, DataType dtype = DataType::kF32) {
    return b.AddInput(name, context.TensorType(dtype, dims));
  }
  Value Weight(ir::Shape dims) {
    std::mt19937 engine(++seed_);
    std::uniform_real_distribution<float> uniform(-1, 1);
    int64_t n = 1;
    for (const int64_t dim : dims) n *= dim;
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = uniform(engine);
    return b.ConstantFloats(values, dims);
  }

  absl::Status Convert(const ConvertFloatsOptions& options) {
    auto evaluator = kernels::KernelEvaluator::Create("auto");
    PassManager pm(&context);
    pm.AddPass(MakePass("convert-floats"));
    pm.pass_context().evaluator = evaluator->get();
    pm.pass_context().options.Set(options);
    const absl::Status status = pm.Run(program);
    for (const PassReport& report : pm.reports())
      for (const auto& [what, count] : report.statistics) counts[what] = count;
    return status;
  }

  // The outputs as numbers, of inputs that every type holds.
  std::vector<std::vector<double>> Run() {
    const auto session = kernels::Session::Create(program, {.provider = "reference"});
    EXPECT_TRUE(session.ok()) << session.status();
    std::vector<kernels::Tensor> inputs;
    for (const kernels::TensorInfo& input : (*session)->inputs()) {
      auto tensor = kernels::Tensor::Create(input.type.dtype(), input.type.shape());
      std::byte* to = tensor->view().data;
      for (int64_t i = 0; i < tensor->NumElements(); ++i)
        for (const std::byte byte :
             ir::ElementBytes(input.type.dtype(), static_cast<double>((i * 7 + 3) % 11) / 8 - 0.5))
          *to++ = byte;
      inputs.push_back(*std::move(tensor));
    }
    std::vector<kernels::TensorView> views;
    for (const kernels::Tensor& input : inputs) views.push_back(input.view());
    const auto outputs = (*session)->Run(views);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    std::vector<std::vector<double>> numbers;
    for (const kernels::Tensor& output : *outputs)
      numbers.push_back(kernels::reference::ReadDoubles(output.view()));
    return numbers;
  }
  void ExpectNear(const std::vector<std::vector<double>>& expected, double tolerance) {
    const auto actual = Run();
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_EQ(actual[i].size(), expected[i].size());
      for (size_t j = 0; j < actual[i].size(); ++j)
        EXPECT_NEAR(actual[i][j], expected[i][j], tolerance) << i << " " << j;
    }
  }
  size_t NumberOf(std::string_view text) {
    const std::string all = ir::PrintProgram(program);
    size_t count = 0;
    for (size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++count;
    return count;
  }
  std::string Text() { return ir::PrintProgram(program, {.full_weights = true}); }

  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder b{&program};
  std::map<std::string, uint64_t> counts;

 private:
  uint32_t seed_ = 0;
};

TEST_F(ConvertFloatsPass, LeavesNoF32AndComputesNearlyTheSame) {
  const Value hidden =
      b.Make<ops::Tanh>({b.Make<ops::MatMul>({Input("x", {3, 5}), Weight({5, 4})})});
  b.Return({{"y", b.Make<ops::Softmax>({b.Make<ops::Add>({hidden, Weight({4})})})}});
  const auto before = Run();
  ASSERT_TRUE(Convert({.to = DataType::kBF16}).ok());
  EXPECT_EQ(NumberOf("f32"), 0u) << Text();
  EXPECT_EQ(counts[kConvertedOps], 4u);
  ExpectNear(before, 0.02);
  EXPECT_NE(Run(), before) << "nothing was rounded";
}

TEST_F(ConvertFloatsPass, KeepsInputsAndOutputsAndNamedOps) {
  const Value exp = b.Make<ops::Exp>({Input("x", {6})});
  b.set_location(ir::Name("head/tanh"));
  const Value tanh = b.Make<ops::Tanh>({exp});
  b.set_location({});
  b.Return({{"y", b.Make<ops::Sigmoid>({tanh})}, {"z", exp}});
  ASSERT_TRUE(Convert({.keep_io = true, .keep = {"head/tanh", "onnx.Sigmoid"}}).ok());
  EXPECT_EQ(program.body().argument(0).type().dtype(), DataType::kF32);
  EXPECT_EQ(NumberOf("onnx.Cast"), 2u) << Text();
  EXPECT_THAT(Text(), HasSubstr(R"("onnx.Tanh" (%3) {} : (tensor<6xf32>) -> tensor<6xf32>)"));
  EXPECT_EQ(counts[kKeptOps], 2u);
}

TEST_F(ConvertFloatsPass, NamesWhatIsToBeKeptAndIsNotThere) {
  b.Return({{"y", b.Make<ops::Exp>({Input("x", {6})})}});
  const absl::Status status = Convert({.keep = {"Expp"}});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("did you mean 'Exp'?"));
}

TEST_F(ConvertFloatsPass, ConvertsBranches) {
  const Value flag = Input("flag", {}, DataType::kBool), x = Input("x", {4});
  const ir::Operation op = ir::MakeWithRegions<ops::If>(program, {flag}, 1);
  ir::Rewriter(&program).SetType(op.result(), x.type());
  for (uint32_t i = 0; i < 2; ++i) {
    const ir::Block branch = ir::AddBlock(op, i, {});
    ir::Rewriter inner = ir::AtEndOf(branch);
    const Value scale = inner.ConstantFloats(std::vector<float>{i == 0 ? 2.0f : -3.0f}, {{1}});
    ir::ReturnFrom(branch, {inner.Make<ops::Mul>({x, scale})});
  }
  b.Return({{"y", op.result()}});
  const auto before = Run();
  ASSERT_TRUE(Convert({}).ok());
  EXPECT_EQ(NumberOf("f32"), 0u) << Text();
  ExpectNear(before, 1e-3);
}

TEST_F(ConvertFloatsPass, KeepsAllThatABranchGivesWhereOneSlotIsRefused) {
  const Value flag = Input("flag", {}, DataType::kBool), x = Input("x", {4});
  const ir::Operation op = ir::MakeWithRegions<ops::If>(program, {flag}, 2);
  for (uint32_t i = 0; i < 2; ++i) {
    ir::Rewriter(&program).SetType(op.result(i), x.type());
    const ir::Block branch = ir::AddBlock(op, i, {});
    ir::Rewriter inner = ir::AtEndOf(branch);
    const Value y = i == 0 ? inner.Make<ops::Exp>({x}) : inner.Make<ops::Tanh>({x});
    ir::ReturnFrom(branch, {y, x});
  }
  b.Return({{"y", b.Make<ops::Add>({op.result(0), op.result(1)})}});
  const auto before = Run();
  const auto refuses = [](const ir::FloatSlot& slot) { return slot.op.Is<ops::If>(); };
  ASSERT_TRUE(Convert({.takes = [&](const ir::FloatSlot& slot) {
                return !refuses(slot) || slot.index != 1;
              }}).ok());
  EXPECT_THAT(Text(), HasSubstr("-> tensor<4xf32>, tensor<4xf32>"));
  ExpectNear(before, 5e-3);
}

TEST_F(ConvertFloatsPass, GivesTheSameF16AfterADetourThroughF32) {
  b.Return({{"y", b.Make<ops::MatMul>({Input("x", {2, 3}), Weight({3, 4})})}});
  ASSERT_TRUE(Convert({.to = DataType::kF16}).ok());
  const std::string once = Text();
  ASSERT_TRUE(Convert({.to = DataType::kF32}).ok());
  EXPECT_EQ(NumberOf("xf16"), 0u);
  ASSERT_TRUE(Convert({.to = DataType::kF16}).ok());
  EXPECT_EQ(Text(), once);
}

TEST_F(ConvertFloatsPass, CountsWeightsOutOfRange) {
  const Value w =
      b.ConstantFloats(std::vector<float>{7e4f, -1e9f, 65519, -INFINITY, 1e-9f, 0}, {{6}});
  b.Return({{"y", b.Make<ops::Add>({Input("x", {6}), w})}});
  ASSERT_TRUE(Convert({}).ok());
  EXPECT_EQ(counts[kClampedWeights], 2u);
  EXPECT_EQ(counts[kLostWeights], 1u);
  const Value converted = program.body().Terminator().operand(0).DefiningOp().operand(1);
  EXPECT_EQ(ir::ConstantDoubles(converted),
            (std::vector<double>{65504, -65504, 65504, -INFINITY, 0x1p-24, 0}));
}

TEST_F(ConvertFloatsPass, KeepsWhatTheFormatHasNotInTheType) {
  const Value x = Input("x", {1, 1, 2, 2}),
              scales = b.ConstantFloats(std::vector<float>{1, 1, 2, 2}, {{4}});
  b.Return(
      {{"y", b.Make<ops::Resize>({x, Value(), scales}, {.mode = ir::ops::ResizeMode::kNearest})}});
  const auto before = Run();
  ASSERT_TRUE(
      Convert({.takes = [](const ir::FloatSlot& s) { return s.is_result || s.index != 2; }}).ok());
  EXPECT_EQ(NumberOf("onnx.Cast"), 0u) << Text();
  EXPECT_THAT(Text(), HasSubstr("tensor<4xf32>) -> tensor<1x1x4x4xf16>"));
  ExpectNear(before, 1e-3);
}

}  // namespace
}  // namespace weft::passes
