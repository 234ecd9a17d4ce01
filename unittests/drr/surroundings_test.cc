// Patterns that look at what is around them: values a pattern must not make, ops of any name, ops
// that are skipped, regions, further roots, other readers; and what runs after the replacement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/pattern_set.h"
#include "unittests/drr/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using toy::Add;
using toy::Join;
using toy::Log;
using toy::Mul;
using toy::Norm;
using toy::Number;
using toy::Pair;
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
  EXPECT_EQ(Try(bad.DefiningOp(), rule), "'x' is made by toy.norm, which the rule excludes");
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
  EXPECT_EQ(Try(bad.DefiningOp(), rule), "'y' is made by toy.relu, which the rule excludes");
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
  EXPECT_EQ(Try(both.DefiningOp(), rule), "'c' is made by toy.relu, which the rule excludes");
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
  EXPECT_EQ(Try(second.DefiningOp(), rule), "'x' is made by toy.relu, which the rule excludes");
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
  EXPECT_EQ(Try(same.DefiningOp(), rule), "expected any op but found toy.same");
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
            "an intermediate value, result 0 of toy.tanh, is also read by toy.same");
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

// --- regions ---------------------------------------------------------------------------------

class Regions : public Language {
 protected:
  // An op with one region; what it holds is made by `body`, which gives what the region returns.
  Operation Branch(const std::function<Value(ir::Builder&)>& body,
                   std::string_view name = "toy.if") {
    const Operation holder = b.Builder::Create({.opcode = ir::Opcode::FindOrAdd(name),
                                                .operands = {z},
                                                .result_types = {x.type()},
                                                .num_regions = 1});
    ir::Rewriter rewriter(&program);
    ir::Builder inside(&program);
    inside.SetInsertionPointToEnd(rewriter.AppendBlock(holder.region(0)));
    const Value returned = body(inside);
    inside.Create<ir::ReturnOp>({returned});
    return holder;
  }
  Operation Returned(Operation holder) {
    return holder.region(0).front().Terminator().operand(0).DefiningOp();
  }
};

TEST_F(Regions, AnOperandMayBeMadeOutside) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Outside(src.Op<Tanh>()(src.Op<Scale>()(x))));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  auto inside_only = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Op<Tanh>()(src.Op<Scale>()(x)));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value t = b.Make<Tanh>({b.Make<Scale>({x})});
  const Operation holder = Branch([&](ir::Builder& in) { return in.Make<Relu>({t}); });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(Returned(holder), inside_only), "toy.tanh lies in another block");
  EXPECT_EQ(Try(Returned(holder), rule), "");
  EXPECT_TRUE(Returned(holder).Is<Norm>());
  EXPECT_EQ(Returned(holder).operand(0), x);
  EXPECT_FALSE(t.IsAlive());
}

TEST_F(Regions, OfANeighbourAreNotOutside) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Outside(src.Op<Tanh>()(src.Op<Scale>()(x))));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  // The scale lies deeper than the tanh that would read it: the pattern wants them together.
  const Value s = b.Make<Scale>({x});
  Value inner;
  const Operation holder = Branch([&](ir::Builder& in) {
    inner = in.Make<Relu>({in.Make<Tanh>({s})});
    return inner;
  });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(inner.DefiningOp(), rule), "toy.scale lies in another block");
}

// if(c) { norm(x, 0) } => norm(x, 5) - c
void BranchOfNorm(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), c = src.Tensor("c");
  auto branch = src.AnyOp("toy.if");
  auto out = branch(c);
  src.Returns(branch, 0, {src.Op<Norm>({.axis = 0})(x)});
  res.Tensor(out) = res.Op<Sub>()(res.Op<Norm>({.axis = 5})(x), c);
}

TEST_F(Regions, WhatARegionReturnsIsMatched) {
  const Operation good = Branch([&](ir::Builder& in) { return in.Make<Norm>({y}, {.axis = 0}); });
  const Operation other = Branch([&](ir::Builder& in) { return in.Make<Norm>({y}, {.axis = 1}); });
  const Operation name =
      Branch([&](ir::Builder& in) { return in.Make<Norm>({y}, {.axis = 0}); }, "toy.loop");
  b.Return({{"a", good.result()}, {"b", other.result()}, {"c", name.result()}});
  EXPECT_EQ(Try(good, BranchOfNorm), "");
  EXPECT_TRUE(Output(0).Is<Sub>());
  EXPECT_EQ(Output(0).operand(1), z);
  EXPECT_EQ(Output(0).operand(0).DefiningOp().operand(0), y);
  EXPECT_FALSE(good.IsAlive());
  EXPECT_EQ(Try(other, BranchOfNorm), "attribute axis of toy.norm is not what the rule wants");
  EXPECT_EQ(Try(name, BranchOfNorm), "expected toy.if but found toy.loop");
}

TEST_F(Regions, AValueOfARegionCannotBeUsedOutsideIt) {
  const Operation holder =
      Branch([&](ir::Builder& in) { return in.Make<Norm>({in.Make<Tanh>({x})}, {.axis = 0}); });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(holder, BranchOfNorm), "a value of a region is used outside it");
}

TEST_F(Regions, WithAnEffectAreNotReplaced) {
  const Operation holder = Branch([&](ir::Builder& in) {
    in.Make<Log>({x});
    return in.Make<Norm>({x}, {.axis = 0});
  });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(holder, BranchOfNorm), "toy.log in a region of toy.if is not pure");
}

TEST_F(Regions, TheNumberOfReturnedValuesMustBeRight) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto c = src.Tensor("c"), x = src.Tensor("x");
    auto branch = src.AnyOp("toy.if");
    auto out = branch(c);
    src.Returns(branch, 0, {src.None(), src.Op<Norm>({.axis = 0})(x)});
    res.Tensor(out) = x;
  };
  const Operation holder = Branch([&](ir::Builder& in) { return in.Make<Norm>({x}, {.axis = 0}); });
  b.Return({{"out", holder.result()}});
  EXPECT_EQ(Try(holder, rule), "region 0 of toy.if returns 1 values but the rule names 2");
}

// --- other readers ---------------------------------------------------------------------------

class Escapes : public Language {};

TEST_F(Escapes, ARecomputedValueAndAllBelowMayBeReadByOthers) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto t = src.Op<Tanh>()(src.Op<Scale>()(x));
    auto out = src.Op<Relu>()(src.Recompute(t));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  auto keep = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto t = src.Op<Tanh>()(src.Op<Scale>()(x));
    auto out = src.Op<Relu>()(src.Keep(t));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value s = b.Make<Scale>({x}), t = b.Make<Tanh>({s}), r = b.Make<Relu>({t});
  b.Return({{"r", r}, {"t", t}, {"s", s}});
  EXPECT_EQ(Try(r.DefiningOp(), keep),
            "an intermediate value, result 0 of toy.scale, is also read by builtin.return");
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(0).Is<Norm>());
  EXPECT_TRUE(Output(1).Is<Tanh>());
  EXPECT_TRUE(Output(2).Is<Scale>());
}

TEST_F(Escapes, ARecomputedValueThatNobodyElseReadsGoes) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Recompute(src.Op<Tanh>()(src.Op<Scale>()(x))));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value s = b.Make<Scale>({x}), t = b.Make<Tanh>({s}), r = b.Make<Relu>({t});
  b.Return({{"r", r}, {"s", s}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_FALSE(t.IsAlive());
  EXPECT_TRUE(s.IsAlive());
}

TEST_F(Escapes, KeepOfAChoiceIsOfWhatWasChosen) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto either = src.Either(src.Op<Tanh>()(x), src.Op<Scale>()(x));
    auto out = src.Op<Relu>()(src.Keep(either));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value s = b.Make<Scale>({x}), r = b.Make<Relu>({s});
  b.Return({{"r", r}, {"s", s}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(1).Is<Scale>());
}

// --- further roots -----------------------------------------------------------------------------

class Joins : public Language {};

TEST_F(Joins, GoUpFromASharedValueThroughSeveralOps) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // relu(x), tanh(scale(norm(x))) => pair
    auto x = src.Tensor("x");
    auto first = src.Op<Relu>()(x);
    auto second = src.Op<Tanh>()(src.Op<Scale>()(src.Op<Norm>({.axis = 1})(x)));
    auto [p, q] = res.Op<Pair>()(x, x, x);
    res.Tensor(first) = p;
    res.Tensor(second) = q;
  };
  const Value decoy = b.Make<Relu>({b.Make<Norm>({x}, {.axis = 1})});
  const Value r = b.Make<Relu>({x});
  const Value t = b.Make<Tanh>({b.Make<Scale>({b.Make<Norm>({x}, {.axis = 1})})});
  const Value alone = b.Make<Relu>({y});
  b.Return({{"r", r}, {"t", t}, {"decoy", decoy}, {"alone", alone}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(0).Is<Pair>());
  EXPECT_EQ(Output(0), Output(1));
  EXPECT_TRUE(Output(2).Is<Relu>());
  EXPECT_EQ(Try(alone.DefiningOp(), rule), "no toy.norm beside it reads 'x'");
}

TEST_F(Joins, OfThreeRootsAreFoundInTurn) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // x - y, y - z, z - x
    auto x = src.Tensor("x"), y = src.Tensor("y"), z = src.Tensor("z");
    auto a = src.Op<Sub>()(x, y);
    auto c = src.Op<Sub>()(z, x);
    auto d = src.Op<Sub>()(y, z);
    auto [p, q] = res.Op<Pair>()(x, y, z);
    res.Tensor(a) = p;
    res.Tensor(d) = q;
    res.Tensor(c) = x;
  };
  const Value a = b.Make<Sub>({x, y}), wrong = b.Make<Sub>({y, y});
  const Value d = b.Make<Sub>({y, z}), c = b.Make<Sub>({z, x});
  b.Return({{"a", a}, {"d", d}, {"c", c}, {"wrong", wrong}});
  EXPECT_EQ(Try(a.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(0).Is<Pair>());
  EXPECT_TRUE(Output(1).Is<Pair>());
  EXPECT_EQ(program.body().Terminator().operand(2), x);
}

TEST_F(Joins, TryABoundedNumberOfReaders) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // relu(x), norm(x, 7)
    auto x = src.Tensor("x");
    auto first = src.Op<Relu>()(x), second = src.Op<Norm>({.axis = 7})(x);
    res.Tensor(first) = x;
    res.Tensor(second) = x;
  };
  const Value r = b.Make<Relu>({x});
  std::vector<std::pair<std::string, Value>> outputs{{"r", r}};
  for (uint32_t i = 0; i <= Matcher::kMaxJoinCandidates; ++i)
    outputs.emplace_back("n" + std::to_string(i), b.Make<Norm>({x}, {.axis = 1}));
  b.Return(outputs);
  EXPECT_THAT(Try(r.DefiningOp(), rule), HasSubstr("attribute axis of toy.norm"));
  b.SetInsertionPoint(program.body().Terminator());
  b.Make<Norm>({x}, {.axis = 7});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");  // the newest reader is tried first
}

TEST_F(Joins, RootsThatShareNothingAreAMistake) {
  EXPECT_THAT(
      Errors([](SourcePattern& src, ResultPattern& res) {
        auto x = src.Tensor("x"), y = src.Tensor("y");
        auto first = src.Op<Relu>()(x), second = src.Op<Tanh>()(y);
        res.Tensor(first) = y;
        res.Tensor(second) = x;
      }),
      testing::Contains(HasSubstr("toy.tanh shares no value with the rest of the pattern")));
}

// --- afterwards --------------------------------------------------------------------------------

class Hooks : public Language {};

TEST_F(Hooks, RunOnceTheMatchIsReplaced) {
  std::vector<std::string> seen;
  auto rule = [&seen](SourcePattern& src, ResultPattern& res) {
    auto axis = src.Attr<int64_t>("axis");
    auto x = src.Tensor("x");
    auto inner = src.Op<Tanh>()(x);
    auto out = src.Op<Norm>({.axis = axis})(inner);
    src.RequireNativeCall("axis is even", [=](const MatchContext& m) { return m[axis] % 2 == 0; });
    auto scale = res.Op<Scale>();
    auto y = scale(x);
    res.Tensor(out) = res.Op<Relu>()(y);
    res.PostProcess([=, &seen](PostContext& p) {
      for (Operation op : p.created()) seen.emplace_back(op.name());
      seen.emplace_back(p[inner].value() ? "tanh is there" : "tanh is gone");
      EXPECT_EQ(p[x].value(), p[scale].operand(0));
      EXPECT_EQ(p[y], p[scale].result());
      p.rewriter().SetAttr(p[scale], "axis", p.context()->IntAttr(p[axis]));
    });
    res.PostProcess([=](PostContext& p) { p.rewriter().program()->SetName(p[y], "scaled"); });
  };
  const Value odd = b.Make<Norm>({b.Make<Tanh>({x})}, {.axis = 1});
  const Value even = b.Make<Norm>({b.Make<Tanh>({x})}, {.axis = 4});
  b.Return({{"odd", odd}, {"even", even}});
  EXPECT_EQ(Try(odd.DefiningOp(), rule), "does not hold: axis is even");
  EXPECT_THAT(seen, ElementsAre());
  EXPECT_EQ(Try(even.DefiningOp(), rule), "");
  EXPECT_THAT(seen, ElementsAre("toy.scale", "toy.relu", "tanh is gone"));
  EXPECT_EQ(Output(1).operand(0).DefiningOp().attrs_of<Scale>().axis, 4);
  EXPECT_EQ(Output(1).operand(0).name(), "scaled");
}

}  // namespace
}  // namespace weft::drr
