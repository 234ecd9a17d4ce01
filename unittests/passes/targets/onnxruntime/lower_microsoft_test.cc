// What the pipeline `fuse` makes of models that ONNX Runtime has optimised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/attention.h"
#include "ir/walk.h"
#include "kernels/runtime/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/numeric.h"

namespace weft::passes {
namespace {

namespace ms = ir::microsoft;
namespace ops = ir::ops;
using ir::Ints;
using ir::Value;

class FuseMicrosoft : public testing::Test {
 protected:
  FuseMicrosoft() : program(&context), b(&program) {
    ir::LoadMicrosoftDialect(context);
    ir::LoadFusedDialect(context);
  }

  Value Input(std::string_view name, std::initializer_list<int64_t> dims,
              ir::DataType dtype = ir::DataType::kF32) {
    return b.AddInput(name, context.TensorType(dtype, dims));
  }
  Value Random(std::initializer_list<int64_t> dims, float low = -0.4f, float high = 0.4f) {
    std::uniform_real_distribution<float> uniform(low, high);
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    std::vector<float> values(static_cast<size_t>(n));
    for (float& v : values) v = uniform(random);
    return b.ConstantFloats(values, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  Value Gamma(int64_t n) { return Random({n}, 0.5f, 1.5f); }

  // After it ran: how often there is which op. The numbers stay, and no op of ONNX Runtime does.
  std::map<std::string, int> Fuse() {
    EXPECT_TRUE(fixtures::PipelineKeepsNumbers(program, "fuse", {.tolerance = 2e-5}));
    PassManager pm(&context);
    for (const std::string& pass : FindPipeline("fuse")->passes) pm.AddPass(MakePass(pass));
    auto evaluator = kernels::KernelEvaluator::Create("reference");
    EXPECT_TRUE(evaluator.ok());
    pm.pass_context().evaluator = evaluator->get();
    EXPECT_TRUE(pm.Run(program).ok());
    std::map<std::string, int> counts;
    ir::Walk(program, [&](ir::Operation op) { ++counts[std::string(op.name())]; });
    for (const auto& [name, count] : counts) {
      EXPECT_FALSE(name.starts_with("com.microsoft.")) << count << " of " << name;
      EXPECT_NE(name, "onnx.SimplifiedLayerNormalization");
    }
    return counts;
  }

  std::mt19937 random{7};
  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
};

TEST_F(FuseMicrosoft, AnEncoderLayerIsAttentionLinearAndNormalization) {
  const Value mask = Input("mask", {2, 5}, ir::DataType::kI32);
  Value x = Input("x", {2, 5, 8});
  const Value attention =
      b.Make<ms::Attention>({x, Random({8, 24}), Random({24}), mask}, {.num_heads = 2});
  x = b.Create<ms::SkipLayerNormalization>({b.Make<ops::MatMul>({attention, Random({8, 8})}), x,
                                            Gamma(8), Random({8}), Random({8})},
                                           {.epsilon = 1e-5f}, 1)
          .result();
  const Value wide =
      b.Make<ms::BiasGelu>({b.Make<ops::MatMul>({x, Random({8, 16})}), Random({16})});
  const ir::Operation last = b.Create<ms::SkipLayerNormalization>(
      {b.Make<ops::MatMul>({wide, Random({16, 8})}), x, Gamma(8), Random({8}), Random({8})},
      {.epsilon = 1e-5f}, 4);
  b.Return({{"y", last.result(0)}, {"sum", last.result(3)}});

  auto counts = Fuse();
  EXPECT_EQ(counts["fused.attention"], 1);
  EXPECT_EQ(counts["fused.layer_norm"], 2);
  EXPECT_EQ(counts["fused.linear"], 4);
  for (const char* gone : {"onnx.Softmax", "onnx.MatMul", "onnx.Gelu", "fused.gelu",
                           "onnx.LayerNormalization", "onnx.Erf"})
    EXPECT_EQ(counts[gone], 0) << gone;
}

TEST_F(FuseMicrosoft, ADecoderLayerIsAttentionAndRmsNorm) {
  const Value x = Input("x", {1, 2, 32}), skip = Input("skip", {1, 2, 32});
  const Value past_k = Input("past_k", {1, 2, 3, 8}), past_v = Input("past_v", {1, 2, 3, 8});
  const ir::Operation norm =
      b.Create<ms::SkipSimplifiedLayerNormalization>({x, skip, Gamma(32)}, {.epsilon = 1e-5f}, 4);
  const auto project = [&](Value v, int64_t columns) {
    return b.Make<ops::MatMul>({v, Random({32, columns})});
  };
  const int32_t last_key = 4;
  const Value used = b.Constant(context.DenseAttr(context.TensorType(ir::DataType::kI32, {1}),
                                                  std::as_bytes(std::span(&last_key, 1))));
  const Value y = norm.result(0);
  const ir::Operation attention = b.Create<ms::GroupQueryAttention>(
      {project(y, 32), project(y, 16), project(y, 16), past_k, past_v, used,
       b.ConstantScalar(ir::DataType::kI32, 5), Random({9, 4}), Random({9, 4})},
      {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4}, 3);
  const Value joined = b.Make<ms::FusedMatMul>({attention.result(0), Random({32, 32})},
                                               {.alpha = 0.5f, .transB = 1});
  const Value gate = b.Make<ms::QuickGelu>({project(joined, 32)});
  const Value out = b.Make<ms::SimplifiedLayerNormalization>(
      {b.Make<ops::Add>({gate, norm.result(3)}), Gamma(32)});
  b.Return({{"y", out}, {"k", attention.result(1)}, {"v", attention.result(2)}});

  auto counts = Fuse();
  EXPECT_EQ(counts["fused.attention"], 1);
  EXPECT_EQ(counts["fused.rms_norm"], 2);
  for (const char* gone : {"onnx.Softmax", "onnx.RotaryEmbedding", "onnx.ReduceMean", "onnx.Swish"})
    EXPECT_EQ(counts[gone], 0) << gone;
}

TEST_F(FuseMicrosoft, AConvolutionTakesItsActivation) {
  const Value x = Input("x", {1, 2, 6, 6});
  const Value y =
      b.Make<ms::FusedConv>({x, Random({4, 2, 3, 3}), Random({4})},
                            {.activation = ms::ConvActivation::kRelu, .pads = Ints{1, 1, 1, 1}});
  const Value z =
      b.Make<ms::FusedConv>({x, Random({4, 2, 3, 3}), Random({4}), y},
                            {.activation = ms::ConvActivation::kRelu, .pads = Ints{1, 1, 1, 1}});
  b.Return({{"z", z}});

  auto counts = Fuse();
  EXPECT_EQ(counts["fused.conv2d"], 2);
  EXPECT_EQ(counts["onnx.Relu"] + counts["onnx.Add"], 0);
}

// Of standard ops too: a causal mask needs no guard against rows that see nothing.
TEST_F(FuseMicrosoft, StandardAttentionIsFusedAfterItsBody) {
  const auto heads = [&](std::string_view name, int64_t rows) {
    return Input(name, {2, 2, rows, 4});
  };
  b.Return({{"y", b.Make<ops::Attention>({heads("q", 3), heads("k", 3), heads("v", 3)},
                                         {.is_causal = 1})}});
  auto counts = Fuse();
  EXPECT_EQ(counts["fused.attention"], 1);
  EXPECT_EQ(counts["onnx.Attention"] + counts["onnx.Softmax"], 0);
}

}  // namespace
}  // namespace weft::passes
