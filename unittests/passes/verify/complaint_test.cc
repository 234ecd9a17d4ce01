#include "passes/verify/complaint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::passes {
namespace {

using ir::DataType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Complaint, NamesTypesThatWouldDo) {
  const auto one_of = ComplaintOf("fused.qadd: a is f32 but must be i8 or u8", "a");
  ASSERT_TRUE(one_of);
  EXPECT_EQ(one_of->is, "f32");
  EXPECT_THAT(one_of->dtypes, ElementsAre(DataType::kI8, DataType::kU8));

  const auto of_another = ComplaintOf("fused.attention: q is i64 but k is f32", "q");
  ASSERT_TRUE(of_another);
  EXPECT_THAT(of_another->dtypes, ElementsAre(DataType::kF32));
  const auto other_way = ComplaintOf("fused.attention: q is i64 but k is f32", "k");
  ASSERT_TRUE(other_way);
  EXPECT_EQ(other_way->is, "f32");
  EXPECT_THAT(other_way->dtypes, ElementsAre(DataType::kI64));

  const auto of_a_kind = ComplaintOf("fused.attention: q is i64 but must be a float", "q");
  ASSERT_TRUE(of_a_kind);
  EXPECT_THAT(of_a_kind->dtypes, ElementsAre(DataType::kF32));
}

TEST(Complaint, NamesRanksThatWouldDo) {
  const auto rank = ComplaintOf("onnx.Conv: w has rank 3 but must have 4", "w");
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->is, "rank");
  EXPECT_THAT(rank->ranks, ElementsAre(4));
  EXPECT_THAT(rank->dtypes, IsEmpty());
}

TEST(Complaint, NamesTheShapeThatWouldDo) {
  const auto table = ComplaintOf("fused.qlookup: table is [3,5] but must be [256]", "table");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->is, "[3,5]");
  EXPECT_EQ(table->shape, ir::Shape({256}));
  const auto number = ComplaintOf("onnx.Conv: bias is [1] but must be [] for sure", "bias");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->shape, ir::Shape());
  const auto symbol = ComplaintOf("onnx.Conv: bias is [1] but must be [\"c\"] for sure", "bias");
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->shape, std::nullopt);
}

TEST(Complaint, IsNoneOfAnotherOperand) {
  EXPECT_FALSE(ComplaintOf("onnx.Conv: w has rank 3 but must have 4", "x"));
  EXPECT_FALSE(ComplaintOf("", "x"));
}

}  // namespace
}  // namespace weft::passes
