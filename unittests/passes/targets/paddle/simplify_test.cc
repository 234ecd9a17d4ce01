// Redundant transposes, casts, reshapes and expands on the pd dialect.
#include "ir/lossless_cast.h"
#include "unittests/passes/targets/paddle/rule_test_util.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::DataType;
using ir::Operation;
using ir::Value;
using testing::HasSubstr;

class PdSimplify : public PdRuleTest {};

TEST_F(PdSimplify, TwoTransposesBecomeOne) {
  const Value x = Input("x", {16, 3, 4, 16});
  const Value out = Transpose(Transpose(x, {0, 2, 1, 3}), {1, 0, 2, 3});
  b.Return({{"out", out}});
  EXPECT_EQ(Apply("merge-pd-transposes", out.DefiningOp()), "");
  EXPECT_EQ(Output(0).attrs_of<pd::Transpose>().perm, (ir::Ints{2, 0, 1, 3}));
  EXPECT_EQ(program.body().num_ops(), 2u);
}

TEST_F(PdSimplify, AnInnerTransposeWithAnotherReaderStays) {
  const Value x = Input("x", {2, 3, 4});
  const Value inner = Transpose(x, {1, 2, 0});
  const Value out = Transpose(inner, {1, 2, 0});
  b.Return({{"out", out}, {"inner", inner}});
  EXPECT_EQ(Apply("merge-pd-transposes", out.DefiningOp()), "");
  EXPECT_EQ(Output(0).operand(0), x);
  EXPECT_EQ(Output(0).attrs_of<pd::Transpose>().perm, (ir::Ints{2, 0, 1}));
  EXPECT_TRUE(inner.IsAlive());
}

TEST_F(PdSimplify, TransposesOfUnknownRankMustFitEachOther) {
  const Value x = b.AddInput("x", context.UnrankedTensorType(DataType::kF32));
  const Value out = Transpose(Transpose(x, {1, 0}), {0, 2, 1});
  b.Return({{"out", out}});
  EXPECT_THAT(Apply("merge-pd-transposes", out.DefiningOp()),
              HasSubstr("attribute perm of pd.transpose cannot be computed"));
}

TEST_F(PdSimplify, ATransposeThatMovesNothingGoes) {
  const Value x = Input("x", {2, 3});
  const Value same = Transpose(x, {0, 1}), other = Transpose(x, {1, 0});
  b.Return({{"same", same}, {"other", other}});
  EXPECT_EQ(Apply("drop-noop-pd-transpose", same.DefiningOp()), "");
  EXPECT_EQ(program.body().Terminator().operand(0), x);
  EXPECT_THAT(Apply("drop-noop-pd-transpose", other.DefiningOp()), HasSubstr("perm moves no axis"));
}

TEST_F(PdSimplify, ALosslessDetourOfCastsIsCutShort) {
  const Value x = Input("x", {4});
  const Value out = Cast(Cast(x, DataType::kF64), DataType::kF16);
  b.Return({{"out", out}});
  EXPECT_EQ(Apply("merge-pd-casts", out.DefiningOp()), "");
  EXPECT_EQ(Output(0).operand(0), x);
  EXPECT_EQ(Output(0).result().type().dtype(), DataType::kF16);
}

TEST_F(PdSimplify, ALossyDetourOfCastsStays) {
  const struct {
    DataType from, through, to;
  } kLossy[] = {
      {DataType::kF32, DataType::kI32, DataType::kF32},   // 1.7 -> 1
      {DataType::kF32, DataType::kF16, DataType::kF32},   // 1.0001 -> 1
      {DataType::kI64, DataType::kI32, DataType::kI64},   // 2^40 + 5 -> 5
      {DataType::kF32, DataType::kBool, DataType::kF32},  // 2.5 -> 1
      {DataType::kF64, DataType::kF32, DataType::kF16},   // 2049.00001 is rounded twice
      {DataType::kF16, DataType::kBF16, DataType::kF32},  // fewer bits of precision
      {DataType::kBF16, DataType::kF16, DataType::kF32},  // a smaller range
      {DataType::kI8, DataType::kU8, DataType::kI32},     // -1 -> 255
      {DataType::kI8, DataType::kF32, DataType::kU8},     // -1.0 has no place in u8
      {DataType::kI32, DataType::kF32, DataType::kI32},   // 2^24 + 1 -> 2^24
  };
  for (const auto& c : kLossy) {
    const Value x = Input("x", {4}, c.from);
    const Value out = Cast(Cast(x, c.through), c.to);
    EXPECT_THAT(Apply("merge-pd-casts", out.DefiningOp()),
                HasSubstr("casting x straight to s gives the same"))
        << ir::DataTypeName(c.from) << " " << ir::DataTypeName(c.through) << " "
        << ir::DataTypeName(c.to);
  }
}

// Every pair of small types, checked value by value (f32 and f64 hold all integers of 16 bits).
TEST(LosslessCast, AgreesWithTheValuesOfTheTypes) {
  const struct {
    DataType type;
    double lowest, highest;
  } kIntegers[] = {{DataType::kBool, 0, 1},
                   {DataType::kI8, -128, 127},
                   {DataType::kU8, 0, 255},
                   {DataType::kI16, -32768, 32767},
                   {DataType::kU16, 0, 65535}};
  ir::IrContext context;
  for (const auto& from : kIntegers) {
    for (const auto& to : kIntegers)
      EXPECT_EQ(ir::IsLosslessCast(from.type, to.type),
                from.lowest >= to.lowest && from.highest <= to.highest);
    EXPECT_TRUE(ir::IsLosslessCast(from.type, DataType::kF32));
    EXPECT_TRUE(ir::IsLosslessCast(from.type, DataType::kF64));
    for (DataType to : {DataType::kF16, DataType::kBF16}) {
      const ir::Type scalar = context.TensorType(to, std::span<const int64_t>());
      bool lossless = true;
      for (double v = from.lowest; v <= from.highest && lossless; ++v)
        lossless = ir::DenseElement(context.DenseAttr(scalar, ir::ElementBytes(to, v)), 0) == v;
      EXPECT_EQ(ir::IsLosslessCast(from.type, to), lossless)
          << ir::DataTypeName(from.type) << " to " << ir::DataTypeName(to);
    }
  }
}

TEST_F(PdSimplify, ACastToTheSameTypeGoes) {
  const Value x = Input("x", {4});
  const Value same = Cast(x, DataType::kF32), other = Cast(x, DataType::kF64);
  b.Return({{"same", same}, {"other", other}});
  EXPECT_EQ(Apply("drop-noop-pd-cast", same.DefiningOp()), "");
  EXPECT_EQ(program.body().Terminator().operand(0), x);
  EXPECT_THAT(Apply("drop-noop-pd-cast", other.DefiningOp()),
              HasSubstr("x and the result have one element type"));
}

TEST_F(PdSimplify, OfTwoReshapesTheLastCounts) {
  const Value x = Input("x", {2, 6});
  const Value out = Reshape(Reshape(x, {3, 4}), {-1, 2});
  b.Return({{"out", out}});
  EXPECT_EQ(Apply("merge-pd-reshapes", out.DefiningOp()), "");
  EXPECT_EQ(Output(0).operand(0), x);
  EXPECT_EQ(Output(0).result(0).type().ToString(), "tensor<6x2xf32>");
  EXPECT_EQ(Output(0).result(1).type().ToString(), "tensor<0x2x6xf32>");
}

TEST_F(PdSimplify, AZeroOfTheLastReshapeCopiesOnlyWhatXHasToo) {
  const Value x = Input("x", {2, 6});
  const Value good = Reshape(Reshape(x, {2, 3, 2}), {0, 6});
  const Value bad = Reshape(Reshape(x, {3, 4}), {0, 2, 2});
  b.Return({{"good", good}, {"bad", bad}});
  EXPECT_THAT(Apply("merge-pd-reshapes", bad.DefiningOp()),
              HasSubstr("reshaping x straight to t gives the same"));
  EXPECT_EQ(Apply("merge-pd-reshapes", good.DefiningOp()), "");
  EXPECT_EQ(Output(0).operand(0), x);
}

TEST_F(PdSimplify, AReshapeToAComputedShapeStays) {
  const Value x = Input("x", {2, 6}), shape = Input("shape", {2}, DataType::kI64);
  const Value out = b.Create<pd::Reshape>({Reshape(x, {3, 4}), shape}).result(0);
  b.Return({{"out", out}});
  EXPECT_THAT(Apply("merge-pd-reshapes", out.DefiningOp()),
              HasSubstr("reshaping x straight to t gives the same"));
}

TEST_F(PdSimplify, AReshapeWhoseOldShapeIsReadStays) {
  const Value x = Input("x", {2, 6});
  const Value out = Reshape(Reshape(x, {3, 4}), {12});
  b.Return({{"out", out}, {"xshape", out.DefiningOp().result(1)}});
  EXPECT_THAT(Apply("merge-pd-reshapes", out.DefiningOp()),
              HasSubstr("result 1 of pd.reshape, is also used"));
}

TEST_F(PdSimplify, AReshapeToTheSameShapeGoes) {
  const Value x = Input("x", {2, 6});
  const Value same = Reshape(x, {0, -1}), other = Reshape(x, {6, 2});
  b.Return({{"same", same}, {"other", other}});
  EXPECT_EQ(Apply("drop-noop-pd-reshape", same.DefiningOp()), "");
  EXPECT_EQ(program.body().Terminator().operand(0), x);
  EXPECT_THAT(Apply("drop-noop-pd-reshape", other.DefiningOp()),
              HasSubstr("x has the shape of the result"));
}

TEST_F(PdSimplify, AReshapeThatMayChangeTheShapeStays) {
  const Value x = Input("x", {ir::kUnknownDim, 6});
  const Value out = Reshape(x, {-1, 6});
  b.Return({{"out", out}});
  EXPECT_THAT(Apply("drop-noop-pd-reshape", out.DefiningOp()),
              HasSubstr("x has the shape of the result"));
}

TEST_F(PdSimplify, AnExpandedFullIsALargerFull) {
  const Value full = b.Make<pd::Full>({}, {.dtype = DataType::kF64,
                                           .place = context.VerbatimAttr("Place(cpu)"),
                                           .shape = {1, 3},
                                           .value = 2.5f});
  const Value out = b.Make<pd::Expand>({full, IntArray({4, -1})});
  b.Return({{"out", out}});
  EXPECT_EQ(Apply("fold-pd-expand", out.DefiningOp()), "");
  const auto attrs = Output(0).attrs_of<pd::Full>();
  EXPECT_EQ(attrs.shape, (ir::Ints{4, 3}));
  EXPECT_EQ(attrs.value, 2.5f);
  EXPECT_EQ(attrs.dtype, DataType::kF64);
  EXPECT_EQ(attrs.place->AsString(), "Place(cpu)");
}

TEST_F(PdSimplify, AnExpandToAnUnknownShapeStays) {
  const Value shape = Input("shape", {2}, DataType::kI64);
  const Value out = Make<pd::Expand>({Full({3}), shape}, {}, {ir::kUnknownDim, 3});
  b.Return({{"out", out}});
  EXPECT_THAT(Apply("fold-pd-expand", out.DefiningOp()),
              HasSubstr("every size of the result is known"));
}

TEST_F(PdSimplify, AnExpandOfSomethingElseStays) {
  const Value out = b.Make<pd::Expand>({Input("x", {3}), IntArray({2, 3})});
  b.Return({{"out", out}});
  EXPECT_EQ(Apply("fold-pd-expand", out.DefiningOp()),
            "expected pd.full but found a block argument");
}

}  // namespace
}  // namespace weft::passes
