#include "ir/dialects/onnx/creation.h"

#include <cmath>

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxCreation = InferTest;

TEST_F(OnnxCreation, RangeCountsWhatConstantsSay) {
  const auto range = [this](double start, double limit, double delta, DataType dtype) {
    return Run<ops::Range>({Scalar(start, dtype), Scalar(limit, dtype), Scalar(delta, dtype)});
  };
  EXPECT_EQ(range(3, 9, 3, DataType::kI64), "tensor<2xi64>");
  EXPECT_EQ(range(10, 4, -2, DataType::kI32), "tensor<3xi32>");
  EXPECT_EQ(range(4, 10, -2, DataType::kI32), "tensor<0xi32>");
  EXPECT_EQ(range(0, 1, 0.3, DataType::kF64), "tensor<4xf64>");
  EXPECT_EQ(range(0, 1, 0, DataType::kF32), "onnx.Range: start, limit and delta make no range");
  EXPECT_EQ(Run<ops::Range>({X({}), Scalar(1), Scalar(1)}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::Range>({X({}), Scalar(1), I({1})}),
            "onnx.Range: start is f32 but delta is i64");
  EXPECT_EQ(Run<ops::Range>({X({2}), Scalar(1), Scalar(1)}),
            "onnx.Range: start is [2], not a scalar");
}

TEST(RangeSize, CountsToTheEndsOfItsType) {
  EXPECT_EQ(ops::RangeSize(INT64_MIN, INT64_MAX, int64_t{1}), std::nullopt);
  EXPECT_EQ(ops::RangeSize(INT64_MIN, INT64_MAX, INT64_MAX), 3);
  EXPECT_EQ(ops::RangeSize(INT64_MAX, INT64_MIN, INT64_MIN), 2);
  EXPECT_EQ(ops::RangeSize(int64_t{0}, int64_t{5}, int64_t{0}), std::nullopt);
  EXPECT_EQ(ops::RangeSize(0.0, 1e30, 1.0), std::nullopt);
  EXPECT_EQ(ops::RangeSize(0.0, std::nan(""), 1.0), std::nullopt);
  EXPECT_EQ(ops::RangeSize(5.0, 1.0, 1.0), 0);
}

TEST_F(OnnxCreation, EyeLikeIsAMatrix) {
  EXPECT_EQ(Run<ops::EyeLike>({X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::EyeLike>({X({n, 3})}, {.dtype = DataType::kI8, .k = -1}), "tensor<Nx3xi8>");
  EXPECT_EQ(Run<ops::EyeLike>({X({3})}), "onnx.EyeLike: x has rank 1 but must have 2");
}

TEST_F(OnnxCreation, SizeIsOneNumber) { EXPECT_EQ(Run<ops::Size>({Unranked()}), "tensor<i64>"); }

TEST_F(OnnxCreation, RandomNumbersHaveAStatedShapeOrThatOfX) {
  EXPECT_EQ(Run<ops::RandomNormal>({}, {.shape = Ints{2, 3}}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<ops::RandomUniform>({}, {.dtype = DataType::kF16, .shape = Ints{}}), "tensor<f16>");
  EXPECT_EQ(Run<ops::RandomNormalLike>({X({n, 3}, DataType::kI8)}, {.dtype = DataType::kF64}),
            "tensor<Nx3xf64>");
  EXPECT_EQ(Run<ops::RandomUniformLike>({X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::RandomNormal>({}, {.shape = Ints{2, -3}}),
            "onnx.RandomNormal: shape has the entry -3");
  EXPECT_EQ(Run<ops::RandomUniform>({}, {.dtype = DataType::kI8, .shape = Ints{2}}),
            "onnx.RandomUniform: dtype is i8, no float");
  EXPECT_EQ(Run<ops::RandomUniformLike>({X({2}, DataType::kI8)}),
            "onnx.RandomUniformLike: dtype is i8, no float");
}

TEST_F(OnnxCreation, DrawsWithProbabilities) {
  EXPECT_EQ(Run<ops::Bernoulli>({X({n, 3})}, {.dtype = DataType::kBool}), "tensor<Nx3xbool>");
  EXPECT_EQ(Run<ops::Bernoulli>({X({3}, DataType::kI8)}),
            "onnx.Bernoulli: x is i8 but must be a float");
  EXPECT_EQ(Run<ops::Multinomial>({X({n, 3})}, {.sample_size = 5}), "tensor<Nx5xi32>");
  EXPECT_EQ(Run<ops::Multinomial>({X({n, 3})}, {.sample_size = 0}),
            "onnx.Multinomial: sample_size is 0");
  EXPECT_EQ(Run<ops::Multinomial>({X({n, 3})}, {.dtype = DataType::kF32}),
            "onnx.Multinomial: dtype is f32 but must be i32 or i64");
}

}  // namespace
}  // namespace weft::ir
