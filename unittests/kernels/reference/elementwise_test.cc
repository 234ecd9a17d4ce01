// The reference kernels of elementwise ops against formulas in double and hand-made integers.
#include <cmath>
#include <functional>
#include <limits>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Every element is the formula's value, rounded to f32 once.
template <class O>
void ExpectMaps(const std::function<double(double)>& formula, float scale, float shift,
                const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  SCOPED_TRACE(O::kInfo.name);
  Tensor x = Random({3, 37}, 11);
  for (float& value : x.values<float>()) value = value * scale + shift;
  const std::vector<float> in = ValuesOf<float>(x);
  const Tensor y = RunOp<O>({std::move(x)}, attrs, {DataType::kF32, {3, 37}});
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(y.values<float>()[i], static_cast<float>(formula(in[i]))) << "at " << in[i];
}

TEST(ReferenceUnary, IsTheFormulaRoundedOnce) {
  ExpectMaps<ops::Abs>([](double x) { return std::abs(x); }, 3, 0);
  ExpectMaps<ops::Neg>([](double x) { return -x; }, 3, 0);
  ExpectMaps<ops::Exp>([](double x) { return std::exp(x); }, 5, 0);
  ExpectMaps<ops::Log>([](double x) { return std::log(x); }, 2, 2.5);
  ExpectMaps<ops::Sqrt>([](double x) { return std::sqrt(x); }, 2, 2.5);
  ExpectMaps<ops::Reciprocal>([](double x) { return 1 / x; }, 2, 2.5);
  ExpectMaps<ops::Erf>([](double x) { return std::erf(x); }, 3, 0);
  ExpectMaps<ops::Tanh>([](double x) { return std::tanh(x); }, 3, 0);
  ExpectMaps<ops::Relu>([](double x) { return x < 0 ? 0 : x; }, 3, 0);
  ExpectMaps<ops::Sigmoid>([](double x) { return 1 / (1 + std::exp(-x)); }, 8, 0);
  ExpectMaps<ops::HardSwish>([](double x) { return x * std::fmin(std::fmax(x / 6 + 0.5, 0), 1); },
                             5, 0);
  ExpectMaps<ops::HardSigmoid>([](double x) { return std::fmin(std::fmax(0.3f * x + 0.4f, 0), 1); },
                               4, 0, {.alpha = 0.3f, .beta = 0.4f});
  ExpectMaps<ops::LeakyRelu>([](double x) { return x < 0 ? 0.2f * x : x; }, 4, 0, {.alpha = 0.2f});
  ExpectMaps<ops::Elu>([](double x) { return x < 0 ? 1.5f * std::expm1(x) : x; }, 4, 0,
                       {.alpha = 1.5f});
  ExpectMaps<ops::Selu>([](double x) { return 1.25 * (x < 0 ? 1.5 * (std::exp(x) - 1) : x); }, 4, 0,
                        {.alpha = 1.5f, .gamma = 1.25f});
}

TEST(ReferenceUnary, WorksOnHalves) {
  Tensor x = MakeTensor<uint16_t>(DataType::kF16, {2}, {0x4400, 0x4080});  // 4, 2.25
  const Tensor y = RunOp<ops::Sqrt>({std::move(x)}, {}, {DataType::kF16, {2}});
  EXPECT_EQ(ValuesOf<uint16_t>(y), (std::vector<uint16_t>{0x4000, 0x3e00}));  // 2, 1.5
}

template <class O>
void ExpectKeepsNan() {
  const Tensor y = RunOp<O>({F32({3}, {-9, NAN, 9})}, {}, {DataType::kF32, {3}});
  for (size_t i : {0, 1, 2}) EXPECT_EQ(std::isnan(ValuesOf<float>(y)[i]), i == 1) << O::kInfo.name;
}

TEST(ReferenceUnary, KeepsNanWhereItClamps) {
  ExpectKeepsNan<ops::HardSigmoid>();
  ExpectKeepsNan<ops::HardSwish>();
  ExpectKeepsNan<ops::Relu>();
  ExpectKeepsNan<ops::LeakyRelu>();
  ExpectKeepsNan<ops::Elu>();
  ExpectKeepsNan<ops::Selu>();
}

TEST(ReferenceUnary, NegatesAndTakesTheAbsoluteValueOfIntegers) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(
      ValuesOf<int64_t>(RunOp<ops::Neg>({I64({3}, {5, -7, least})}, {}, {DataType::kI64, {3}})),
      (std::vector<int64_t>{-5, 7, least}));
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::Abs>({I64({3}, {5, -7, 0})}, {}, {DataType::kI64, {3}})),
            (std::vector<int64_t>{5, 7, 0}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp<ops::Relu>({I32({2}, {5, -7})}, {}, {DataType::kI32, {2}})),
            (std::vector<int32_t>{5, 0}));
}

TEST(ReferenceUnary, InvertsBools) {
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::Not>({Bool({2}, {1, 0})}, {}, {DataType::kBool, {2}})),
            (std::vector<uint8_t>{0, 1}));
}

TEST(ReferenceClip, TakesEitherBoundOrBothAndKeepsNan) {
  const std::vector<float> x = {-2, -0.5, 0.5, 3, kNan};
  const ResultType type = {DataType::kF32, {5}};
  const auto clip = [&](Operand min, Operand max) {
    return ValuesOf<float>(
        RunOp<ops::Clip>({F32({5}, x), std::move(min), std::move(max)}, {}, type));
  };
  const std::vector<float> both = clip(F32({}, {-1}), F32({}, {2}));
  EXPECT_EQ(std::vector<float>(both.begin(), both.end() - 1),
            (std::vector<float>{-1, -0.5, 0.5, 2}));
  EXPECT_TRUE(std::isnan(both[4]));
  EXPECT_EQ(clip({}, F32({}, {0}))[3], 0);
  EXPECT_EQ(clip({}, F32({}, {0}))[0], -2);
  EXPECT_EQ(clip(F32({}, {1}), {})[0], 1);
}

TEST(ReferenceBinary, BroadcastsBothOperands) {
  // [2,1] op [3] -> [2,3]
  const auto run = [](auto op) {
    using O = decltype(op);
    return ValuesOf<float>(
        RunOp<O>({F32({2, 1}, {6, 10}), F32({3}, {1, 2, 4})}, {}, {DataType::kF32, {2, 3}}));
  };
  EXPECT_EQ(run(ops::Add()), (std::vector<float>{7, 8, 10, 11, 12, 14}));
  EXPECT_EQ(run(ops::Sub()), (std::vector<float>{5, 4, 2, 9, 8, 6}));
  EXPECT_EQ(run(ops::Mul()), (std::vector<float>{6, 12, 24, 10, 20, 40}));
  EXPECT_EQ(run(ops::Div()), (std::vector<float>{6, 3, 1.5, 10, 5, 2.5}));
  EXPECT_EQ(run(ops::Pow()), (std::vector<float>{6, 36, 1296, 10, 100, 10000}));
  EXPECT_EQ(run(ops::Min()), (std::vector<float>{1, 2, 4, 1, 2, 4}));
  EXPECT_EQ(run(ops::Max()), (std::vector<float>{6, 6, 6, 10, 10, 10}));
}

TEST(ReferenceBinary, TruncatesFloatPowersOfIntegers) {
  const Tensor y = RunOp<ops::Pow>({I32({5}, {2, 9, 10, -8, 0}), F32({5}, {2, 0.5, 99, 0.5, -1})},
                                   {}, {DataType::kI32, {5}});
  EXPECT_EQ(ValuesOf<int32_t>(y), (std::vector<int32_t>{4, 3, INT32_MAX, 0, INT32_MAX}));
}

TEST(ReferenceBinary, WholeFloatPowersOfLongIntegersHaveAllDigits) {
  const int64_t long_one = (int64_t{1} << 53) + 1;
  const Tensor y =
      RunOp<ops::Pow>({I64({6}, {long_one, -long_one, INT64_MAX - 1, 3037000499, 4, 10}),
                       F32({6}, {1, 1, 1, 2, 0.5, 99})},
                      {}, {DataType::kI64, {6}});
  EXPECT_EQ(ValuesOf<int64_t>(y), (std::vector<int64_t>{long_one, -long_one, INT64_MAX - 1,
                                                        9223372030926249001, 2, INT64_MAX}));
}

TEST(ReferenceBinary, ComputesIntegersExactly) {
  const int64_t big = (int64_t{1} << 62) + 1;
  const ResultType type = {DataType::kI64, {4}};
  const auto run = [&](auto op) {
    using O = decltype(op);
    return ValuesOf<int64_t>(
        RunOp<O>({I64({4}, {big, -7, 7, 9}), I64({4}, {1, 2, -2, 3})}, {}, type));
  };
  EXPECT_EQ(run(ops::Add()), (std::vector<int64_t>{big + 1, -5, 5, 12}));
  EXPECT_EQ(run(ops::Sub()), (std::vector<int64_t>{big - 1, -9, 9, 6}));
  EXPECT_EQ(run(ops::Mul()), (std::vector<int64_t>{big, -14, -14, 27}));
  EXPECT_EQ(run(ops::Div()), (std::vector<int64_t>{big, -3, -3, 3}));
  EXPECT_EQ(run(ops::Pow()), (std::vector<int64_t>{big, 49, 0, 729}));
  EXPECT_EQ(run(ops::Sum()), (std::vector<int64_t>{big + 1, -5, 5, 12}));
}

TEST(ReferenceBinary, RefusesToDivideAnIntegerByZero) {
  const auto result =
      TryRunOp<ops::Div>({I32({2}, {1, 2}), I32({2}, {1, 0})}, {}, {{DataType::kI32, {2}}});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().message(), "onnx.Div: an integer is divided by zero");
}

TEST(ReferenceBinary, WrapsTheOneQuotientThatOverflows) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(ValuesOf<int32_t>(
                RunOp<ops::Div>({I32({1}, {least}), I32({1}, {-1})}, {}, {DataType::kI32, {1}})),
            (std::vector<int32_t>{least}));
}

TEST(ReferenceBinary, AddsAnyNumberOfTensors) {
  EXPECT_EQ(
      ValuesOf<float>(RunOp<ops::Sum>({F32({2}, {1, 2}), F32({1}, {10}), F32({2, 1}, {100, 200})},
                                      {}, {DataType::kF32, {2, 2}})),
      (std::vector<float>{111, 112, 211, 212}));
}

TEST(ReferenceBinary, PropagatesNanThroughMinAndMax) {
  const auto run = [](auto op) {
    using O = decltype(op);
    return ValuesOf<float>(
        RunOp<O>({F32({2}, {kNan, 1}), F32({2}, {1, kNan})}, {}, {DataType::kF32, {2}}));
  };
  for (const float value : run(ops::Min())) EXPECT_TRUE(std::isnan(value));
  for (const float value : run(ops::Max())) EXPECT_TRUE(std::isnan(value));
}

TEST(ReferencePredicates, CompareFloatsIntegersAndBools) {
  const ResultType type = {DataType::kBool, {3}};
  const auto floats = [&](auto op) {
    using O = decltype(op);
    return ValuesOf<uint8_t>(RunOp<O>({F32({3}, {1, 2, 3}), F32({1}, {2})}, {}, type));
  };
  EXPECT_EQ(floats(ops::Equal()), (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_EQ(floats(ops::Greater()), (std::vector<uint8_t>{0, 0, 1}));
  EXPECT_EQ(floats(ops::Less()), (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_EQ(floats(ops::GreaterOrEqual()), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(floats(ops::LessOrEqual()), (std::vector<uint8_t>{1, 1, 0}));
  const int64_t big = int64_t{1} << 60;  // as doubles these two are equal
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::Equal>(
                {I64({3}, {big, big + 1, 5}), I64({3}, {big, big, 5})}, {}, type)),
            (std::vector<uint8_t>{1, 0, 1}));
  const auto bools = [&](auto op) {
    using O = decltype(op);
    return ValuesOf<uint8_t>(RunOp<O>({Bool({3}, {0, 1, 1}), Bool({3}, {0, 0, 1})}, {}, type));
  };
  EXPECT_EQ(bools(ops::Equal()), (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(bools(ops::And()), (std::vector<uint8_t>{0, 0, 1}));
  EXPECT_EQ(bools(ops::Or()), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(bools(ops::Xor()), (std::vector<uint8_t>{0, 1, 0}));
}

TEST(ReferenceWhere, BroadcastsThreeOperands) {
  EXPECT_EQ(ValuesOf<int64_t>(
                RunOp<ops::Where>({Bool({2, 1}, {1, 0}), I64({3}, {1, 2, 3}), I64({}, {-1})}, {},
                                  {DataType::kI64, {2, 3}})),
            (std::vector<int64_t>{1, 2, 3, -1, -1, -1}));
}

TEST(ReferenceCast, TruncatesWrapsAndSaturates) {
  const auto cast = [](Tensor x, DataType to) {
    const ir::Shape dims = x.dims();
    return RunOp<ops::Cast>({std::move(x)}, {.to = to}, {to, dims});
  };
  EXPECT_EQ(ValuesOf<int32_t>(cast(F32({5}, {1.9, -1.9, 1e20, -1e20, kNan}), DataType::kI32)),
            (std::vector<int32_t>{1, -1, std::numeric_limits<int32_t>::max(),
                                  std::numeric_limits<int32_t>::min(), 0}));
  EXPECT_EQ(ValuesOf<int8_t>(cast(I64({2}, {300, -1}), DataType::kI8)),
            (std::vector<int8_t>{44, -1}));
  EXPECT_EQ(ValuesOf<uint8_t>(cast(F32({3}, {0, 0.5, -2}), DataType::kBool)),
            (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(ValuesOf<float>(cast(Bool({2}, {1, 0}), DataType::kF32)), (std::vector<float>{1, 0}));
  EXPECT_EQ(ValuesOf<uint16_t>(cast(F32({2}, {1.5, -2}), DataType::kF16)),
            (std::vector<uint16_t>{0x3e00, 0xc000}));
  EXPECT_EQ(ValuesOf<double>(cast(I64({1}, {(int64_t{1} << 53) + 1}), DataType::kF64)),
            (std::vector<double>{9007199254740992.0}));
}

}  // namespace
}  // namespace weft::kernels
