#include "passes/verify/test_inputs.h"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace weft::passes
