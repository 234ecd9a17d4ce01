#include "kernels/runtime/value_type.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "kernels/kernel.h"

namespace weft::kernels {
namespace {

using ir::DataType;

TEST(WhyNoTensors, SaysWhatKernelsDoNotTake) {
  ir::IrContext context;
  const auto why = [&](DataType dtype, ir::Shape dims) {
    return WhyNoTensors(context.TensorType(dtype, std::move(dims)));
  };
  EXPECT_EQ(why(DataType::kF32, {}), "");
  EXPECT_EQ(why(DataType::kF32, ir::Shape(8, 2)), "");
  EXPECT_EQ(why(DataType::kF32, ir::Shape(9, 2)), "more than 8 dimensions");
  EXPECT_EQ(why(DataType::kString, {2}), "elements of type str");
  EXPECT_EQ(why(DataType::kNull, {2}), "elements of type ?");
  EXPECT_EQ(why(DataType::kI8, {int64_t{1} << 40}), "");
  EXPECT_EQ(why(DataType::kI8, {(int64_t{1} << 40) + 1}), "more than 1024 GiB");
  EXPECT_EQ(why(DataType::kF64, {int64_t{1} << 62, 4}), "more than 1024 GiB");  // 2^67 bytes
}

TEST(CheckRunnable, NamesTheOpThePlaceAndTheType) {
  ir::IrContext context;
  ir::LoadOnnxDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(DataType::kF32, ir::Shape(9, 2)));
  b.set_location(ir::Name("here"));
  const ir::Operation op = b.Create<ir::ops::Neg>({x});
  EXPECT_EQ(ir::Message(CheckRunnable(op.result(0).type(), op, "result", 0)),
            "onnx.Neg (here): result 0 has type tensor<2x2x2x2x2x2x2x2x2xf32>, but kernels do not "
            "take more than 8 dimensions");
  EXPECT_EQ(
      ir::Message(CheckRunnable(context.UnrankedTensorType(DataType::kF32), op, "operand", 1)),
      "onnx.Neg (here): operand 1 has type tensor<*xf32>, whose shape is not known before run "
      "time");
  EXPECT_TRUE(CheckRunnable(context.TensorType(DataType::kF32, {2}), op, "result", 0).ok());
}

}  // namespace
}  // namespace weft::kernels
