#include "passes/transformation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

Transformation Named(const std::string& name) {
  for (const Transformation& it : Transformations())
    if (it.name == name) return it;
  ADD_FAILURE() << "no transformation " << name;
  return {};
}

TEST(Transformation, AreRulesAndThePassesThatAreNotMadeOfRules) {
  EXPECT_FALSE(Named("lower-topk-indices").IsPass());
  EXPECT_TRUE(Named("gather-to-split").IsPass());
  EXPECT_THAT(Transformations(), Each(Field(&Transformation::name, testing::Ne("canonicalize"))));
}

TEST(Transformation, ComeFromAKnownSeed) {
  for (const Transformation& it : Transformations())
    EXPECT_TRUE(it.seed.empty() ||
                std::find(std::begin(kSeeds), std::end(kSeeds), it.seed) != std::end(kSeeds))
        << it.name << ": " << it.seed;
}

TEST(Transformation, AreOptInWhereOnlyATargetRunsThem) {
  EXPECT_EQ(Named("merge-casts").Runs(), "default");
  EXPECT_EQ(Named("lower-topk-indices").Runs(), "opt-in: ascend");
  EXPECT_EQ(Named("mha-to-sha-decode").Runs(), "opt-in: litert");
  EXPECT_EQ(Named("lower-resize-to-nearest").Runs(), "opt-in");
}

TEST(WithEnabled, LeavesTheRunAloneWhenItHasTheRuleAlready) {
  const std::vector<std::string> ascend = FindPipeline("ascend")->passes;
  EXPECT_EQ(WithEnabled(ascend, {"lower-topk-indices", "typecast"}), ascend);
  EXPECT_THAT(RulesOutside(ascend, {"lower-topk-indices", "typecast"}), IsEmpty());
}

TEST(WithEnabled, PutsThemWherePipelinesOfTargetsHaveTheirs) {
  EXPECT_THAT(WithEnabled(FindPipeline("simplify")->passes, {"lower-topk-indices", "typecast"}),
              ElementsAre("constant-folding", "loop-unrolling", "constant-folding",
                          "loop-invariant-code-motion", "sequence-forwarding", "concat-forwarding",
                          "canonicalize", "shape-arithmetic", "constant-folding", "rebuild-sizes",
                          "fuse-slices-into-split", "typecast", kEnabledRules, "constant-folding",
                          "common-subexpression-elimination", "dead-code-elimination",
                          "named-operators", "cancel-transposes", "constant-folding",
                          "common-subexpression-elimination", "dead-code-elimination"));
}

TEST(WithEnabled, PutsThemLastInARunThatDoesNotSimplify) {
  EXPECT_THAT(WithEnabled({"layout"}, {"lower-topk-indices", "lower-topk-indices", "typecast"}),
              ElementsAre("layout", "typecast", kEnabledRules));
  EXPECT_THAT(RulesOutside({"layout"}, {"lower-topk-indices", "lower-conv-to-nhwc"}),
              ElementsAre("lower-topk-indices"));
}

}  // namespace
}  // namespace weft::passes
