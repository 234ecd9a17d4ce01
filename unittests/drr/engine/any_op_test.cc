// Ops that a rule does not name: those that must not make a value, ops of any name, ops that are
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/engine/rule_set.h"
#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using toy::Add;
using toy::Log;
using toy::Norm;
using toy::Relu;
using toy::Same;
using toy::Scale;
using toy::Sub;
using toy::Tanh;
using toy::View;

// --- Not ---------------------------------------------------------------------------------

class Exclusion : public Language {};

TEST_F(Exclusion, AValueMustNotBeMadeByThePattern) {
  auto rule = [](SourcePattern& src,
                 ResultPattern& res) {  // relu(x) => tanh(x), x no norm of axis 1
    auto x = src.Tensor("x");
    src.Not(x, src.Op<Norm>({.axis = 1})(src.Tensor("any")));
    auto out = src.Op<Relu>()(x);
    res.Tensor(out) = res.Op<Tanh>()(x);
  };
  const Value norm1 = b.Make<Norm>({x}, {.axis = 1}), norm2 = b.Make<Norm>({x}, {.axis = 2});
  const Value bad = b.Make<Relu>({norm1}), good = b.Make<Relu>({norm2}), input = b.Make<Relu>({y});
  b.Return({{"bad", bad}, {"good", good}, {"input", input}});
  EXPECT_EQ(Try(bad.DefiningOp(), rule), "'x' is defined by toy.norm, which the rule excludes");
  EXPECT_EQ(Try(good.DefiningOp(), rule), "");
  EXPECT_EQ(Try(input.DefiningOp(), rule), "");
}

TEST_F(Exclusion, AHandleOfTheRuleIsThatValueInsideNot) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // x - y, unless y is relu(tanh(x))
    auto x = src.Tensor("x"), y = src.Tensor("y");
    src.Not(y, src.Op<Relu>()(src.Op<Tanh>()(x)));
    auto out = src.Op<Sub>()(x, y);
    res.Tensor(out) = res.Op<Add>()(x, y);
  };
  const Value bad = b.Make<Sub>({x, b.Make<Relu>({b.Make<Tanh>({x})})});
  const Value good = b.Make<Sub>({y, b.Make<Relu>({b.Make<Tanh>({x})})});
  b.Return({{"bad", bad}, {"good", good}});
  EXPECT_EQ(Try(bad.DefiningOp(), rule), "'y' is defined by toy.relu, which the rule excludes");
  EXPECT_EQ(Try(good.DefiningOp(), rule), "");
}

TEST_F(Exclusion, ChoosesTheOtherOrderOfACommutativeOp) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // a + c => a - c, c no relu
    auto a = src.Tensor("a"), c = src.Tensor("c");
    src.Not(c, src.Op<Relu>()(src.Tensor("any")));
    auto out = src.Op<Add>()(a, c);
    res.Tensor(out) = res.Op<Sub>()(a, c);
  };
  const Value r = b.Make<Relu>({y});
  const Value out = b.Make<Add>({x, r}), both = b.Make<Add>({r, b.Make<Relu>({x})});
  b.Return({{"out", out}, {"both", both}});
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).operands().vec(), (std::vector<Value>{r, x}));
  EXPECT_EQ(Try(both.DefiningOp(), rule), "'c' is defined by toy.relu, which the rule excludes");
}

TEST_F(Exclusion, OfAMatchedOpMayExcludeWhatIsBelowIt) {
  auto rule = [](SourcePattern& src,
                 ResultPattern& res) {  // a chain's first relu has no relu below
    auto x = src.Tensor("x");
    auto any = src.AnyOp()(src.Tensors("operands"));
    src.Not(x, src.EitherOf({src.Op<Relu>()(src.Tensor("r")), any}));
    auto out = src.Op<Relu>()(x);
    res.Tensor(out) = res.Op<Tanh>()(x);
  };
  const Value first = b.Make<Relu>({x}), second = b.Make<Relu>({first});
  b.Return({{"out", second}});
  EXPECT_EQ(Try(second.DefiningOp(), rule), "'x' is defined by toy.relu, which the rule excludes");
  EXPECT_EQ(Try(first.DefiningOp(), rule), "");
}

TEST_F(Exclusion, BindsNothingAndExcludesOnlyWhatAnOpMakes) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x"), inner = src.Tensor("inner");
                src.Not(x, src.Op<Relu>()(inner));
                res.Tensor(src.Op<Tanh>()(x)) = inner;
              }),
              ElementsAre(HasSubstr("uses 'inner', which the source pattern never binds")));
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x"), y = src.Tensor("y");
                src.Not(x, y);
                res.Tensor(src.Op<Sub>()(x, y)) = x;
              }),
              ElementsAre(HasSubstr("Not() of 'y', which no source op makes")));
}

// --- AnyOp -------------------------------------------------------------------------------

class AnyOps : public Language {};

// f(same(x)) => f(x), whatever pure op f is
void LookThroughSame(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  auto f = src.AnyOp();
  auto out = f(src.Op<Same>()(x));
  res.Tensor(out) = res.Like(f)(x);
}

TEST_F(AnyOps, MatchOpsOfEveryNameAndAreMadeAgain) {
  const Value relu = b.Make<Relu>({b.Make<Same>({x})});
  const Value norm = b.Make<Norm>({b.Make<Same>({x})}, {.axis = 3});
  const Value two = b.Make<Sub>({b.Make<Same>({x}), y});
  b.Return({{"relu", relu}, {"norm", norm}, {"two", two}});
  EXPECT_EQ(Try(relu.DefiningOp(), LookThroughSame), "");
  EXPECT_EQ(Try(norm.DefiningOp(), LookThroughSame), "");
  EXPECT_TRUE(Output(0).Is<Relu>());
  EXPECT_EQ(Output(0).operand(0), x);
  EXPECT_EQ(Output(1).attrs_of<Norm>().axis, 3);
  EXPECT_EQ(Try(two.DefiningOp(), LookThroughSame),
            "toy.sub has an operand 1 the rule does not expect");
}

TEST_F(AnyOps, ThatAreNotPureAreNotReplaced) {
  const Value log = b.Make<Log>({b.Make<Same>({x})});
  const Operation opaque = b.Builder::Create({.opcode = ir::Opcode::FindOrAdd("user.unknown"),
                                              .operands = {b.Make<Same>({x})},
                                              .result_types = {x.type()}});
  b.Return({{"log", log}, {"opaque", opaque.result()}});
  EXPECT_EQ(Try(log.DefiningOp(), LookThroughSame), "toy.log is not known to be pure");
  EXPECT_EQ(Try(opaque, LookThroughSame), "user.unknown is not known to be pure");
}

TEST_F(AnyOps, MustHaveTheTraitsAskedFor) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // f(norm(x)) => norm(f(x))
    auto x = src.Tensor("x");
    auto f = src.AnyOp(ir::kElementwise | ir::kPure);
    auto norm = src.Op<Norm>(AnyAttrs());
    auto out = f(norm(x));
    src.RequireNativeCall("f is no tanh", [=](const MatchContext& m) { return !m[f].Is<Tanh>(); });
    res.Tensor(out) = res.Op<Norm>(AttrsOf(norm))(res.Like(f)(x));
  };
  auto over_norm = [&](auto op) { return b.Make<decltype(op)>({b.Make<Norm>({x}, {.axis = 2})}); };
  const Value relu = over_norm(Relu()), tanh = over_norm(Tanh()), same = over_norm(Same());
  b.Return({{"relu", relu}, {"tanh", tanh}, {"same", same}});
  EXPECT_EQ(Try(relu.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).attrs_of<Norm>().axis, 2);
  EXPECT_TRUE(Output(0).operand(0).DefiningOp().Is<Relu>());
  EXPECT_EQ(Try(tanh.DefiningOp(), rule), "does not hold: f is no tanh");
  EXPECT_EQ(Try(same.DefiningOp(), rule), "expected any pure elementwise op but found toy.same");
}

TEST_F(AnyOps, TakeTheirOperandsAsAList) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // relu(f(xs)) => tanh(f(xs))
    auto xs = src.Tensors("xs");
    auto f = src.AnyOp();
    auto out = src.Op<Relu>()(f(xs));
    res.Tensor(out) = res.Op<Tanh>()(res.Like(f)(xs));
  };
  const Value two = b.Make<Relu>({b.Make<Sub>({x, y})});
  const Value gap = b.Make<Relu>({b.Make<Norm>({x, Value(), z}, {.axis = 1})});
  b.Return({{"two", two}, {"gap", gap}, {"bad", b.Make<Relu>({x})}});
  EXPECT_EQ(Try(two.DefiningOp(), rule), "");
  EXPECT_EQ(Try(gap.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).operand(0).DefiningOp().operands().vec(), (std::vector<Value>{x, y}));
  EXPECT_EQ(Output(1).operand(0).DefiningOp().operands().vec(),
            (std::vector<Value>{x, Value(), z}));
  EXPECT_EQ(Try(Output(2), rule), "expected any op but found a block argument");
}

TEST_F(AnyOps, AreTriedAtEveryOp) {
  RewritePatternSet set(&context);
  set.Add(Rule(LookThroughSame).Build(&context));
  const FrozenRewritePatternSet frozen(std::move(set));
  EXPECT_THAT(frozen.StartingAt(ir::kOpcodeOf<Relu>), ElementsAre(0));
  EXPECT_THAT(frozen.StartingAt(ir::Opcode::FindOrAdd("user.never-seen")), ElementsAre(0));
}

// --- Skip ----------------------------------------------------------------------------------

class Skipping : public Language {
 protected:
  Value ViewAs(Value v, ir::DataType dtype, const Shape& dims = {2, 3}) {
    return Make<View>({v}, {}, dims, dtype);
  }
};

void ReluOfSkippedTanh(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  auto t = src.Op<Tanh>()(x);
  auto out = src.Op<Relu>()(src.Skip<Same>(t));
  res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
}

TEST_F(Skipping, AnyNumberOfTheseOpsMayStandBetween) {
  const Value none = b.Make<Relu>({b.Make<Tanh>({x})});
  const Value two = b.Make<Relu>({b.Make<Same>({b.Make<Same>({b.Make<Tanh>({y})})})});
  const Value other = b.Make<Relu>({b.Make<Scale>({b.Make<Tanh>({y})})});
  b.Return({{"none", none}, {"two", two}, {"other", other}});
  EXPECT_EQ(Try(none.DefiningOp(), ReluOfSkippedTanh), "");
  EXPECT_EQ(Try(two.DefiningOp(), ReluOfSkippedTanh), "");
  EXPECT_EQ(Output(0).operand(0), x);
  EXPECT_EQ(Output(1).operand(0), y);
  EXPECT_EQ(Try(other.DefiningOp(), ReluOfSkippedTanh), "expected toy.tanh but found toy.scale");
  EXPECT_EQ(program.body().num_ops(), 6u);  // what was skipped went too
}

TEST_F(Skipping, OthersMustNotReadWhatIsSkippedOver) {
  const Value same = b.Make<Same>({b.Make<Tanh>({x})});
  const Value out = b.Make<Relu>({same});
  b.Return({{"out", out}, {"same", same}});
  EXPECT_EQ(Try(out.DefiningOp(), ReluOfSkippedTanh),
            "an intermediate value, result 0 of toy.tanh, is also used by toy.same");
}

TEST_F(Skipping, APlainTensorIsTheOneBelow) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Skip<Same>(x));
    res.Tensor(out) = res.Op<Tanh>()(x);
  };
  const Value same = b.Make<Same>({x});
  const Value out = b.Make<Relu>({same});
  b.Return({{"out", out}, {"same", same}});
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).operand(0), x);
  EXPECT_TRUE(Output(1).Is<Same>());  // others read it: it stays
}

TEST_F(Skipping, OfAValueThatNoOpReadsIsAMistake) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x");
                src.Skip<Same>(x);  // its result is forgotten
                res.Tensor(src.Op<Relu>()(x)) = x;
              }),
              ElementsAre(HasSubstr("is not an operand of any source op")));
}

TEST_F(Skipping, NoOpsAreThoseThatKeepTheType) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.SkipNoOps<View>(src.Op<Tanh>()(x)));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value u = Input("u", {ir::kUnknownDim, 3});
  const Value n = Input("n", {ir::SymbolicDim("N"), 3});
  const Value same = b.Make<Relu>({ViewAs(b.Make<Tanh>({x}), ir::DataType::kF32)});
  const Value f16 = b.Make<Relu>({ViewAs(b.Make<Tanh>({x}), ir::DataType::kF16)});
  const Value longer = b.Make<Relu>({ViewAs(b.Make<Tanh>({x}), ir::DataType::kF32, {3, 2})});
  const Value unknown = b.Make<Relu>({Make<View>({b.Make<Tanh>({u})}, {}, {ir::kUnknownDim, 3})});
  const Value symbolic =
      b.Make<Relu>({Make<View>({b.Make<Tanh>({n})}, {}, {ir::SymbolicDim("N"), 3})});
  b.Return({{"a", same}, {"b", f16}, {"c", longer}, {"d", unknown}, {"e", symbolic}});
  EXPECT_EQ(Try(same.DefiningOp(), rule), "");
  EXPECT_EQ(Try(symbolic.DefiningOp(), rule), "");
  for (Value v : {f16, longer, unknown})
    EXPECT_EQ(Try(v.DefiningOp(), rule), "expected toy.tanh but found toy.view");
}

}  // namespace
}  // namespace weft::drr
