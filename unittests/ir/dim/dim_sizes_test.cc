#include "ir/dim/dim_sizes.h"

#include <gtest/gtest.h>

namespace weft::ir {
namespace {

// "" or why the sizes, of dimensions in text, do not go together; *sizes learns them.
std::string Add(DimSizes* sizes, std::vector<std::pair<std::string, int64_t>> given) {
  std::string error;
  for (const auto& [text, size] : given)
    if (!sizes->Add(SymbolicDim(text), size, &error)) return error;
  return "";
}
std::string Add(std::vector<std::pair<std::string, int64_t>> given) {
  DimSizes sizes;
  return Add(&sizes, std::move(given));
}

TEST(DimSizes, SolvesWhatIsLinearInOneSymbol) {
  DimSizes sizes;
  EXPECT_EQ(Add(&sizes, {{"2*n + 1", 7}}), "");
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("n")), 3);
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("n + 4")), 7);
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("2*n + 1")), 7);
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("m")), SymbolicDim("m"));
  EXPECT_EQ(sizes.ToString(), "n is 3");
  DimSizes falling;
  EXPECT_EQ(Add(&falling, {{"9 - n", 5}}), "");
  EXPECT_EQ(falling.SizeOf(SymbolicDim("n")), 4);
}

TEST(DimSizes, RefusesWhatNoSizeMakes) {
  EXPECT_EQ(Add({{"2*n + 1", 4}}), "2*n + 1 is 4 for no size of n");
  EXPECT_EQ(Add({{"n + 5", 4}}), "n + 5 is 4 for no size of n");
  EXPECT_EQ(Add({{"-1*n + 5", 6}}), "-n + 5 is 6 for no size of n");
}

TEST(DimSizes, ChecksWhatIsKnown) {
  EXPECT_EQ(Add({{"n", 2}, {"n", 2}, {"2*n + 1", 5}}), "");
  EXPECT_EQ(Add({{"n", 2}, {"n", 3}}), "n is 2, not 3");
  EXPECT_EQ(Add({{"n", 2}, {"2*n + 1", 4}}), "2*n + 1 is 5, not 4");
  EXPECT_EQ(Add({{"2*n + 1", 5}, {"n", 3}}), "n is 2, not 3");
  EXPECT_EQ(Add({{"2*n + 1", 5}, {"n//2", 2}}), "n//2 is 1, not 2");
  DimSizes sizes;
  std::string error;
  EXPECT_TRUE(sizes.Add(4, 4, &error));
  EXPECT_TRUE(sizes.Add(kUnknownDim, 9, &error));
  EXPECT_FALSE(sizes.Add(4, 5, &error));
  EXPECT_EQ(error, "5 is not 4");
}

TEST(DimSizes, ComesBackToWhatIsOpen) {
  DimSizes sizes;
  EXPECT_EQ(Add(&sizes, {{"n + m", 5}}), "");
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("n + m")), 5);
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("m")), SymbolicDim("m"));
  EXPECT_EQ(Add(&sizes, {{"n*k", 6}, {"n", 2}}), "");
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("m")), 3);
  EXPECT_EQ(sizes.SizeOf(SymbolicDim("k")), 3);
  EXPECT_EQ(Add({{"n + m", 5}, {"n + m", 6}}), "m + n is 5, not 6");
  EXPECT_EQ(Add({{"n + m", 5}, {"n", 6}}), "m + n is 5 for no size of m");
  EXPECT_EQ(Add({{"n//2", 3}, {"n", 5}}), "n//2 is 2, not 3");
  EXPECT_EQ(Add({{"n*n", 9}, {"n", 3}}), "");
  EXPECT_EQ(Add({{"n//m", 2}, {"m", 0}, {"n", 4}}), "n//m has no value where m is 0");
}

// Every equation follows from the one after it; quadratic or worse, this takes minutes.
TEST(DimSizes, FollowsALongChainOfEquations) {
  constexpr int kLength = 20000;
  DimSizes sizes;
  std::string error;
  const auto symbol = [](int i) { return DimExpr::OfDim(SymbolicDim("a" + std::to_string(i))); };
  for (int i = kLength; i-- > 0;)
    ASSERT_TRUE(sizes.Add((symbol(i) * symbol(i + 1)).ToDim(), 6, &error));
  EXPECT_EQ(sizes.ToString(), "");
  ASSERT_TRUE(sizes.Add(SymbolicDim("a0"), 2, &error)) << error;
  for (int i = 0; i <= kLength; ++i) ASSERT_EQ(sizes.SizeOf(symbol(i).ToDim()), i % 2 ? 3 : 2);
}

}  // namespace
}  // namespace weft::ir
