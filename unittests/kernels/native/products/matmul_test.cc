// Products of matrices, against the reference.
#include <optional>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

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

TEST(NativeGemm, TransposesScalesAndAdds) {
  struct Case {
    int64_t trans_a, trans_b;
    float alpha, beta;
    std::optional<ir::Shape> c;
  };
  for (const bool constant : {true, false}) {
    for (const Case& c :
         {Case{1, 0, 1, 1, {}}, Case{1, 1, 1, 1, ir::Shape{48}},
          Case{1, 0, 1, 1, ir::Shape{19, 48}}, Case{0, 1, 0.5f, 1, {}},
          Case{1, 1, -2, 3, ir::Shape{19, 48}}, Case{0, 0, 0.5f, 0.25f, ir::Shape{48}},
          Case{0, 0, 1, 2, ir::Shape{19, 1}}, Case{0, 1, 1, 1, ir::Shape{19, 1}},
          Case{1, 0, 2, 1, ir::Shape{}}, Case{0, 0, 1, 1, ir::Shape{1}}}) {
      SCOPED_TRACE(::testing::Message()
                   << c.trans_a << c.trans_b << " " << c.alpha << " " << c.beta);
      const ir::Shape a = c.trans_a != 0 ? ir::Shape{40, 19} : ir::Shape{19, 40};
      const ir::Shape b = c.trans_b != 0 ? ir::Shape{48, 40} : ir::Shape{40, 48};
      Agreement<ops::Gemm>(
          {Random(a, 1), {Random(b, 2), constant}, c.c ? Operand(Random(*c.c, 3)) : Operand()},
          {.alpha = c.alpha, .beta = c.beta, .transA = c.trans_a, .transB = c.trans_b},
          {FloatResult({19, 48})})
          .Of("native");
    }
  }
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

}  // namespace
}  // namespace weft::kernels
