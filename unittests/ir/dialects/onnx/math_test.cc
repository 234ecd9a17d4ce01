#include "ir/dialects/onnx/math.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxMath = InferTest;

TEST_F(OnnxMath, FunctionsOfFloatsKeepTheType) {
  const auto run = [&](auto op) {
    using O = decltype(op);
    EXPECT_EQ(Run<O>({X({n, 2}, DataType::kF16)}), "tensor<Nx2xf16>") << O::kInfo.name;
    EXPECT_EQ(Run<O>({X({2}, DataType::kI64)}),
              std::string(O::kInfo.name) + ": x is i64 but must be a float");
  };
  run(ops::Acos()), run(ops::Acosh()), run(ops::Asin()), run(ops::Asinh()), run(ops::Atan());
  run(ops::Atanh()), run(ops::Cos()), run(ops::Cosh()), run(ops::Sin()), run(ops::Sinh());
  run(ops::Tan()), run(ops::Ceil()), run(ops::Floor()), run(ops::Round());
}

TEST_F(OnnxMath, SignIsForAnyNumber) {
  EXPECT_EQ(Run<ops::Sign>({X({2}, DataType::kU8)}), "tensor<2xu8>");
  EXPECT_EQ(Run<ops::Sign>({X({2}, DataType::kBool)}), "onnx.Sign: x is bool but must be a number");
}

TEST_F(OnnxMath, PredicatesGiveBool) {
  EXPECT_EQ(Run<ops::IsNaN>({X({n, 2})}), "tensor<Nx2xbool>");
  EXPECT_EQ(Run<ops::IsInf>({Unranked(DataType::kF16)}), "tensor<*xbool>");
  EXPECT_EQ(Run<ops::IsNaN>({X({2}, DataType::kI8)}), "onnx.IsNaN: x is i8 but must be a float");
  EXPECT_EQ(Run<ops::IsInf>({X({2}, DataType::kI8)}), "onnx.IsInf: x is i8 but must be a float");
}

TEST_F(OnnxMath, ModOfFloatsIsFmod) {
  EXPECT_EQ(Run<ops::Mod>({X({2, 1}, DataType::kI32), X({3}, DataType::kI32)}), "tensor<2x3xi32>");
  EXPECT_EQ(Run<ops::Mod>({X({2}), X({2})}, {.fmod = 1}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::Mod>({X({2}), X({2})}), "onnx.Mod: x is f32, for which fmod must be 1");
  EXPECT_EQ(Run<ops::Mod>({X({2}), X({2})}, {.fmod = 2}), "onnx.Mod: fmod is 2 but must be 0 or 1");
}

TEST_F(OnnxMath, MeanBroadcastsFloats) {
  EXPECT_EQ(Run<ops::Mean>({X({2, 1}), X({3}), X({})}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<ops::Mean>({}), "onnx.Mean: has no operands");
  EXPECT_EQ(Run<ops::Mean>({X({2}), X({2}, DataType::kI32)}),
            "onnx.Mean: inputs[1] is i32 but must be a float");
}

TEST_F(OnnxMath, BitsAreThoseOfIntegers) {
  const auto run = [&](auto op) {
    using O = decltype(op);
    const std::string name(O::kInfo.name);
    EXPECT_EQ(Run<O>({X({2, 1}, DataType::kI16), X({3}, DataType::kI16)}), "tensor<2x3xi16>");
    EXPECT_EQ(Run<O>({X({2}), X({2})}), name + ": x is f32 but must be an integer");
    EXPECT_EQ(Run<O>({X({2}, DataType::kI8), X({2}, DataType::kU8)}),
              name + ": x is i8 but y is u8");
  };
  run(ops::BitwiseAnd()), run(ops::BitwiseOr()), run(ops::BitwiseXor());
  EXPECT_EQ(Run<ops::BitwiseNot>({X({2}, DataType::kU64)}), "tensor<2xu64>");
  EXPECT_EQ(Run<ops::BitwiseNot>({X({2}, DataType::kBool)}),
            "onnx.BitwiseNot: x is bool but must be an integer");
}

TEST_F(OnnxMath, OnlyUnsignedIntegersAreShifted) {
  EXPECT_EQ(Run<ops::BitShift>({X({2}, DataType::kU8), X({}, DataType::kU8)},
                               {.direction = ops::ShiftDirection::kLeft}),
            "tensor<2xu8>");
  EXPECT_EQ(Run<ops::BitShift>({X({2}, DataType::kU8), X({2}, DataType::kI8)},
                               {.direction = ops::ShiftDirection::kLeft}),
            "onnx.BitShift: y is i8 but must be an unsigned integer");
}

TEST_F(OnnxMath, CastLikeTakesTheElementTypeOfTheOther) {
  EXPECT_EQ(Run<ops::CastLike>({X({n, 2}), X({7}, DataType::kI8)}), "tensor<Nx2xi8>");
  EXPECT_EQ(Run<ops::CastLike>({X({2}), OfType(context.VectorType({}))}),
            "onnx.CastLike: target_type is vec[], not a tensor");
}

TEST_F(OnnxMath, BitCastKeepsTheSizeOfAnElement) {
  EXPECT_EQ(Run<ops::BitCast>({X({n, 2})}, {.to = DataType::kI32}), "tensor<Nx2xi32>");
  EXPECT_EQ(Run<ops::BitCast>({X({2}, DataType::kBool)}, {.to = DataType::kU8}), "tensor<2xu8>");
  EXPECT_EQ(Run<ops::BitCast>({X({2})}, {.to = DataType::kF64}),
            "onnx.BitCast: x is f32 but to is f64, which has another size");
  EXPECT_EQ(Run<ops::BitCast>({X({2})}, {.to = DataType::kString}),
            "onnx.BitCast: to is no element type of a fixed size");
}

TEST_F(OnnxMath, CumulativeOpsTakeOneAxis) {
  EXPECT_EQ(Run<ops::CumSum>({X({n, 2}), I({-2})}), "tensor<Nx2xf32>");
  EXPECT_EQ(Run<ops::CumProd>({X({2}, DataType::kI32), X({}, DataType::kI32)}), "tensor<2xi32>");
  EXPECT_EQ(Run<ops::CumSum>({X({n, 2}), I({2})}),
            "onnx.CumSum: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::CumSum>({X({2}), X({2}, DataType::kI64)}),
            "onnx.CumSum: axis is [2], not a scalar");
  EXPECT_EQ(Run<ops::CumProd>({X({2}), X({})}), "onnx.CumProd: axis is f32 but must be i32 or i64");
  EXPECT_EQ(Run<ops::CumProd>({X({2}, DataType::kBool), X({}, DataType::kI64)}),
            "onnx.CumProd: x is bool but must be a number");
}

TEST_F(OnnxMath, DetIsOfSquareMatrices) {
  EXPECT_EQ(Run<ops::Det>({X({3, 3})}), "tensor<f32>");
  EXPECT_EQ(Run<ops::Det>({X({n, 5, 2, 2})}), "tensor<Nx5xf32>");
  EXPECT_EQ(Run<ops::Det>({X({n, 2, m})}), "tensor<Nxf32>");
  EXPECT_EQ(Run<ops::Det>({X({2, 3})}), "onnx.Det: x is [2,3], no square matrices");
  EXPECT_EQ(Run<ops::Det>({X({3})}), "onnx.Det: x has rank 1 but must have 2 or more");
}

// --- Einsum ---------------------------------------------------------------------

class OnnxEinsum : public InferTest {
 protected:
  std::string Einsum(const std::string& equation, std::vector<Value> operands) {
    return Run<ops::Einsum>(std::move(operands), {.equation = equation});
  }
  // Without what the message begins with.
  std::string Error(const std::string& equation, std::vector<Value> operands) {
    const std::string text = Einsum(equation, std::move(operands));
    const std::string start = "onnx.Einsum: equation \"" + equation + "\": ";
    return text.substr(0, start.size()) == start ? text.substr(start.size()) : "not: " + text;
  }
};

TEST_F(OnnxEinsum, ResultHasTheLabelsOfTheEquation) {
  EXPECT_EQ(Einsum("bij,bjk->bik", {X({n, 2, 3}), X({n, 3, 4})}), "tensor<Nx2x4xf32>");
  EXPECT_EQ(Einsum("ij->ji", {X({2, n})}), "tensor<Nx2xf32>");
  EXPECT_EQ(Einsum("ij->", {X({2, 3})}), "tensor<f32>");
  EXPECT_EQ(Einsum("ii->i", {X({3, 3})}), "tensor<3xf32>");
  EXPECT_EQ(Einsum(" i j , k -> k j i ", {X({2, 3}), X({4})}), "tensor<4x3x2xf32>");
  EXPECT_EQ(Einsum("->", {X({})}), "tensor<f32>");
  EXPECT_EQ(Einsum("ij,jk->ik", {X({1, 3}), Unranked()}), "tensor<*xf32>");
}

TEST_F(OnnxEinsum, ImpliedResultIsSortedAndLeavesOutWhatIsThereTwice) {
  EXPECT_EQ(Einsum("ba", {X({2, 3})}), "tensor<3x2xf32>");
  EXPECT_EQ(Einsum("ij,jk", {X({2, 3}), X({3, 4})}), "tensor<2x4xf32>");
  EXPECT_EQ(Einsum("ii", {X({3, 3})}), "tensor<f32>");
  EXPECT_EQ(Einsum("...ij,...jk", {X({5, 2, 3}), X({5, 3, 4})}), "tensor<5x2x4xf32>");
}

TEST_F(OnnxEinsum, EllipsesBroadcast) {
  EXPECT_EQ(Einsum("...ij,jk...->...ik", {X({n, 5, 2, 3}), X({3, 4})}), "tensor<Nx5x2x4xf32>");
  EXPECT_EQ(Einsum("i...,...->...i", {X({2, 1, 4}), X({3, 1})}), "tensor<3x4x2xf32>");
  EXPECT_EQ(Einsum("...ii->...i", {X({7, 3, 3})}), "tensor<7x3xf32>");
}

TEST_F(OnnxEinsum, RefusesWhatIsNoEquation) {
  EXPECT_EQ(Error("ij", {X({2, 3}), X({2})}), "has 1 terms but there are 2 operands");
  EXPECT_EQ(Error("ijk", {X({2, 3})}), "term \"ijk\" does not fit an operand of rank 2");
  EXPECT_EQ(Error("i...jk", {X({2, 3})}), "term \"i...jk\" does not fit an operand of rank 2");
  EXPECT_EQ(Error("i1", {X({2, 3})}), "term \"i1\" is no list of letters");
  EXPECT_EQ(Error("......", {X({2, 3})}), "term \"......\" is no list of letters");
  EXPECT_EQ(Error("ij->ii", {X({2, 3})}), "result \"ii\" has a letter twice");
  EXPECT_EQ(Error("ij->k", {X({2, 3})}), "result \"k\" has a letter that no operand has");
  EXPECT_EQ(Error("ij->i->j", {X({2, 3})}), "term \"i->j\" is no list of letters");
  EXPECT_EQ(Error("...j->j", {X({2, 3})}), "result \"j\" lacks the \"...\" of the operands");
}

TEST_F(OnnxEinsum, RefusesSizesThatDoNotFit) {
  EXPECT_EQ(Einsum("ij,jk", {X({2, 3}), X({4, 5})}),
            "onnx.Einsum: dimension 0 of inputs[1] is 4 but its label stands for 3");
  EXPECT_EQ(Einsum("i,i", {X({2}), X({2}, DataType::kF64)}),
            "onnx.Einsum: inputs[0] is f32 but inputs[1] is f64");
  const int64_t large = int64_t{1} << 31;
  EXPECT_EQ(Einsum("i,j->ij", {X({large}), X({large})}),
            "onnx.Einsum: the result is too large: [2147483648,2147483648]");
}

}  // namespace
}  // namespace weft::ir
