// Which differences of results are mistakes.
#include "passes/verify/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/context.h"

namespace weft::passes {
namespace {

using ir::DataType;
using ::testing::HasSubstr;

class Differences : public testing::Test {
 protected:
  ir::Attribute Bytes(std::vector<int8_t> numbers) {
    const ir::Type type =
        context_.TensorType(DataType::kI8, {static_cast<int64_t>(numbers.size())});
    return context_.DenseAttr(type, std::as_bytes(std::span(numbers)));
  }
  ir::Attribute Floats(std::vector<float> numbers) {
    const ir::Type type =
        context_.TensorType(DataType::kF32, {static_cast<int64_t>(numbers.size())});
    return context_.DenseAttr(type, std::as_bytes(std::span(numbers)));
  }
  std::string Why(ir::Attribute before, ir::Attribute after, double relative = 1e-6) {
    steps_ = {};
    return WhyNotSame({{before}, {after}}, relative, &steps_);
  }
  ir::IrContext context_;
  Difference steps_;
};

TEST_F(Differences, OfOneIn8BitsAreCounted) {
  EXPECT_EQ(Why(Bytes({1, 2, 3, 4}), Bytes({1, 3, 3, 3})), "");
  EXPECT_EQ(steps_.differing, 2);
  EXPECT_EQ(steps_.elements, 4);
  EXPECT_EQ(Why(Bytes({1, 2}), Bytes({1, 2})), "");
  EXPECT_EQ(steps_.differing, 0);
  EXPECT_EQ(steps_.elements, 2);
}

TEST_F(Differences, OfMoreIn8BitsAndOfOtherTypesAreMistakes) {
  EXPECT_THAT(Why(Bytes({1, 2, 3}), Bytes({1, 4, 3})), HasSubstr("1 of 3 elements differ"));
  EXPECT_THAT(Why(Floats({1, 2}), Floats({1, 3})), HasSubstr("off by 0.5"));
  EXPECT_EQ(Why(Floats({1, 2}), Floats({1, 3}), 0.5), "");
  EXPECT_EQ(steps_.elements, 0);
}

TEST_F(Differences, InAFewOfManyAreTies) {
  const auto are_ties = [](int64_t differing, int64_t elements) {
    Difference steps;
    steps.differing = differing;
    steps.elements = elements;
    return AreTies(steps);
  };
  EXPECT_TRUE(are_ties(0, 0));
  EXPECT_TRUE(are_ties(1, 1));
  EXPECT_TRUE(are_ties(10, 80));
  EXPECT_FALSE(are_ties(11, 80));
  EXPECT_FALSE(are_ties(2, 2));
}

}  // namespace
}  // namespace weft::passes
