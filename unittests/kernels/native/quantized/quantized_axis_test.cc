// QuantizeLinear and DequantizeLinear with scales and zero points along an axis, or given at run time: bit for bit what the
// reference kernels give.
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/isa.h"
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

constexpr DataType kU8 = DataType::kU8, kI8 = DataType::kI8;

// Distinct, some of them negative or very small.
Tensor ScalesOf(int64_t n) {
  std::vector<float> scales(static_cast<size_t>(n));
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = (i % 5 == 3 ? -0.013f : 0.007f) * (1 + 0.037f * static_cast<float>(i % 31));
  return F32({n}, scales);
}

template <class O>
void ExpectSame(const std::vector<Operand>& operands, int64_t axis, const ResultType& result,
                const std::string& provider) {
  std::optional<OpProgram> program;
  program.emplace(OpProgram::Make<O>(operands, {.axis = axis}, {result}));
  const auto expected = program->Run({.provider = "reference"});
  ASSERT_TRUE(expected.ok()) << expected.status();
  EXPECT_EQ(program->ProviderOf({.provider = "auto"}), provider);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scope(isa);
    for (const int threads : {1, 3}) {
      const auto actual = program->Run({.provider = "auto", .threads = threads});
      ASSERT_TRUE(actual.ok()) << actual.status();
      const TensorView a = (*actual)[0].view(), e = (*expected)[0].view();
      EXPECT_EQ(std::memcmp(a.data, e.data, e.NumBytes()), 0)
          << IsaName(isa) << ", threads: " << threads << ", axis " << axis;
    }
  }
}

// With a zero point or without, constant or not, all along `axis` of x.
void ExpectQuantized(const Tensor& x, int64_t axis) {
  const int64_t n = x.dims()[static_cast<size_t>(axis < 0 ? axis + 3 : axis)];
  const auto copy = [&] { return F32(x.dims(), ValuesOf<float>(x)); };
  for (const DataType dtype : {kU8, kI8})
    for (const bool constant : {true, false}) {
      const Operand scales(ScalesOf(n), constant), zeros(*RandomTensor(dtype, {n}, 3, 0), constant);
      ExpectSame<ops::QuantizeLinear>({copy(), scales, zeros}, axis, {dtype, x.dims()}, "native");
      if (dtype == kU8)
        ExpectSame<ops::QuantizeLinear>({copy(), scales}, axis, {dtype, x.dims()}, "native");
    }
}

const ir::Shape kShapes[] = {{5, 7, 1},  {3, 40, 1},   {2, 37, 5},  {6, 9, 63},
                             {4, 6, 64}, {3, 5, 1031}, {700, 3, 11}};

TEST(QuantizeAxis, IsTheReferenceBitForBit) {
  for (const ir::Shape& dims : kShapes)
    for (const int64_t axis : {0, 1, 2, -1, -2}) ExpectQuantized(RandomIn(dims, 1, -3, 3), axis);
}

// Halves, what lies outside of all bytes, what is no number.
TEST(QuantizeAxis, RoundsAndSaturatesAsTheReferenceDoes) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {0.0f,    -0.0f, kInf,   -kInf,  NAN,     0.0035f,
                                      0.0105f, 1e30f, -1e30f, 1e-40f, -0.035f, 127.5f};
  for (const ir::Shape& dims : {ir::Shape{4, 9, 1}, ir::Shape{4, 3, 100}}) {
    Tensor x = Random(dims, 1);
    for (size_t i = 0; i < x.values<float>().size(); i += 2)
      x.values<float>()[i] = special[i / 2 % special.size()];
    ExpectQuantized(x, 1);
  }
}

TEST(QuantizeAxis, DividesByAnyScale) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const int64_t inner : {1, 70})
    ExpectSame<ops::QuantizeLinear>(
        {RandomIn({3, 6, inner}, 1, -3, 3), F32({6}, {0.0f, -0.0f, kInf, NAN, 1e-40f, 1e38f})}, 1,
        {kU8, {3, 6, inner}}, "native");
}

TEST(QuantizeAxis, TakesOneScaleGivenAtRunTime) {
  for (const ir::Shape& one : {ir::Shape{}, ir::Shape{1}}) {
    const Operand zero(MakeTensor<int8_t>(kI8, one, {-7}));
    ExpectSame<ops::QuantizeLinear>({RandomIn({9, 50}, 1, -3, 3), F32(one, {0.021f}), zero}, 1,
                                    {kI8, {9, 50}}, "native");
  }
}

TEST(QuantizeAxis, LeavesBlocksToTheReference) {
  const OpProgram program = OpProgram::Make<ops::QuantizeLinear>(
      {Random({4, 6}, 1), Constant(F32({2, 6}, std::vector<float>(12, 0.1f)))},
      {.axis = 0, .block_size = 2}, {{kU8, {4, 6}}});
  EXPECT_EQ(program.ProviderOf({.provider = "auto"}), "reference");
}

TEST(DequantizeAxis, IsTheReferenceBitForBit) {
  for (const ir::Shape& dims : kShapes)
    for (const int64_t axis : {0, 1, 2, -3})
      for (const DataType dtype : {kU8, kI8}) {
        const int64_t n = dims[static_cast<size_t>(axis < 0 ? axis + 3 : axis)];
        const auto x = [&] { return Operand(*RandomTensor(dtype, dims, 1, 0)); };
        const ResultType result = FloatResult(dims);
        const Operand zeros(*RandomTensor(dtype, {n}, 3, 0));
        ExpectSame<ops::DequantizeLinear>({x(), Constant(ScalesOf(n))}, axis, result, "native");
        ExpectSame<ops::DequantizeLinear>({x(), ScalesOf(n), zeros}, axis, result, "native");
      }
}

TEST(DequantizeAxis, TakesOneScaleGivenAtRunTime) {
  ExpectSame<ops::DequantizeLinear>({Operand(*RandomTensor(kU8, {9, 50}, 1, 0)), F32({}, {0.021f})},
                                    1, FloatResult({9, 50}), "native");
}

}  // namespace
}  // namespace weft::kernels
