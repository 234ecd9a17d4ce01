// The generator: what it finds, what it prunes and refutes, and its limits.
#include "passes/superopt/generator/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "passes/superopt/generator/enumerate.h"
#include "passes/superopt/generator/rule_text.h"

namespace weft::passes::substitution {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr uint8_t kX1 = 0, kX2 = 1, kW1 = 3, kW2 = 4, kFirst = kNumVariables;

Graph MakeGraph(std::initializer_list<Op> ops) {
  Graph graph;
  for (const Op& op : ops) graph.ops[graph.num_ops++] = op;
  return graph;
}

Verdict VerifyPair(const Graph& source, const Graph& target) {
  return Verify({source, target, source.Outputs(), target.Outputs()}, 12);
}

std::vector<std::string> Texts(const Generated& generated) {
  std::vector<std::string> texts;
  for (const Substitution& s : generated.substitutions)
    texts.push_back(ToString(s.pair.a, s.pair.a_outputs) + " = " +
                    ToString(s.pair.b, s.pair.b_outputs));
  return texts;
}

TEST(SubstitutionGenerator, FindsTheLawsOfTwoOperators) {
  const auto generated = Generate({.depth = 2});
  ASSERT_TRUE(generated.ok()) << generated.status();
  EXPECT_EQ(generated->graphs, 6054u);
  const std::vector<std::string> texts = Texts(*generated);
  EXPECT_THAT(texts, Contains("x1 @ (w1 @ w2) = (x1 @ w1) @ w2"));
  EXPECT_THAT(texts, Contains("transpose(transpose(x1)) = x1"));
  EXPECT_THAT(texts, Contains("split0(concat0(x1, x2))[0], split0(concat0(x1, x2))[1] = x1, x2"));
  EXPECT_THAT(texts, Contains("relu(transpose(x1)) = transpose(relu(x1))"));
}

TEST(SubstitutionGenerator, FindsThatProductsWithOneInputAreOne) {
  const auto generated = Generate({.depth = 3});
  ASSERT_TRUE(generated.ok()) << generated.status();
  EXPECT_THAT(Texts(*generated), Contains("split1(x1 @ concat1(w1, w2))[0], "
                                          "split1(x1 @ concat1(w1, w2))[1] = x1 @ w1, x1 @ w2"));
}

TEST(SubstitutionGenerator, PrunesWhatASmallerOrMoreGeneralPairSays) {
  const auto generated = Generate({.depth = 2});
  ASSERT_TRUE(generated.ok());
  for (const std::string& text : Texts(*generated)) {
    EXPECT_THAT(text, Not(HasSubstr("w1 @ (w2 @ w3)")));           // with x1 for w1 it says more
    EXPECT_THAT(text, Not(HasSubstr("transpose(transpose(w1)")));  // likewise
  }
  const Op relu{OpKind::kRelu, kX1, kNoTensor};
  const Graph a = MakeGraph({relu, {OpKind::kTranspose, kFirst, kNoTensor}});
  const Graph b = MakeGraph({relu, {OpKind::kScale, kFirst, kNumber}});
  EXPECT_TRUE(ShareSubgraph(a, b));
  EXPECT_FALSE(ShareSupergraph(a, b));
  EXPECT_TRUE(ShareSupergraph(a, MakeGraph({{OpKind::kTranspose, kX2, kNoTensor}})));
}

TEST(SubstitutionGenerator, SaysNoToATooLargeDepthAndTooManyGraphs) {
  EXPECT_EQ(Generate({.depth = 5}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Generate({.depth = 0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Generate({.depth = 3, .max_bytes = 1 << 20}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(SubstitutionGenerator, RefutesWhatIsTrueOfSomeShapesOnly) {
  // concat1(x1, x2) @ concat0(w1, w2) is concat1(x2, x1) @ concat0(w2, w1) where x1 is as wide as w1
  // is high, but the shapes of the whole do not say that.
  const auto product = [](uint8_t x1, uint8_t x2, uint8_t w1, uint8_t w2) {
    return MakeGraph({{OpKind::kConcat1, x1, x2},
                      {OpKind::kConcat0, w1, w2},
                      {OpKind::kMatMul, kFirst, kFirst + 1}});
  };
  EXPECT_FALSE(VerifyPair(product(kX1, kX2, kW1, kW2), product(kX2, kX1, kW2, kW1)).right);
  EXPECT_TRUE(
      VerifyPair(product(kX1, kX2, kW1, kW2), MakeGraph({{OpKind::kMatMul, kX1, kW1},
                                                         {OpKind::kMatMul, kX2, kW2},
                                                         {OpKind::kAdd, kFirst, kFirst + 1}}))
          .right);
}

TEST(SubstitutionGenerator, RefutesFalsePairs) {
  const Graph product = MakeGraph({{OpKind::kMatMul, kW1, kW2}});
  const Graph swapped = MakeGraph({{OpKind::kMatMul, kW2, kW1}});
  const Graph sum = MakeGraph({{OpKind::kAdd, kX1, kX2}});
  const Graph relu_of_sum =
      MakeGraph({{OpKind::kAdd, kX1, kX2}, {OpKind::kRelu, kFirst, kNoTensor}});
  const Graph sum_of_relus = MakeGraph({{OpKind::kRelu, kX1, kNoTensor},
                                        {OpKind::kRelu, kX2, kNoTensor},
                                        {OpKind::kAdd, kFirst, kFirst + 1}});
  EXPECT_FALSE(VerifyPair(product, swapped).right);
  EXPECT_FALSE(VerifyPair(relu_of_sum, sum_of_relus).right);
  EXPECT_FALSE(VerifyPair(sum, MakeGraph({{OpKind::kMul, kX1, kX2}})).right);
}

TEST(SubstitutionGenerator, KnowsWhichSubstitutionsKeepEveryBit) {
  const Graph sum = MakeGraph({{OpKind::kAdd, kX1, kX2}, {OpKind::kTranspose, kFirst, kNoTensor}});
  const Graph transposed_sum = MakeGraph({{OpKind::kTranspose, kX1, kNoTensor},
                                          {OpKind::kTranspose, kX2, kNoTensor},
                                          {OpKind::kAdd, kFirst, kFirst + 1}});
  const Verdict moved = VerifyPair(sum, transposed_sum);
  EXPECT_TRUE(moved.right && moved.exact);
  const auto nested = [](uint8_t a, uint8_t b, uint8_t c) {
    return MakeGraph({{OpKind::kAdd, a, b}, {OpKind::kAdd, c, kFirst}});
  };
  const Verdict reassociated = VerifyPair(nested(kX1, kX2, 2), nested(kX2, 2, kX1));
  EXPECT_TRUE(reassociated.right);
  EXPECT_FALSE(reassociated.exact);
}

TEST(SubstitutionRuleText, CannotSayResultsThatShareNothing) {
  const Op relu1{OpKind::kRelu, kX1, kNoTensor}, relu2{OpKind::kRelu, kX2, kNoTensor};
  EXPECT_THAT(WhyNotSaid(MakeGraph({relu1, relu2})), HasSubstr("share no value"));
  EXPECT_EQ(WhyNotSaid(MakeGraph({relu1, relu2, {OpKind::kAdd, kFirst, kFirst + 1}})), "");
  EXPECT_EQ(WhyNotSaid(MakeGraph({{OpKind::kMatMul, kX1, kW1}, {OpKind::kMatMul, kX1, kW2}})), "");
}

// Where they are not, nobody sees whether two parts are halves, or fit side by side.
TEST(SubstitutionRuleText, RequiresSizesThatAreKnown) {
  const Graph scaled = MakeGraph({{OpKind::kScale, kX1, kNumber}, {OpKind::kScale, kX2, kNumber}});
  const Graph halves = MakeGraph({{OpKind::kConcat0, kX1, kX2},
                                  {OpKind::kScale, kFirst, kNumber},
                                  {OpKind::kSplit0, kFirst + 1, kNoTensor}});
  const std::string text =
      RuleText("r", {scaled, halves, scaled.Outputs(), halves.Outputs()}, true);
  EXPECT_THAT(text, HasSubstr("require \"the sizes of x1 are known\" static(%x1)"));
  EXPECT_THAT(text, HasSubstr("require \"the sizes of x2 are known\" static(%x2)"));
}

}  // namespace
}  // namespace weft::passes::substitution
