// Large constants that are computed when they are read: what rules and passes make and ask of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Value;

class ConstantsNotInMemory : public testing::Test {
 protected:
  static constexpr int64_t kCount = 40000;

  ConstantsNotInMemory() : program(&context), b(&program) { ir::LoadOnnxDialect(context); }

  // Floats of 2, but for element `other`, which is 3.
  Value Twos(int64_t other = -1) {
    return b.Constant(context.ComputedDenseAttr(
        context.TensorType(ir::DataType::kF32, {kCount}),
        [other](size_t first, std::span<std::byte> to) {
          for (size_t i = 0; i < to.size(); i += sizeof(float)) {
            const float value = (first + i) / sizeof(float) == static_cast<size_t>(other) ? 3 : 2;
            std::memcpy(to.data() + i, &value, sizeof(float));
          }
        }));
  }
  void Run(const std::string& pass) {
    PassManager pm(&context);
    pm.AddPass(MakePass(pass));
    EXPECT_TRUE(pm.Run(program).ok());
  }

  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
};

TEST_F(ConstantsNotInMemory, AreSplatsOfTheirElements) {
  EXPECT_EQ(ir::ConstantSplat(Twos()), 2.0);
  for (const int64_t other : {int64_t{0}, int64_t{63}, int64_t{64}, kCount / 2, kCount - 1})
    EXPECT_EQ(ir::ConstantSplat(Twos(other)), std::nullopt) << other;
}

TEST_F(ConstantsNotInMemory, AreMergedWhereTheyAreEqual) {
  const int64_t others[] = {-1, -1, 5, 5, kCount / 2, kCount / 2 + 100, 20000, kCount - 1};
  std::vector<std::pair<std::string, Value>> outputs;
  for (const int64_t other : others)
    outputs.emplace_back("y" + std::to_string(outputs.size()), Twos(other));
  b.Return(outputs);
  Run("common-subexpression-elimination");
  const ir::Operation end = program.body().Terminator();
  for (uint32_t i = 0; i < std::size(others); ++i)
    for (uint32_t j = 0; j < i; ++j)
      EXPECT_EQ(end.operand(i) == end.operand(j), others[i] == others[j]) << i << " " << j;
}

TEST_F(ConstantsNotInMemory, AreWeightsThatTookInABatchNormalization) {
  const int64_t outputs = 20, inputs = 30, size = inputs * 9;
  std::vector<float> w(outputs * size), gamma(outputs), beta(outputs), mean(outputs), var(outputs);
  for (size_t i = 0; i < w.size(); ++i) w[i] = std::sin(static_cast<float>(i));
  for (size_t c = 0; c < gamma.size(); ++c) {
    const auto number = static_cast<float>(c);
    gamma[c] = 1 + number / 8, beta[c] = number, mean[c] = number / 3, var[c] = 2 + number;
  }
  const auto numbers = [&](const std::vector<float>& values) {
    return b.ConstantFloats(values, ir::Shape{static_cast<int64_t>(values.size())});
  };
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {1, inputs, 8, 8}));
  const Value conv =
      b.Make<ops::Conv>({x, b.ConstantFloats(w, ir::Shape{outputs, inputs, 3, 3})}, {});
  b.Return({{"y", b.Make<ops::BatchNormalization>(
                      {conv, numbers(gamma), numbers(beta), numbers(mean), numbers(var)},
                      {.epsilon = 0.25f})}});
  Run("canonicalize");
  const ir::Operation folded = program.body().Terminator().operand(0).DefiningOp();
  ASSERT_TRUE(folded.Is<ops::Conv>());
  const ir::Attribute weights = ir::ConstantValue(folded.operand(1));
  ASSERT_TRUE(weights);
  EXPECT_FALSE(weights.IsInMemory());
  std::vector<float> expected(w.size());
  for (size_t i = 0; i < w.size(); ++i) {
    const size_t c = i / size;
    expected[i] = static_cast<float>(w[i] * (gamma[c] / std::sqrt(double{var[c]} + 0.25)));
  }
  // In parts that begin and end within a channel.
  std::vector<float> parts(w.size());
  for (size_t at = 0; at < parts.size(); at += 1000)
    weights.Read(at * sizeof(float), std::as_writable_bytes(std::span(parts).subspan(
                                         at, std::min<size_t>(1000, parts.size() - at))));
  EXPECT_EQ(parts, expected);
  const auto elements = weights.elements<float>();
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()), expected);
}

}  // namespace
}  // namespace weft::passes
