// What the reference computes for the fused ops (through their bodies), against the definition
// written out in double.
#include <cmath>

#include "unittests/kernels/activation_definition.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using fused::Activation;
using Ints = ir::Ints;
using D = std::vector<double>;

D Doubles(const Tensor& tensor) {
  const std::span<float> values = tensor.values<float>();
  return {values.begin(), values.end()};
}
void ExpectDoubles(const Tensor& actual, const D& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.values<float>().size(), expected.size());
  double largest = 0, difference = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(actual.values<float>()[i] - expected[i]));
  }
  EXPECT_LE(difference, tolerance * largest);
}

double Gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
double GeluTanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
ir::Floats ParamsOf(Activation activation) {
  ir::Floats params = {-0.25f, 0.5f};
  params.resize(fused::NumActivationParams(activation));
  return params;
}

TEST(ReferenceLinear, IsAProductWithBiasResidualAndActivation) {
  const D x = Doubles(Random({3, 4}, 1)), w = Doubles(Random({5, 4}, 2));
  const D bias = Doubles(Random({5}, 3)), residual = Doubles(Random({3, 5}, 4));
  for (const Activation activation : AllActivations()) {
    D expected;
    for (int m = 0; m < 3; ++m)
      for (int n = 0; n < 5; ++n) {
        double sum = bias[n] + residual[m * 5 + n];
        for (int k = 0; k < 4; ++k) sum += x[m * 4 + k] * w[n * 4 + k];
        expected.push_back(ActivationInDouble(activation, -0.25, 0.5, sum));
      }
    SCOPED_TRACE(ir::EnumName(activation));
    ExpectDoubles(RunOp<fused::Linear>(
                      {Random({3, 4}, 1), Random({5, 4}, 2), Random({5}, 3), Random({3, 5}, 4)},
                      {.transpose_w = true,
                       .activation = activation,
                       .activation_params = ParamsOf(activation)},
                      FloatResult({3, 5})),
                  expected);
  }
}

TEST(ReferenceConv2d, WorksOnNhwcWithGroupsPadsAndResidual) {
  // x [1,4,5,4], w [6,2,3,2], group 2, strides (2,1), pads (1,0,1,1), dilations (1,2).
  const D x = Doubles(Random({1, 4, 5, 4}, 1)), w = Doubles(Random({6, 2, 3, 2}, 2));
  const D bias = Doubles(Random({6}, 3)), residual = Doubles(Random({1, 2, 4, 6}, 4));
  D expected;
  for (int oh = 0; oh < 2; ++oh)
    for (int ow = 0; ow < 4; ++ow)
      for (int o = 0; o < 6; ++o) {
        double sum = bias[o] + residual[(oh * 4 + ow) * 6 + o];
        for (int i = 0; i < 2; ++i)
          for (int kh = 0; kh < 3; ++kh)
            for (int kw = 0; kw < 2; ++kw) {
              const int ih = oh * 2 - 1 + kh, iw = ow + kw * 2;
              if (ih < 0 || ih >= 4 || iw >= 5) continue;
              sum += x[(ih * 5 + iw) * 4 + o / 3 * 2 + i] * w[((o * 2 + i) * 3 + kh) * 2 + kw];
            }
        expected.push_back(std::fmax(sum, 0));
      }
  ExpectDoubles(RunOp<fused::Conv2d>({Random({1, 4, 5, 4}, 1), Random({6, 2, 3, 2}, 2),
                                      Random({6}, 3), Random({1, 2, 4, 6}, 4)},
                                     {.strides = Ints{2, 1},
                                      .pads = Ints{1, 0, 1, 1},
                                      .dilations = Ints{1, 2},
                                      .group = 2,
                                      .activation = Activation::kRelu},
                                     FloatResult({1, 2, 4, 6})),
                expected);
}

TEST(ReferenceAttention, IsSoftmaxOfScoresTimesValuesInBothLayouts) {
  // B 2, H 2, S 2, T 3, D 4, Dv 5.
  const D q = Doubles(Random({2, 2, 2, 4}, 1)), k = Doubles(Random({2, 2, 3, 4}, 2));
  const D v = Doubles(Random({2, 2, 3, 5}, 3)), mask = Doubles(Random({2, 1, 1, 3}, 4));
  D expected;
  for (int bh = 0; bh < 4; ++bh)
    for (int s = 0; s < 2; ++s) {
      double weights[3], sum = 0;
      for (int t = 0; t < 3; ++t) {
        double score = 0;
        for (int d = 0; d < 4; ++d) score += q[(bh * 2 + s) * 4 + d] * k[(bh * 3 + t) * 4 + d];
        weights[t] = std::exp(0.5 * score + mask[bh / 2 * 3 + t]);
        sum += weights[t];
      }
      for (int d = 0; d < 5; ++d) {
        double y = 0;
        for (int t = 0; t < 3; ++t) y += weights[t] / sum * v[(bh * 3 + t) * 5 + d];
        expected.push_back(y);
      }
    }
  const Tensor y = RunOp<fused::Attention>({Random({2, 2, 2, 4}, 1), Random({2, 2, 3, 4}, 2),
                                            Random({2, 2, 3, 5}, 3), Random({2, 1, 1, 3}, 4)},
                                           {.scale = 0.5f}, FloatResult({2, 2, 2, 5}));
  ExpectDoubles(y, expected);

  // bshd: the same numbers with heads and rows swapped.
  const auto swapped = [](Tensor t, ir::Shape dims) {
    return RunOp<ops::Transpose>({std::move(t)}, {.perm = Ints{0, 2, 1, 3}},
                                 FloatResult(std::move(dims)));
  };
  const Tensor z = RunOp<fused::Attention>(
      {swapped(Random({2, 2, 2, 4}, 1), {2, 2, 2, 4}),
       swapped(Random({2, 2, 3, 4}, 2), {2, 3, 2, 4}),
       swapped(Random({2, 2, 3, 5}, 3), {2, 3, 2, 5}), Random({2, 1, 1, 3}, 4)},
      {.scale = 0.5f, .layout = fused::AttentionLayout::kBshd}, FloatResult({2, 2, 2, 5}));
  ExpectDoubles(swapped(F32({2, 2, 2, 5}, ValuesOf<float>(z)), {2, 2, 2, 5}), expected);
}

TEST(ReferenceLayerNorm, AddsTheResidualFirst) {
  const D x = Doubles(Random({3, 6}, 1)), residual = Doubles(Random({3, 6}, 4));
  const D scale = Doubles(Random({6}, 2)), bias = Doubles(Random({6}, 3));
  D expected;
  for (int row = 0; row < 3; ++row) {
    double mean = 0, variance = 0, v[6];
    for (int i = 0; i < 6; ++i) mean += (v[i] = x[row * 6 + i] + residual[row * 6 + i]) / 6;
    for (int i = 0; i < 6; ++i) variance += (v[i] - mean) * (v[i] - mean) / 6;
    for (int i = 0; i < 6; ++i)
      expected.push_back((v[i] - mean) / std::sqrt(variance + 0.01) * scale[i] + bias[i]);
  }
  ExpectDoubles(RunOp<fused::LayerNorm>(
                    {Random({3, 6}, 1), Random({6}, 2), Random({6}, 3), Random({3, 6}, 4)},
                    {.epsilon = 0.01f}, FloatResult({3, 6})),
                expected);
}

TEST(ReferenceGelu, KnowsBothForms) {
  const D x = Doubles(RandomIn({40}, 1, -4, 4)), bias = Doubles(Random({40}, 2));
  D erf, tanh;
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = x[i] + bias[i];
    erf.push_back(Gelu(v));
    tanh.push_back(GeluTanh(v));
  }
  const auto run = [](fused::GeluApproximate approximate) {
    return RunOp<fused::Gelu>({RandomIn({40}, 1, -4, 4), Random({40}, 2)},
                              {.approximate = approximate}, FloatResult({40}));
  };
  ExpectDoubles(run(fused::GeluApproximate::kNone), erf);
  ExpectDoubles(run(fused::GeluApproximate::kTanh), tanh);
}

TEST(ReferencePools, WorkOnNhwc) {
  // [1,3,3,2]: channel 1 is minus channel 0.
  std::vector<float> x;
  for (int i = 1; i <= 9; ++i) x.insert(x.end(), {float(i), float(-i)});
  const auto values = [](const Tensor& t) { return ValuesOf<float>(t); };
  EXPECT_EQ(values(RunOp<fused::MaxPool2d>({F32({1, 3, 3, 2}, x)},
                                           {.kernel_shape = Ints{2, 2}, .strides = Ints{1, 2}},
                                           FloatResult({1, 2, 1, 2}))),
            (std::vector<float>{5, -1, 8, -4}));
  EXPECT_EQ(values(RunOp<fused::AveragePool2d>(
                {F32({1, 3, 3, 2}, x)},
                {.kernel_shape = Ints{1, 2}, .strides = Ints{3, 2}, .pads = Ints{0, 1, 0, 0}},
                FloatResult({1, 1, 2, 2}))),
            (std::vector<float>{1, -1, 2.5, -2.5}));
  EXPECT_EQ(values(RunOp<fused::GlobalAveragePool2d>({F32({1, 3, 3, 2}, x)}, {},
                                                     FloatResult({1, 1, 1, 2}))),
            (std::vector<float>{5, -5}));
}

}  // namespace
}  // namespace weft::kernels
