// Explanations: the first check that failed, with the operation, the value and who reads it.
#include "drr/engine/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/printer.h"
#include "unittests/drr/engine/rewrite_test_util.h"
#include "unittests/drr/engine/toy_ops.h"

namespace weft::drr {
namespace {

using ir::Value;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// relu(norm(x, axis 1, scale)) => norm(relu(x)), x of rank 2
struct NormFirst : DrrPatternBase<NormFirst> {
  static constexpr std::string_view kName = "norm-first";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), scale = src.Optional(src.Tensor("scale"));
    auto norm = src.Op<toy::Norm>({.axis = In{1, 2}})(x, scale);
    auto out = src.OneOf<toy::Relu, toy::Tanh>()(norm);
    src.RequireNativeCall("x is of rank 2", [=](const MatchContext& m) {
      m.Explain("rank " + std::to_string(m[x].rank()));
      return m[x].rank() == 2;
    });
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<toy::Norm>({.axis = 1})(res.Op<toy::Relu>()(x), scale);
  }
};

// tanh(x) => constant, which the rule never knows
struct TanhIsUnknown : DrrPatternBase<TanhIsUnknown> {
  static constexpr std::string_view kName = "tanh-is-unknown";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto out = src.Op<toy::Tanh>()(src.Tensor("x"));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Constant([](const MatchContext&) { return ir::Attribute(); });
  }
};

class Explain : public RewriteTest {
 protected:
  Explain() {
    toy::Load(context);
    x = Input("x", {2, 3});
    scale = Input("scale", {3});
    rule = NormFirst().Build(&context).rule;
  }
  // relu(norm(from)), and what makes it.
  Value Normed(Value from, int64_t axis, std::string_view location = {}) {
    const Value norm = b.Make<toy::Norm>({from, scale}, {.axis = axis});
    const Value relu = b.Make<toy::Relu>({norm});
    program.SetLocation(relu.DefiningOp(), ir::Name(location));
    return relu;
  }
  Value x, scale;
  std::unique_ptr<Rule> rule;
};

TEST_F(Explain, SaysWhereARuleAppliesAndLeavesTheProgramAlone) {
  const Value one = Normed(x, 1, "model:/one"), two = Normed(one, 2, "model:/two");
  b.Return({{"out", two}});
  const std::string before = ir::PrintProgram(program);
  const Explanation e = ExplainNearest(*rule, program);
  EXPECT_EQ(e.outcome, Explanation::kApplies);
  EXPECT_THAT(e.sites, ElementsAre(one.DefiningOp(), two.DefiningOp()));
  EXPECT_EQ(ToString(e),
            "norm-first fits at 2 places\n"
            "  (%3) = \"toy.relu\" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> "
            "loc(\"model:/one\")\n"
            "  (%5) = \"toy.relu\" (%4) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> "
            "loc(\"model:/two\")\n");
  EXPECT_EQ(ir::PrintProgram(program), before);
}

TEST_F(Explain, TakesTheSiteThatComesFurthest) {
  const Value structure = b.Make<toy::Relu>({x});
  const Value attribute = Normed(x, 7), other_attribute = Normed(x, 8);
  b.Return({{"a", structure}, {"b", attribute}, {"c", other_attribute}});
  const Explanation e = ExplainNearest(*rule, program);
  EXPECT_EQ(e.outcome, Explanation::kRefused);
  EXPECT_EQ(e.site, attribute.DefiningOp());
  EXPECT_EQ(e.failure.expected, "1 or 2");
  EXPECT_EQ(e.failure.found, "7");
  EXPECT_EQ(e.failure.op.name(), "toy.norm");
  EXPECT_EQ(e.failure.ops_bound, 1u);
  EXPECT_EQ(ExplainAt(*rule, other_attribute.DefiningOp()).failure.found, "8");
  EXPECT_EQ(ExplainAt(*rule, structure.DefiningOp()).failure.reason,
            "expected toy.norm but found a block argument");
}

TEST_F(Explain, NamesWhoElseReadsAnIntermediateValue) {
  const Value out = Normed(x, 1);
  const Value norm = out.DefiningOp().operand(0);
  const Value reader = b.Make<toy::Scale>({norm});
  program.SetLocation(reader.DefiningOp(), ir::Name("model:/reader"));
  b.Return({{"out", out}, {"reader", reader}});
  const Explanation e = ExplainNearest(*rule, program);
  EXPECT_EQ(e.failure.value, norm);
  EXPECT_EQ(e.failure.user, reader.DefiningOp());
  EXPECT_THAT(ToString(e),
              AllOf(HasSubstr("with 2 of 2 operations found it fails at\n  (%3) = \"toy.relu\""),
                    HasSubstr("value     %2 : tensor<2x3xf32>\n"),
                    HasSubstr("read by   (%4) = \"toy.scale\" (%2)"),
                    HasSubstr("loc(\"model:/reader\")\n")));
}

TEST_F(Explain, AConstraintComesWithTheTensorsOfTheRuleAndItsLine) {
  const Value long_x = Input("long", {2, 3, 4});
  b.Return({{"out", Normed(long_x, 1)}});
  const Explanation e = ExplainNearest(*rule, program);
  EXPECT_EQ(e.failure.reason, "does not hold: x is of rank 2: rank 3");
  EXPECT_EQ(e.failure.expected, "x is of rank 2");
  EXPECT_EQ(e.failure.found, "rank 3");
  EXPECT_THAT(ToString(e), AllOf(HasSubstr("where     x is %2 \"long\" : tensor<2x3x4xf32>\n"),
                                 HasSubstr("where     scale is %1 \"scale\" : tensor<3xf32>\n"),
                                 HasSubstr("rule line explain_test.cc:")));
}

TEST_F(Explain, AResultThatCannotBePutInPlaceIsTheNearestMiss) {
  const Value tanh = b.Make<toy::Tanh>({x});
  b.Return({{"out", tanh}});
  const BuildResult unknown = TanhIsUnknown().Build(&context);
  const std::string before = ir::PrintProgram(program);
  const Explanation e = ExplainNearest(*unknown.rule, program);
  EXPECT_EQ(e.outcome, Explanation::kRefused);
  EXPECT_EQ(e.site, tanh.DefiningOp());
  EXPECT_THAT(e.failure.reason,
              testing::StartsWith("it matches, but the result cannot be put in place: "));
  EXPECT_EQ(ir::PrintProgram(program), before);
}

TEST_F(Explain, SaysWhichOperationIsMissingAltogether) {
  const Value scaled = b.Make<toy::Scale>({x});
  b.Return({{"out", scaled}});
  const Explanation e = ExplainNearest(*rule, program);
  EXPECT_EQ(e.outcome, Explanation::kNoSite);
  EXPECT_EQ(ToString(e), "norm-first does not fit: there is no toy.relu or toy.tanh\n");
  EXPECT_EQ(ToString(ExplainAt(*rule, scaled.DefiningOp())),
            "norm-first does not fit; it ends in toy.relu or toy.tanh, which is not\n"
            "  (%2) = \"toy.scale\" (%0) {axis:0,epsilon:0.25} : (tensor<2x3xf32>) -> "
            "tensor<2x3xf32>\n");
}

TEST_F(Explain, AValueInsideTheRuleStandsForTheReadersWhereItEnds) {
  const Value bad = Normed(x, 7), good = Normed(x, 1);
  b.Return({{"bad", bad}, {"good", good}});
  const Explanation at_norm = ExplainValue(*rule, bad.DefiningOp().operand(0));
  EXPECT_EQ(at_norm.outcome, Explanation::kRefused);
  EXPECT_EQ(at_norm.site, bad.DefiningOp());
  EXPECT_EQ(ExplainValue(*rule, bad).failure.found, "7");
  EXPECT_EQ(ExplainValue(*rule, good.DefiningOp().operand(0)).site, good.DefiningOp());
  EXPECT_EQ(ExplainValue(*rule, x).site, good.DefiningOp());
}

}  // namespace
}  // namespace weft::drr
