#include "ir/dialects/onnx/nn/sampling.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxSampling = InferTest;

TEST_F(OnnxSampling, GridSampleHasTheShapeOfTheGrid) {
  EXPECT_EQ(Run<ops::GridSample>({X({n, 3, 4, 5}), X({n, 6, 7, 2})}), "tensor<Nx3x6x7xf32>");
  EXPECT_EQ(Run<ops::GridSample>({X({1, 3, 4, 5, 6}, DataType::kU8), X({1, 6, m, 8, 3})}),
            "tensor<1x3x6xMx8xu8>");
  EXPECT_EQ(Run<ops::GridSample>({X({1, 3, 4, 5}), X({1, 6, 7, 3})}),
            "onnx.GridSample: grid is [1,6,7,3] but must be [1,6,7,2]");
  EXPECT_EQ(Run<ops::GridSample>({X({1, 3, 4, 5}), X({1, 6, 2})}),
            "onnx.GridSample: x has rank 4 but grid has rank 3");
}

TEST_F(OnnxSampling, AffineGridIsAsLargeAsTheImage) {
  EXPECT_EQ(Run<ops::AffineGrid>({X({n, 2, 3}), I({2, 3, 5, 6})}), "tensor<2x5x6x2xf32>");
  EXPECT_EQ(Run<ops::AffineGrid>({X({2, 3, 4}), I({2, 3, 5, 6, 7})}), "tensor<2x5x6x7x3xf32>");
  EXPECT_EQ(Run<ops::AffineGrid>({X({2, 2, 3}), X({4}, DataType::kI64)}), "tensor<-1x-1x-1x2xf32>");
  EXPECT_EQ(Run<ops::AffineGrid>({X({2, 3, 4}), I({2, 3, 5, 6})}),
            "onnx.AffineGrid: theta is [2,3,4] but must be [2,2,3]");
  EXPECT_EQ(Run<ops::AffineGrid>({X({2, 3, 4}), I({2, 3, 5})}),
            "onnx.AffineGrid: size has 3 entries but must have 4 or 5");
}

TEST_F(OnnxSampling, RegionsHaveOneSize) {
  const Value x = X({2, 3, 8, 8}), images = X({n}, DataType::kI64);
  EXPECT_EQ(Run<ops::RoiAlign>({x, X({n, 4}), images}, {.output_height = 5, .output_width = 6}),
            "tensor<Nx3x5x6xf32>");
  EXPECT_EQ(Run<ops::RoiAlign>({x, X({4, 5}), images}),
            "onnx.RoiAlign: rois is [4,5] but must be [4,4]");
  EXPECT_EQ(Run<ops::RoiAlign>({x, X({4, 4}), X({3}, DataType::kI64)}),
            "onnx.RoiAlign: batch_indices is [3] but must be [4]");
  EXPECT_EQ(Run<ops::RoiAlign>({x, X({n, 4}), images}, {.sampling_ratio = -1}),
            "onnx.RoiAlign: sampling_ratio is -1");
  EXPECT_EQ(Run<ops::MaxRoiPool>({x, X({n, 5})}, {.pooled_shape = {2, 3}}), "tensor<Nx3x2x3xf32>");
  EXPECT_EQ(Run<ops::MaxRoiPool>({x, X({n, 5})}, {.pooled_shape = {2}}),
            "onnx.MaxRoiPool: pooled_shape has 1 entries but needs 2");
}

}  // namespace
}  // namespace weft::ir
