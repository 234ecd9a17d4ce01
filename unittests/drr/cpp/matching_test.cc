// The rule language: matches of values that are used elsewhere, choices and how they are taken back,
// and which rules the fast matcher takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;
using testing::HasSubstr;
using toy::Add;
using toy::Mul;
using toy::Norm;
using toy::Number;
using toy::Pair;
using toy::Relu;
using toy::Scale;
using toy::Sub;
using toy::Tanh;

// --- values read elsewhere ---------------------------------------------------------------

void ReluOfTanh(SourcePattern& src, ResultPattern& res) {  // relu(tanh(x)) => norm(x)
  auto x = src.Tensor("x");
  auto out = src.Op<Relu>()(src.Op<Tanh>()(x));
  res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
}
void ReluOfKeptTanh(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  auto out = src.Op<Relu>()(src.Keep(src.Op<Tanh>()(x)));
  res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
}

TEST_F(Language, AnIntermediateThatIsAProgramOutputRefusesTheMatch) {
  const Value t = b.Make<Tanh>({x}), r = b.Make<Relu>({t});
  b.Return({{"r", r}, {"t", t}});
  EXPECT_EQ(Try(r.DefiningOp(), ReluOfTanh),
            "an intermediate value, result 0 of toy.tanh, is also used by builtin.return");
}

TEST_F(Language, AnIntermediateReadInARegionRefusesTheMatch) {
  const Value t = b.Make<Tanh>({x}), r = b.Make<Relu>({t});
  const Operation holder =
      b.Builder::Create({.opcode = ir::Opcode::FindOrAdd("toy.holder"), .num_regions = 1});
  b.Return({{"r", r}});
  ir::Rewriter rewriter(&program);
  ir::Builder inside(&program);
  inside.SetInsertionPointToEnd(rewriter.AppendBlock(holder.region(0)));
  inside.Make<Scale>({t});
  EXPECT_EQ(Try(r.DefiningOp(), ReluOfTanh),
            "an intermediate value, result 0 of toy.tanh, is also used by toy.scale");
}

TEST_F(Language, AKeptIntermediateStaysForItsOtherReaders) {
  const Value t = b.Make<Tanh>({x}), r = b.Make<Relu>({t});
  b.Return({{"r", r}, {"t", t}});
  EXPECT_EQ(Try(r.DefiningOp(), ReluOfKeptTanh), "");
  EXPECT_TRUE(Output(0).Is<Norm>());
  EXPECT_TRUE(Output(1).Is<Tanh>());
}

TEST_F(Language, AKeptIntermediateWithoutOtherReadersGoes) {
  const Value t = b.Make<Tanh>({x}), r = b.Make<Relu>({t});
  b.Return({{"r", r}});
  EXPECT_EQ(Try(r.DefiningOp(), ReluOfKeptTanh), "");
  EXPECT_EQ(program.body().num_ops(), 2u);
}

TEST_F(Language, AReplacedIntermediateServesReadersThatComeEarlier) {
  auto both = [](SourcePattern& src, ResultPattern& res) {  // two values of one chain
    auto x = src.Tensor("x");
    auto t = src.Op<Tanh>()(x);
    auto out = src.Op<Relu>()(t);
    auto n = res.Op<Norm>({.axis = 0})(x);
    res.Tensor(t) = n;
    res.Tensor(out) = res.Op<Scale>()(n);
  };
  const Value t = b.Make<Tanh>({x});
  const Value early = b.Make<Sub>({t, y});  // before the root
  const Value r = b.Make<Relu>({t});
  b.Return({{"r", r}, {"early", early}});
  EXPECT_EQ(Try(r.DefiningOp(), both), "");  // Rewrite verifies that nothing is read too early
  EXPECT_TRUE(Output(1).operand(0).DefiningOp().Is<Norm>());
}

TEST_F(Language, AReplacedIntermediateThatAKeptOneReadsStaysInOrder) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto t = src.Op<Tanh>()(x);
    auto kept = src.Keep(src.Op<Scale>()(t));
    auto out = src.Op<Relu>()(kept);
    auto n = res.Op<Norm>({.axis = 0})(x);
    res.Tensor(t) = n;
    res.Tensor(out) = n;
  };
  const Value t = b.Make<Tanh>({x}), kept = b.Make<Scale>({t});
  const Value early = b.Make<Sub>({kept, y}), r = b.Make<Relu>({kept});
  b.Return({{"r", r}, {"early", early}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_TRUE(kept.IsAlive());
}

TEST_F(Language, APlaceholderWithoutOperandsMayStandForSeveral) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto one = src.Op<Number>({.value = 1}), also_one = src.Op<Number>({.value = 1});
    auto out = src.Op<Mul>()(src.Op<Add>()(x, one()), also_one());
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  const Value n = b.Make<Number>({}, {.value = 1});
  const Value out = b.Make<Mul>({b.Make<Add>({x, n}), n});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
  EXPECT_EQ(program.body().num_ops(), 2u);  // the number went too
}

TEST_F(Language, OneOpWithOperandsNeverStandsForTwo) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto out = src.Op<Sub>()(src.Op<Tanh>()(x), src.Op<Tanh>()(y));
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  const Value t = b.Make<Tanh>({x});
  const Value out = b.Make<Sub>({t, t});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(), rule), "one toy.tanh would be bound to two pattern ops");
}

// --- choices and backtracking --------------------------------------------------------------

TEST_F(Language, CommutedOperandsAreFoundOverSeveralLevels) {
  // (tanh(x) + relu(y)) * (tanh(y) + z): y decides which way round each sum is.
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y"), z = src.Tensor("z");
    auto left = src.Op<Add>()(src.Op<Tanh>()(x), src.Op<Relu>()(y));
    auto right = src.Op<Add>()(src.Op<Tanh>()(y), z);
    auto out = src.Op<Mul>()(left, right);
    res.Tensor(out) = res.Op<Pair>()(x, y, z)[0];
  };
  std::vector<std::pair<std::string, Value>> outputs;
  for (int order = 0; order < 8; ++order) {
    auto sum = [&](bool swapped, Value a, Value c) {
      return swapped ? b.Make<Add>({c, a}) : b.Make<Add>({a, c});
    };
    const Value left = sum(order & 1, b.Make<Tanh>({x}), b.Make<Relu>({y}));
    const Value right = sum(order & 2, b.Make<Tanh>({y}), z);
    outputs.emplace_back(std::to_string(order),
                         order & 4 ? b.Make<Mul>({right, left}) : b.Make<Mul>({left, right}));
  }
  b.Return(outputs);
  for (auto& [name, value] : outputs) EXPECT_EQ(Try(value.DefiningOp(), rule), "") << name;
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(Output(i).operands().vec(), (std::vector<Value>{x, y, z})) << i;
}

TEST_F(Language, AChoiceMadeDeepDownIsTakenBackWhenAHigherOneFails) {
  // (a + b) - a: only the other order of the sum makes a the subtrahend.
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto a = src.Tensor("a"), c = src.Tensor("c");
    auto out = src.Op<Sub>()(src.Op<Add>()(a, c), a);
    res.Tensor(out) = c;
  };
  const Value first = b.Make<Sub>({b.Make<Add>({x, y}), x});
  const Value second = b.Make<Sub>({b.Make<Add>({x, y}), y});
  const Value neither = b.Make<Sub>({b.Make<Add>({x, y}), z});
  b.Return({{"a", first}, {"b", second}, {"c", neither}});
  EXPECT_EQ(Try(first.DefiningOp(), rule), "");
  EXPECT_EQ(Try(second.DefiningOp(), rule), "");
  EXPECT_EQ(program.body().Terminator().operand(0), y);
  EXPECT_EQ(program.body().Terminator().operand(1), x);
  EXPECT_EQ(Try(neither.DefiningOp(), rule), "'a' would have to be two different values");
}

TEST_F(Language, EitherOfThreeTakesTheOneThatFits) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto t = src.Op<Tanh>()(x);
    auto sum = src.Op<Add>();
    auto product = src.Op<Mul>();
    auto any = src.EitherOf({sum(t, y), product(t, y), t});
    auto out = src.Op<Relu>()(any);
    auto axis = [=](const MatchContext& m) { return m.Has(sum) ? 1 : m.Has(product) ? 2 : 3; };
    res.Tensor(out) = res.Op<Norm>({.axis = axis})(x, y);
  };
  const Value sum = b.Make<Relu>({b.Make<Add>({y, b.Make<Tanh>({x})})});
  const Value product = b.Make<Relu>({b.Make<Mul>({b.Make<Tanh>({x}), y})});
  const Value plain = b.Make<Relu>({b.Make<Tanh>({x})});
  const Value none = b.Make<Relu>({b.Make<Sub>({b.Make<Tanh>({x}), y})});
  b.Return({{"a", sum}, {"b", product}, {"c", plain}, {"d", none}});
  for (Value v : {sum, product, plain}) EXPECT_EQ(Try(v.DefiningOp(), rule), "");
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Output(i).attrs_of<Norm>().axis, i + 1);
    EXPECT_EQ(Output(i).num_operands(), i < 2 ? 2u : 1u);
  }
  EXPECT_EQ(Try(none.DefiningOp(), rule), "expected toy.add but found toy.sub");
}

TEST_F(Language, ARequiredOperandMustBeBoundInEveryVariant) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x"), y = src.Tensor("y");
                auto out = src.Op<Relu>()(src.Either(src.Op<Add>()(x, y), x));
                res.Tensor(out) = res.Op<Sub>()(x, y);
              }),
              testing::ElementsAre(HasSubstr("operand 'y' of toy.sub is required, but 'y' is "
                                             "unbound in 1 of 2 variants of the pattern")));
}

// --- plain rules ---------------------------------------------------------------------------

TEST_F(Language, ARuleOfOneTreeWithoutChoicesIsPlain) {
  const Body tree = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), scale = src.Optional(src.Tensor("scale"));
    auto out = src.OneOf<Relu, Tanh>()(src.Op<Norm>(AnyAttrs())(src.Op<Add>()(x, x), scale));
    res.Tensor(out) = x;
  };
  const Body either = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Either(src.Op<Tanh>()(x), x));
    res.Tensor(out) = x;
  };
  const Body joined = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto r = src.Op<Relu>()(x), t = src.Op<Tanh>()(x);
    res.Tensor(r) = x;
    res.Tensor(t) = x;
  };
  EXPECT_TRUE(Rule(tree).Build(&context).rule->graph.IsPlain());
  EXPECT_FALSE(Rule(either).Build(&context).rule->graph.IsPlain());
  EXPECT_FALSE(Rule(joined).Build(&context).rule->graph.IsPlain());
  using Values = std::function<Tensor(SourcePattern&, Tensor)>;
  const std::pair<const char*, Values> others[] = {
      {"a chain", [](SourcePattern& src, Tensor x) { return src.Repeat<Relu>()(x); }},
      {"any op", [](SourcePattern& src, Tensor x) { return src.AnyOp()(x); }},
      {"a skipped op", [](SourcePattern& src, Tensor x) { return src.Skip<Tanh>(x); }},
      {"recompute", [](SourcePattern& src, Tensor x) { return src.Recompute(src.Op<Relu>()(x)); }},
      {"outside", [](SourcePattern& src, Tensor x) { return src.Outside(src.Op<Relu>()(x)); }},
      {"not",
       [](SourcePattern& src, Tensor x) { return src.Not(x, src.Op<Relu>()(src.Tensor("any"))); }},
      {"a list",
       [](SourcePattern& src, Tensor x) { return src.Op<toy::Join>()(x, src.Tensors("rest")); }},
  };
  for (const auto& [what, value] : others) {
    const Body body = [&value = value](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x");
      res.Tensor(src.Op<Tanh>()(value(src, x))) = x;
    };
    const BuildResult built = Rule(body).Build(&context);
    ASSERT_TRUE(built.ok()) << what << built.errors[0];
    EXPECT_FALSE(built.rule->graph.IsPlain()) << what;
  }
}

}  // namespace
}  // namespace weft::drr
