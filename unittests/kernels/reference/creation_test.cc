// The reference kernels of ops that make tensors: ranges, diagonals, random numbers.
#include "ir/dialects/onnx/creation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using I = std::vector<int64_t>;

template <class O>
std::string Error(std::vector<Operand> operands, ResultType result,
                  const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  return std::string(
      TryRunOp<O>(std::move(operands), attrs, {std::move(result)}).status().message());
}

TEST(ReferenceRange, CountsUpAndDown) {
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::Range>({I64({}, {3}), I64({}, {10}), I64({}, {3})}, {},
                                                {DataType::kI64, {3}})),
            (I{3, 6, 9}));
  EXPECT_EQ(ValuesOf<int32_t>(RunOp<ops::Range>({I32({}, {1}), I32({}, {-4}), I32({1}, {-2})}, {},
                                                {DataType::kI32, {3}})),
            (std::vector<int32_t>{1, -1, -3}));
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::Range>({F32({}, {0}), F32({}, {1}), F32({}, {0.25f})}, {},
                                              {DataType::kF32, {4}})),
            (F{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(ValuesOf<int64_t>(
                RunOp<ops::Range>({I64({}, {INT64_MAX - 1}), I64({}, {INT64_MAX}), I64({}, {5})},
                                  {}, {DataType::kI64, {1}})),
            I{INT64_MAX - 1});
}

TEST(ReferenceRange, RefusesWhatIsNoRangeOrAnother) {
  const auto error = [](double start, double limit, double delta) {
    return Error<ops::Range>({F64({}, {start}), F64({}, {limit}), F64({}, {delta})},
                             {DataType::kF64, {2}});
  };
  EXPECT_EQ(error(0, 1, 0), "onnx.Range: start, limit and delta make no range");
  EXPECT_EQ(error(0, std::nan(""), 1), "onnx.Range: start, limit and delta make no range");
  EXPECT_EQ(error(0, 1e12, 1),
            "onnx.Range: a result of shape [1000000000000] would take more than 4 GiB");
  EXPECT_EQ(error(0, 3, 1), "onnx.Range: result 0 has shape [3], expected [2]");
}

TEST(ReferenceEyeLike, HasOnesOnADiagonal) {
  const auto eye = [](int64_t k) {
    return ValuesOf<int64_t>(RunOp<ops::EyeLike>(
        {Random({2, 3}, 1)}, {.dtype = DataType::kI64, .k = k}, {DataType::kI64, {2, 3}}));
  };
  EXPECT_EQ(eye(0), (I{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(1), (I{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(eye(-1), (I{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(eye(INT64_MAX), I(6, 0));
  EXPECT_EQ(eye(INT64_MIN), I(6, 0));
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::EyeLike>({Random({2, 2}, 1)}, {.dtype = DataType::kBool},
                                                  {DataType::kBool, {2, 2}})),
            (std::vector<uint8_t>{1, 0, 0, 1}));
}

TEST(ReferenceSize, CountsElements) {
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::Size>({Random({2, 3, 4}, 1)}, {}, {DataType::kI64, {}})),
            I{24});
}

struct Moments {
  double mean = 0, deviation = 0, min = 0, max = 0;
};
Moments MomentsOf(const Tensor& x) {
  const std::span<float> values = x.values<float>();
  Moments m{.min = values[0], .max = values[0]};
  for (const float v : values) {
    m.mean += v / static_cast<double>(values.size());
    m.min = std::min<double>(m.min, v);
    m.max = std::max<double>(m.max, v);
  }
  for (const float v : values)
    m.deviation += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}
constexpr int64_t kMany = 20000;

TEST(ReferenceRandomNormal, HasItsMeanAndScale) {
  const ResultType type = {DataType::kF32, {kMany}};
  const Moments m = MomentsOf(
      RunOp<ops::RandomNormal>({}, {.mean = 5, .scale = 2, .shape = ir::Ints{kMany}}, type));
  EXPECT_NEAR(m.mean, 5, 0.06);  // four standard errors
  EXPECT_NEAR(m.deviation, 2, 0.04);
  const Moments like = MomentsOf(RunOp<ops::RandomNormalLike>({Random({kMany}, 1)}, {}, type));
  EXPECT_NEAR(like.mean, 0, 0.03);
  EXPECT_NEAR(like.deviation, 1, 0.02);
}

TEST(ReferenceRandomUniform, StaysWithinItsBounds) {
  const ResultType type = {DataType::kF32, {kMany}};
  const Moments m = MomentsOf(
      RunOp<ops::RandomUniform>({}, {.high = 6, .low = -2, .shape = ir::Ints{kMany}}, type));
  EXPECT_GE(m.min, -2);
  EXPECT_LE(m.max, 6);
  EXPECT_NEAR(m.mean, 2, 0.07);
  EXPECT_NEAR(m.deviation, 8 / std::sqrt(12), 0.05);
  EXPECT_NEAR(MomentsOf(RunOp<ops::RandomUniformLike>({Random({kMany}, 1)}, {}, type)).mean, 0.5,
              0.01);
}

TEST(ReferenceRandom, ASeedDecidesTheNumbersAndOthersGiveOthers) {
  const auto draw = [](ir::BuilderSlot<std::optional<float>> seed) {
    return ValuesOf<float>(
        RunOp<ops::RandomNormal>({}, {.seed = seed, .shape = ir::Ints{3}}, {DataType::kF32, {3}}));
  };
  EXPECT_EQ(draw(7.5f), draw(7.5f));
  EXPECT_NE(draw(7.5f), draw(7.25f));
  EXPECT_EQ(draw({}), draw(0.0f));
}

TEST(ReferenceBernoulli, IsOneAsOftenAsXSays) {
  const Tensor y = RunOp<ops::Bernoulli>({F32({kMany}, F(kMany, 0.3f))}, {.seed = 1.0f},
                                         {DataType::kF32, {kMany}});
  EXPECT_NEAR(MomentsOf(y).mean, 0.3, 0.013);
  EXPECT_EQ(ValuesOf<uint8_t>(RunOp<ops::Bernoulli>({F32({2}, {0, 1})}, {.dtype = DataType::kBool},
                                                    {DataType::kBool, {2}})),
            (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(Error<ops::Bernoulli>({F32({1}, {1.5f})}, {DataType::kF32, {1}}),
            "onnx.Bernoulli: a probability is 1.500000");
}

TEST(ReferenceMultinomial, DrawsClassesAsOftenAsTheirWeightsSay) {
  const float never = -std::numeric_limits<float>::infinity();
  const auto drawn = ValuesOf<int32_t>(RunOp<ops::Multinomial>(
      {F32({2, 3}, {std::log(1.0f), never, std::log(3.0f), never, 500, never})},
      {.sample_size = kMany}, {DataType::kI32, {2, kMany}}));
  const auto count = [&](int32_t which, int64_t batch) {
    return std::count(drawn.begin() + batch * kMany, drawn.begin() + (batch + 1) * kMany, which);
  };
  EXPECT_EQ(count(1, 0), 0);
  EXPECT_NEAR(static_cast<double>(count(2, 0)) / kMany, 0.75, 0.0125);
  EXPECT_EQ(count(0, 0) + count(2, 0), kMany);
  EXPECT_EQ(count(1, 1), kMany);
  EXPECT_EQ(Error<ops::Multinomial>({F32({1, 2}, {never, never})}, {DataType::kI32, {1, 1}}),
            "onnx.Multinomial: batch 0 has no probabilities");
}

}  // namespace
}  // namespace weft::kernels
