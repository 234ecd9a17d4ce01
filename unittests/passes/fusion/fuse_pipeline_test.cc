// What the fuse pipeline leaves of whole networks: the topologies of ResNet-50, MobileNetV3's blocks and
// BERT in torch's spelling, with few channels. The exported models themselves are counted by
// unittests/onnx/exported_models_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "ir/dialects/onnx/reduce.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/walk.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/numeric.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Ints;
using ir::Value;

class Network : public testing::Test {
 protected:
  Network() : program(&context), b(&program) {
    ir::LoadOnnxDialect(context);
    ir::LoadFusedDialect(context);
  }

  Value Input(std::string_view name, std::initializer_list<int64_t> dims) {
    return b.AddInput(name, context.TensorType(ir::DataType::kF32, dims));
  }
  Value Random(std::initializer_list<int64_t> dims, float low = -0.3f, float high = 0.3f) {
    std::uniform_real_distribution<float> uniform(low, high);
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    std::vector<float> values(n);
    for (float& v : values) v = uniform(random);
    return b.ConstantFloats(values, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  Value Scalar(double value) { return b.ConstantScalar(ir::DataType::kF32, value); }

  // Convolution and batch normalization.
  Value ConvBn(Value x, int64_t channels, int64_t kernel, int64_t stride, int64_t group = 1) {
    const int64_t in = x.type().dim(1), pad = kernel / 2;
    const Value w = Random({channels, in / group, kernel, kernel});
    const Value y = b.Make<ops::Conv>({x, w}, {.dilations = Ints{1, 1},
                                               .group = group,
                                               .kernel_shape = Ints{kernel, kernel},
                                               .pads = Ints{pad, pad, pad, pad},
                                               .strides = Ints{stride, stride}});
    return b.Make<ops::BatchNormalization>({y, Random({channels}, 0.6f, 1.2f), Random({channels}),
                                            Random({channels}), Random({channels}, 0.6f, 1.6f)});
  }
  Value Relu(Value x) { return b.Make<ops::Relu>({x}); }

  Value Linear(Value x, int64_t columns) {  // torch puts the bias first
    const Value w = Random({x.type().dim(-1), columns});
    return b.Make<ops::Add>({Random({columns}), b.Make<ops::MatMul>({x, w})});
  }
  Value LayerNorm(Value x, bool trivial) {
    const Value mean = b.Make<ops::ReduceMean>({x}, {.axes = Ints{-1}});
    const Value d = b.Make<ops::Sub>({x, mean});
    const Value variance =
        b.Make<ops::ReduceMean>({b.Make<ops::Pow>({d, Scalar(2)})}, {.axes = Ints{-1}});
    const Value deviation = b.Make<ops::Sqrt>({b.Make<ops::Add>({variance, Scalar(1e-12)})});
    const int64_t n = x.type().dim(-1);
    const Value gamma = trivial ? Random({n}, 1, 1) : Random({n}, 0.5f, 1.5f);
    const Value beta = trivial ? Random({n}, 0, 0) : Random({n});
    const Value y = b.Make<ops::Div>({d, deviation});
    return b.Make<ops::Add>({b.Make<ops::Mul>({y, gamma}), beta});
  }
  Value Gelu(Value x) {
    const Value half = b.Make<ops::Mul>({x, Scalar(0.5)});
    const Value erf = b.Make<ops::Erf>({b.Make<ops::Div>({x, Scalar(std::sqrt(2.0))})});
    return b.Make<ops::Mul>({half, b.Make<ops::Add>({erf, Scalar(1)})});
  }
  Value Heads(Value x, int64_t heads, const Ints& perm) {
    const int64_t tokens = x.type().dim(1), size = x.type().dim(2) / heads;
    const Value split = b.Make<ops::Reshape>({x, b.ConstantInts({1, tokens, heads, size})});
    return b.Make<ops::Transpose>({split}, {.perm = perm});
  }
  Value Attention(Value x, Value mask, int64_t heads) {
    const int64_t tokens = x.type().dim(1), width = x.type().dim(2);
    const Value q = Heads(Linear(x, width), heads, {0, 2, 1, 3});
    const Value k = Heads(Linear(x, width), heads, {0, 2, 3, 1});
    const Value v = Heads(Linear(x, width), heads, {0, 2, 1, 3});
    const Value scores =
        b.Make<ops::Div>({b.Make<ops::MatMul>({q, k}), Scalar(std::sqrt(width / heads))});
    const Value p = b.Make<ops::Softmax>({b.Make<ops::Add>({scores, mask})});
    const Value o = b.Make<ops::Transpose>({b.Make<ops::MatMul>({p, v})}, {.perm = {0, 2, 1, 3}});
    return Linear(b.Make<ops::Reshape>({o, b.ConstantInts({1, tokens, width})}), width);
  }

  // Runs the pipeline, checks that the numbers stay, and counts the ops left by name.
  std::map<std::string, int> Fuse() {
    EXPECT_TRUE(fixtures::PipelineKeepsNumbers(program, "fuse", {.seeds = 1}));
    PassManager pm(&context);
    pm.pass_context().fold_constants = false;
    for (const std::string& pass : FindPipeline("fuse")->passes) pm.AddPass(MakePass(pass));
    EXPECT_EQ(pm.Run(program).message(), "");
    std::map<std::string, int> counts;
    ir::Walk(program, [&](ir::Operation op) { ++counts[std::string(op.name())]; });
    return counts;
  }

  std::mt19937 random{7};
  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
};

TEST_F(Network, ResNet50IsFiftyThreeConvolutionsAndNoTranspose) {
  Value x = Relu(ConvBn(Input("x", {1, 3, 32, 32}), 4, 7, 2));
  x = b.Make<ops::MaxPool>({x}, {.dilations = Ints{1, 1},
                                 .kernel_shape = Ints{3, 3},
                                 .pads = Ints{1, 1, 1, 1},
                                 .strides = Ints{2, 2}});
  int64_t width = 4;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int i = 0; i < blocks; ++i) {
      const int64_t stride = i == 0 && width > 4 ? 2 : 1;
      const Value shortcut = i == 0 ? ConvBn(x, 4 * width, 1, stride) : x;
      Value y = Relu(ConvBn(x, width, 1, 1));
      y = Relu(ConvBn(y, width, 3, stride));
      x = Relu(b.Make<ops::Add>({ConvBn(y, 4 * width, 1, 1), shortcut}));
    }
    width *= 2;
  }
  x = b.Make<ops::Flatten>({b.Make<ops::GlobalAveragePool>({x})});
  const int64_t features = x.type().dim(1);
  b.Return({{"y", b.Make<ops::Gemm>({x, Random({10, features}), Random({10})}, {.transB = 1})}});

  auto counts = Fuse();
  EXPECT_EQ(counts["fused.conv2d"], 53);
  EXPECT_EQ(counts["onnx.Transpose"], 0);  // the first convolution reads NCHW
  EXPECT_EQ(counts["fused.max_pool2d"], 1);
  EXPECT_EQ(counts["fused.global_average_pool2d"], 1);
  EXPECT_EQ(counts["fused.linear"], 1);
  for (const char* gone : {"onnx.Conv", "onnx.BatchNormalization", "onnx.Relu", "onnx.Add",
                           "onnx.Gemm", "onnx.Flatten"})
    EXPECT_EQ(counts[gone], 0) << gone;
}

TEST_F(Network, AMobileBlockKeepsItsGateInNhwc) {
  Value x = ConvBn(Input("x", {1, 3, 16, 16}), 8, 3, 2);
  x = b.Make<ops::Mul>(
      {x, b.Make<ops::HardSigmoid>({x}, {.alpha = static_cast<float>(1.0 / 6.0), .beta = 0.5f})});
  const Value expanded = Relu(ConvBn(x, 16, 1, 1));
  const Value deep = Relu(ConvBn(expanded, 16, 3, 1, 16));
  const Value pooled = b.Make<ops::GlobalAveragePool>({deep});
  const Value squeezed = Relu(b.Make<ops::Conv>({pooled, Random({4, 16, 1, 1}), Random({4})}));
  const Value gate =
      b.Make<ops::HardSigmoid>({b.Make<ops::Conv>({squeezed, Random({16, 4, 1, 1}), Random({16})})},
                               {.alpha = static_cast<float>(1.0 / 6.0)});
  const Value gated = b.Make<ops::Mul>({gate, deep});
  const Value out = b.Make<ops::Add>({ConvBn(gated, 8, 1, 1), x});
  b.Return({{"y", out}});

  auto counts = Fuse();
  EXPECT_EQ(counts["fused.conv2d"], 6);
  EXPECT_EQ(counts["onnx.Mul"], 1);        // the gate
  EXPECT_EQ(counts["onnx.Transpose"], 1);  // of the output; the first convolution reads NCHW
  for (const char* gone : {"onnx.HardSigmoid", "onnx.HardSwish", "onnx.Relu", "onnx.Add"})
    EXPECT_EQ(counts[gone], 0) << gone;
}

TEST_F(Network, BertIsTwelveAttentionsAndTwentyFiveLayerNorms) {
  const Value mask = Input("mask", {1, 1, 1, 6});
  Value x = LayerNorm(Input("x", {1, 6, 8}), false);
  for (int layer = 0; layer < 12; ++layer) {
    x = LayerNorm(b.Make<ops::Add>({Attention(x, mask, 2), x}), layer % 2 == 1);
    const Value y = Linear(Gelu(Linear(x, 16)), 8);
    x = LayerNorm(b.Make<ops::Add>({y, x}), layer % 2 == 0);
  }
  b.Return({{"y", x}});

  auto counts = Fuse();
  EXPECT_EQ(counts["fused.attention"], 12);
  EXPECT_EQ(counts["fused.layer_norm"], 25);
  EXPECT_EQ(counts["fused.linear"], 72);
  for (const char* gone : {"onnx.Erf", "onnx.Pow", "fused.gelu", "onnx.Transpose", "onnx.Softmax",
                           "onnx.MatMul", "onnx.Add"})
    EXPECT_EQ(counts[gone], 0) << gone;
  int gelus = 0;
  ir::Walk(program, [&](ir::Operation op) {
    const ir::Attribute activation = op.attr("activation");
    gelus += activation && activation.AsString() == "gelu";
  });
  EXPECT_EQ(gelus, 12);
}

}  // namespace
}  // namespace weft::passes
