#include "ir/base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::ir {
namespace {

const std::vector<std::string> kNames = {"onnx.Relu", "onnx.Transpose", "axis", "perm", "x"};
const std::vector<std::string_view> kViews(kNames.begin(), kNames.end());

TEST(Suggest, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(EditDistance("perm", "prem"), 1u);
  EXPECT_EQ(EditDistance("perm", "pemr"), 1u);
  EXPECT_EQ(EditDistance("perm", ""), 4u);
  EXPECT_EQ(EditDistance("axis", "axs"), 1u);
}

TEST(Suggest, TakesTheNearestOfWhatDiffersInAThirdAtMost) {
  EXPECT_EQ(Nearest("onnx.Rellu", kNames), "onnx.Relu");
  EXPECT_EQ(Nearest("prem", kViews), "perm");
  EXPECT_EQ(Nearest("y", kViews), "x");
  EXPECT_EQ(Nearest("aixes", kViews), "");
  EXPECT_EQ(Nearest("", kViews), "");
  EXPECT_EQ(Nearest(std::string(1000, 'x'), kViews), "");
}

TEST(Suggest, TakesANameThatGoesOnOrEndsEarly) {
  EXPECT_EQ(Nearest("onnx.Trans", kViews), "onnx.Transpose");
  EXPECT_EQ(Nearest("permutation", kViews), "perm");
}

TEST(Suggest, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(DidYouMean("axs", kViews), "; did you mean 'axis'?");
  EXPECT_EQ(DidYouMean("softmax", kViews), "");
}

TEST(Suggest, ListsAFewNamesWhereNoneIsNear) {
  EXPECT_TRUE(CheckName("attribute", "axis", kNames).ok());
  EXPECT_EQ(Message(CheckName("attribute", "axs", kNames)),
            "unknown attribute 'axs'; did you mean 'axis'?");
  EXPECT_EQ(Message(CheckName("attribute", "zzzz", std::vector<std::string>{"axis", "perm"})),
            "unknown attribute 'zzzz'; there is axis, perm");
}

}  // namespace
}  // namespace weft::ir
