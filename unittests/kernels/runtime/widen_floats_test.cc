// Programs in f16 and bf16 in a session: computed in f32, but for the reference.
#include <cmath>

#include "ir/dialects/microsoft.h"
#include "kernels/float16.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

struct Numbers {
  ir::Shape dims;
  std::vector<float> values;
};

class WidenFloatsTest : public testing::TestWithParam<DataType> {
 protected:
  WidenFloatsTest() { ir::LoadFusedDialect(context); }

  uint16_t Bits(float value) const {
    return GetParam() == DataType::kF16 ? FloatToHalf(value) : FloatToBFloat16(value);
  }
  float Number(uint16_t bits) const {
    return GetParam() == DataType::kF16 ? HalfToFloat(bits) : BFloat16ToFloat(bits);
  }
  Tensor Of(const Numbers& numbers) const {
    std::vector<uint16_t> bits;
    for (const float value : numbers.values) bits.push_back(Bits(value));
    return MakeTensor(GetParam(), numbers.dims, bits);
  }
  std::vector<float> Run(const std::vector<Numbers>& numbers, const std::string& provider) {
    auto created = Session::Create(program, {.provider = provider});
    EXPECT_TRUE(created.ok()) << created.status();
    session = *std::move(created);
    std::vector<Tensor> inputs;
    for (const Numbers& input : numbers) inputs.push_back(Of(input));
    std::vector<TensorView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    const auto outputs = session->Run(views);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ((*outputs)[0].dtype(), GetParam());
    std::vector<float> values;
    for (const uint16_t bits : (*outputs)[0].values<uint16_t>()) values.push_back(Number(bits));
    return values;
  }
  std::vector<std::string> Providers() const {
    std::vector<std::string> providers;
    for (const RunPart& part : session->last_run())
      for (const Step& step : part.steps()) providers.push_back(step.provider);
    return providers;
  }

  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder builder{&program};
  std::unique_ptr<Session> session;
};

TEST_P(WidenFloatsTest, RunsOnTheKernelsOfF32AndConvertsConstantsBefore) {
  const ir::Value x = builder.AddInput("x", context.TensorType(GetParam(), {2, 3}));
  const Tensor w = Of({{3, 2}, {1, -2, 0.5, 3, 4, 0.25}});
  const ir::Value weight = builder.Constant(
      context.DenseAttr(context.TensorType(GetParam(), {3, 2}),
                        {w.view().data, static_cast<size_t>(w.view().NumBytes())}));
  builder.Return({{"y", builder.Make<ops::MatMul>({x, weight})}});
  EXPECT_EQ(Run({{{2, 3}, {1, 2, 3, -1, 0.5, 2}}}, "auto"),
            (std::vector<float>{14, 4.75, 7.25, 4}));
  EXPECT_EQ(Providers(), (std::vector<std::string>{"native", "native", "native"}))
      << "a cast, a product, a cast";
}

TEST_P(WidenFloatsTest, RunsOperatorsOfOnnxRuntimeOnTheKernelsOfF32) {
  ir::LoadMicrosoftDialect(context);
  const ir::Value x = builder.AddInput("x", context.TensorType(GetParam(), {1, 16}));
  const std::vector<std::byte> sevens(2 * 8, std::byte{0x77});  // of 4 bits; less 8, which is zero
  const ir::Value weights =
      builder.Constant(context.DenseAttr(context.TensorType(DataType::kU8, {2, 1, 8}), sevens));
  const Tensor numbers = Of({{2}, {0.5, -2}});
  const ir::Value scales = builder.Constant(
      context.DenseAttr(context.TensorType(GetParam(), {2}),
                        {numbers.view().data, static_cast<size_t>(numbers.view().NumBytes())}));
  builder.Return(
      {{"y", builder.Make<ir::microsoft::MatMulNBits>(
                 {x, weights, scales}, {.K = 16, .N = 2, .bits = 4, .block_size = 16})}});
  EXPECT_EQ(Run({{{1, 16}, std::vector<float>(16, 3)}}, "auto"), (std::vector<float>{-24, 96}));
  EXPECT_EQ(Providers(), (std::vector<std::string>{"native", "native", "native"}))
      << "a cast, a product, a cast";
}

TEST_P(WidenFloatsTest, RoundsOnlyAtTheBordersUnlessTheReferenceRuns) {
  const ir::Type type = context.TensorType(GetParam(), {1});
  const ir::Value x = builder.AddInput("x", type), y = builder.AddInput("y", type);
  const ir::Value product = builder.Make<ops::Mul>({x, y});
  builder.Return({{"y", builder.Make<ops::Sub>({product, x})}});
  // Their product has more digits than either type.
  const float a = 1 + 3 * 0x1p-7f, b = 1 + 5 * 0x1p-7f;
  const float once = Number(Bits(a * b - a)), twice = Number(Bits(Number(Bits(a * b)) - a));
  ASSERT_NE(once, twice);
  EXPECT_EQ(Run({{{1}, {a}}, {{1}, {b}}}, "auto"), (std::vector<float>{once}));
  EXPECT_EQ(Run({{{1}, {a}}, {{1}, {b}}}, "reference"), (std::vector<float>{twice}));
  if (GetParam() != DataType::kF16) return;
  EXPECT_EQ(Run({{{1}, {60000}}, {{1}, {2}}}, "auto"), (std::vector<float>{60000}));
  EXPECT_EQ(Run({{{1}, {60000}}, {{1}, {2}}}, "reference"), (std::vector<float>{INFINITY}));
}

TEST_P(WidenFloatsTest, KeepsMasksOfInfinityAndOfTheLowestNumber) {
  const ir::Type type = context.TensorType(GetParam(), {4});
  const ir::Value x = builder.AddInput("x", type), mask = builder.AddInput("mask", type);
  builder.Return({{"y", builder.Make<ops::Softmax>({builder.Make<ops::Add>({x, mask})})}});
  for (const float masked : {-INFINITY, -65504.0f})
    EXPECT_EQ(Run({{{4}, {-60000, 1, -2, 1}}, {{4}, {masked, 0, masked, 0}}}, "auto"),
              (std::vector<float>{0, 0.5, 0, 0.5}));
}

INSTANTIATE_TEST_SUITE_P(Types, WidenFloatsTest, testing::Values(DataType::kF16, DataType::kBF16));

}  // namespace
}  // namespace weft::kernels
