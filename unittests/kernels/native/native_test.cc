// The native kernels against the reference, on shapes that fill vectors and that do not.
#include <limits>
#include <numeric>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

template <class O>
void ExpectUnary(float low, float high,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  SCOPED_TRACE(O::kInfo.name);
  for (const ir::Shape& dims : {ir::Shape{1}, ir::Shape{3, 37}, ir::Shape{2, 300, 97}})
    Agreement<O>({RandomIn(dims, 3, low, high)}, attrs, {FloatResult(dims)}).Of("native");
}

TEST(NativePRelu, AgreesWithTheReference) {
  const ir::Shape dims = {2, 5, 7, 9};
  for (const ir::Shape& slope : {ir::Shape{}, {5, 1, 1}, {9}, {2, 5, 7, 9}})
    Agreement<ops::PRelu>({Random(dims, 1), Random(slope, 2)}, {}, {FloatResult(dims)})
        .Of("native", 0);
  const int64_t least = std::numeric_limits<int64_t>::min();
  Agreement<ops::PRelu>({I64({4}, {-2, 7, 0, least}), I64({}, {3})}, {}, {{DataType::kI64, {4}}})
      .Of("native", 0);
}

TEST(NativeUnary, AgreesWithTheReference) {
  ExpectUnary<ops::Abs>(-3, 3);
  ExpectUnary<ops::Neg>(-3, 3);
  ExpectUnary<ops::Relu>(-3, 3);
  ExpectUnary<ops::Sqrt>(0, 9);
  ExpectUnary<ops::Exp>(-9, 5);
  ExpectUnary<ops::Log>(0.01f, 9);
  ExpectUnary<ops::Erf>(-4, 4);
  ExpectUnary<ops::Tanh>(-6, 6);
  ExpectUnary<ops::Sigmoid>(-9, 9);
  ExpectUnary<ops::Softplus>(-30, 30);
  ExpectUnary<ops::Mish>(-30, 30);
  ExpectUnary<ops::HardSwish>(-5, 5);
  ExpectUnary<ops::Reciprocal>(0.1f, 9);
  ExpectUnary<ops::HardSigmoid>(-5, 5, {.alpha = 0.3f, .beta = 0.4f});
  ExpectUnary<ops::LeakyRelu>(-5, 5, {.alpha = 0.2f});
  ExpectUnary<fused::Gelu>(-5, 5);
}

TEST(NativeClip, TakesConstantAndComputedBounds) {
  Agreement<ops::Clip>({RandomIn({501}, 1, -9, 9), F32({}, {-2}), Constant(F32({}, {3.5}))}, {},
                       {FloatResult({501})})
      .Of("native");
  Agreement<ops::Clip>({RandomIn({501}, 1, -9, 9), {}, F32({}, {3.5})}, {}, {FloatResult({501})})
      .Of("native");
}

TEST(NativeGelu, AddsABiasFirst) {
  for (const ir::Shape& bias : {ir::Shape{7, 130}, ir::Shape{7, 1}, ir::Shape{1}})
    Agreement<fused::Gelu>({RandomIn({7, 130}, 1, -4, 4), Random(bias, 2)}, {},
                           {FloatResult({7, 130})})
        .Of("native");
  Agreement<fused::Gelu>({RandomIn({7, 130}, 1, -4, 4), Constant(Random({130}, 2))}, {},
                         {FloatResult({7, 130})})
      .Of("native");
}

template <class O>
void ExpectBinary(float low, float high) {
  SCOPED_TRACE(O::kInfo.name);
  struct Case {
    ir::Shape a, b, y;
  };
  for (const Case& c : {Case{{7, 33}, {7, 33}, {7, 33}}, Case{{7, 33}, {33}, {7, 33}},
                        Case{{7, 1}, {1, 33}, {7, 33}}, Case{{}, {2, 3, 40}, {2, 3, 40}},
                        Case{{2, 3, 40, 5}, {3, 1, 1}, {2, 3, 40, 5}}})
    Agreement<O>({RandomIn(c.a, 1, low, high), RandomIn(c.b, 2, low, high)}, {}, {FloatResult(c.y)})
        .Of("native");
}

TEST(NativeBinary, AgreesWithTheReferenceUnderBroadcasting) {
  ExpectBinary<ops::Add>(-3, 3);
  ExpectBinary<ops::Sub>(-3, 3);
  ExpectBinary<ops::Mul>(-3, 3);
  ExpectBinary<ops::Div>(0.5f, 3);
  ExpectBinary<ops::Pow>(0.5f, 3);
  ExpectBinary<ops::Min>(-3, 3);
  ExpectBinary<ops::Max>(-3, 3);
}

TEST(NativeBinary, ComputesIntegersExactly) {
  const int64_t big = int64_t{1} << 60;
  Agreement<ops::Add>({I64({3}, {big, -5, 7}), I64({1}, {3})}, {}, {{DataType::kI64, {3}}})
      .Of("native", 0);
  Agreement<ops::Mul>({I32({3}, {4, -5, 7}), I32({3}, {3, 3, -2})}, {}, {{DataType::kI32, {3}}})
      .Of("native", 0);
}

TEST(NativeBinary, LeavesIntegerDivisionToTheReference) {
  Agreement<ops::Div>({I64({2}, {7, -7}), I64({2}, {2, 2})}, {}, {{DataType::kI64, {2}}})
      .Of("reference", 0);
}

TEST(NativeBinary, ComparesAndChooses) {
  const ResultType type = {DataType::kBool, {5, 33}};
  const auto operands = [] {
    return std::vector<Operand>{
        I32({5, 33}, ValuesOf<int32_t>(*RandomTensor(DataType::kI32, {5, 33}, 1, 0))),
        I32({33}, ValuesOf<int32_t>(*RandomTensor(DataType::kI32, {33}, 2, 0)))};
  };
  Agreement<ops::Equal>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::Less>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::Greater>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::LessOrEqual>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::GreaterOrEqual>(operands(), {}, {type}).Of("native", 0);
  Agreement<ops::Where>(
      {*RandomTensor(DataType::kBool, {5, 1}, 3, 0), Random({33}, 4), F32({}, {9})}, {},
      {FloatResult({5, 33})})
      .Of("native", 0);
}

TEST(NativeCast, AgreesWithTheReference) {
  for (const DataType to : {DataType::kI32, DataType::kI64, DataType::kF64, DataType::kF16,
                            DataType::kBF16, DataType::kBool, DataType::kU8})
    Agreement<ops::Cast>({RandomIn({77}, 1, 0, 200)}, {.to = to}, {{to, {77}}}).Of("native", 0);
  Agreement<ops::Cast>({I64({3}, {0, 5, -9})}, {.to = DataType::kF32}, {FloatResult({3})})
      .Of("native", 0);
}

// --- movement -------------------------------------------------------------------

Tensor Iota(ir::Shape dims) {
  Tensor x = *Tensor::Create(DataType::kI64, std::move(dims));
  std::iota(x.values<int64_t>().begin(), x.values<int64_t>().end(), 0);
  return x;
}
ResultType IntResult(ir::Shape dims) { return {DataType::kI64, std::move(dims)}; }

TEST(NativeMovement, AgreesWithTheReference) {
  Agreement<ops::Transpose>({Random({3, 17, 5, 20}, 1)}, {.perm = Ints{0, 2, 1, 3}},
                            {FloatResult({3, 5, 17, 20})})
      .Of("native", 0);
  Agreement<ops::Transpose>({Iota({33, 70})}, {}, {IntResult({70, 33})}).Of("native", 0);
  Agreement<ops::Concat>({Iota({2, 3, 5}), Iota({2, 1, 5}), Iota({2, 40, 5})}, {.axis = 1},
                         {IntResult({2, 44, 5})})
      .Of("native", 0);
  Agreement<ops::Split>({Iota({4, 9}), Constant(I64({2}, {2, 7}))}, {.axis = -1},
                        {IntResult({4, 2}), IntResult({4, 7})})
      .Of("native", 0);
  Agreement<ops::Slice>({Iota({9, 20}), Constant(I64({2}, {-1, 3})), Constant(I64({2}, {0, 18})),
                         Constant(I64({2}, {0, 1})), Constant(I64({2}, {-3, 5}))},
                        {}, {IntResult({3, 3})})
      .Of("native", 0);
  Agreement<ops::Gather>({Random({5, 30, 7}, 1), I64({2, 2}, {29, -1, 0, 3})}, {.axis = 1},
                         {FloatResult({5, 2, 2, 7})})
      .Of("native", 0);
  Agreement<ops::Expand>({Iota({3, 1}), Constant(I64({3}, {2, 3, 40}))}, {},
                         {IntResult({2, 3, 40})})
      .Of("native", 0);
  Agreement<ops::Pad>({Iota({3, 5}), Constant(I64({4}, {1, 0, 2, 3})), I64({}, {-8})}, {},
                      {IntResult({6, 8})})
      .Of("native", 0);
}

TEST(NativeGather, RefusesAnIndexOutOfRange) {
  const auto result = TryRunOp<ops::Gather>({Random({3}, 1), I64({2}, {0, 3})}, {},
                                            {FloatResult({2})}, {.provider = "auto"});
  EXPECT_EQ(result.status().message(),
            "onnx.Gather: index 3 is out of range for an axis of size 3");
}

// --- products -------------------------------------------------------------------

TEST(NativeMatMul, AgreesWithTheReference) {
  struct Case {
    ir::Shape a, b, y;
  };
  for (const Case& c : {Case{{1, 9}, {9, 5}, {1, 5}}, Case{{37, 64}, {64, 70}, {37, 70}},
                        Case{{2, 5, 33}, {33, 16}, {2, 5, 16}}, Case{{33}, {33, 16}, {16}},
                        Case{{2, 3, 17, 20}, {2, 3, 20, 31}, {2, 3, 17, 31}},
                        Case{{4, 1, 8, 16}, {3, 16, 8}, {4, 3, 8, 8}}, Case{{2, 7, 9}, {9}, {2, 7}},
                        Case{{9}, {3, 9, 4}, {3, 4}}}) {
    SCOPED_TRACE(ir::ToString(c.a) + " . " + ir::ToString(c.b));
    Agreement<ops::MatMul>({Random(c.a, 1), Random(c.b, 2)}, {}, {FloatResult(c.y)}).Of("native");
    Agreement<ops::MatMul>({Random(c.a, 1), Constant(Random(c.b, 2))}, {}, {FloatResult(c.y)})
        .Of("native");
  }
}

TEST(NativeGemm, TakesBiasesAndResidualsAndTransposedWeights) {
  for (const ir::Shape& c : {ir::Shape{48}, ir::Shape{1, 48}, ir::Shape{19, 48}})
    Agreement<ops::Gemm>({Random({19, 40}, 1), Constant(Random({48, 40}, 2)), Random(c, 3)},
                         {.transB = 1}, {FloatResult({19, 48})})
        .Of("native");
}

TEST(NativeLinear, AppliesBiasResidualAndActivation) {
  using fused::Activation;
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kSigmoid, Activation::kTanh,
        Activation::kGelu, Activation::kHardSwish, Activation::kSwish, Activation::kGeluTanh}) {
    for (const bool constant : {true, false}) {
      Agreement<fused::Linear>({Random({2, 9, 40}, 1),
                                {Random({40, 50}, 2), constant},
                                Constant(Random({50}, 3)),
                                Random({2, 9, 50}, 4)},
                               {.activation = activation}, {FloatResult({2, 9, 50})})
          .Of("native");
    }
  }
  Agreement<fused::Linear>({Random({3, 40}, 1), Constant(Random({50, 40}, 2)), {}, {}},
                           {.transpose_w = true,
                            .activation = Activation::kClip,
                            .activation_params = ir::Floats{-1, 2}},
                           {FloatResult({3, 50})})
      .Of("native");
  Agreement<fused::Linear>(
      {Random({1, 40}, 1), Constant(Random({40, 50}, 2))},
      {.activation = Activation::kHardSigmoid, .activation_params = ir::Floats{0.2f, 0.6f}},
      {FloatResult({1, 50})})
      .Of("native");
  Agreement<fused::Linear>(
      {Random({3, 40}, 1), Constant(Random({40, 50}, 2))},
      {.activation = Activation::kLeakyRelu, .activation_params = ir::Floats{0.1f}},
      {FloatResult({3, 50})})
      .Of("native");
}

TEST(NativeLinear, PacksWeightsOnceForAllPlans) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const int64_t n = ir::SymbolicDim("n");
  const ir::Value x = b.AddInput("x", context.TensorType(DataType::kF32, {n, 8}));
  const ir::Value w = b.ConstantFloats(ValuesOf<float>(Random({8, 8}, 1)), ir::Shape{8, 8});
  b.Return({{"y", b.Make<fused::Linear>({b.Make<fused::Linear>({x, w}), w})}});
  auto session = Session::Create(program, {});
  ASSERT_TRUE(session.ok()) << session.status();
  for (const int64_t rows : {1, 2, 3})
    ASSERT_TRUE((*session)->Run({Random({rows, 8}, 1).view()}).ok());
  EXPECT_EQ((*session)->num_packed_weights(), 1u);
}

TEST(NativeLinear, IsGivenNoDataOfWeightsThatArePacked) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(DataType::kF32, {3, 8}));
  const ir::Value w = b.ConstantFloats(ValuesOf<float>(Random({8, 8}, 1)), ir::Shape{8, 8});
  const ir::Value bias = b.ConstantFloats(ValuesOf<float>(Random({8}, 2)), ir::Shape{8});
  b.Return({{"y", b.Make<fused::Linear>({x, w, bias})}});
  auto session = Session::Create(program, {.provider = "native"});
  ASSERT_TRUE(session.ok()) << session.status();
  const ir::Shape dims = {3, 8};
  const auto plan = (*session)->PlanFor(std::vector<std::span<const int64_t>>{dims});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::span<const TensorView> inputs = (*plan)->steps()[0].inputs;
  EXPECT_TRUE(inputs[1]);
  EXPECT_EQ(inputs[1].data, nullptr);
  EXPECT_NE(inputs[2].data, nullptr);
}

// --- normalizations and attention -------------------------------------------------

TEST(NativeSoftmax, WorksAlongAnyAxis) {
  for (const int64_t axis : {0, 1, -1})
    Agreement<ops::Softmax>({RandomIn({9, 33, 20}, 1, -9, 9)}, {.axis = axis},
                            {FloatResult({9, 33, 20})})
        .Of("native");
}

TEST(NativeLayerNorm, TakesBiasResidualAndSeveralAxes) {
  Agreement<ops::LayerNormalization>(
      {Random({5, 77}, 1), Random({77}, 2), Random({77}, 3)}, {},
      {FloatResult({5, 77}), FloatResult({5, 1}), FloatResult({5, 1})})
      .Of("native");
  Agreement<fused::LayerNorm>(
      {Random({2, 9, 128}, 1), Random({128}, 2), Random({128}, 3), Random({2, 9, 128}, 4)},
      {.epsilon = 1e-5f}, {FloatResult({2, 9, 128})})
      .Of("native");
  Agreement<fused::LayerNorm>(
      {Random({2, 9, 33}, 1), Random({33}, 2), {}, Random({2, 9, 33}, 4), Random({33}, 5)},
      {.epsilon = 1e-5f}, {FloatResult({2, 9, 33})})
      .Of("native");
  Agreement<fused::LayerNorm>({Random({5, 4, 6}, 1), Random({4, 6}, 2), {}, {}, Random({4, 6}, 5)},
                              {.axis = 1, .epsilon = 1e-5f}, {FloatResult({5, 4, 6})})
      .Of("native");
  Agreement<fused::LayerNorm>({Random({6, 4, 10}, 1), Random({4, 10}, 2), {}, {}},
                              {.axis = 1, .epsilon = 1e-3f}, {FloatResult({6, 4, 10})})
      .Of("native");
}

TEST(NativeLayerNorm, GivesTheSumToo) {
  for (const int64_t columns : {1, 7, 64, 131}) {
    const std::vector<ResultType> two(2, FloatResult({2, 9, columns}));
    const Operand x = RandomIn({2, 9, columns}, 1, -1, 2), r = Random({2, 9, columns}, 2);
    const Operand scale = Random({columns}, 3), bias = Random({columns}, 4);
    Agreement<fused::LayerNorm>({x, scale, bias, r}, {.epsilon = 1e-5f}, two).Of("native");
    Agreement<fused::RmsNorm>({x, scale, r}, {.epsilon = 1e-5f}, two).Of("native");
    Agreement<fused::RmsNorm>({x, scale, r}, {.epsilon = 1e-5f}, {two[0]}).Of("native");
  }
}

TEST(NativeLayerNorm, LeavesAScalePerRowToTheReference) {
  Agreement<ops::LayerNormalization>({Random({7, 7}, 1), Random({7, 1}, 2), Random({7}, 3)}, {},
                                     {FloatResult({7, 7})})
      .Of("reference");
}

TEST(NativeReduce, ReducesAxesThatLieSideBySide) {
  const auto shape = [](ir::Shape dims) { return std::vector<ResultType>{FloatResult(dims)}; };
  Agreement<ops::ReduceMean>({Random({4, 9, 50}, 1)}, {.axes = Ints{-1}}, shape({4, 9, 1}))
      .Of("native");
  Agreement<ops::ReduceMean>({Random({4, 9, 50}, 1)}, {.axes = Ints{0, 1}, .keepdims = 0},
                             shape({50}))
      .Of("native");
  Agreement<ops::ReduceMax>({Random({4, 9, 50}, 1)}, {.axes = Ints{1}}, shape({4, 1, 50}))
      .Of("native");
  Agreement<ops::ReduceMin>({Random({4, 9, 50}, 1)}, {.keepdims = 0}, shape({})).Of("native");
  Agreement<ops::ReduceSum>({Random({4, 9, 50}, 1), Constant(I64({2}, {1, 2}))}, {},
                            shape({4, 1, 1}))
      .Of("native");
  Agreement<ops::ReduceMean>({Random({4, 9, 50}, 1)}, {.axes = Ints{0, 2}}, shape({1, 9, 1}))
      .Of("reference");
}

TEST(NativeGlobalAveragePool, WorksInBothLayouts) {
  Agreement<ops::GlobalAveragePool>({Random({2, 19, 7, 7}, 1)}, {}, {FloatResult({2, 19, 1, 1})})
      .Of("native");
  Agreement<fused::GlobalAveragePool2d>({Random({2, 7, 7, 35}, 1)}, {},
                                        {FloatResult({2, 1, 1, 35})})
      .Of("native");
}

TEST(NativeBatchNormalization, MultipliesAndAddsPerChannel) {
  Agreement<ops::BatchNormalization>(
      {Random({2, 17, 9, 5}, 1), Constant(Random({17}, 2)), Constant(Random({17}, 3)),
       Constant(Random({17}, 4)), Constant(RandomIn({17}, 5, 0.1f, 2))},
      {.epsilon = 1e-3f}, {FloatResult({2, 17, 9, 5})})
      .Of("native");
}

// --- NCHW convolutions and pools ----------------------------------------------------

TEST(NativeSpatial, RunsNchwConvolutionsBetweenTransposes) {
  for (const auto pad : {ops::AutoPad::kNotSet, ops::AutoPad::kSameUpper, ops::AutoPad::kSameLower})
    Agreement<ops::Conv>(
        {Random({2, 6, 9, 8}, 1), Constant(Random({8, 3, 3, 3}, 2)), Constant(Random({8}, 3))},
        {.auto_pad = pad,
         .group = 2,
         .pads =
             pad == ops::AutoPad::kNotSet ? std::optional<Ints>(Ints{1, 0, 1, 1}) : std::nullopt,
         .strides = Ints{2, 2}},
        {FloatResult({2, 8, 5, 4})})
        .Of("native");
}

TEST(NativeSpatial, RunsNchwPoolsBetweenTransposes) {
  Agreement<ops::MaxPool>(
      {RandomIn({2, 5, 9, 8}, 1, -3, -1)},
      {.kernel_shape = Ints{3, 3}, .pads = Ints{1, 1, 1, 1}, .strides = Ints{2, 2}},
      {FloatResult({2, 5, 5, 4})})
      .Of("native");
  Agreement<ops::AveragePool>({Random({2, 5, 8, 8}, 1)},
                              {.ceil_mode = 1, .kernel_shape = Ints{3, 3}, .strides = Ints{2, 2}},
                              {FloatResult({2, 5, 4, 4})})
      .Of("native");
}

TEST(NativePooling, TakesPadsDilationsAndWhatIsLeftOver) {
  for (const bool ceil_mode : {false, true}) {
    const ir::Shape y = {2, ceil_mode ? 5 : 4, ceil_mode ? 5 : 4, 37};
    Agreement<fused::MaxPool2d>({Random({2, 10, 8, 37}, 1)},
                                {.kernel_shape = Ints{3, 3},
                                 .strides = Ints{2, 2},
                                 .pads = Ints{0, 1, 0, 1},
                                 .ceil_mode = ceil_mode},
                                {FloatResult(y)})
        .Of("native");
    for (const bool count_include_pad : {false, true}) {
      Agreement<fused::AveragePool2d>({Random({2, 10, 8, 37}, 1)},
                                      {.kernel_shape = Ints{3, 3},
                                       .strides = Ints{2, 2},
                                       .pads = Ints{0, 1, 0, 1},
                                       .ceil_mode = ceil_mode,
                                       .count_include_pad = count_include_pad},
                                      {FloatResult(y)})
          .Of("native");
    }
  }
  Agreement<fused::MaxPool2d>({Random({1, 9, 8, 70}, 1)},
                              {.kernel_shape = Ints{3, 2}, .dilations = Ints{2, 3}},
                              {FloatResult({1, 5, 5, 70})})
      .Of("native");
}

TEST(NativeSpatial, ConvolvesOneDimension) {
  Agreement<ops::Conv>(
      {Random({2, 6, 19}, 1), Constant(Random({10, 6, 3}, 2)), Constant(Random({10}, 3))},
      {.dilations = Ints{2}, .pads = Ints{3, 1}, .strides = Ints{2}}, {FloatResult({2, 10, 10})})
      .Of("native");
  Agreement<ops::Conv>({Random({1, 6, 9}, 1), Constant(Random({4, 3, 3}, 2))}, {.group = 2},
                       {FloatResult({1, 4, 7})})
      .Of("native");
  Agreement<ops::Conv>({Random({1, 6, 9}, 1), Constant(Random({6, 1, 4}, 2))},
                       {.group = 6, .pads = Ints{1, 2}}, {FloatResult({1, 6, 9})})
      .Of("native");
}

TEST(NativeSpatial, TakesEmptyListsOfAConvolutionForNone) {
  Agreement<ops::Conv>({Random({1, 6, 9}, 1), Constant(Random({4, 6, 3}, 2))},
                       {.dilations = Ints{}, .pads = Ints{}, .strides = Ints{}},
                       {FloatResult({1, 4, 7})})
      .Of("native");
}

TEST(NativeSpatial, LeavesOtherConvolutionsToTheReference) {
  Agreement<ops::Conv>({Random({1, 3, 9}, 1), Random({4, 3, 3}, 2)}, {}, {FloatResult({1, 4, 7})})
      .Of("reference");
  Agreement<ops::Conv>({Random({1, 3, 9}, 1), Constant(Random({4, 3, 3}, 2))},
                       {.auto_pad = ops::AutoPad::kSameUpper}, {FloatResult({1, 4, 9})})
      .Of("reference");
  Agreement<ops::Conv>({Random({1, 3, 5, 5, 5}, 1), Constant(Random({4, 3, 3, 3, 3}, 2))}, {},
                       {FloatResult({1, 4, 3, 3, 3})})
      .Of("reference");
}

TEST(NativeAttention, WorksInBothLayoutsWithAndWithoutMasks) {
  for (const auto layout : {fused::AttentionLayout::kBhsd, fused::AttentionLayout::kBshd}) {
    const bool bshd = layout == fused::AttentionLayout::kBshd;
    const auto shape = [&](int64_t rows, int64_t columns) {
      return bshd ? ir::Shape{2, rows, 3, columns} : ir::Shape{2, 3, rows, columns};
    };
    std::vector<Operand> masks = {{},
                                  RandomIn({2, 1, 1, 37}, 4, -3, 3),
                                  RandomIn({19, 37}, 4, -3, 3),
                                  RandomIn({2, 3, 19, 37}, 4, -3, 3)};
    for (Operand& mask : masks) {
      Agreement<fused::Attention>(
          {Random(shape(19, 24), 1), Random(shape(37, 24), 2), Random(shape(37, 40), 3), mask},
          {.scale = 0.2f, .layout = layout}, {FloatResult(shape(19, 40))})
          .Of("native");
    }
  }
}

TEST(NativeAttention, KeepsSomeScoresAndAddsAMaskToAll) {
  const auto keep = [](ir::Shape dims) {
    return *RandomTensor(DataType::kBool, std::move(dims), 5, 0);
  };
  for (const ir::Shape& dims :
       {ir::Shape{19, 37}, ir::Shape{2, 3, 19, 37}, ir::Shape{2, 1, 1, 37}, ir::Shape{3, 19, 1}}) {
    std::vector<Operand> masks = {{}, RandomIn({2, 1, 1, 37}, 4, -3, 3)};
    for (Operand& mask : masks) {
      Agreement<fused::Attention>({Random({2, 3, 19, 24}, 1), Random({2, 3, 37, 24}, 2),
                                   Random({2, 3, 37, 40}, 3), mask, keep(dims)},
                                  {.scale = 0.2f, .fill = -1.5f}, {FloatResult({2, 3, 19, 40})})
          .Of("native");
    }
  }
}

TEST(NativeAttention, GivesZerosForQueriesWithoutWeightsIfAsked) {
  Tensor keep = *RandomTensor(DataType::kBool, {19, 37}, 5, 0);
  for (int64_t i = 4 * 37; i < 6 * 37; ++i) keep.values<uint8_t>()[i] = 0;
  Tensor q = Random({2, 3, 19, 24}, 1);
  q.values<float>()[7 * 24] = std::numeric_limits<float>::quiet_NaN();
  Agreement<fused::Attention>(
      {std::move(q), Random({2, 3, 37, 24}, 2), Random({2, 3, 37, 40}, 3), {}, std::move(keep)},
      {.scale = 0.2f, .fill = -std::numeric_limits<float>::infinity(), .zero_nan = true},
      {FloatResult({2, 3, 19, 40})})
      .Of("native");
}

TEST(NativeAttention, SharesHeadsOfKeysAndValues) {
  for (const bool bshd : {false, true}) {
    const auto shape = [&](int64_t heads, int64_t rows) {
      return bshd ? ir::Shape{2, rows, heads, 16} : ir::Shape{2, heads, rows, 16};
    };
    Agreement<fused::Attention>(
        {Random(shape(6, 5), 1), Random(shape(2, 9), 2), Random(shape(2, 9), 3),
         RandomIn({6, 5, 9}, 4, -3, 3)},
        {.scale = 0.2f,
         .layout = bshd ? fused::AttentionLayout::kBshd : fused::AttentionLayout::kBhsd},
        {FloatResult(shape(6, 5))})
        .Of("native");
  }
}

}  // namespace
}  // namespace weft::kernels
