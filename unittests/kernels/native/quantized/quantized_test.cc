// Kernels on 8-bit numbers against the reference bodies: how many steps of the result they differ by.
#include <cmath>
#include <limits>
#include <set>

#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;
constexpr DataType kU8 = DataType::kU8, kI8 = DataType::kI8;

Tensor Bytes(DataType dtype, ir::Shape dims, uint64_t seed) {
  return *RandomTensor(dtype, std::move(dims), seed, 0);
}
Operand Scale(float scale) { return Constant(F32({}, {scale})); }
Operand Zero(DataType dtype, int zero) {
  Tensor tensor = *Tensor::Create(dtype, {});
  tensor.values<uint8_t>()[0] = static_cast<uint8_t>(zero);
  return Constant(std::move(tensor));
}
// One per channel, distinct.
Operand Scales(int64_t n, float first) {
  std::vector<float> scales(static_cast<size_t>(n));
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = first * (1 + 0.037f * static_cast<float>(i));
  return Constant(F32({n}, scales));
}
Operand Zeros(int64_t n) {
  return Constant(MakeTensor<int8_t>(kI8, {n}, std::vector<int8_t>(static_cast<size_t>(n))));
}
Operand Bias(int64_t n) {
  std::vector<int32_t> bias(static_cast<size_t>(n));
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<int32_t>(i * 7919 % 4001) - 2000;
  return Constant(I32({n}, bias));
}

// A native kernel runs the op with auto, and `provider` where XNNPACK is asked first; results are the
// reference's but for `allowed` steps in at most one element of a thousand.
template <class O>
void ExpectSteps(std::vector<Operand> operands,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs, const ResultType& result,
                 const std::string& provider, double allowed) {
  const OpProgram program = OpProgram::Make<O>(std::move(operands), attrs, {result});
  const auto expected = program.Run({.provider = "reference"});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto values = (*expected)[0].values<uint8_t>();
  EXPECT_GT(std::set<uint8_t>(values.begin(), values.end()).size(), 10u) << "saturated";
  for (const std::string asked : {"auto", "xnnpack"})
    for (const int threads : {1, 2}) {
      EXPECT_EQ(program.ProviderOf({.provider = asked, .threads = threads}),
                asked == "auto" ? "native" : provider);
      const auto actual = program.Run({.provider = asked, .threads = threads});
      ASSERT_TRUE(actual.ok()) << actual.status();
      const StepDifference steps = CountSteps((*actual)[0].view(), (*expected)[0].view());
      EXPECT_LE(steps.largest, allowed) << asked;
      EXPECT_LE(steps.share(), 1e-3)
          << asked << ": " << steps.differing << " of " << steps.elements;
    }
}

TEST(QuantizedConv, RoundsAsTheReferenceDoes) {
  const auto conv = [](DataType x, int64_t channels, int64_t group, Ints strides, Ints clamp) {
    const int64_t out = 24;
    ExpectSteps<fused::QConv2d>(
        {Bytes(x, {2, 13, 11, channels}, 1), Scale(0.021f), Zero(x, x == kU8 ? 131 : 3),
         Constant(Bytes(kI8, {out, channels / group, 3, 3}, 2)), Scales(out, 0.0071f), Zeros(out),
         Scale(0.27f), Zero(x, x == kU8 ? 120 : -8), Bias(out)},
        {.strides = strides, .pads = Ints{1, 1, 1, 1}, .group = group, .clamp = clamp},
        {x, {2, (13 - 1) / strides[0] + 1, (11 - 1) / strides[1] + 1, out}}, "xnnpack", 1);
  };
  conv(kI8, 16, 1, {1, 1}, {});
  conv(kU8, 16, 1, {2, 2}, {});
  conv(kU8, 24, 24, {1, 1}, {});
  conv(kU8, 24, 2, {1, 1}, {100, 180});
  conv(kI8, 3, 1, {2, 2}, {-8, 127});
}

// The scale of results that spread over 8 bits: sums of k products of uniform bytes by the scales of
// channels in the middle.
Operand ScaleOfSums(double k, float x, float w) {
  constexpr double kDeviation = 73.9 * 73.9, kSpread = 2.5 / 128;
  return Scale(static_cast<float>(std::sqrt(k) * kDeviation * kSpread * x * w));
}

// Sizes of networks, so that one element of a thousand is some.
TEST(QuantizedConv, RoundsAtMostOneOfAThousandOtherwise) {
  const auto conv = [](DataType x, int64_t in, int64_t out, int64_t group, int64_t kernel) {
    const int64_t pad = kernel / 2, depth = in / group * kernel * kernel;
    ExpectSteps<fused::QConv2d>(
        {Bytes(x, {1, 28, 28, in}, 1), Scale(0.0213f), Zero(x, x == kU8 ? 127 : -1),
         Constant(Bytes(kI8, {out, in / group, kernel, kernel}, 2)), Scales(out, 0.0031f),
         Zeros(out), ScaleOfSums(static_cast<double>(depth), 0.0213f, 0.0093f),
         Zero(x, x == kU8 ? 120 : -8), Bias(out)},
        {.pads = Ints{pad, pad, pad, pad}, .group = group}, {x, {1, 28, 28, out}}, "xnnpack", 1);
  };
  for (const DataType x : {kU8, kI8}) {
    conv(x, 64, 96, 1, 1);
    conv(x, 96, 96, 96, 3);
    conv(x, 16, 64, 1, 3);
  }
}

TEST(QuantizedLinear, RoundsAtMostOneOfAThousandOtherwise) {
  for (const DataType x : {kU8, kI8})
    ExpectSteps<fused::QLinear>(
        {Bytes(x, {64, 1280}, 1), Scale(0.0213f), Zero(x, x == kU8 ? 127 : -1),
         Constant(Bytes(kI8, {1280, 100}, 2)), Scales(100, 0.0031f), Zeros(100),
         ScaleOfSums(1280, 0.0213f, 0.0093f), Zero(x, x == kU8 ? 120 : -8), Bias(100)},
        {}, {x, {64, 100}}, "xnnpack", 1);
}

// Products of powers of two: one of 512 lies halfway between two results, and goes to the even one.
TEST(QuantizedConv, RoundsHalvesToEven) {
  for (const DataType x : {kU8, kI8})
    ExpectSteps<fused::QConv2d>(
        {Bytes(x, {1, 28, 28, 64}, 1), Scale(0.5f), Zero(x, x == kU8 ? 128 : 0),
         Constant(Bytes(kI8, {96, 64, 1, 1}, 2)), Scale(0.25f), Zero(kI8, 0), Scale(64), Zero(x, 3),
         Bias(96)},
        {}, {x, {1, 28, 28, 96}}, "xnnpack", 0);
}

TEST(QuantizedConv, TakesUnsignedWeightsWithAZeroPoint) {
  ExpectSteps<fused::QConv2d>({Bytes(kU8, {1, 9, 9, 8}, 1), Scale(0.021f), Zero(kU8, 131),
                               Constant(Bytes(kU8, {12, 8, 3, 3}, 2)), Scale(0.0071f),
                               Zero(kU8, 119), Scale(0.27f), Zero(kU8, 120), Bias(12)},
                              {}, {kU8, {1, 7, 7, 12}}, "xnnpack", 1);
}

// Each channel has its own; u8 and i8 in all combinations, also of x and y.
TEST(QuantizedConv, TakesZeroPointsOfChannels) {
  for (const DataType x : {kU8, kI8})
    for (const DataType w : {kU8, kI8})
      for (const int64_t group : {1, 8}) {
        ExpectSteps<fused::QConv2d>(
            {Bytes(x, {1, 9, 9, 8}, 1), Scale(0.021f), Zero(x, 77),
             Constant(Bytes(w, {8, 8 / group, 3, 3}, 2)), Scales(8, 0.0071f),
             Constant(Bytes(w, {8}, 3)), Scale(group == 1 ? 0.27f : 0.1f), Zero(kU8, 120), Bias(8)},
            {.pads = Ints{1, 0, 1, 0}, .group = group}, {kU8, {1, 9, 7, 8}}, "native", 1);
      }
}

TEST(QuantizedConv, TakesDilationsAndKernelsThatReachBeyondTheImage) {
  for (const int64_t group : {1, 20})
    ExpectSteps<fused::QConv2d>(
        {Bytes(kU8, {2, 6, 5, 20}, 1), Scale(0.021f), Zero(kU8, 255),
         Constant(Bytes(kI8, {20, 20 / group, 5, 3}, 2)), Scale(0.0071f), Zero(kI8, 0),
         Scale(0.27f), Zero(kU8, 120), Bias(20)},
        {.strides = Ints{2, 1}, .pads = Ints{4, 3, 4, 2}, .dilations = Ints{2, 3}, .group = group},
        {kU8, {2, 3, 4, 20}}, "xnnpack", 1);
}

// All instruction sets have the same results.
TEST(QuantizedConv, IsTheSameOnAllInstructionSets) {
  for (const int64_t group : {1, 2, 48}) {
    const OpProgram program = OpProgram::Make<fused::QConv2d>(
        {Bytes(kU8, {1, 13, 14, 48}, 1), Scale(0.0213f), Zero(kU8, 127),
         Constant(Bytes(kI8, {48, 48 / group, 3, 3}, 2)), Scales(48, 0.0031f), Zeros(48),
         Scale(0.31f), Zero(kU8, 120), Bias(48)},
        {.pads = Ints{1, 1, 1, 1}, .group = group}, {{kU8, {1, 13, 14, 48}}});
    std::vector<uint8_t> first;
    std::vector<Isa> isas(SupportedIsas().begin(), SupportedIsas().end());
    isas.push_back(Isa::kEmulatedAmx);
    for (const Isa isa : isas) {
      const ScopedIsa scope(isa);
      const auto y = program.Run({.provider = "auto"});
      ASSERT_TRUE(y.ok()) << y.status();
      const auto values = (*y)[0].values<uint8_t>();
      if (first.empty()) first.assign(values.begin(), values.end());
      EXPECT_TRUE(std::equal(first.begin(), first.end(), values.begin())) << IsaName(isa);
    }
  }
}

TEST(QuantizedLinear, RoundsAsTheReferenceDoes) {
  for (const bool transposed : {false, true})
    for (const DataType x : {kU8, kI8})
      ExpectSteps<fused::QLinear>(
          {Bytes(x, {3, 17, 100}, 1), Scale(0.021f), Zero(x, 5),
           Constant(Bytes(kI8, transposed ? ir::Shape{70, 100} : ir::Shape{100, 70}, 2)),
           Scales(70, 0.0071f), Zeros(70), Scale(0.27f), Zero(x, 20), Bias(70)},
          {.transpose_w = transposed}, {x, {3, 17, 70}}, "xnnpack", 1);
}

TEST(QuantizedElementwise, IsTheReferenceBitForBit) {
  const auto operands = [](DataType dtype, ir::Shape b) {
    return std::vector<Operand>{Bytes(dtype, {3, 5, 77}, 1),
                                Scale(0.021f),
                                Zero(dtype, 11),
                                Bytes(dtype, std::move(b), 2),
                                Scale(0.013f),
                                Zero(dtype, 90),
                                Scale(0.037f),
                                Zero(dtype, 40)};
  };
  for (const DataType dtype : {kU8, kI8})
    for (const ir::Shape& b :
         {ir::Shape{3, 5, 77}, ir::Shape{77}, ir::Shape{1, 5, 77}, ir::Shape{}}) {
      ExpectSteps<fused::QAdd>(operands(dtype, b), {}, {dtype, {3, 5, 77}}, "native", 0);
      ExpectSteps<fused::QMul>(operands(dtype, b), {.clamp = Ints{10, 100}}, {dtype, {3, 5, 77}},
                               "native", 0);
    }
}

TEST(QuantizedPool, RoundsAtMostOneOfAThousandOtherwise) {
  for (const DataType dtype : {kU8, kI8}) {
    const Operand middle = Zero(dtype, dtype == kU8 ? 128 : 0);
    ExpectSteps<fused::QAveragePool2d>(
        {Bytes(dtype, {1, 28, 28, 96}, 1), Scale(0.0213f), middle, Scale(0.00917f), middle},
        {.kernel_shape = Ints{3, 3}, .pads = Ints{1, 1, 1, 1}}, {dtype, {1, 28, 28, 96}}, "native",
        1);
    ExpectSteps<fused::QGlobalAveragePool2d>(
        {Bytes(dtype, {16, 7, 7, 1280}, 1), Scale(0.0213f), middle, Scale(0.00117f), middle}, {},
        {dtype, {16, 1, 1, 1280}}, "native", 1);
  }
}

TEST(QuantizedPool, RoundsAsTheReferenceDoes) {
  for (const DataType dtype : {kU8, kI8}) {
    const Operand middle = Zero(dtype, dtype == kU8 ? 128 : 0);
    ExpectSteps<fused::QAveragePool2d>(
        {Bytes(dtype, {2, 9, 8, 19}, 1), Scale(0.0213f), middle, Scale(0.00917f), middle},
        {.kernel_shape = Ints{3, 3}, .strides = Ints{2, 2}, .pads = Ints{1, 1, 1, 1}},
        {dtype, {2, 5, 4, 19}}, "native", 1);
    ExpectSteps<fused::QGlobalAveragePool2d>(
        {Bytes(dtype, {3, 7, 7, 130}, 1), Scale(0.0213f), middle, Scale(0.00417f), middle}, {},
        {dtype, {3, 1, 1, 130}}, "native", 1);
    ExpectSteps<fused::MaxPool2d>(
        {Bytes(dtype, {2, 9, 8, 19}, 1)},
        {.kernel_shape = Ints{3, 3}, .strides = Ints{2, 2}, .pads = Ints{1, 1, 1, 1}},
        {dtype, {2, 5, 4, 19}}, "native", 0);
    // More pixels than are joined together, and whole vectors of channels besides a part of one.
    ExpectSteps<fused::MaxPool2d>(
        {Bytes(dtype, {1, 9, 8, 150}, 2)},
        {.kernel_shape = Ints{7, 7}, .strides = Ints{2, 1}, .pads = Ints{3, 3, 3, 3}},
        {dtype, {1, 5, 8, 150}}, "native", 0);
  }
}

TEST(QuantizedLookup, TakesEntriesByTheirBits) {
  std::vector<uint8_t> table(256);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(i * 31 + 7);
  for (const DataType dtype : {kU8, kI8})
    ExpectSteps<fused::QLookup>(
        {Bytes(dtype, {7, 100}, 1), Constant(MakeTensor<uint8_t>(kU8, {256}, table))}, {},
        {kU8, {7, 100}}, "native", 0);
}

TEST(QuantizeLinear, IsTheReferenceBitForBit) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {inf, -inf, NAN, 0.25f, 0.75f, 1.25f, -0.25f, 1e30f, -0.0f};
  for (const DataType dtype : {kU8, kI8}) {
    ExpectSteps<ops::QuantizeLinear>({RandomIn({9, 41}, 1, -3, 3), Scale(0.021f), Zero(dtype, 99)},
                                     {}, {dtype, {9, 41}}, "native", 0);
    const OpProgram program = OpProgram::Make<ops::QuantizeLinear>(
        {F32({9}, special), Scale(0.5f), Zero(dtype, 3)}, {}, {{dtype, {9}}});
    const auto expected = program.Run({.provider = "reference"});
    const auto actual = program.Run({.provider = "auto"});
    ASSERT_TRUE(expected.ok() && actual.ok()) << actual.status();
    EXPECT_EQ(ValuesOf<uint8_t>((*actual)[0]), ValuesOf<uint8_t>((*expected)[0]));
    Agreement<ops::DequantizeLinear>({Bytes(dtype, {9, 41}, 1), Scale(0.021f), Zero(dtype, 99)}, {},
                                     {FloatResult({9, 41})})
        .Of("native", 0);
  }
}

TEST(MatMulInteger, IsExactBeyondWhatFloatsHold) {
  Tensor a = Bytes(kU8, {5, 700}, 1), w = Bytes(kI8, {700, 9}, 2);
  std::fill(a.values<uint8_t>().begin(), a.values<uint8_t>().begin() + 700, uint8_t{255});
  for (int i = 0; i < 700; ++i) w.values<int8_t>()[i * 9] = i % 2 == 0 ? -128 : -127;
  Agreement<ops::MatMulInteger>({std::move(a), Constant(std::move(w)), Zero(kU8, 1), Zeros(9)}, {},
                                {{DataType::kI32, {5, 9}}})
      .Of("native", 0);
}

TEST(ConvInteger, IsExactInOneAndTwoDimensionsAndAllGroups) {
  for (const DataType x : {kU8, kI8})
    for (const DataType w : {kU8, kI8})
      for (const int64_t group : {1, 2, 8})
        for (const bool has_zeros : {false, true}) {
          SCOPED_TRACE(group);
          const Operand x_zero = has_zeros ? Zero(x, 77) : Operand();
          const Operand w_zero = has_zeros ? Constant(Bytes(w, {8}, 3)) : Operand();
          Agreement<ops::ConvInteger>({Bytes(x, {2, 8, 9, 7}, 1),
                                       Constant(Bytes(w, {8, 8 / group, 3, 3}, 2)), x_zero, w_zero},
                                      {.dilations = Ints{1, 2},
                                       .group = group,
                                       .pads = Ints{1, 3, 0, 1},
                                       .strides = Ints{2, 1}},
                                      {{DataType::kI32, {2, 8, 4, 7}}})
              .Of("native", 0);
          Agreement<ops::ConvInteger>(
              {Bytes(x, {2, 8, 31}, 1), Constant(Bytes(w, {8, 8 / group, 4}, 2)), x_zero, w_zero},
              {.auto_pad = ops::AutoPad::kSameLower, .group = group},
              {{DataType::kI32, {2, 8, 31}}})
              .Of("native", 0);
        }
}

// Windows that see nothing but the zero point around the image; one zero point for all weights.
TEST(ConvInteger, ReachesBeyondTheImage) {
  for (const int64_t group : {1, 20})
    Agreement<ops::ConvInteger>(
        {Bytes(kU8, {1, 20, 6, 5}, 1), Constant(Bytes(kI8, {20, 20 / group, 5, 3}, 2)),
         Zero(kU8, 255), Zero(kI8, 3)},
        {.group = group, .pads = Ints{8, 7, 8, 7}}, {{DataType::kI32, {1, 20, 18, 17}}})
        .Of("native", 0);
}

TEST(ConvInteger, LeavesThreeDimensionsToTheReference) {
  Agreement<ops::ConvInteger>(
      {Bytes(kU8, {1, 2, 4, 4, 4}, 1), Constant(Bytes(kI8, {3, 2, 2, 2, 2}, 2)), Zero(kU8, 5), {}},
      {}, {{DataType::kI32, {1, 3, 3, 3, 3}}})
      .Of("reference", 0);
}

TEST(DynamicQuantizeLinear, IsTheReferenceBitForBit) {
  const OpProgram program = OpProgram::Make<ops::DynamicQuantizeLinear>(
      {RandomIn({9, 41}, 1, -3, 5)}, {}, {{kU8, {9, 41}}, {DataType::kF32, {}}, {kU8, {}}});
  EXPECT_EQ(program.ProviderOf({.provider = "auto"}), "native");
  const auto expected = program.Run({.provider = "reference"});
  const auto actual = program.Run({.provider = "auto"});
  ASSERT_TRUE(expected.ok() && actual.ok()) << actual.status();
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(RelativeDifference((*actual)[i].view(), (*expected)[i].view()), 0) << i;
}

}  // namespace
}  // namespace weft::kernels
