#include "passes/verify/test_inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ir/analysis/constant.h"
#include "ir/context.h"

namespace weft::passes {
namespace {

// A refutation must not depend on luck: the program in which only a NaN tells may be the only one.
TEST(TestInputs, OfSpecialValuesFewElementsHaveAll) {
  ir::IrContext context;
  const ir::Type type = context.TensorType(ir::DataType::kF32, ir::Shape({4, 9}));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ir::Attribute input = MakeInputs(std::vector{type}, InputKind::kSpecial, seed)[0];
    int nans = 0, infinities = 0, negative_zeros = 0;
    for (const float number : input.elements<float>()) {
      nans += std::isnan(number);
      infinities += std::isinf(number);
      negative_zeros += number == 0 && std::signbit(number);
    }
    EXPECT_GE(nans, 1) << seed;
    EXPECT_GE(infinities, 2) << seed;
    EXPECT_GE(negative_zeros, 1) << seed;
  }
}

// From 2048 on f16 rounds integers, from 2^24 on f32, from 2^53 on f64.
TEST(TestInputs, OfSpecialIntegersSomeAreRoundedByFloats) {
  ir::IrContext context;
  const ir::Type type = context.TensorType(ir::DataType::kI64, ir::Shape({100}));
  const ir::Attribute input = MakeInputs(std::vector{type}, InputKind::kSpecial, 1)[0];
  int by_f32 = 0, by_f64 = 0;
  for (const int64_t number : input.elements<int64_t>()) {
    if (std::abs(static_cast<double>(number)) >= 0x1p60) continue;
    by_f32 += static_cast<int64_t>(static_cast<float>(number)) != number;
    by_f64 += std::abs(static_cast<double>(number)) >= 0x1p52;
  }
  EXPECT_GE(by_f32, 3);
  EXPECT_GE(by_f64, 3);
}

TEST(TestInputs, NearbyAreOnAllSidesOfANumber) {
  ir::IrContext context;
  const ir::Type types[] = {context.TensorType(ir::DataType::kF32, ir::Shape({200})),
                            context.TensorType(ir::DataType::kI8, ir::Shape({200}))};
  const std::vector<double> numbers = {6};
  for (const ir::Attribute input : MakeInputs(types, InputKind::kNearby, 1, numbers)) {
    std::set<double> seen;
    for (int64_t i = 0; i < 200; ++i) seen.insert(ir::DenseElement(input, i));
    EXPECT_EQ(seen, (std::set<double>{-6, 5, 6, 7, 12, 60}));
  }
}

}  // namespace
}  // namespace weft::passes
