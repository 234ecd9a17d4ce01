// The reference kernels of linear quantisation.
#include <cmath>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using U8 = std::vector<uint8_t>;
using I8 = std::vector<int8_t>;

TEST(ReferenceQuantizeLinear, RoundsHalvesToEvenAndSaturates) {
  const Tensor y =
      RunOp<ops::QuantizeLinear>({F32({7}, {0, 1, 3, 5, 1000, -400, -21}), F32({}, {2}),
                                  MakeTensor<uint8_t>(DataType::kU8, {}, {10})},
                                 {}, {DataType::kU8, {7}});
  // 0, 0.5, 1.5, 2.5, 500, -200, -10.5 are 0, 0, 2, 2, 500, -200, -10.
  EXPECT_EQ(ValuesOf<uint8_t>(y), (U8{10, 10, 12, 12, 255, 0, 0}));
}

TEST(ReferenceQuantizeLinear, HasAScaleForEachEntryOfItsAxis) {
  const Tensor y = RunOp<ops::QuantizeLinear>({F32({2, 2}, {1, 3, -2, -6}), F32({2}, {1, 3}),
                                               MakeTensor<int8_t>(DataType::kI8, {2}, {0, 5})},
                                              {.axis = 0}, {DataType::kI8, {2, 2}});
  EXPECT_EQ(ValuesOf<int8_t>(y), (I8{1, 3, 4, 3}));
}

TEST(ReferenceQuantizeLinear, GivesSomeNumberForNan) {
  const auto y = TryRunOp<ops::QuantizeLinear>({F32({1}, {std::nanf("")}), F32({}, {1})}, {},
                                               {{DataType::kU8, {1}}});
  EXPECT_TRUE(y.ok()) << y.status();
}

TEST(ReferenceDequantizeLinear, SubtractsTheZeroPointFirst) {
  const Tensor y = RunOp<ops::DequantizeLinear>(
      {MakeTensor<uint8_t>(DataType::kU8, {1, 2, 2}, {0, 3, 128, 255}), F32({2}, {2, 0.5}),
       MakeTensor<uint8_t>(DataType::kU8, {2}, {3, 128})},
      {.axis = -2}, {DataType::kF32, {1, 2, 2}});
  EXPECT_EQ(ValuesOf<float>(y), (std::vector<float>{-6, 0, 0, 63.5}));
  const Tensor z = RunOp<ops::DequantizeLinear>({I32({2}, {-1 << 30, 7}), F32({1}, {0.25})}, {},
                                                {DataType::kF32, {2}});
  EXPECT_EQ(ValuesOf<float>(z), (std::vector<float>{-268435456.0f, 1.75}));
}

TEST(ReferenceDequantizeLinear, RefusesAScaleThatFitsNoAxis) {
  const auto y = TryRunOp<ops::DequantizeLinear>(
      {MakeTensor<int8_t>(DataType::kI8, {1, 2}, {1, 2}), F32({3}, {1, 2, 3})}, {},
      {{DataType::kF32, {1, 2}}});
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::kernels
