// XNNPACK's operators against the reference.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using fused::Activation;
using Ints = ir::Ints;

// --- products ---------------------------------------------------------------------

TEST(XnnpackFullyConnected, ClampsItselfAndLeavesOtherActivationsToASecondPass) {
  const auto linear = [](Activation activation, ir::Floats params, bool residual) {
    SCOPED_TRACE(ir::EnumName(activation));
    Agreement<fused::Linear>(
        {Random({2, 9, 40}, 1), Constant(Random({40, 50}, 2)), Constant(Random({50}, 3)),
         residual ? Operand(Random({2, 9, 50}, 4)) : Operand()},
        {.activation = activation, .activation_params = std::move(params)},
        {FloatResult({2, 9, 50})})
        .Of("xnnpack");
  };
  for (const bool residual : {false, true}) {
    linear(Activation::kNone, {}, residual);
    linear(Activation::kRelu, {}, residual);
    linear(Activation::kClip, {-0.5f, 1.5f}, residual);
    linear(Activation::kGelu, {}, residual);
    linear(Activation::kHardSigmoid, {0.2f, 0.5f}, residual);
  }
}

TEST(XnnpackFullyConnected, RunsMatMulAndGemm) {
  Agreement<ops::MatMul>({Random({2, 9, 40}, 1), Constant(Random({40, 7}, 2))}, {},
                         {FloatResult({2, 9, 7})})
      .Of("xnnpack");
  Agreement<ops::Gemm>({Random({9, 40}, 1), Constant(Random({7, 40}, 2)), Constant(Random({7}, 3))},
                       {.transB = 1}, {FloatResult({9, 7})})
      .Of("xnnpack");
}

TEST(XnnpackFullyConnected, LeavesComputedWeightsToTheNextProvider) {
  Agreement<ops::MatMul>({Random({9, 40}, 1), Random({40, 7}, 2)}, {}, {FloatResult({9, 7})})
      .Of("native");
}

// Two kernels with one operator: each must be set up with its own addresses.
TEST(XnnpackFullyConnected, SharesAnOperatorBetweenKernelsAndPlans) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const int64_t n = ir::SymbolicDim("n");
  const ir::Value x = b.AddInput("x", context.TensorType(DataType::kF32, {n, 8}));
  const ir::Value w = b.ConstantFloats(ValuesOf<float>(Random({8, 8}, 1)), ir::Shape{8, 8});
  const ir::Value y = b.Make<fused::Linear>({x, w});
  b.Return({{"y", y}, {"z", b.Make<fused::Linear>({y, w})}});
  auto session = Session::Create(program, {.provider = "xnnpack"});
  auto oracle = Session::Create(program, {.provider = "reference"});
  ASSERT_TRUE(session.ok() && oracle.ok());
  for (const int64_t rows : {1, 5, 1}) {
    const Tensor in = Random({rows, 8}, static_cast<uint64_t>(rows));
    const auto actual = (*session)->Run({in.view()}), expected = (*oracle)->Run({in.view()});
    ASSERT_TRUE(actual.ok() && expected.ok()) << actual.status();
    for (int i : {0, 1}) ExpectNear((*actual)[i], (*expected)[i]);
  }
  EXPECT_EQ((*session)->num_packed_weights(), 1u);
}

// --- pools ------------------------------------------------------------------------

TEST(XnnpackPooling, AgreesWithTheReference) {
  Agreement<fused::MaxPool2d>(
      {Random({2, 9, 8, 19}, 1)},
      {.kernel_shape = Ints{3, 3}, .strides = Ints{2, 2}, .pads = Ints{1, 1, 1, 1}},
      {FloatResult({2, 5, 4, 19})})
      .Of("xnnpack");
  Agreement<fused::MaxPool2d>(
      {Random({1, 8, 8, 3}, 1)},
      {.kernel_shape = Ints{3, 3}, .strides = Ints{2, 2}, .ceil_mode = true},
      {FloatResult({1, 4, 4, 3})})
      .Of("xnnpack");
  Agreement<fused::AveragePool2d>(
      {Random({1, 8, 8, 3}, 1)},
      {.kernel_shape = Ints{3, 2}, .strides = Ints{2, 2}, .pads = Ints{1, 0, 1, 0}},
      {FloatResult({1, 4, 4, 3})})
      .Of("xnnpack");
  Agreement<fused::GlobalAveragePool2d>({Random({2, 7, 7, 35}, 1)}, {},
                                        {FloatResult({2, 1, 1, 35})})
      .Of("xnnpack");
}

// --- elementwise --------------------------------------------------------------------

template <class O>
void ExpectUnary(float low, float high,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  SCOPED_TRACE(O::kInfo.name);
  Agreement<O>({RandomIn({3, 377}, 3, low, high)}, attrs, {FloatResult({3, 377})}).Of("xnnpack");
}

TEST(XnnpackElementwise, AgreesWithTheReference) {
  ExpectUnary<ops::Abs>(-3, 3);
  ExpectUnary<ops::Neg>(-3, 3);
  ExpectUnary<ops::Sqrt>(0, 9);
  ExpectUnary<ops::Sigmoid>(-9, 9);
  ExpectUnary<ops::HardSwish>(-5, 5);
  ExpectUnary<ops::Relu>(-5, 5);
  ExpectUnary<ops::LeakyRelu>(-5, 5, {.alpha = 0.2f});
  ExpectUnary<ops::Elu>(-5, 5, {.alpha = 1.5f});
  ExpectUnary<ops::Softmax>(-5, 5);
  Agreement<ops::Clip>({RandomIn({501}, 1, -9, 9), Constant(F32({}, {-2})), {}}, {},
                       {FloatResult({501})})
      .Of("xnnpack");
}

template <class O>
void ExpectBinary() {
  SCOPED_TRACE(O::kInfo.name);
  Agreement<O>({RandomIn({7, 33}, 1, 0.5f, 3), RandomIn({7, 33}, 2, 0.5f, 3)}, {},
               {FloatResult({7, 33})})
      .Of("xnnpack");
  Agreement<O>({RandomIn({2, 1, 33}, 1, 0.5f, 3), RandomIn({7, 1}, 2, 0.5f, 3)}, {},
               {FloatResult({2, 7, 33})})
      .Of("xnnpack");
}

TEST(XnnpackElementwise, BroadcastsTwoOperands) {
  ExpectBinary<ops::Add>();
  ExpectBinary<ops::Sub>();
  ExpectBinary<ops::Mul>();
  ExpectBinary<ops::Div>();
  ExpectBinary<ops::Max>();
  ExpectBinary<ops::Min>();
}

}  // namespace
}  // namespace weft::kernels
