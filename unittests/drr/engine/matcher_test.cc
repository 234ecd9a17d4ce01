#include "drr/engine/matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/drr.h"
#include "drr/engine/applier.h"
#include "drr/engine/rule_set.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::drr {
namespace {

using ir::Builder;
using ir::InferContext;
using ir::NoAttrs;
using ir::Operation;
using ir::OpInfo;
using ir::Program;
using ir::Value;

template <class Tag>
struct Unary {
  static constexpr OpInfo kInfo = {.name = Tag::kName, .operands = {"x"}};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};
struct ReluTag {
  static constexpr std::string_view kName = "m.relu";
};
struct TanhTag {
  static constexpr std::string_view kName = "m.tanh";
};
using Relu = Unary<ReluTag>;
using Tanh = Unary<TanhTag>;

struct Add {
  static constexpr OpInfo kInfo = {
      .name = "m.add", .operands = {"x", "y"}, .traits = ir::kPure | ir::kCommutative};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};
struct Sub {
  static constexpr OpInfo kInfo = {.name = "m.sub", .operands = {"x", "y"}};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};
struct Two {
  static constexpr OpInfo kInfo = {.name = "m.two", .operands = {"x"}, .results = {"a", "b"}};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c) {
    c.SetResult(0, c.operand_type(0));
    return c.SetResult(1, c.operand_type(0));
  }
};
struct Transpose {
  static constexpr OpInfo kInfo = {.name = "m.transpose", .operands = {"x"}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> perm{};
    static constexpr auto Fields() { return std::tuple(ir::Field{"perm", &Attrs::perm}); }
  };
  static bool Infer(InferContext& c) {
    const Ints perm = c.attrs_of<Transpose>().perm;
    if (perm.size() != c.operand_type(0).rank()) return c.Fail("perm has the wrong length");
    ir::Shape dims;
    for (int64_t p : perm) dims.push_back(c.operand_type(0).dim(p));
    return c.SetResult(0, c.operand_type(0).dtype(), dims);
  }
};
struct Scale {
  static constexpr OpInfo kInfo = {.name = "m.scale", .operands = {"x", ir::Optional("s")}};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> by{};
    static constexpr auto Fields() { return std::tuple(ir::Field{"by", &Attrs::by, 1.0f}); }
  };
  static bool Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};

class MatcherTest : public testing::Test {
 protected:
  MatcherTest() : program(&context), b(&program) {
    ir::AddOps<Relu, Tanh, Add, Sub, Two, Transpose, Scale>(context);
    x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
    y = b.AddInput("y", context.TensorType(ir::DataType::kF32, {2, 3}));
  }
  // Matches and applies P at op: "" when applied, else the reason.
  template <class P>
  std::string Rewrite(Operation op) {
    BuildResult built = P().Build(&context);
    for (const std::string& e : built.errors) ADD_FAILURE() << e;
    if (!built.ok()) return "does not build";
    MatchContext match(built.rule.get());
    MatchFailure failure;
    if (!Matcher(*built.rule).Match(op, &match, &failure)) return failure.reason;
    ir::Rewriter rewriter(&program);
    std::string reason;
    if (!Apply(match, rewriter, &reason)) return reason;
    EXPECT_EQ(ir::Verify(program).message(), "");
    return "";
  }
  ir::IrContext context;
  Program program;
  Builder b;
  Value x, y;
};

struct ComposeTransposes : DrrPatternBase<ComposeTransposes> {
  static constexpr std::string_view kName = "compose-transposes";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
    auto inner = src.Op<Transpose>({.perm = p})(src.Tensor("x"));
    auto outer = src.Op<Transpose>({.perm = q})(inner);
    ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<Transpose>({.perm = [=](const MatchContext& m) {
      Ints perm;
      for (int64_t axis : m[q]) perm.push_back(m[p][axis]);
      return perm;
    }})(src.Tensor("x"));
  }
};

TEST_F(MatcherTest, ComputesAttributesFromTheMatch) {
  const Value t = b.Make<Transpose>({b.Make<Transpose>({x}, {.perm = {1, 0}})}, {.perm = {1, 0}});
  b.Return({{"out", t}});
  EXPECT_EQ(Rewrite<ComposeTransposes>(t.DefiningOp()), "");
  const Operation left = program.body().front();
  EXPECT_EQ(left.attrs_of<Transpose>().perm, (Ints{0, 1}));
  EXPECT_EQ(program.body().num_ops(), 2u);
}

TEST_F(MatcherTest, RefusesAnIntermediateValueReadElsewhere) {
  const Value inner = b.Make<Transpose>({x}, {.perm = {1, 0}});
  const Value t = b.Make<Transpose>({inner}, {.perm = {1, 0}});
  b.Return({{"out", t}, {"inner", inner}});
  EXPECT_EQ(Rewrite<ComposeTransposes>(t.DefiningOp()),
            "an intermediate value, result 0 of m.transpose, is also used by builtin.return");
}

struct ReluOfAdd : DrrPatternBase<ReluOfAdd> {  // relu(tanh(x) + y) => x - y
  static constexpr std::string_view kName = "relu-of-add";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto out = src.Op<Relu>()(src.Op<Add>()(src.Op<Tanh>()(x), y));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<Sub>()(x, y);
  }
};

TEST_F(MatcherTest, CommutativeOpsMatchEitherOrder) {
  const Value first = b.Make<Relu>({b.Make<Add>({b.Make<Tanh>({x}), y})});
  const Value second = b.Make<Relu>({b.Make<Add>({y, b.Make<Tanh>({x})})});
  b.Return({{"a", first}, {"b", second}});
  EXPECT_EQ(Rewrite<ReluOfAdd>(first.DefiningOp()), "");
  EXPECT_EQ(Rewrite<ReluOfAdd>(second.DefiningOp()), "");
  for (Value v : program.body().Terminator().operands()) {
    EXPECT_TRUE(v.DefiningOp().Is<Sub>());
    EXPECT_EQ(v.DefiningOp().operand(0), x);
  }
}

TEST_F(MatcherTest, ACommutativeOpNeedsBothOperandsInSomeOrder) {
  const Value neither = b.Make<Relu>({b.Make<Add>({x, y})});
  b.Return({{"a", neither}});
  EXPECT_EQ(Rewrite<ReluOfAdd>(neither.DefiningOp()), "expected m.tanh but found a block argument");
}

struct SubOfTanh : DrrPatternBase<SubOfTanh> {  // x - tanh(y) => x + y
  static constexpr std::string_view kName = "sub-of-tanh";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto out = src.Op<Sub>()(x, src.Op<Tanh>()(y));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<Add>()(x, y);
  }
};

TEST_F(MatcherTest, OtherOpsMatchInTheirOrderOnly) {
  const Value right = b.Make<Sub>({x, b.Make<Tanh>({y})}),
              wrong = b.Make<Sub>({b.Make<Tanh>({y}), x});
  b.Return({{"a", right}, {"b", wrong}});
  EXPECT_EQ(Rewrite<SubOfTanh>(right.DefiningOp()), "");
  EXPECT_EQ(Rewrite<SubOfTanh>(wrong.DefiningOp()), "expected m.tanh but found a block argument");
}

struct SecondResult : DrrPatternBase<SecondResult> {  // relu(two(x).b) => tanh(x)
  static constexpr std::string_view kName = "second-result";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Op<Two>()(x)[1]);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<Tanh>()(x);
  }
};

TEST_F(MatcherTest, OneResultNeverPassesForAnother) {
  const Operation two = b.Create<Two>({x});
  const Value first = b.Make<Relu>({two.result(0)});
  b.Return({{"a", first}});
  EXPECT_EQ(Rewrite<SecondResult>(first.DefiningOp()),
            "expected result 1 of m.two but found result 0");
}

TEST_F(MatcherTest, AMultiResultOpMatchesThroughTheRightResult) {
  const Operation two = b.Create<Two>({x});
  const Value second = b.Make<Relu>({two.result(1)});
  b.Return({{"a", second}});
  EXPECT_EQ(Rewrite<SecondResult>(second.DefiningOp()), "");
}

struct SameOperandTwice : DrrPatternBase<SameOperandTwice> {  // t + t with t = tanh(x) => relu(x)
  static constexpr std::string_view kName = "same-operand-twice";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto t = src.Op<Tanh>()(x);
    auto out = src.Op<Add>()(t, t);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<Relu>()(x);
  }
};

TEST_F(MatcherTest, OneHandleTwiceIsOneValue) {
  const Value t = b.Make<Tanh>({x}), u = b.Make<Tanh>({y});
  const Value same = b.Make<Add>({t, t}), other = b.Make<Add>({u, b.Make<Tanh>({y})});
  b.Return({{"a", same}, {"b", other}});
  EXPECT_EQ(Rewrite<SameOperandTwice>(same.DefiningOp()), "");
  EXPECT_THAT(Rewrite<SameOperandTwice>(other.DefiningOp()),
              testing::EndsWith("would have to be two different values"));
}

struct EitherOneOf : DrrPatternBase<EitherOneOf> {  // act(x - y | x) => scale(x, y?)
  static constexpr std::string_view kName = "either-one-of";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto t = src.Op<Transpose>({.perm = {1, 0}})(x);
    auto act = src.OneOf<Relu, Tanh>();
    auto out = act(src.Either(src.Op<Sub>()(t, y), t));
    ResultPattern res = src.ResultPattern();
    auto by = [=](const MatchContext& m) { return m.Is<Tanh>(act) ? 2.0f : 3.0f; };
    res.Tensor(out) = res.Op<Scale>({.by = by})(res.Op<Transpose>({.perm = {1, 0}})(x), y);
  }
};

TEST_F(MatcherTest, EitherBindsWhatItsVariantHas) {
  const Value t = b.Make<Transpose>({x}, {.perm = {1, 0}});
  const Value z = b.Make<Transpose>({y}, {.perm = {1, 0}});
  const Value u = b.Make<Transpose>({x}, {.perm = {1, 0}});
  const Value with = b.Make<Tanh>({b.Make<Sub>({t, z})}), without = b.Make<Relu>({u});
  b.Return({{"a", with}, {"b", without}});
  EXPECT_EQ(Rewrite<EitherOneOf>(with.DefiningOp()), "");
  EXPECT_EQ(Rewrite<EitherOneOf>(without.DefiningOp()), "");
  const Operation end = program.body().Terminator();
  EXPECT_EQ(end.operand(0).DefiningOp().num_operands(), 2u);
  EXPECT_EQ(end.operand(0).DefiningOp().attrs_of<Scale>().by, 2.0f);
  EXPECT_EQ(end.operand(1).DefiningOp().num_operands(), 1u);
  EXPECT_EQ(end.operand(1).DefiningOp().attrs_of<Scale>().by, 3.0f);
}

TEST_F(MatcherTest, AnOpThatIsNoneOfTheAlternativesIsRefused) {
  const Value t = b.Make<Transpose>({x}, {.perm = {1, 0}}), s = b.Make<Scale>({t});
  b.Return({{"a", s}});
  EXPECT_EQ(Rewrite<EitherOneOf>(s.DefiningOp()),
            "expected m.relu (or an alternative) but found m.scale");
}

struct WrongType : DrrPatternBase<WrongType> {  // tanh(x) => transpose(x), of another shape
  static constexpr std::string_view kName = "wrong-type";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<Tanh>()(x);
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<Transpose>({.perm = {1, 0}})(x);
  }
};

TEST_F(MatcherTest, AResultOfAnotherTypeIsDeclinedAndNothingChanges) {
  const Value t = b.Make<Tanh>({x});
  b.Return({{"a", t}});
  EXPECT_EQ(Rewrite<WrongType>(t.DefiningOp()),
            "the result would be tensor<3x2xf32> in place of tensor<2x3xf32>");
  EXPECT_TRUE(t.IsAlive());
  EXPECT_EQ(program.body().num_ops(), 2u);
  EXPECT_EQ(x.use_count(), 1u);
}

struct OperandForResult : DrrPatternBase<OperandForResult> {  // relu(transpose(x)) => x
  static constexpr std::string_view kName = "operand-for-result";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Op<Transpose>({.perm = {1, 0}})(x));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};

TEST_F(MatcherTest, AnOperandReplacesAResultOfItsTypeOnly) {
  const Value square = b.AddInput("s", context.TensorType(ir::DataType::kF32, {3, 3}));
  const Value same = b.Make<Relu>({b.Make<Transpose>({square}, {.perm = {1, 0}})});
  const Value other = b.Make<Relu>({b.Make<Transpose>({x}, {.perm = {1, 0}})});
  b.Return({{"a", same}, {"b", other}});
  EXPECT_EQ(Rewrite<OperandForResult>(same.DefiningOp()), "");
  EXPECT_EQ(program.body().Terminator().operand(0), square);
  EXPECT_EQ(Rewrite<OperandForResult>(other.DefiningOp()),
            "the result would be tensor<2x3xf32> in place of tensor<3x2xf32>");
}

struct TwoRoots : DrrPatternBase<TwoRoots> {  // relu(x), tanh(x) => two(x)
  static constexpr std::string_view kName = "two-roots";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto r = src.Op<Relu>()(x);
    auto t = src.Op<Tanh>()(x);
    ResultPattern res = src.ResultPattern();
    auto [a, b] = res.Op<Two>()(x);
    res.Tensor(r) = a;
    res.Tensor(t) = b;
  }
};

TEST_F(MatcherTest, SeveralRootsJoinOnASharedValue) {
  const Value r = b.Make<Relu>({x});
  const Value early = b.Make<Scale>({r});  // reads one root before the other exists
  const Value t = b.Make<Tanh>({x});
  b.Return({{"a", early}, {"b", t}});
  EXPECT_EQ(Rewrite<TwoRoots>(r.DefiningOp()), "");
  EXPECT_TRUE(program.body().front().Is<Two>());
}

TEST_F(MatcherTest, RootsWithNoCommonPlaceAreDeclined) {
  const Value t = b.Make<Tanh>({x});
  const Value s = b.Make<Scale>({t});  // the other root reads what depends on this one
  const Value r = b.Make<Relu>({x});
  b.Return({{"a", s}, {"b", r}});
  EXPECT_EQ(Rewrite<TwoRoots>(r.DefiningOp()), "");  // still fine: x dominates both
}

struct BadRule : DrrPatternBase<BadRule> {
  static constexpr std::string_view kName = "bad";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), bias = src.Tensor("bias");
    auto p = src.Attr<Ints>("p");
    auto out = src.Op<Relu>()(x);
    src.Op<Tanh>()(x);
    ResultPattern res = src.ResultPattern();
    res.Op<Relu>()(x);
    res.Tensor(out) = res.Op<Transpose>({.perm = p})(bias);
  }
};

TEST_F(MatcherTest, ABadRuleTellsEveryMistake) {
  const BuildResult built = BadRule().Build(&context);
  EXPECT_FALSE(built.ok());
  std::string all;
  for (const std::string& e : built.errors) all += e + "\n";
  for (const char* part :
       {"copies 'p', which no source op binds", "tensor 'bias' is not an operand",
        "'p' is bound by no source op", "m.tanh ends the source pattern",
        "operand 'x' of m.transpose uses 'bias'", "no result of m.relu is used",
        "matcher_test.cc:"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
}

}  // namespace
}  // namespace weft::drr
