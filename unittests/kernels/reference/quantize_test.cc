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

TEST(ReferenceQuantizeLinear, HasAScaleForEachBlock) {
  const Tensor y =
      RunOp<ops::QuantizeLinear>({F32({1, 5}, {1, 2, 3, 4, 5}), F32({1, 3}, {1, 0.5, 0.25}),
                                  MakeTensor<int16_t>(DataType::kI16, {1, 3}, {0, 1, -300})},
                                 {.block_size = 2}, {DataType::kI16, {1, 5}});
  EXPECT_EQ(ValuesOf<int16_t>(y), (std::vector<int16_t>{1, 2, 7, 9, -280}));
}

TEST(ReferenceQuantizeLinear, DividesInThePrecisionItIsTold) {
  // 1 / 0.4 is 2.5 in f16, and the nearest f32 to 0.4 is above it.
  const auto quantize = [](int64_t precision) {
    return RunOp<ops::QuantizeLinear>({F32({1}, {1}), F32({}, {0.3999f})}, {.precision = precision},
                                      {DataType::kU8, {1}})
        .values<uint8_t>()[0];
  };
  EXPECT_EQ(quantize(0), 3);
  EXPECT_EQ(quantize(10), 2);  // 2.5006 is 2.5 in f16
}

TEST(ReferenceDequantizeLinear, HasAScaleForEachBlock) {
  const Tensor y = RunOp<ops::DequantizeLinear>(
      {MakeTensor<uint16_t>(DataType::kU16, {3, 1}, {1, 2, 60000}), F32({2, 1}, {2, 0.5}),
       MakeTensor<uint16_t>(DataType::kU16, {2, 1}, {1, 0})},
      {.axis = 0, .block_size = 2}, {DataType::kF32, {3, 1}});
  EXPECT_EQ(ValuesOf<float>(y), (std::vector<float>{0, 2, 30000}));
}

TEST(ReferenceDynamicQuantizeLinear, FitsTheNumbersAndZero) {
  const auto run = [](const std::vector<float>& x) {
    const auto n = static_cast<int64_t>(x.size());
    auto results = TryRunOp<ops::DynamicQuantizeLinear>(
        {F32({n}, x)}, {}, {{DataType::kU8, {n}}, {DataType::kF32, {}}, {DataType::kU8, {}}});
    EXPECT_TRUE(results.ok()) << results.status();
    return std::move(*results);
  };
  const auto both = run({-1, 0, 1.55f, -0.5});
  EXPECT_FLOAT_EQ(both[1].values<float>()[0], 0.01f);
  EXPECT_EQ(both[2].values<uint8_t>()[0], 100);
  EXPECT_EQ(ValuesOf<uint8_t>(both[0]), (U8{0, 100, 255, 50}));
  EXPECT_EQ(ValuesOf<uint8_t>(run({1, 4})[0]), (U8{64, 255}));
  EXPECT_EQ(ValuesOf<uint8_t>(run({0, 0})[0]), (U8{0, 0}));
}

}  // namespace
}  // namespace weft::kernels
