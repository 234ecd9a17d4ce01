// The rule language, one feature at a time: operands, attributes, constraints and results, and the
// mistakes of rules. matching_test.cc has the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Value;
using testing::HasSubstr;
using toy::Add;
using toy::Norm;
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
  EXPECT_EQ(Try(first.DefiningOp(), rule), "no place is behind all operands and before all users");
  EXPECT_EQ(program.num_operations(), before);
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

}  // namespace
}  // namespace weft::drr
