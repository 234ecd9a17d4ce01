// What stands for several ops or values: chains, lists of operands, one op for each of a list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using toy::Add;
using toy::Join;
using toy::Mul;
using toy::Norm;
using toy::Number;
using toy::Relu;
using toy::Same;
using toy::Scale;
using toy::Sub;
using toy::Tanh;

class Repetition : public Language {
 protected:
  // The names of the ops that make output i, from the result down through first operands.
  std::vector<std::string_view> Spine(uint32_t i) {
    std::vector<std::string_view> names;
    for (Operation op = Output(i); op; op = op.HasOperand(0) ? op.operand(0).DefiningOp() : op) {
      names.push_back(op.name());
      if (!op.HasOperand(0) || op.operand(0).IsBlockArgument()) break;
    }
    return names;
  }
};

// scale(f(norm(x))) => f(norm(scale(x))), f any number of relus and tanhs
void ScaleFirst(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  auto f = src.Repeat<Relu, Tanh>();
  auto out = src.Op<Scale>()(f(src.Op<Norm>({.axis = 1})(x)));
  res.Tensor(out) = res.Like(f)(res.Op<Norm>({.axis = 1})(res.Op<Scale>()(x)));
}

TEST_F(Repetition, MatchesZeroOrMoreOpsInARow) {
  const Value norm = b.Make<Norm>({x}, {.axis = 1}), other = b.Make<Norm>({y}, {.axis = 1});
  const Value none = b.Make<Scale>({other});
  const Value three = b.Make<Scale>({b.Make<Relu>({b.Make<Tanh>({b.Make<Relu>({norm})})})});
  b.Return({{"none", none}, {"three", three}});
  EXPECT_EQ(Try(none.DefiningOp(), ScaleFirst), "");
  EXPECT_EQ(Try(three.DefiningOp(), ScaleFirst), "");
  EXPECT_THAT(Spine(0), ElementsAre("toy.norm", "toy.scale"));
  EXPECT_THAT(Spine(1), ElementsAre("toy.relu", "toy.tanh", "toy.relu", "toy.norm", "toy.scale"));
  EXPECT_EQ(program.body().num_ops(), 8u);  // the old ones are gone
}

TEST_F(Repetition, EndsAtAnOpOfAnotherKind) {
  const Value sub = b.Make<Sub>({b.Make<Norm>({x}, {.axis = 1}), y});
  const Value out = b.Make<Scale>({b.Make<Relu>({b.Make<Tanh>({sub})})});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(), ScaleFirst), "expected toy.norm but found toy.sub");
}

TEST_F(Repetition, EndsAtAValueThatOthersRead) {
  const Value inner = b.Make<Relu>({b.Make<Norm>({x}, {.axis = 1})});
  const Value out = b.Make<Scale>({b.Make<Tanh>({inner})});
  b.Return({{"out", out}, {"inner", inner}});
  EXPECT_EQ(Try(out.DefiningOp(), ScaleFirst), "expected toy.norm but found toy.relu");
}

TEST_F(Repetition, OfAKeptChainOthersMayReadEveryValue) {
  auto kept = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto f = src.Repeat<Relu, Tanh>();
    auto out = src.Op<Scale>()(src.Keep(f(src.Op<Norm>({.axis = 1})(x))));
    res.Tensor(out) = res.Like(f)(res.Op<Norm>({.axis = 2})(x));
  };
  const Value inner = b.Make<Relu>({b.Make<Norm>({x}, {.axis = 1})});
  const Value out = b.Make<Scale>({b.Make<Tanh>({inner})});
  b.Return({{"out", out}, {"inner", inner}});
  EXPECT_EQ(Try(out.DefiningOp(), kept), "");
  EXPECT_THAT(Spine(0), ElementsAre("toy.tanh", "toy.relu", "toy.norm"));
  EXPECT_THAT(Spine(1), ElementsAre("toy.relu", "toy.norm"));
  EXPECT_EQ(Output(0).operand(0).DefiningOp().operand(0).DefiningOp().attrs_of<Norm>().axis, 2);
}

TEST_F(Repetition, TakesNoFewerThanItsLeastAndNoMoreThanItsMost) {
  auto two_or_three = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto f = src.Repeat<Relu>({.min = 2, .max = 3});
    auto out = src.Op<Scale>()(f(x));
    res.Tensor(out) = res.Like(f)(res.Op<Tanh>()(x));
  };
  auto relus = [&](int n) {
    Value v = x;
    for (int i = 0; i < n; ++i) v = b.Make<Relu>({v});
    return b.Make<Scale>({v});
  };
  const Value one = relus(1), three = relus(3), four = relus(4);
  b.Return({{"one", one}, {"three", three}, {"four", four}});
  EXPECT_EQ(Try(one.DefiningOp(), two_or_three),
            "expected 2 or more of toy.relu in a row but found 1");
  EXPECT_EQ(Try(three.DefiningOp(), two_or_three), "");
  EXPECT_EQ(Try(four.DefiningOp(), two_or_three), "");
  EXPECT_THAT(Spine(1), ElementsAre("toy.relu", "toy.relu", "toy.relu", "toy.tanh"));
  EXPECT_THAT(Spine(2), ElementsAre("toy.relu", "toy.relu", "toy.relu", "toy.tanh", "toy.relu"));
}

TEST_F(Repetition, GivesOpsBackThatWhatIsBelowItNeeds) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // the last relu belongs to the pattern
    auto x = src.Tensor("x");
    auto f = src.Repeat<Relu, Tanh>();
    auto out = src.Op<Scale>()(f(src.Op<Relu>()(x)));
    res.Tensor(out) = res.Like(f)(res.Op<Same>()(x));
  };
  const Value out = b.Make<Scale>({b.Make<Tanh>({b.Make<Relu>({b.Make<Relu>({x})})})});
  const Value bad = b.Make<Scale>({b.Make<Tanh>({x})});
  b.Return({{"out", out}, {"bad", bad}});
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
  EXPECT_THAT(Spine(0), ElementsAre("toy.tanh", "toy.relu", "toy.same"));
  EXPECT_EQ(Try(bad.DefiningOp(), rule), "expected toy.relu but found a block argument");
}

TEST_F(Repetition, GoesThroughTheOperandThatIsNoConstantAndCopiesTheOther) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto f = src.Repeat<Add, Norm, Relu>(AnyAttrs(), {.min = 1});
    auto out = src.Op<Scale>()(f(src.Op<Tanh>()(x)));
    src.RequireNativeCall("there are three of them",
                          [=](const MatchContext& m) { return m[f].size() == 3; });
    src.RequireNativeCall("a norm comes first",
                          [=](const MatchContext& m) { return m[f][0].Is<Norm>(); });
    res.Tensor(out) = res.Like(f)(x);
  };
  const Value constant = b.ConstantFloats(std::vector<float>(6, 3), Shape{2, 3});
  const Value norm = b.Make<Norm>({b.Make<Tanh>({x}), y}, {.axis = 5});
  const Value out = b.Make<Scale>({b.Make<Add>({b.Make<Add>({constant, norm}), z})});
  const Value short_chain = b.Make<Scale>({b.Make<Relu>({b.Make<Tanh>({x})})});
  b.Return({{"out", out}, {"short", short_chain}});
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).operand(1), z);
  const Operation sum = Output(0).operand(0).DefiningOp();
  EXPECT_EQ(sum.operand(0), constant);
  const Operation made = sum.operand(1).DefiningOp();
  EXPECT_EQ(made.operands().vec(), (std::vector<Value>{x, y}));
  EXPECT_EQ(made.attrs_of<Norm>().axis, 5);
  EXPECT_EQ(Try(short_chain.DefiningOp(), rule), "does not hold: there are three of them");
}

TEST_F(Repetition, OfAnyOpsTakesThoseWithTheTrait) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto f = src.RepeatAny(ir::kElementwise | ir::kPure, {.min = 1});
    auto out = src.Op<Scale>()(f(src.Op<Norm>({.axis = 1})(x)));
    res.Tensor(out) = res.Like(f)(x);
  };
  const Value good =
      b.Make<Scale>({b.Make<Mul>({b.Make<Relu>({b.Make<Norm>({x}, {.axis = 1})}), y})});
  const Value bad = b.Make<Scale>({b.Make<Relu>({b.Make<Sub>({x, y})})});
  const Value logged = b.Make<Scale>({b.Make<toy::Log>({b.Make<Norm>({x}, {.axis = 1})})});
  b.Return({{"good", good}, {"bad", bad}, {"logged", logged}});
  EXPECT_EQ(Try(good.DefiningOp(), rule), "");
  EXPECT_THAT(Spine(0), ElementsAre("toy.mul", "toy.relu"));
  EXPECT_EQ(Try(bad.DefiningOp(), rule), "expected toy.norm but found toy.sub");
  EXPECT_EQ(Try(logged.DefiningOp(), rule), "expected 1 or more of any op in a row but found 0");
}

TEST_F(Repetition, MayBeWhatIsReplaced) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Repeat<Relu>({.min = 2})(x);
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  const Value r = b.Make<Relu>({b.Make<Relu>({b.Make<Relu>({x})})});
  const Value one = b.Make<Relu>({y});
  b.Return({{"out", r}, {"one", one}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_THAT(Spine(0), ElementsAre("toy.relu"));
  EXPECT_EQ(program.body().num_ops(), 3u);
  EXPECT_EQ(Try(one.DefiningOp(), rule), "expected 2 or more of toy.relu in a row but found 1");
}

TEST_F(Repetition, ThatMayBeEmptyCannotBeReplaced) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x");
                res.Tensor(src.Repeat<Relu>()(x)) = x;
              }),
              ElementsAre(HasSubstr("a replaced chain must have at least one op")));
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x");
                auto out = src.Repeat<Relu>({.min = 3, .max = 2})(x);
                res.Tensor(out) = x;
              }),
              ElementsAre(HasSubstr("toy.relu repeats at least 3 and at most 2 times")));
}

// --- lists of operands -----------------------------------------------------------------

class OperandLists : public Repetition {};

TEST_F(OperandLists, BindAllOperandsOfAnOpThatTakesAnyNumber) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // relu(join(xs)) => tanh(join(xs))
    auto xs = src.Tensors("xs");
    auto out = src.Op<Relu>()(src.Op<Join>()(xs));
    src.RequireNativeCall("all are of rank 2", [=](const MatchContext& m) {
      for (const BoundTensor& t : m[xs])
        if (t.rank() != 2) return false;
      return true;
    });
    res.Tensor(out) = res.Op<Tanh>()(res.Op<Join>()(xs));
  };
  const Value one = b.Make<Relu>({b.Make<Join>({x})});
  const Value four = b.Make<Relu>({b.Make<Join>({x, y, z, y})});
  const Value vector = b.Make<Relu>({b.Make<Join>({x, Input("v", {3})})});
  b.Return({{"one", one}, {"four", four}, {"vector", vector}});
  EXPECT_EQ(Try(one.DefiningOp(), rule), "");
  EXPECT_EQ(Try(four.DefiningOp(), rule), "");
  EXPECT_EQ(Try(vector.DefiningOp(), rule), "does not hold: all are of rank 2");
  EXPECT_EQ(Output(0).operand(0).DefiningOp().operands().vec(), (std::vector<Value>{x}));
  EXPECT_EQ(Output(1).operand(0).DefiningOp().operands().vec(), (std::vector<Value>{x, y, z, y}));
}

TEST_F(OperandLists, AreWhatIsLeftBesideNamedOperands) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // join(x, ys, tanh(z)) => join(ys, x)
    auto x = src.Tensor("x"), z = src.Tensor("z");
    auto ys = src.Tensors("ys");
    auto out = src.Op<Join>()(x, ys, src.Op<Tanh>()(z));
    res.Tensor(out) = res.Op<Join>()(ys, res.Op<Sub>()(x, z));
  };
  const Value t = b.Make<Tanh>({z});
  const Value none = b.Make<Join>({x, t});
  const Value few = b.Make<Join>({t});
  const Value last = b.Make<Join>({x, y, z});
  b.Return({{"none", none}, {"few", few}, {"last", last}});
  EXPECT_EQ(Try(few.DefiningOp(), rule), "toy.join has 1 operands but the rule names 2");
  EXPECT_EQ(Try(last.DefiningOp(), rule), "expected toy.tanh but found a block argument");
  EXPECT_EQ(Try(none.DefiningOp(), rule),
            "an intermediate value, result 0 of toy.tanh, is also used by toy.join");
  ir::Rewriter(&program).SetOperand(few.DefiningOp(), 0, y);
  EXPECT_EQ(Try(none.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).num_operands(), 1u);
  EXPECT_TRUE(Output(0).operand(0).DefiningOp().Is<Sub>());
}

// join(xs, join(ys), zs) => join(xs, ys, zs), of one axis
void FlattenJoin(SourcePattern& src, ResultPattern& res) {
  auto xs = src.Tensors("xs"), ys = src.Tensors("ys"), zs = src.Tensors("zs");
  auto axis = src.Attr<int64_t>("axis");
  auto inner = src.Op<Join>({.axis = axis})(ys);
  auto out = src.Op<Join>({.axis = axis})(xs, inner, zs);
  res.Tensor(out) = res.Op<Join>({.axis = axis})(xs, ys, zs);
}

TEST_F(OperandLists, TwoInOneOpLeaveWhatIsBetweenThemAnywhere) {
  const Value inner = b.Make<Join>({y, z}, {.axis = 1}), other = b.Make<Join>({z}, {.axis = 2});
  const Value out = b.Make<Join>({x, other, inner, x}, {.axis = 1});
  const Value plain = b.Make<Join>({x, y, z}, {.axis = 1});
  b.Return({{"out", out}, {"plain", plain}});
  EXPECT_EQ(Try(out.DefiningOp(), FlattenJoin), "");  // not `other`, which comes first
  EXPECT_EQ(Output(0).operands().vec(), (std::vector<Value>{x, other, y, z, x}));
  EXPECT_EQ(Output(0).attrs_of<Join>().axis, 1);
  EXPECT_NE(Try(plain.DefiningOp(), FlattenJoin), "");
}

TEST_F(OperandLists, OfOneNameAreEqual) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // join(xs) - join(xs) => ...
    auto xs = src.Tensors("xs");
    auto out = src.Op<Sub>()(src.Op<Join>()(xs), src.Op<Join>()(src.Tensors("xs")));
    res.Tensor(out) = res.Op<Relu>()(res.Op<Join>()(xs));
  };
  const Value same = b.Make<Sub>({b.Make<Join>({x, y}), b.Make<Join>({x, y})});
  const Value other = b.Make<Sub>({b.Make<Join>({x, y}), b.Make<Join>({y, x})});
  const Value shorter = b.Make<Sub>({b.Make<Join>({x, y}), b.Make<Join>({x})});
  b.Return({{"same", same}, {"other", other}, {"shorter", shorter}});
  EXPECT_EQ(Try(same.DefiningOp(), rule), "");
  EXPECT_EQ(Try(other.DefiningOp(), rule), "'xs' would have to be two different lists");
  EXPECT_EQ(Try(shorter.DefiningOp(), rule), "'xs' would have to be two different lists");
}

// join(norm(x, a) of each) => norm(join(x of each), a)
void JoinFirst(SourcePattern& src, ResultPattern& res) {
  auto xs = src.Tensors("xs");
  auto axis = src.Attr<int64_t>("axis");
  auto out = src.Op<Join>()(src.Op<Norm>({.axis = axis}).Each(xs));
  res.Tensor(out) = res.Op<Norm>({.axis = axis})(res.Op<Join>()(xs));
}

TEST_F(OperandLists, EachWantsOneOpForEveryElement) {
  auto norms = [&](int64_t first, int64_t second) {
    return b.Make<Join>({b.Make<Norm>({x}, {.axis = first}), b.Make<Norm>({y}, {.axis = second}),
                         b.Make<Norm>({z}, {.axis = first})});
  };
  const Value good = norms(3, 3), bad = norms(3, 4);
  const Value mixed = b.Make<Join>({b.Make<Norm>({x}, {.axis = 3}), y});
  const Value scaled = b.Make<Join>({b.Make<Norm>({x, y}, {.axis = 3})});
  b.Return({{"good", good}, {"bad", bad}, {"mixed", mixed}, {"scaled", scaled}});
  EXPECT_EQ(Try(good.DefiningOp(), JoinFirst), "");
  EXPECT_EQ(Output(0).attrs_of<Norm>().axis, 3);
  EXPECT_EQ(Output(0).operand(0).DefiningOp().operands().vec(), (std::vector<Value>{x, y, z}));
  EXPECT_EQ(Try(bad.DefiningOp(), JoinFirst),
            "attribute axis of toy.norm is 4, but $axis was bound to 3");
  EXPECT_THAT(Try(mixed.DefiningOp(), JoinFirst), HasSubstr("expected toy.norm for element 1 of"));
  EXPECT_EQ(Try(scaled.DefiningOp(), JoinFirst),
            "toy.norm does not have exactly its first operand");
}

TEST_F(OperandLists, EachElementIsAnIntermediateValue) {
  const Value shared = b.Make<Norm>({y}, {.axis = 3});
  const Value out = b.Make<Join>({b.Make<Norm>({x}, {.axis = 3}), shared, shared});
  b.Return({{"out", out}, {"shared", shared}});
  EXPECT_EQ(Try(out.DefiningOp(), JoinFirst),
            "an intermediate value, result 0 of toy.norm, is also used by builtin.return");
  ir::Rewriter(&program).SetOperand(program.body().Terminator(), 1, x);
  EXPECT_EQ(Try(out.DefiningOp(), JoinFirst), "");  // one op may serve two elements
  EXPECT_EQ(Output(0).operand(0).DefiningOp().operands().vec(), (std::vector<Value>{x, y, y}));
}

TEST_F(OperandLists, EachInTheResultMakesOneOpForEveryElement) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // join(xs) + y => join(xs + y of each)
    auto y = src.Tensor("y");
    auto xs = src.Tensors("xs");
    auto out = src.Op<Sub>()(src.Op<Join>({.axis = 1})(xs), y);
    auto terms = res.Op<Sub>().Each(xs, y);
    res.Tensor(out) = res.Op<Join>({.axis = 1})(res.Op<Relu>().Each(terms), y);
  };
  const Value out = b.Make<Sub>({b.Make<Join>({x, z}, {.axis = 1}), y});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
  ASSERT_EQ(Output(0).num_operands(), 3u);
  EXPECT_EQ(Output(0).operand(2), y);
  const Operation second = Output(0).operand(1).DefiningOp();
  EXPECT_TRUE(second.Is<Relu>());
  EXPECT_EQ(second.operand(0).DefiningOp().operands().vec(), (std::vector<Value>{z, y}));
}

TEST_F(OperandLists, MistakesAreFoundWhenTheRuleIsBuilt) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto a = src.Tensors("a"), c = src.Tensors("c"), d = src.Tensors("d");
                res.Tensor(src.Op<Join>()(a, c, d)) = res.Op<Join>()(a, c, d);
              }),
              ElementsAre(HasSubstr("toy.join reads more than two lists")));
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto a = src.Tensors("a");
                res.Tensor(src.Op<Join>()(a)) = a;
              }),
              ElementsAre(HasSubstr("is replaced by a list, or is one")));
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto a = src.Tensors("a"), other = src.Tensors("other");
                res.Tensor(src.Op<Join>()(a)) = res.Op<Join>()(a, other);
              }),
              testing::Contains(HasSubstr("uses 'other', which the source pattern never binds")));
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto a = src.Tensors("a"), c = src.Tensors("c");
                (void)src.Tensor("a");
                auto out = src.Op<Join>()(a, src.Op<Relu>().Each(c));
                res.Tensor(out) = res.Op<Join>()(a, c);
              }),
              ElementsAre(HasSubstr("'a' is a tensor and a list of tensors")));
}

}  // namespace
}  // namespace weft::drr
