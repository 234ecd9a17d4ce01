// Words about lists, sizes and computed constants: where each holds or computes, and where not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "drr/text/rule_text.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "unittests/drr/cpp/words_test_util.h"

namespace weft::drr {
namespace {

using ir::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using toy::Norm;
using toy::Relu;
using toy::Tanh;
namespace ops = ir::ops;

using T = Tensor;

TEST_F(Words, OfSizesHoldWhereNothingIsBroadcastByChance) {
  const Value row = Input("row", {3}), column = Input("column", {2, 1}), one = Input("one", {1, 1});
  const auto together = [](T p, T q, T sum) { return BroadcastTogether(p, q, sum); };
  EXPECT_EQ(Of(row, column, together), "");
  EXPECT_EQ(Of(row, one, together), "does not hold: p and q broadcast to the shape of the result");
  const auto along = [](int axis) {
    return [axis](T p, T, T sum) { return VariesAlong(p, sum, axis); };
  };
  EXPECT_EQ(Of(row, x, along(1)), "");
  EXPECT_EQ(Of(one, x, along(0)), "");
  EXPECT_EQ(Of(column, x, along(-2)), "");
  EXPECT_EQ(Of(row, x, along(0)), "does not hold: p varies along axis 0 of the result at most");
  EXPECT_NE(Of(x, x, along(0)), "");
  const auto covers = [](T p, T q, T) { return CoversFrom(p, q, 1); };
  EXPECT_EQ(Of(row, x, covers), "");
  EXPECT_EQ(Of(one, x, covers), "does not hold: p has the shape of q from axis 1 on");
  EXPECT_NE(Of(Input("unit", {1}), x, covers), "");
}

TEST_F(Words, OfNumbersHoldOfConstantsOnly) {
  const Value two = Constant({2}, {}), three = Constant({3, 3}, {2, 1});
  const Value nan = Constant({NAN}, {});
  const auto ordered = [](T p, T q, T) { return NoGreater(p, q); };
  EXPECT_EQ(Of(two, three, ordered), "");
  EXPECT_EQ(Of(three, two, ordered), "does not hold: p is not greater than q");
  EXPECT_NE(Of(two, x, ordered), "");
  EXPECT_NE(Of(nan, nan, ordered), "");
  const auto same = [](T p, T q, T) { return SameNumber(p, q); };
  EXPECT_EQ(Of(three, Constant({3}, {}), same), "");
  EXPECT_NE(Of(three, two, same), "");
  EXPECT_NE(Of(x, x, same), "");
  const auto unknown = [](T p, T, T) { return NotConstant(p); };
  EXPECT_EQ(Of(x, two, unknown), "");
  EXPECT_EQ(Of(two, x, unknown), "does not hold: p is no constant");
  const auto least = [](T p, T, T) { return RangeEnd(p, -1); };
  EXPECT_NE(Of(two, x, least), "");
  const int8_t bytes[] = {-128};
  const Value end =
      b.Create<ir::ConstantOp>(
           {}, {.value = context.DenseAttrOf(context.TensorType(ir::DataType::kI8, {}),
                                             std::span<const int8_t>(bytes))})
          .result(0);
  EXPECT_EQ(Of(end, x, least), "");
  EXPECT_NE(Of(end, x, [](T p, T, T) { return RangeEnd(p, 1); }), "");
}

TEST_F(Words, OfListsReadConstantsAndVariables) {
  const Value counted = b.ConstantInts({0, 1, 2}), backwards = b.ConstantInts({2, 1, 0});
  const auto counts = [](T p, T, T) { return IsIdentity(p); };
  EXPECT_EQ(Of(counted, x, counts), "");
  EXPECT_NE(Of(backwards, x, counts), "");
  EXPECT_NE(Of(x, x, counts), "");
  const auto length = [](T p, T, T) { return CountIs(p, 3); };
  EXPECT_EQ(Of(backwards, x, length), "");
  EXPECT_EQ(Of(b.ConstantInts({4}), x, length), "does not hold: p has 3 entries");
  const auto axes = [](T p, T q, T sum) { return SameAxes(p, sum, q, sum); };
  EXPECT_EQ(Of(b.ConstantInts({0, -1}), b.ConstantInts({1, 0}), axes), "");
  EXPECT_NE(Of(b.ConstantInts({0}), b.ConstantInts({1}), axes), "");
  EXPECT_NE(Of(b.ConstantInts({}), b.ConstantInts({}), axes), "");

  const auto swaps = [&](const ir::Ints& perm) {
    const Value t = b.Make<ops::Transpose>({Input("t", {2, 2, 2})}, {.perm = perm});
    b.Make<Relu>({t});
    return Try(t.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto p = src.Attr<Ints>("p");
      auto x = src.Tensor("x");
      auto out = src.Op<ops::Transpose>({.perm = p})(x);
      src.Require(SwapsLast(p));
      res.Tensor(out) = x;
    });
  };
  EXPECT_EQ(swaps({0, 2, 1}), "");
  EXPECT_EQ(swaps({1, 0, 2}), "does not hold: p exchanges the last two axes");
  EXPECT_NE(swaps({0, 1, 2}), "");
  EXPECT_NE(swaps({2, 1, 0}), "");

  const auto is = [](T p, T, T) { return ListIs(p, {2, 1, 0}); };
  EXPECT_EQ(Of(backwards, x, is), "");
  EXPECT_EQ(Of(counted, x, is), "does not hold: p is [2, 1, 0]");
  EXPECT_NE(Of(b.ConstantInts({2, 1}), x, is), "");
  EXPECT_NE(Of(x, x, is), "");
}

TEST_F(Words, OfUsersAskWhatReadsAValue) {
  const Value relu = b.Make<Relu>({x}), other = b.Make<Relu>({y});
  const auto no_tanh = [](T p, T, T) { return NotUsedBy<Tanh>(p); };
  EXPECT_EQ(Of(relu, other, no_tanh), "");
  b.Make<Tanh>({relu});
  EXPECT_EQ(Of(relu, other, no_tanh), "does not hold: toy.tanh does not use p");
  const auto no_result = [](T p, T, T) { return NotResult(p); };
  EXPECT_EQ(Of(relu, other, no_result), "");
  b.Return({{"out", other}});
  EXPECT_EQ(Of(relu, other, no_result), "");
  EXPECT_EQ(Of(other, relu, no_result), "does not hold: p is not returned");
}

TEST_F(Words, OfShapesAddSizesOfOneUpToARank) {
  const Value row = Constant({1, 2, 3}, {3}), cube = Input("cube", {4, 2, 3});
  const auto shape = [&](Value of, Value rank_of) {
    const Value out = b.Make<Norm>({z, of, rank_of}, {.axis = 1});
    const Value user = b.Make<Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto base = src.Tensor("base"), p = src.Tensor("p"), q = src.Tensor("q");
      auto norm = src.Op<Norm>(AnyAttrs())(base, p, q);
      auto sizes = src.Let("it has no higher rank", ShapeOf(p, q));
      res.Tensor(norm) = res.Op<Norm>({.axis = 1})(base, p, res.ConstantInts(sizes));
    });
    return refused.empty() ? *ir::ConstantInts(user.DefiningOp().operand(0).DefiningOp().operand(2))
                           : ir::Ints();
  };
  EXPECT_THAT(shape(row, cube), ElementsAre(1, 1, 3));
  EXPECT_THAT(shape(cube, cube), ElementsAre(4, 2, 3));
  EXPECT_THAT(shape(cube, row), ElementsAre());
}

TEST_F(Words, InverseOfUndoesAPermutation) {
  const Value t = b.Make<ops::Transpose>({Input("t", {2, 3, 4})}, {.perm = ir::Ints{1, 2, 0}});
  const Value user = b.Make<Relu>({t});
  const std::string refused = Try(t.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
    auto p = src.Attr<Ints>("p");
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Transpose>({.perm = p})(x);
    auto there = res.Op<ops::Transpose>({.perm = p});
    auto back = res.Op<ops::Transpose>({.perm = InverseOf(p)});
    res.Tensor(out) = there(back(res.Op<ops::Transpose>({.perm = p})(x)));
  });
  EXPECT_EQ(refused, "");
  const ir::Operation middle = user.DefiningOp().operand(0).DefiningOp().operand(0).DefiningOp();
  EXPECT_THAT(*middle.attrs_of<ops::Transpose>().perm, ElementsAre(2, 0, 1));
}

TEST_F(Words, SameOpHoldsOfOneKindOfOp) {
  const auto same = [](T p, T q, T) { return SameOp(p, q); };
  const Value relu = b.Make<Relu>({x}), other = b.Make<Relu>({y}), tanh = b.Make<Tanh>({x});
  EXPECT_EQ(Of(relu, other, same), "");
  EXPECT_EQ(Of(relu, tanh, same), "does not hold: p and q are made by one operator");
  EXPECT_NE(Of(x, y, same), "");
}

TEST_F(Words, OfNumbersReadAttributes) {
  const auto refusal = [&](float epsilon) {
    const Value out = b.Make<Norm>({z, x, x}, {.axis = 1, .epsilon = epsilon});
    b.Make<Relu>({out});
    return Try(out.DefiningOp(), [&](SourcePattern& src, ResultPattern& res) {
      auto base = src.Tensor("base"), p = src.Tensor("p"), q = src.Tensor("q");
      auto bound = src.Attr<float>("epsilon");
      auto norm = src.Op<Norm>({.axis = 1, .epsilon = bound})(base, p, q);
      src.Require(NotZero(bound));
      res.Tensor(norm) = res.Op<Tanh>()(base);
    });
  };
  EXPECT_EQ(refusal(0.5f), "");
  EXPECT_EQ(refusal(0), "does not hold: epsilon is not 0");
}

TEST_F(Words, ConstantsAreJoinedByElementOrByPlace) {
  const Value matrix = Constant({1, 2, 3, 4, 5, 6}, {2, 3}), two = Constant({2}, {1, 1, 1});
  const auto product = [](T p, T q) { return Product(p, q); };
  EXPECT_THAT(Floats(Computed(matrix, matrix, product)), ElementsAre(1, 4, 9, 16, 25, 36));
  const ir::Attribute doubled = Computed(matrix, two, product);
  EXPECT_THAT(Floats(doubled), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_THAT(doubled.dense_type().shape(), ElementsAre(1, 2, 3));
  EXPECT_THAT(Floats(Computed(matrix, two, [](T p, T q) { return Sum(p, q); })),
              ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(Floats(Computed(matrix, two, [](T p, T q) { return Quotient(p, q); })),
              ElementsAre(0.5, 1, 1.5, 2, 2.5, 3));
  const Value pair = Constant({10, 100}, {2}), triple = Constant({1, 10, 100}, {3});
  EXPECT_FALSE(Computed(matrix, triple, product));
  EXPECT_FALSE(Computed(x, triple, product));
  EXPECT_THAT(Floats(Computed(matrix, pair, [](T p, T q) { return Product(p, q, 0); })),
              ElementsAre(10, 20, 30, 400, 500, 600));
  EXPECT_THAT(Floats(Computed(matrix, triple, [](T p, T q) { return Product(p, q, -1); })),
              ElementsAre(1, 20, 300, 4, 50, 600));
  EXPECT_FALSE(Computed(matrix, triple, [](T p, T q) { return Product(p, q, 0); }));
  EXPECT_THAT(Floats(Computed(pair, matrix, [](T p, T q) { return BiasSum(p, p, q); })),
              ElementsAre(20, 200));
  EXPECT_FALSE(Computed(triple, matrix, [](T p, T q) { return BiasProduct(p, p, q); }));
}

TEST_F(Words, AComputedAttributeThatIsRequiredRefusesWithItsReasonAndIsReadBack) {
  const auto merge = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), a = src.Tensor("a"), c = src.Tensor("c");
    auto inner = src.Op<ops::Squeeze>()(x, a);
    auto out = src.Op<ops::Squeeze>()(inner, c);
    auto axes = src.Let("the axes are constants", JoinAxes(a, x, c, inner));
    res.Tensor(out) = res.Op<ops::Squeeze>()(x, res.ConstantInts(axes));
  };
  const auto squeezed = [&](Value first, Value second) {
    const Value in = Input("in", {1, 2, 1, 3, 1});
    const Value out = Make<ops::Squeeze>(
        {Make<ops::Squeeze>({in, first}, {}, {2, 1, 3, 1}), second}, {}, {2, 3, 1});
    return std::pair(out, b.Make<Relu>({out}));
  };
  const auto [open, unused] = squeezed(Input("axes", {1}, ir::DataType::kI64), b.ConstantInts({1}));
  EXPECT_EQ(Try(open.DefiningOp(), merge), "does not hold: the axes are constants");
  const auto [out, user] = squeezed(b.ConstantInts({-5}), b.ConstantInts({1}));
  EXPECT_EQ(Try(out.DefiningOp(), merge), "");
  const Value axes = user.DefiningOp().operand(0).DefiningOp().operand(1);
  EXPECT_THAT(*ir::ConstantInts(axes), ElementsAre(0, 2));
  const BuildResult built = Rule(merge).Build(&context);
  EXPECT_THAT(text::PrintRule(*built.rule),
              HasSubstr("require \"the axes are constants\" join_axes(%a, %x, %c, %0)"));
}

TEST_F(Words, AttributesMayBeAbsentOrInASet) {
  const auto pool = [&](std::optional<ir::Ints> dilations) {
    const Value image = Input("image", {1, 1, 8, 8});
    const Value out = dilations
                          ? b.Make<ops::AveragePool>(
                                {image}, {.dilations = *dilations, .kernel_shape = ir::Ints{2, 2}})
                          : b.Make<ops::AveragePool>({image}, {.kernel_shape = ir::Ints{2, 2}});
    b.Make<Relu>({out});
    return Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x");
      auto f = src.Op<ops::AveragePool>(AnyAttrs(), {.dilations = In{Ints{1, 1}}.OrAbsent()});
      auto out = f(x);
      res.Tensor(out) = res.Like(f)(x);
    });
  };
  EXPECT_EQ(pool({}), "");
  EXPECT_EQ(pool(ir::Ints{1, 1}), "");
  EXPECT_THAT(pool(ir::Ints{2, 2}), HasSubstr("attribute dilations"));
}

}  // namespace
}  // namespace weft::drr
