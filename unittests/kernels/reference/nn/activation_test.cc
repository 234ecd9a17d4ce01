// The reference kernels of activations against formulas in double and hand-made integers.
#include "ir/dialects/onnx/nn/activation.h"

#include <cmath>
#include <functional>
#include <limits>

#include "ir/analysis/reference_body.h"
#include "ir/rewriter.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Every element of f32 is the formula's value, rounded once (or, of several good formulas, nearly).
template <class O>
void ExpectMaps(const std::function<double(double)>& formula,
                const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  SCOPED_TRACE(O::kInfo.name);
  Tensor x = Random({3, 37}, 11);
  for (float& value : x.values<float>()) value *= 6;
  const std::vector<float> in = ValuesOf<float>(x);
  const Tensor y = RunOp<O>({std::move(x)}, attrs, {DataType::kF32, {3, 37}});
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_FLOAT_EQ(y.values<float>()[i], static_cast<float>(formula(in[i]))) << "at " << in[i];
}

TEST(ReferenceActivation, IsTheFormula) {
  const auto softplus = [](double x) { return std::log(std::exp(x) + 1); };
  ExpectMaps<ops::Celu>(
      [](double x) { return std::fmax(0, x) + std::fmin(0, 1.5 * std::expm1(x / 1.5)); },
      {.alpha = 1.5f});
  ExpectMaps<ops::Softplus>(softplus);
  ExpectMaps<ops::Softsign>([](double x) { return x / (1 + std::fabs(x)); });
  ExpectMaps<ops::ThresholdedRelu>([](double x) { return x > 1.25 ? x : 0; }, {.alpha = 1.25f});
  ExpectMaps<ops::Shrink>([](double x) { return x < -1.5  ? x + 0.25
                                                : x > 1.5 ? x - 0.25
                                                          : 0; },
                          {.bias = 0.25f, .lambd = 1.5f});
  ExpectMaps<ops::Mish>([&](double x) { return x * std::tanh(softplus(x)); });
  ExpectMaps<ops::Swish>([](double x) { return x / (1 + std::exp(-1.75 * x)); }, {.alpha = 1.75f});
  ExpectMaps<ops::Gelu>([](double x) { return x / 2 * std::erfc(-x / std::sqrt(2)); });
  ExpectMaps<ops::Gelu>(
      [](double x) {
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * std::pow(x, 3))));
      },
      {.approximate = ops::GeluApproximation::kTanh});
}

TEST(ReferenceActivation, SoftplusNeitherOverflowsNorVanishes) {
  const Tensor y =
      RunOp<ops::Softplus>({F32({4}, {1000, -30, kInf, -kInf})}, {}, {DataType::kF32, {4}});
  EXPECT_EQ(y.values<float>()[0], 1000);
  EXPECT_FLOAT_EQ(y.values<float>()[1], std::exp(-30.0f));
  EXPECT_EQ(y.values<float>()[2], kInf);
  EXPECT_EQ(y.values<float>()[3], 0);
}

template <class O>
void ExpectKeepsNan() {
  const Tensor y = RunOp<O>({F32({3}, {-9, NAN, 9})}, {}, {DataType::kF32, {3}});
  for (size_t i : {0, 1, 2}) EXPECT_EQ(std::isnan(ValuesOf<float>(y)[i]), i == 1) << O::kInfo.name;
}

TEST(ReferenceActivation, KeepsNan) {
  ExpectKeepsNan<ops::Celu>();
  ExpectKeepsNan<ops::Softplus>();
  ExpectKeepsNan<ops::Softsign>();
  ExpectKeepsNan<ops::ThresholdedRelu>();
  ExpectKeepsNan<ops::Shrink>();
  ExpectKeepsNan<ops::Mish>();
  ExpectKeepsNan<ops::Swish>();
  ExpectKeepsNan<ops::Gelu>();
}

TEST(ReferenceShrink, TruncatesIntegersAndStaysInTheirRange) {
  const auto shrink = [](float bias) {
    return ValuesOf<int32_t>(
        RunOp<ops::Shrink>({I32({4}, {-5, 1, 5, std::numeric_limits<int32_t>::max()})},
                           {.bias = bias, .lambd = 2.0f}, {DataType::kI32, {4}}));
  };
  EXPECT_EQ(shrink(0.5f), (std::vector<int32_t>{-4, 0, 4, 2147483646}));
  EXPECT_EQ(shrink(-3.0f), (std::vector<int32_t>{-8, 0, 8, 2147483647}));
  const int64_t odd = (int64_t{1} << 60) + 1;
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::Shrink>({I64({1}, {odd})}, {}, {DataType::kI64, {1}})),
            (std::vector<int64_t>{odd}));
}

TEST(ReferencePRelu, BroadcastsTheSlope) {
  EXPECT_EQ(ValuesOf<float>(RunOp<ops::PRelu>(
                {F32({2, 2, 2}, {-1, 2, -3, 4, 5, -6, -7, -8}), F32({2, 1}, {0.5, 10})}, {},
                {DataType::kF32, {2, 2, 2}})),
            (std::vector<float>{-0.5, 2, -30, 4, 5, -3, -70, -80}));
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(ValuesOf<int64_t>(RunOp<ops::PRelu>({I64({3}, {-2, 7, least}), I64({}, {3})}, {},
                                                {DataType::kI64, {3}})),
            (std::vector<int64_t>{-6, 7, least}));
}

// The bodies, as rules and other runtimes see them, compute what the kernels do.
template <class O>
void ExpectBodyAgrees(const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  OpProgram p = OpProgram::Make<O>({Random({5, 7}, 3)}, attrs, {{DataType::kF32, {5, 7}}});
  const auto by_kernel = p.Run({});
  ASSERT_TRUE(by_kernel.ok()) << by_kernel.status();
  const ir::Operation op = p.program->body().front();
  ir::Builder builder(p.program.get());
  builder.SetInsertionPoint(op);
  const std::vector<ir::Value> body = ir::BuildReferenceBody(builder, op, op.operands().vec());
  ASSERT_EQ(body.size(), 1u);
  EXPECT_EQ(body[0].type(), op.result().type());
  ir::Rewriter(p.program.get()).Replace(op, body);
  const auto by_body = p.Run({});
  ASSERT_TRUE(by_body.ok()) << by_body.status();
  ExpectNear((*by_body)[0], (*by_kernel)[0]);
}

TEST(ReferenceActivation, BodiesAgree) {
  ExpectBodyAgrees<ops::Mish>();
  ExpectBodyAgrees<ops::Swish>();
  ExpectBodyAgrees<ops::Swish>({.alpha = 0.5f});
  ExpectBodyAgrees<ops::Gelu>();
  ExpectBodyAgrees<ops::Gelu>({.approximate = ops::GeluApproximation::kTanh});
}

}  // namespace
}  // namespace weft::kernels
