// Reference kernels on elements of at most 8 bits: conversions, quantisation, movement.
#include "ir/element/low_precision.h"

#include <cmath>
#include <limits>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using Floats = std::vector<float>;
using Codes = std::vector<uint8_t>;
using ir::ScaleRounding;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr DataType kTypes[] = {DataType::kF8E4M3FN,   DataType::kF8E4M3FNUZ, DataType::kF8E5M2,
                               DataType::kF8E5M2FNUZ, DataType::kU4,         DataType::kI4,
                               DataType::kF4E2M1,     DataType::kF8E8M0,     DataType::kU2,
                               DataType::kI2};

Tensor Coded(DataType dtype, const Codes& codes) {
  return MakeTensor(dtype, {static_cast<int64_t>(codes.size())}, codes);
}
Codes AllCodes(DataType dtype) {
  Codes codes;
  for (int i = 0; i < 256; ++i)
    if (const auto b = static_cast<std::byte>(i); ir::AreLowPrecision(dtype, {&b, 1}))
      codes.push_back(static_cast<uint8_t>(i));
  return codes;
}
Tensor CastTo(Tensor x, const ops::Cast::Attrs<ir::BuilderSlot>& attrs, DataType to) {
  const ir::Shape dims = x.dims();
  return RunOp<ops::Cast>({std::move(x)}, attrs, {to, dims});
}
Codes CodesOf(Tensor x, DataType to) {
  return ValuesOf<uint8_t>(CastTo(std::move(x), {.to = to}, to));
}

TEST(LowPrecisionCast, EveryValueSurvivesEachWiderFloat) {
  for (const DataType dtype : kTypes) {
    for (const DataType wide : {DataType::kF32, DataType::kF64, DataType::kBF16}) {
      SCOPED_TRACE(std::string(DataTypeName(dtype)) + " " + std::string(DataTypeName(wide)));
      const Codes codes = AllCodes(dtype);
      const Codes again = CodesOf(CastTo(Coded(dtype, codes), {.to = wide}, wide), dtype);
      ASSERT_EQ(again.size(), codes.size());
      for (size_t i = 0; i < codes.size(); ++i) {
        const double value = ir::FromLowPrecision(dtype, codes[i]);
        const double expected = std::isinf(value) ? std::copysign(57344, value) : value;
        const double actual = ir::FromLowPrecision(dtype, again[i]);
        EXPECT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(value)))
            << value << " became " << actual;
      }
    }
  }
}

TEST(LowPrecisionCast, SaturatesUnlessToldOtherwise) {
  const Floats x{1e6f, -kInf, kNan, 0.48f, -1e-7f};
  const DataType e4 = DataType::kF8E4M3FN, e5 = DataType::kF8E5M2;
  EXPECT_EQ(CodesOf(F32({5}, x), e4), (Codes{0x7e, 0xfe, 0x7f, 0x2f, 0x80}));
  EXPECT_EQ(ValuesOf<uint8_t>(CastTo(F32({5}, x), {.to = e4, .saturate = int64_t{0}}, e4)),
            (Codes{0x7f, 0xff, 0x7f, 0x2f, 0x80}));
  EXPECT_EQ(ValuesOf<uint8_t>(CastTo(F32({5}, x), {.to = e5, .saturate = int64_t{0}}, e5)),
            (Codes{0x7c, 0xfc, 0x7e, 0x38, 0x80}));
}

TEST(LowPrecisionCast, RoundsScalesAsTold) {
  const DataType to = DataType::kF8E8M0;
  EXPECT_EQ(CodesOf(F32({3}, {0, 1.1f, 2}), to), (Codes{0, 128, 128}));
  EXPECT_EQ(ValuesOf<uint8_t>(
                CastTo(F32({2}, {1.9f, kInf}),
                       {.to = to, .saturate = int64_t{0}, .round_mode = ScaleRounding::kDown}, to)),
            (Codes{127, 255}));
}

TEST(LowPrecisionCast, IntegersWrapAndFloatsAreRoundedBefore) {
  const auto i4 = [](Tensor x) {
    return ValuesOf<int8_t>(CastTo(std::move(x), {.to = DataType::kI4}, DataType::kI4));
  };
  using I8 = std::vector<int8_t>;
  EXPECT_EQ(i4(F32({6}, {-9, 8, 1.5, 2.5, -0.5, kNan})), (I8{7, -8, 2, 2, 0, 0}));
  EXPECT_EQ(i4(I64({3}, {std::numeric_limits<int64_t>::min() + 9, 15, 7})), (I8{-7, -1, 7}));
  EXPECT_EQ(i4(Bool({2}, {1, 0})), (I8{1, 0}));
  EXPECT_EQ(i4(Coded(DataType::kU4, {15, 8, 7})), (I8{-1, -8, 7}));
  EXPECT_EQ(CodesOf(F32({3}, {-1, 5, 1e30f}), DataType::kU2), (Codes{3, 1, 3}));
  EXPECT_EQ(ValuesOf<uint8_t>(CastTo(Coded(DataType::kF4E2M1, {8, 1, 15}), {.to = DataType::kBool},
                                     DataType::kBool)),
            (Codes{0, 1, 1}));
}

TEST(LowPrecisionCast, CastLikeTakesItsAttributesAlong) {
  const DataType to = DataType::kF8E5M2FNUZ;
  const Tensor y = RunOp<ops::CastLike>({F32({2}, {1e9f, 1}), Coded(to, {0})},
                                        {.saturate = int64_t{0}}, {to, {2}});
  EXPECT_EQ(ValuesOf<uint8_t>(y), (Codes{0x80, 0x40}));
}

TEST(LowPrecisionPredicates, FindNaNAndInfinity) {
  const auto codes = [](const Tensor& y) { return ValuesOf<uint8_t>(y); };
  const auto with_infinity = [] {
    return Coded(DataType::kF8E5M2, {0x7c, 0xfc, 0x7d, 0x3c});  // inf, -inf, NaN, 1
  };
  EXPECT_EQ(codes(RunOp<ops::IsInf>({with_infinity()}, {}, {DataType::kBool, {4}})),
            (Codes{1, 1, 0, 0}));
  EXPECT_EQ(codes(RunOp<ops::IsNaN>({with_infinity()}, {}, {DataType::kBool, {4}})),
            (Codes{0, 0, 1, 0}));
  const auto without = [] { return Coded(DataType::kF8E4M3FN, {0x7f, 0x7e}); };  // NaN, 448
  EXPECT_EQ(codes(RunOp<ops::IsInf>({without()}, {}, {DataType::kBool, {2}})), (Codes{0, 0}));
  EXPECT_EQ(codes(RunOp<ops::IsNaN>({without()}, {}, {DataType::kBool, {2}})), (Codes{1, 0}));
}

TEST(LowPrecisionBitCast, KeepsTheBitsOfAnElement) {
  const Tensor y = RunOp<ops::BitCast>({Coded(DataType::kU4, {0, 7, 8, 15})}, {.to = DataType::kI4},
                                       {DataType::kI4, {4}});
  EXPECT_EQ(ValuesOf<int8_t>(y), (std::vector<int8_t>{0, 7, -8, -1}));
  const Tensor z = RunOp<ops::BitCast>({Coded(DataType::kI4, {0xf8, 0xff})},
                                       {.to = DataType::kF4E2M1}, {DataType::kF4E2M1, {2}});
  EXPECT_EQ(ValuesOf<uint8_t>(z), (Codes{8, 15}));
}

TEST(LowPrecisionQuantize, IntegersSaturateAroundTheZeroPoint) {
  const Tensor y = RunOp<ops::QuantizeLinear>(
      {F32({5}, {0, 1, 3, 1000, -1000}), F32({}, {2}), MakeTensor<int8_t>(DataType::kI4, {}, {1})},
      {}, {DataType::kI4, {5}});
  EXPECT_EQ(ValuesOf<int8_t>(y), (std::vector<int8_t>{1, 1, 3, 7, -8}));
}

TEST(LowPrecisionQuantize, FloatsAreRoundedOnce) {
  const DataType to = DataType::kF8E4M3FN;
  const auto codes = [&](int64_t saturate) {
    return ValuesOf<uint8_t>(RunOp<ops::QuantizeLinear>(
        {F32({3}, {1, 2.2f, 1e5f}), F32({}, {2}), MakeTensor<uint8_t>(to, {}, {0})},
        {.saturate = saturate}, {to, {3}}));
  };
  EXPECT_EQ(codes(1), (Codes{0x30, 0x39, 0x7e}));
  EXPECT_EQ(codes(0), (Codes{0x30, 0x39, 0x7f}));
}

TEST(LowPrecisionQuantize, IsUndoneByDequantize) {
  const Tensor y = RunOp<ops::DequantizeLinear>({Coded(DataType::kI2, {0xfe, 1, 0}), F32({}, {0.5}),
                                                 MakeTensor<uint8_t>(DataType::kI2, {}, {1})},
                                                {}, {DataType::kF32, {3}});
  EXPECT_EQ(ValuesOf<float>(y), (Floats{-1.5, 0, -0.5}));
  const Tensor z = RunOp<ops::DequantizeLinear>(
      {Coded(DataType::kF4E2M1, {7, 9}), MakeTensor<uint8_t>(DataType::kF8E8M0, {}, {129})},
      {.output_dtype = int64_t{1}}, {DataType::kF32, {2}});
  EXPECT_EQ(ValuesOf<float>(z), (Floats{24, -2}));
}

TEST(LowPrecisionMovement, MovesElements) {
  const Tensor x = MakeTensor<uint8_t>(DataType::kU4, {2, 3}, {1, 2, 3, 4, 5, 15});
  const auto copy = [&] { return MakeTensor(DataType::kU4, {2, 3}, ValuesOf<uint8_t>(x)); };
  EXPECT_EQ(ValuesOf<uint8_t>(
                RunOp<ops::Transpose>({copy()}, {.perm = ir::Ints{1, 0}}, {DataType::kU4, {3, 2}})),
            (Codes{1, 4, 2, 5, 3, 15}));
  EXPECT_EQ(ValuesOf<uint8_t>(
                RunOp<ops::Reshape>({copy(), Constant(I64({1}, {6}))}, {}, {DataType::kU4, {6}})),
            ValuesOf<uint8_t>(x));
  EXPECT_EQ(
      ValuesOf<uint8_t>(RunOp<ops::Concat>({copy(), copy()}, {.axis = 1}, {DataType::kU4, {2, 6}})),
      (Codes{1, 2, 3, 1, 2, 3, 4, 5, 15, 4, 5, 15}));
}

TEST(LowPrecision, ArithmeticIsRefused) {
  const auto y = TryRunOp<ops::Add>({Coded(DataType::kU4, {1}), Coded(DataType::kU4, {1})}, {},
                                    {{DataType::kU4, {1}}});
  EXPECT_EQ(y.status().code(), absl::StatusCode::kInvalidArgument) << y.status();
}

TEST(LowPrecision, RandomInputsAreElements) {
  for (const DataType dtype : kTypes) {
    const Tensor x = *RandomTensor(dtype, {64}, 1, 0);
    const auto bytes = std::as_bytes(x.values<uint8_t>());
    EXPECT_TRUE(ir::AreLowPrecision(dtype, bytes)) << DataTypeName(dtype);
    for (const uint8_t code : x.values<uint8_t>())
      EXPECT_LE(std::fabs(ir::FromLowPrecision(dtype, code)), 1) << DataTypeName(dtype);
    EXPECT_NE(std::count(bytes.begin(), bytes.end(), bytes[0]), 64) << DataTypeName(dtype);
  }
}

}  // namespace
}  // namespace weft::kernels
