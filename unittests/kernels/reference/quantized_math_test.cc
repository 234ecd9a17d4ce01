// The reference kernels of products of quantised numbers.
#include "ir/dialects/onnx/quantized_math.h"

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;

using U8 = std::vector<uint8_t>;
using I8 = std::vector<int8_t>;

Tensor Bytes(ir::Shape dims, const U8& values) {
  return MakeTensor(DataType::kU8, std::move(dims), values);
}
Tensor SignedBytes(ir::Shape dims, const I8& values) {
  return MakeTensor(DataType::kI8, std::move(dims), values);
}

TEST(ReferenceMatMulInteger, SubtractsZeroPointsOfRowsAndColumns) {
  const Operand a = Bytes({2, 2}, {1, 2, 3, 255}), b = SignedBytes({2, 2}, {1, -2, 3, -128});
  EXPECT_EQ(ValuesOf<int32_t>(RunOp<ops::MatMulInteger>({a, b}, {}, {DataType::kI32, {2, 2}})),
            (std::vector<int32_t>{7, -258, 768, -32646}));
  // Rows [0, 1] and [-7, 245], columns [0, 2] and [2, -124].
  EXPECT_EQ(
      ValuesOf<int32_t>(RunOp<ops::MatMulInteger>(
          {a, b, Bytes({2}, {1, 10}), SignedBytes({2}, {1, -4})}, {}, {DataType::kI32, {2, 2}})),
      (std::vector<int32_t>{2, -124, 490, -30394}));
}

TEST(ReferenceQLinearMatMul, RoundsHalvesToEvenAndSaturates) {
  const auto run = [](float y_scale) {
    return ValuesOf<uint8_t>(RunOp<ops::QLinearMatMul>(
        {Bytes({2, 1}, {13, 17}), F32({}, {0.5}), Bytes({}, {10}), SignedBytes({1, 2}, {1, 3}),
         F32({2}, {2, 4}), SignedBytes({}, {0}), F32({}, {y_scale}), Bytes({}, {100})},
        {}, {DataType::kU8, {2, 2}}));
  };
  // The numbers are 1.5 and 3.5 times 2 and 12: 3, 18, 7, 42.
  EXPECT_EQ(run(2), (U8{102, 109, 104, 121}));  // 1.5, 9, 3.5, 21
  EXPECT_EQ(run(0.25), (U8{112, 172, 128, 255}));
}

TEST(ReferenceConvInteger, PadsWithTheZeroPoint) {
  const Tensor y =
      RunOp<ops::ConvInteger>({Bytes({1, 1, 3}, {11, 12, 14}), Bytes({2, 1, 2}, {1, 2, 3, 4}),
                               Bytes({}, {10}), Bytes({2}, {0, 1})},
                              {.pads = {1, 0}}, {DataType::kI32, {1, 2, 3}});
  // x is 0, 1, 2, 4; the kernels are 1, 2 and 2, 3.
  EXPECT_EQ(ValuesOf<int32_t>(y), (std::vector<int32_t>{2, 5, 10, 3, 8, 16}));
}

TEST(ReferenceQLinearConv, ScalesEachChannel) {
  const Tensor y = RunOp<ops::QLinearConv>(
      {Bytes({1, 1, 2}, {11, 12}), F32({}, {0.5}), Bytes({}, {10}), Bytes({2, 1, 1}, {3, 5}),
       F32({2}, {2, 4}), Bytes({}, {1}), F32({}, {1}), Bytes({}, {7}), I32({2}, {1, -200})},
      {}, {DataType::kU8, {1, 2, 2}});
  // Sums 3, 5 times 1 and -196, -192 times 2.
  EXPECT_EQ(ValuesOf<uint8_t>(y), (U8{10, 12, 0, 0}));
}

}  // namespace
}  // namespace weft::kernels
