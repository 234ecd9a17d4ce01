// Words about constants of one number: which numbers they take, of which sign.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "unittests/drr/cpp/words_test_util.h"

namespace weft::drr {
namespace {

using ir::Value;
using testing::HasSubstr;
using toy::Mul;
using toy::Relu;
using toy::Tanh;

class NumberWords : public Words {};

TEST_F(NumberWords, ASplatMatchesAConstantOfThatNumberOnly) {
  const Value three = b.Make<Mul>({x, Constant({3, 3}, {2, 1})});
  const Value mixed = b.Make<Mul>({x, Constant({3, 4}, {2, 1})});
  const Value input = b.Make<Mul>({x, y});
  b.Return({{"three", three}, {"mixed", mixed}, {"input", input}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Mul>()(x, src.Splat(3));
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  EXPECT_EQ(Try(mixed.DefiningOp(), rule), "does not hold: the constant is 3 everywhere");
  EXPECT_NE(Try(input.DefiningOp(), rule), "");
  EXPECT_EQ(Try(three.DefiningOp(), rule), "");
  EXPECT_THAT(Text(rule), HasSubstr("require \"the constant is 3 everywhere\" splat_is("));
}

TEST_F(NumberWords, ASplatIsExactWhereF32HasTheNumberAndElseNearly) {
  const Value half = b.Make<Mul>({x, Constant({0.5000001f}, {})});
  const Value third = b.Make<Mul>({x, Constant({0.33333334f}, {})});
  const Value other_third = b.Make<Mul>({third, Constant({0.33333334f}, {})});
  b.Return({{"half", half}, {"third", third}, {"other third", other_third}});
  const auto times = [](double number) {
    return [=](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x");
      auto out = src.Op<Mul>()(x, src.Splat(number));
      res.Tensor(out) = res.Op<Relu>()(x);
    };
  };
  const auto times_one_that_is = [](double number) {
    return [=](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), c = src.Tensor("c");
      auto out = src.Op<Mul>()(x, c);
      src.Require(IsSplat(c, number));
      res.Tensor(out) = res.Op<Relu>()(x);
    };
  };
  EXPECT_NE(Try(half.DefiningOp(), times(0.5)), "");
  EXPECT_EQ(Try(third.DefiningOp(), times(1.0 / 3)), "");
  EXPECT_NE(Try(half.DefiningOp(), times_one_that_is(0.5)), "");
  EXPECT_EQ(Try(other_third.DefiningOp(), times_one_that_is(1.0 / 3)), "");
}

TEST_F(NumberWords, ASplatOfAnAlternativeThatIsNotTakenHolds) {
  const Value plain = b.Make<Relu>({b.Make<Tanh>({x})});
  b.Return({{"plain", plain}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto inner = src.Either(src.Op<Mul>()(x, src.Splat(2)), src.Op<Tanh>()(x));
    auto out = src.Op<Relu>()(inner);
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  EXPECT_EQ(Try(plain.DefiningOp(), rule), "");
  EXPECT_THAT(Text(rule), testing::ContainsRegex("\"the constant is 2 everywhere\" "
                                                 "splat_is\\(%[0-9]+\\?, "));
}

TEST_F(NumberWords, ASignedZeroIsTheZeroOfOneSign) {
  const Value plus = b.Make<Mul>({x, Constant({0, 0, 0}, {3})});
  const Value minus = b.Make<Mul>({x, Constant({-0.0f}, {})});
  const Value mixed = b.Make<Mul>({x, Constant({0, -0.0f, 0}, {3})});
  const Value one = b.Make<Mul>({x, Constant({1}, {})});
  b.Return({{"plus", plus}, {"minus", minus}, {"mixed", mixed}, {"one", one}});
  const auto times = [](int sign) {
    return [=](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), c = src.Tensor("c");
      auto out = src.Op<Mul>()(x, c);
      src.Require(SignedZero(c, sign));
      res.Tensor(out) = res.Op<Relu>()(x);
    };
  };
  for (const Value& other : {mixed, one})
    for (int sign : {1, -1}) EXPECT_NE(Try(other.DefiningOp(), times(sign)), "");
  EXPECT_EQ(Try(plus.DefiningOp(), times(-1)), "does not hold: c is a zero of sign -1");
  EXPECT_NE(Try(minus.DefiningOp(), times(1)), "");
  EXPECT_EQ(Try(plus.DefiningOp(), times(1)), "");
  EXPECT_EQ(Try(minus.DefiningOp(), times(-1)), "");
}

TEST_F(NumberWords, AZeroOfIntegersHasEitherSign) {
  const auto zero = [&] {
    const ir::Type i32 = context.TensorType(ir::DataType::kI32, {2, 3});
    const int32_t zeros[6] = {};
    return b
        .Create<ir::ConstantOp>(
            {}, {.value = context.DenseAttrOf(i32, std::span<const int32_t>(zeros))})
        .result(0);
  };
  const Value p = b.Make<Relu>({zero()}), q = b.Make<Relu>({zero()});
  b.Return({{"p", p}, {"q", q}});
  for (const auto& [value, sign] : {std::pair{p, 1}, std::pair{q, -1}})
    EXPECT_EQ(Try(value.DefiningOp(),
                  [sign = sign](SourcePattern& src, ResultPattern& res) {
                    auto x = src.Tensor("x");
                    auto out = src.Op<Relu>()(x);
                    src.Require(SignedZero(x, sign));
                    res.Tensor(out) = res.Op<Tanh>()(x);
                  }),
              "");
}

}  // namespace
}  // namespace weft::drr
