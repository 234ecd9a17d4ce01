#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class OnnxImage : public InferTest {
 protected:
  Value Floats(std::initializer_list<float> values) {
    const auto size = static_cast<int64_t>(values.size());
    return b.ConstantFloats({values.begin(), values.size()}, {&size, 1});
  }
};

TEST_F(OnnxImage, ResizeRoundsScalesDown) {
  EXPECT_EQ(Run<ops::Resize>({X({n, 3, 4, 5}), Value(), Floats({1, 1, 2, 0.5})}),
            "tensor<Nx3x8x2xf32>");
  EXPECT_EQ(Run<ops::Resize>({X({n, 2}), Value(), Floats({2, 1})}), "tensor<2*Nx2xf32>");
  EXPECT_EQ(Run<ops::Resize>({X({n, 2}), Value(), X({2})}), "tensor<-1x-1xf32>");
  // 10 * 0.7f is 7 in f32 and less in f64.
  EXPECT_EQ(Run<ops::Resize>({X({10}), Value(), Floats({0.7f})}), "tensor<7xf32>");
}

TEST_F(OnnxImage, ResizeTakesSizes) {
  EXPECT_EQ(Run<ops::Resize>({X({1, 4}, DataType::kU8), Value(), Value(), I({1, 9})}),
            "tensor<1x9xu8>");
  EXPECT_EQ(Run<ops::Resize>({X({1, 4}), Value(), Value(), X({2}, DataType::kI64)}),
            "tensor<-1x-1xf32>");
  // Before opset 13 operands that are not used were empty.
  EXPECT_EQ(Run<ops::Resize>({X({1, 4}), Floats({}), Floats({}), I({1, 9})}), "tensor<1x9xf32>");
}

TEST_F(OnnxImage, ResizeScalesWhatACropKeeps) {
  const Value roi = Floats({0, 0.25, 1, 0.75});
  EXPECT_EQ(
      Run<ops::Resize>({X({3, 8}), roi, Floats({1, 3})},
                       {.coordinate_transformation_mode = ops::CoordinateMode::kTfCropAndResize}),
      "tensor<3x12xf32>");
  EXPECT_EQ(Run<ops::Resize>({X({3, 8}), roi, Floats({1, 3})}), "tensor<3x24xf32>");
  EXPECT_EQ(
      Run<ops::Resize>({X({3, 8}), Value(), Floats({1, 3})},
                       {.coordinate_transformation_mode = ops::CoordinateMode::kTfCropAndResize}),
      "onnx.Resize: tf_crop_and_resize has no roi");
}

TEST_F(OnnxImage, ResizeSaysWhatIsWrongWithScalesAndSizes) {
  EXPECT_EQ(Run<ops::Resize>({X({4})}), "onnx.Resize: has neither scales nor sizes");
  EXPECT_EQ(Run<ops::Resize>({X({4}), Value(), Floats({2}), I({8})}),
            "onnx.Resize: has both scales and sizes");
  EXPECT_EQ(Run<ops::Resize>({X({4}), Value(), Floats({1, 2})}),
            "onnx.Resize: scales has 2 entries but dimensions of x are 1");
  EXPECT_EQ(Run<ops::Resize>({X({4}), Value(), Floats({0})}),
            "onnx.Resize: scales has the entry 0");
  EXPECT_EQ(Run<ops::Resize>({X({4}), Value(), Floats({1e30f})}),
            "onnx.Resize: dimension 0 of [4] cannot be scaled by 1.0000000150474662e+30");
  EXPECT_EQ(Run<ops::Resize>({X({4}), Value(), Value(), I({-1})}),
            "onnx.Resize: sizes has the entry -1");
}

TEST_F(OnnxImage, ResizeMayNameItsAxes) {
  EXPECT_EQ(Run<ops::Resize>({X({n, 3, 4, 6}), Value(), Floats({2, 0.5})}, {.axes = {-1, 2}}),
            "tensor<Nx3x2x12xf32>");
  EXPECT_EQ(Run<ops::Resize>({X({n, 4}), Value(), Value(), I({7})}, {.axes = {1}}),
            "tensor<Nx7xf32>");
  EXPECT_EQ(Run<ops::Resize>({X({n, 4}), Value(), Value(), I({7})}, {.axes = {2}}),
            "onnx.Resize: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::Resize>({X({n, 4}), Value(), Value(), I({7, 7})}, {.axes = {1, -1}}),
            "onnx.Resize: axes has 1 twice");
  EXPECT_EQ(Run<ops::Resize>({X({n, 4}), Value(), Value(), I({7, 7})}, {.axes = {1}}),
            "onnx.Resize: sizes has 2 entries but axes are 1");
}

TEST_F(OnnxImage, ResizeKeepsTheAspectRatioOnDemand) {
  const auto keep = [&](ops::AspectRatioPolicy policy) {
    return Run<ops::Resize>({X({1, 2, 4}), Value(), Value(), I({7, 8})},
                            {.axes = {1, 2}, .keep_aspect_ratio_policy = policy});
  };
  EXPECT_EQ(keep(ops::AspectRatioPolicy::kNotLarger), "tensor<1x4x8xf32>");
  EXPECT_EQ(keep(ops::AspectRatioPolicy::kNotSmaller), "tensor<1x7x14xf32>");
  EXPECT_EQ(Run<ops::Resize>({X({n, 4}), Value(), Value(), I({7, 8})},
                             {.keep_aspect_ratio_policy = ops::AspectRatioPolicy::kNotLarger}),
            "tensor<-1x-1xf32>");
}

}  // namespace
}  // namespace weft::ir
