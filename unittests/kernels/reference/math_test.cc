// The reference kernels of mathematical functions against formulas in double, and worked examples.
#include "ir/dialects/onnx/math.h"

#include <cmath>
#include <functional>
#include <limits>

#include "ir/dialects/onnx/search.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();

// Every element is the formula's value, rounded to f32 once.
template <class O>
void ExpectMaps(double (*formula)(double), float scale, float shift) {
  SCOPED_TRACE(O::kInfo.name);
  Tensor x = Random({3, 37}, 11);
  for (float& value : x.values<float>()) value = value * scale + shift;
  const std::vector<float> in = ValuesOf<float>(x);
  const Tensor y = RunOp<O>({std::move(x)}, {}, {DataType::kF32, {3, 37}});
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(y.values<float>()[i], static_cast<float>(formula(in[i]))) << "at " << in[i];
}

TEST(ReferenceMath, IsTheFormulaRoundedOnce) {
  ExpectMaps<ops::Acos>(std::acos, 1, 0);
  ExpectMaps<ops::Acosh>(std::acosh, 2, 3);
  ExpectMaps<ops::Asin>(std::asin, 1, 0);
  ExpectMaps<ops::Asinh>(std::asinh, 4, 0);
  ExpectMaps<ops::Atan>(std::atan, 4, 0);
  ExpectMaps<ops::Atanh>(std::atanh, 1, 0);
  ExpectMaps<ops::Cos>(std::cos, 6, 0);
  ExpectMaps<ops::Cosh>(std::cosh, 4, 0);
  ExpectMaps<ops::Sin>(std::sin, 6, 0);
  ExpectMaps<ops::Sinh>(std::sinh, 4, 0);
  ExpectMaps<ops::Tan>(std::tan, 6, 0);
  ExpectMaps<ops::Ceil>(std::ceil, 9, 0);
  ExpectMaps<ops::Floor>(std::floor, 9, 0);
}

TEST(ReferenceMath, OutsideTheDomainIsNan) {
  const auto run = [](auto op, float x) {
    using O = decltype(op);
    return ValuesOf<float>(RunOp<O>({F32({1}, {x})}, {}, {DataType::kF32, {1}}))[0];
  };
  EXPECT_TRUE(std::isnan(run(ops::Acos(), 2)));
  EXPECT_TRUE(std::isnan(run(ops::Acosh(), 0)));
  EXPECT_TRUE(std::isnan(run(ops::Sin(), kInf)));
  EXPECT_EQ(run(ops::Atanh(), 1), kInf);
}

TEST(ReferenceRound, SendsHalvesToEven) {
  const std::vector<float> y = ValuesOf<float>(RunOp<ops::Round>(
      {F32({8}, {0.5, 1.5, 2.5, -2.5, -0.25, 2.75, kInf, kNan})}, {}, {DataType::kF32, {8}}));
  EXPECT_EQ(std::vector<float>(y.begin(), y.end() - 1),
            (std::vector<float>{0, 2, 2, -2, 0, 3, kInf}));
  EXPECT_TRUE(std::signbit(y[4]));
  EXPECT_TRUE(std::isnan(y[7]));
}

TEST(ReferenceSign, IsMinusOneZeroOrOne) {
  const std::vector<float> y = ValuesOf<float>(
      RunOp<ops::Sign>({F32({4}, {-kInf, -0.0f, 0.25, kNan})}, {}, {DataType::kF32, {4}}));
  EXPECT_EQ(std::vector<float>(y.begin(), y.end() - 1), (std::vector<float>{-1, 0, 1}));
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_EQ(
      ValuesOf<int32_t>(RunOp<ops::Sign>({I32({3}, {kLeast, 0, 7})}, {}, {DataType::kI32, {3}})),
      (std::vector<int32_t>{-1, 0, 1}));
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::Sign>({MakeTensor<uint8_t>(DataType::kU8, {2}, {0, 200})},
                                               {}, {DataType::kU8, {2}})),
            (std::vector<uint8_t>{0, 1}));
}

TEST(ReferencePredicates, FindNanAndInfinities) {
  const auto x = [] { return F32({4}, {-kInf, kInf, kNan, 1}); };
  const ResultType type = {DataType::kBool, {4}};
  using B = std::vector<uint8_t>;
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::IsNaN>({x()}, {}, type)), (B{0, 0, 1, 0}));
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::IsInf>({x()}, {}, type)), (B{1, 1, 0, 0}));
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::IsInf>({x()}, {.detect_negative = 0}, type)),
            (B{0, 1, 0, 0}));
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::IsInf>({x()}, {.detect_positive = 0}, type)),
            (B{1, 0, 0, 0}));
}

TEST(ReferenceMod, OfIntegersHasTheSignOfTheDivisorOrTheDividend) {
  const auto mod = [](int64_t fmod) {
    return ValuesOf<int32_t>(
        RunOp<ops::Mod>({I32({6}, {-4, 7, 5, 4, -7, kLeast}), I32({6}, {2, -3, 8, -2, 3, -1})},
                        {.fmod = fmod}, {DataType::kI32, {6}}));
  };
  EXPECT_EQ(mod(0), (std::vector<int32_t>{0, -2, 5, 0, 2, 0}));
  EXPECT_EQ(mod(1), (std::vector<int32_t>{0, 1, 5, 0, -1, 0}));
}

TEST(ReferenceMod, OfFloatsIsFmodAndBroadcasts) {
  const std::vector<float> y = ValuesOf<float>(RunOp<ops::Mod>(
      {F32({2, 1}, {-4.5, 5.25}), F32({3}, {2, -3, 0})}, {.fmod = 1}, {DataType::kF32, {2, 3}}));
  EXPECT_EQ(y[0], -0.5);
  EXPECT_EQ(y[1], -1.5);
  EXPECT_EQ(y[3], 1.25);
  EXPECT_EQ(y[4], 2.25);
  EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[5]));
}

TEST(ReferenceMod, RefusesToDivideAnIntegerByZero) {
  const auto result =
      TryRunOp<ops::Mod>({I32({2}, {1, 2}), I32({2}, {1, 0})}, {}, {{DataType::kI32, {2}}});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(result.status().message(), "onnx.Mod: an integer is divided by zero");
}

TEST(ReferenceMean, BroadcastsAndDividesOnce) {
  EXPECT_EQ(
      ValuesOf<float>(RunOp<ops::Mean>({F32({2, 1}, {1, 2}), F32({2}, {10, 20}), F32({}, {100})},
                                       {}, {DataType::kF32, {2, 2}})),
      (std::vector<float>{37, 121.0f / 3, 112.0f / 3, 122.0f / 3}));
}

// --- bits -------------------------------------------------------------------------

TEST(ReferenceBitwise, WorksOnEveryBit) {
  const auto run = [](auto op) {
    using O = decltype(op);
    return ValuesOf<int32_t>(
        RunOp<O>({I32({2, 1}, {12, -1}), I32({2}, {10, kLeast})}, {}, {DataType::kI32, {2, 2}}));
  };
  EXPECT_EQ(run(ops::BitwiseAnd()), (std::vector<int32_t>{8, 0, 10, kLeast}));
  EXPECT_EQ(run(ops::BitwiseOr()), (std::vector<int32_t>{14, kLeast + 12, -1, -1}));
  EXPECT_EQ(run(ops::BitwiseXor()), (std::vector<int32_t>{6, kLeast + 12, -11, ~kLeast}));
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::BitwiseNot>(
                {MakeTensor<uint8_t>(DataType::kU8, {2}, {0, 0xa5})}, {}, {DataType::kU8, {2}})),
            (std::vector<uint8_t>{255, 0x5a}));
}

TEST(ReferenceBitShift, DropsWhatLeavesTheElement) {
  const auto shift = [](ops::ShiftDirection direction) {
    return ValuesOf<uint8_t>(
        RunOp<ops::BitShift>({MakeTensor<uint8_t>(DataType::kU8, {5}, {129, 129, 129, 129, 129}),
                              MakeTensor<uint8_t>(DataType::kU8, {5}, {0, 1, 7, 8, 255})},
                             {.direction = direction}, {DataType::kU8, {5}}));
  };
  EXPECT_EQ(shift(ops::ShiftDirection::kLeft), (std::vector<uint8_t>{129, 2, 128, 0, 0}));
  EXPECT_EQ(shift(ops::ShiftDirection::kRight), (std::vector<uint8_t>{129, 64, 1, 0, 0}));
  EXPECT_EQ(ValuesOf<uint64_t>(RunOp<ops::BitShift>(
                {MakeTensor<uint64_t>(DataType::kU64, {2}, {3, 3}),
                 MakeTensor<uint64_t>(DataType::kU64, {2}, {63, 64})},
                {.direction = ops::ShiftDirection::kLeft}, {DataType::kU64, {2}})),
            (std::vector<uint64_t>{uint64_t{1} << 63, 0}));
}

TEST(ReferenceConversion, IsOfValuesOrOfBits) {
  EXPECT_EQ(ValuesOf<int32_t>(RunOp<ops::CastLike>({F32({2}, {1.75, -3}), I32({1}, {9})}, {},
                                                   {DataType::kI32, {2}})),
            (std::vector<int32_t>{1, -3}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp<ops::BitCast>({F32({2}, {1, -2})}, {.to = DataType::kI32},
                                                  {DataType::kI32, {2}})),
            (std::vector<int32_t>{0x3f800000, kLeast + 0x40000000}));
}

// --- along axes -------------------------------------------------------------------

template <class O>
std::vector<float> Cumulate(int64_t axis, int64_t exclusive, int64_t reverse) {
  return ValuesOf<float>(RunOp<O>({F32({2, 3}, {1, 2, 3, 4, 5, 6}), I64({}, {axis})},
                                  {.exclusive = exclusive, .reverse = reverse},
                                  {DataType::kF32, {2, 3}}));
}

TEST(ReferenceCumulative, RunsEitherWayWithOrWithoutItself) {
  using V = std::vector<float>;
  EXPECT_EQ(Cumulate<ops::CumSum>(1, 0, 0), (V{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(Cumulate<ops::CumSum>(-1, 1, 0), (V{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(Cumulate<ops::CumSum>(1, 0, 1), (V{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(Cumulate<ops::CumSum>(0, 1, 1), (V{4, 5, 6, 0, 0, 0}));
  EXPECT_EQ(Cumulate<ops::CumProd>(-2, 0, 0), (V{1, 2, 3, 4, 10, 18}));
  EXPECT_EQ(Cumulate<ops::CumProd>(1, 1, 0), (V{1, 1, 2, 1, 4, 20}));
  EXPECT_EQ(Cumulate<ops::CumProd>(1, 1, 1), (V{6, 3, 1, 30, 6, 1}));
}

TEST(ReferenceCumulative, WrapsIntegersAndChecksItsAxis) {
  EXPECT_EQ(ValuesOf<int32_t>(RunOp<ops::CumSum>({I32({2}, {kLeast, -1}), I32({1}, {0})}, {},
                                                 {DataType::kI32, {2}})),
            (std::vector<int32_t>{kLeast, std::numeric_limits<int32_t>::max()}));
  const auto result =
      TryRunOp<ops::CumProd>({F32({2}, {1, 2}), I64({}, {1})}, {}, {{DataType::kF32, {2}}});
  EXPECT_EQ(result.status().message(), "onnx.CumProd: axis 1 is out of range for rank 1");
}

template <class O>
std::vector<int64_t> Search(int64_t axis, int64_t last, ir::Shape result) {
  return ValuesOf<int64_t>(RunOp<O>({F32({2, 3}, {2, 1, 2, 2, 5, 1})},
                                    {.axis = axis, .select_last_index = last},
                                    {DataType::kI64, std::move(result)}));
}

TEST(ReferenceSearch, FindsTheFirstOrLastOfEqualElements) {
  using V = std::vector<int64_t>;
  EXPECT_EQ(Search<ops::ArgMax>(1, 0, {2, 1}), (V{0, 1}));
  EXPECT_EQ(Search<ops::ArgMax>(1, 1, {2, 1}), (V{2, 1}));
  EXPECT_EQ(Search<ops::ArgMax>(0, 0, {1, 3}), (V{0, 1, 0}));
  EXPECT_EQ(Search<ops::ArgMin>(0, 1, {1, 3}), (V{1, 0, 1}));
  EXPECT_EQ(Search<ops::ArgMin>(-1, 0, {2, 1}), (V{1, 2}));
}

TEST(ReferenceSearch, TakesNanAndTellsLargeIntegersApart) {
  EXPECT_EQ(ValuesOf<int64_t>(
                RunOp<ops::ArgMax>({F32({4}, {1, kNan, kInf, kNan})}, {}, {DataType::kI64, {1}})),
            (std::vector<int64_t>{1}));
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::ArgMin>({F32({4}, {1, kNan, -kInf, kNan})},
                                                 {.select_last_index = 1}, {DataType::kI64, {1}})),
            (std::vector<int64_t>{3}));
  const int64_t big = int64_t{1} << 60;  // as doubles these are equal
  EXPECT_EQ(ValuesOf<int64_t>(
                RunOp<ops::ArgMax>({I64({3}, {big, big + 1, big})}, {}, {DataType::kI64, {1}})),
            (std::vector<int64_t>{1}));
}

TEST(ReferenceSearch, RefusesAnEmptyAxis) {
  const auto result =
      TryRunOp<ops::ArgMax>({F32({0, 2}, {})}, {.axis = 0}, {{DataType::kI64, {1, 2}}});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
}

// --- linear algebra ---------------------------------------------------------------

TEST(ReferenceDet, IsOfEveryMatrix) {
  const Tensor y =
      RunOp<ops::Det>({F32({2, 3, 3}, {0, 2, 1, 3, 0, 1, 1, 1, 4, 1, 2, 3, 2, 4, 6, 1, 0, 5})}, {},
                      {DataType::kF32, {2}});
  EXPECT_NEAR(y.values<float>()[0], -19, 1e-5);
  EXPECT_NEAR(y.values<float>()[1], 0, 1e-5);
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::Det>({F32({0, 0}, {})}, {}, {DataType::kF32, {}})),
            (std::vector<float>{1}));
}

std::vector<float> Einsum(const std::string& equation, std::vector<Operand> x, ir::Shape result) {
  return ValuesOf<float>(RunOp<ops::Einsum>(std::move(x), {.equation = equation},
                                            {DataType::kF32, std::move(result)}));
}

TEST(ReferenceEinsum, SumsWhatTheResultLacks) {
  using V = std::vector<float>;
  const auto a = [] { return F32({2, 3}, {1, 2, 3, 4, 5, 6}); };
  const auto b = [] { return F32({3, 2}, {7, 8, 9, 10, 11, 12}); };
  EXPECT_EQ(Einsum("ij,jk->ik", {a(), b()}, {2, 2}), (V{58, 64, 139, 154}));
  EXPECT_EQ(Einsum("ij,jk", {a(), b()}, {2, 2}), (V{58, 64, 139, 154}));
  EXPECT_EQ(Einsum("ij,jk->ki", {a(), b()}, {2, 2}), (V{58, 139, 64, 154}));
  EXPECT_EQ(Einsum("ij->j", {a()}, {3}), (V{5, 7, 9}));
  EXPECT_EQ(Einsum("ij->", {a()}, {}), (V{21}));
  EXPECT_EQ(Einsum("ij,ji,i->i", {a(), b(), F32({2}, {1, 10})}, {2}), (V{58, 1540}));
}

TEST(ReferenceEinsum, WalksDiagonalsAndBroadcasts) {
  using V = std::vector<float>;
  const auto cube = [] { return F32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}); };
  EXPECT_EQ(Einsum("...ii->...i", {cube()}, {2, 2}), (V{1, 4, 5, 8}));
  EXPECT_EQ(Einsum("...ii", {cube()}, {2}), (V{5, 13}));
  EXPECT_EQ(Einsum("iii", {cube()}, {}), (V{9}));
  EXPECT_EQ(Einsum("...i,...->...i", {F32({1, 2}, {1, 2}), F32({3}, {1, 10, 100})}, {3, 2}),
            (V{1, 2, 10, 20, 100, 200}));
  EXPECT_EQ(Einsum("ij,jk->ik", {F32({2, 0}, {}), F32({0, 1}, {})}, {2, 1}), (V{0, 0}));
}

TEST(ReferenceEinsum, OfIntegersIsExact) {
  const int64_t big = (int64_t{1} << 60) + 1;
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::Einsum>({I64({2}, {big, 1}), I64({2}, {1, -2})},
                                                 {.equation = "i,i->"}, {DataType::kI64, {}})),
            (std::vector<int64_t>{big - 2}));
}

}  // namespace
}  // namespace weft::kernels
