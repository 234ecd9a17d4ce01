// The rule language, one feature at a time: what it matches, what it must not, what it makes.
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

// --- optional operands ---------------------------------------------------------------

void NormWithScale(SourcePattern& src, ResultPattern& res) {  // norm(x, scale?) => scale? + x
  auto x = src.Tensor("x"), scale = src.Optional(src.Tensor("scale"));
  auto out = src.Op<Norm>(AnyAttrs())(x, scale);
  res.Tensor(out) = res.Op<Norm>({.axis = 7})(x, scale);
}

TEST_F(Language, AnOptionalOperandMayBeThereOrNot) {
  const Value with = b.Make<Norm>({x, y}, {.axis = 1}), without = b.Make<Norm>({x}, {.axis = 1});
  b.Return({{"with", with}, {"without", without}});
  EXPECT_EQ(Try(with.DefiningOp(), NormWithScale), "");
  EXPECT_EQ(Try(without.DefiningOp(), NormWithScale), "");
  EXPECT_EQ(Output(0).operand(1), y);
  EXPECT_EQ(Output(1).num_operands(), 1u);
}

TEST_F(Language, AnOperandTheRuleDoesNotNameMustBeAbsent) {
  const Value three = b.Make<Norm>({x, y, z}, {.axis = 1});
  b.Return({{"out", three}});
  EXPECT_EQ(Try(three.DefiningOp(), NormWithScale),
            "toy.norm has an operand 2 the rule does not expect");
}

TEST_F(Language, NoneMeansThatTheOperandIsAbsent) {
  auto only_bias = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), bias = src.Tensor("bias");
    auto out = src.Op<Norm>(AnyAttrs())(x, src.None(), bias);
    res.Tensor(out) = res.Op<Add>()(x, bias);
  };
  const Value good = b.Make<Norm>({x, Value(), z}, {.axis = 1});
  const Value bad = b.Make<Norm>({x, y, z}, {.axis = 1});
  b.Return({{"good", good}, {"bad", bad}});
  EXPECT_EQ(Try(good.DefiningOp(), only_bias), "");
  EXPECT_EQ(Output(0).operand(1), z);
  EXPECT_EQ(Try(bad.DefiningOp(), only_bias), "operand 1 of toy.norm is given");
}

TEST_F(Language, ARequiredOperandMustNotComeFromAnOptionalOne) {
  auto below_an_optional = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto out = src.Op<Norm>(AnyAttrs())(x, src.Optional(src.Op<Tanh>()(y)));
    res.Tensor(out) = res.Op<Add>()(x, y);
  };
  EXPECT_THAT(Errors(below_an_optional),
              testing::ElementsAre(HasSubstr("operand 'y' of toy.add is required, but 'y' is "
                                             "unbound in 1 of 2 variants")));
}

// --- attributes -------------------------------------------------------------------------

TEST_F(Language, SilenceIsTheDefaultWhetherWrittenOutOrNot) {
  auto silent = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Norm>({.axis = Any()})(x);
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  const Value written = b.Make<Norm>({x}, {.axis = 1, .epsilon = 0.5f});
  const Value other = b.Make<Norm>({x}, {.axis = 1, .epsilon = 0.25f});
  const Value grouped = b.Make<Norm>({x}, {.axis = 1, .groups = 2});
  const Value left_out = Bare<Norm>({x}, {{ir::Name("axis"), context.IntAttr(1)}});
  b.Return({{"a", written}, {"b", left_out}, {"c", other}, {"d", grouped}});
  EXPECT_EQ(Try(written.DefiningOp(), silent), "");
  EXPECT_EQ(Try(left_out.DefiningOp(), silent), "");
  EXPECT_EQ(Try(other.DefiningOp(), silent),
            "attribute epsilon of toy.norm is not what the rule wants");
  EXPECT_EQ(Try(grouped.DefiningOp(), silent),
            "attribute groups of toy.norm is not what the rule wants");
}

TEST_F(Language, ALiteralThatIsTheDefaultMatchesWhatIsNotWrittenOut) {
  auto literal = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Scale>({.axis = In{3, 0}, .epsilon = 0.25f})(x);
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  const Value bare = Bare<Scale>({x}, {});
  const Value other = b.Make<Scale>({x}, {.epsilon = 0.5f});
  b.Return({{"a", bare}, {"b", other}});
  EXPECT_EQ(Try(bare.DefiningOp(), literal), "");
  EXPECT_EQ(Try(other.DefiningOp(), literal),
            "attribute epsilon of toy.scale is not what the rule wants");
}

TEST_F(Language, ARequiredAttributeCannotBePassedOverInSilence) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x");
                res.Tensor(src.Op<Norm>()(x)) = res.Op<Norm>()(x);
              }),
              testing::UnorderedElementsAre(
                  HasSubstr("attribute 'axis' of toy.norm has no default: match a value"),
                  HasSubstr("attribute 'axis' of toy.norm has no default and is not set")));
}

TEST_F(Language, InMatchesAnyOfItsValuesAndNoOther) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Norm>({.axis = In{-1, 3}})(x);
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  const Value last = b.Make<Norm>({x}, {.axis = -1}), third = b.Make<Norm>({x}, {.axis = 3});
  const Value second = b.Make<Norm>({x}, {.axis = 2});
  b.Return({{"a", last}, {"b", third}, {"c", second}});
  EXPECT_EQ(Try(last.DefiningOp(), rule), "");
  EXPECT_EQ(Try(third.DefiningOp(), rule), "");
  EXPECT_EQ(Try(second.DefiningOp(), rule),
            "attribute axis of toy.norm is not what the rule wants");
}

TEST_F(Language, OneVariableOnTwoOpsIsOneValue) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto axis = src.Attr<int64_t>("axis");
    auto x = src.Tensor("x");
    auto inner = src.Op<Norm>({.axis = axis})(x);
    auto out = src.Op<Scale>({.axis = axis})(inner);
    res.Tensor(out) = res.Op<Norm>({.axis = axis})(x);
  };
  const Value equal = b.Make<Scale>({b.Make<Norm>({x}, {.axis = 2})}, {.axis = 2});
  const Value unequal = b.Make<Scale>({b.Make<Norm>({x}, {.axis = 2})}, {.axis = 1});
  // An attribute that is left out has its default.
  const Value left_out = Bare<Scale>({b.Make<Norm>({x}, {.axis = 0})}, {});
  b.Return({{"a", equal}, {"b", left_out}, {"c", unequal}});
  EXPECT_EQ(Try(equal.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).attrs_of<Norm>().axis, 2);
  EXPECT_EQ(Try(left_out.DefiningOp(), rule), "");
  EXPECT_EQ(Try(unequal.DefiningOp(), rule),
            "attribute axis of toy.norm is 2, but $axis was bound to 1 by toy.scale");
}

TEST_F(Language, AnyAttrsFreesThemAndAttrsOfCopiesThem) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto norm = src.Op<Norm>(AnyAttrs());
    auto out = norm(x);
    res.Tensor(out) = res.Op<Norm>(AttrsOf(norm), {.epsilon = 2.0f})(x);
  };
  const Value grouped = b.Make<Norm>({x}, {.axis = 5, .epsilon = 0.125f, .groups = 4});
  b.Return({{"a", grouped}});
  EXPECT_EQ(Try(grouped.DefiningOp(), rule), "");
  const auto attrs = Output(0).attrs_of<Norm>();
  EXPECT_EQ(attrs.axis, 5);
  EXPECT_EQ(attrs.epsilon, 2.0f);
  EXPECT_EQ(attrs.groups, 4);
}

TEST_F(Language, AttrsOfLeavesOutWhatTheNewOpDoesNotKnow) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto norm = src.Op<Norm>(AnyAttrs());
    auto out = norm(x);
    res.Tensor(out) = res.Op<Scale>(AttrsOf(norm))(x);
  };
  const Value grouped = Bare<Norm>(
      {x}, {{ir::Name("axis"), context.IntAttr(5)}, {ir::Name("groups"), context.IntAttr(4)}});
  b.Return({{"a", grouped}});
  EXPECT_EQ(Try(grouped.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).attrs_of<Scale>().axis, 5);
  EXPECT_EQ(Output(0).attrs_of<Scale>().epsilon, 0.25f);  // of Scale: norm did not say
  EXPECT_FALSE(Output(0).attr("groups"));
}

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
            "an intermediate value, result 0 of toy.tanh, is also read by builtin.return");
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
            "an intermediate value, result 0 of toy.tanh, is also read by toy.scale");
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

// --- mistakes ------------------------------------------------------------------------------

TEST_F(Language, AnAttributeVariableThatNothingReadsIsAMistake) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x");
                auto axis = src.Attr<int64_t>("axis");
                res.Tensor(src.Op<Norm>({.axis = axis})(x)) = res.Op<Relu>()(x);
              }),
              testing::ElementsAre(HasSubstr("nothing reads attribute variable 'axis'")));
  const Body compared = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto axis = src.Attr<int64_t>("axis");
    auto inner = src.Op<Norm>({.axis = axis})(x);
    res.Tensor(src.Op<Norm>({.axis = axis})(inner)) = x;
  };
  EXPECT_THAT(Errors(compared), testing::ElementsAre());
}

TEST_F(Language, MistakesOfEveryKindAreToldAtOnceEachWithItsLine) {
  const int line = __LINE__;
  const std::vector<std::string> errors = Errors([](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), unused = src.Tensor("unused");
    src.Op<Tanh>();                                                       // never applied
    auto out = src.Op<Norm>()(x);                                         // axis is left open
    src.Op<Relu>()(x);                                                    // no result for it
    src.RequireNativeCall("", [](const MatchContext&) { return true; });  // no reason
    res.Op<Relu>();                                                       // never applied
    res.Op<Tanh>()(x);                                                    // nobody reads it
    res.Tensor(out) = res.Op<Add>()(x, unused);                           // never bound
  });
  auto at = [&](int offset, const char* what) {
    return testing::AllOf(
        HasSubstr("language_test.cc:" + std::to_string(line + offset) + ": error: [rule] "),
        HasSubstr(what));
  };
  EXPECT_THAT(errors,
              testing::UnorderedElementsAre(
                  at(2, "tensor 'unused' is not an operand of any source op"),
                  at(3, "toy.tanh is declared but never applied"),
                  at(4, "attribute 'axis' of toy.norm has no default"),
                  at(5, "toy.relu ends the source pattern but the result does not replace it"),
                  at(6, "a constraint has no reason"),
                  at(7, "result op toy.relu is declared but never applied"),
                  at(8, "no result of toy.tanh is used by the result pattern"),
                  at(9, "operand 'y' of toy.add uses 'unused', which the source pattern")));
}

TEST_F(Language, ARuleWithoutSourceOrResultIsAMistake) {
  EXPECT_THAT(Errors([](SourcePattern&, ResultPattern&) {}),
              testing::ElementsAre(HasSubstr("the source pattern has no op"),
                                   HasSubstr("the result replaces nothing")));
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

// --- constraints and results -----------------------------------------------------------------

TEST_F(Language, EachConstraintRefusesWithItsReason) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto norm = src.Op<Norm>(AnyAttrs());
    auto out = norm(x);
    src.RequireNativeCall("axis is even",
                          [=](const MatchContext& m) { return m[norm].axis % 2 == 0; });
    src.RequireNativeCall("x has two rows",
                          [=](const MatchContext& m) { return m[x].dim(0) == 2; });
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  const Value odd = b.Make<Norm>({x}, {.axis = 1});
  const Value u = Input("u", {4, 3});
  const Value long_x = b.Make<Norm>({u}, {.axis = 2});
  const Value unknown = b.Make<Norm>({Input("w", {ir::kUnknownDim, 3})}, {.axis = 2});
  const Value good = b.Make<Norm>({x}, {.axis = 2});
  b.Return({{"a", odd}, {"b", long_x}, {"c", unknown}, {"d", good}});
  EXPECT_EQ(Try(odd.DefiningOp(), rule), "does not hold: axis is even");
  EXPECT_EQ(Try(long_x.DefiningOp(), rule), "does not hold: x has two rows");
  EXPECT_EQ(Try(unknown.DefiningOp(), rule), "does not hold: x has two rows");
  EXPECT_EQ(Try(good.DefiningOp(), rule), "");
}

TEST_F(Language, AConstantThatCannotBeComputedDeclinesAndNothingChanges) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto out = src.Op<Add>()(x, y);
    auto twice = res.Op<Tanh>()(x);  // made before the constant is asked for
    auto constant = res.Constant([=](const MatchContext& m) { return m[y].constant(); });
    res.Tensor(out) = res.Op<Sub>()(twice, constant);
  };
  const Value unknown = b.Make<Sub>({x, y});
  const Value out = b.Make<Add>({x, unknown});
  const Value six = b.ConstantFloats(std::vector<float>{1, 2, 3, 4, 5, 6}, Shape{2, 3});
  const Value known = b.Make<Add>({y, six});
  b.Return({{"out", out}, {"known", known}});
  const uint32_t before = program.num_operations();
  EXPECT_EQ(Try(out.DefiningOp(), rule), "attribute value of builtin.constant cannot be computed");
  EXPECT_EQ(program.num_operations(), before);
  EXPECT_EQ(Output(0).operand(0), x);
  EXPECT_EQ(Try(known.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(1).operand(1).DefiningOp().Is<ir::ConstantOp>());
}

TEST_F(Language, RootsWithNoPlaceForTheirResultAreDeclined) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // x - y, x - z => pair(x, y, z)
    auto x = src.Tensor("x"), y = src.Tensor("y"), z = src.Tensor("z");
    auto first = src.Op<Sub>()(x, y), second = src.Op<Sub>()(x, z);
    auto [p, q] = res.Op<Pair>()(x, y, z);
    res.Tensor(first) = p;
    res.Tensor(second) = q;
  };
  const Value first = b.Make<Sub>({x, y});
  const Value between = b.Make<Tanh>({first});
  const Value second = b.Make<Sub>({x, between});  // z of the rule: needs what first gives
  b.Return({{"a", second}});
  const uint32_t before = program.num_operations();
  EXPECT_EQ(Try(first.DefiningOp(), rule),
            "no place is behind all operands and before all readers");
  EXPECT_EQ(program.num_operations(), before);
}

}  // namespace
}  // namespace weft::drr
