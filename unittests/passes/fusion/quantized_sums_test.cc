// Products of 8-bit numbers are summed in integers where 32 bits hold whatever sum there may be.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/walk.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using ir::Value;

// The most products of 255 and 255 that a sum holds, and what is left for a bias.
constexpr int64_t kTerms = 33025, kLeft = 33022;
static_assert(kTerms * 255 * 255 + kLeft == INT32_MAX);

// A program of one product, of numbers with scale 1 and zero point 0.
class Product {
 public:
  Product() : b_(&program_) {
    ir::LoadOnnxDialect(context_);
    ir::LoadFusedDialect(context_);
    ir::LoadMicrosoftDialect(context_);
  }

  Product& MatMul(int64_t terms) {
    y_ = b_.Make<ops::MatMul>({X({1, terms}), Weights({terms, 2})});
    return *this;
  }
  Product& Gemm(int64_t terms, int64_t bias) {
    y_ = b_.Make<ops::Gemm>({X({1, terms}), Weights({2, terms}), Bias(bias)}, {.transB = 1});
    return *this;
  }
  // Of two groups.
  Product& Conv(int64_t terms) {
    y_ = b_.Make<ops::Conv>({X({1, 2 * terms, 1, 1}), Weights({2, terms, 1, 1})}, {.group = 2});
    return *this;
  }
  Product& Add(int64_t bias) {
    y_ = b_.Make<ops::Add>({y_, Bias(bias)});
    return *this;
  }

  // Whether the pipeline makes such an op of the product, rounded to 8 bits.
  bool Becomes(std::string_view name, std::string_view pipeline = "fuse") {
    b_.Return({{"y", b_.Make<ops::QuantizeLinear>({y_, Number(1e7), ZeroPoint()})}});
    PassManager pm(&context_);
    pm.pass_context().fold_constants = false;
    for (const std::string& pass : FindPipeline(pipeline)->passes) pm.AddPass(MakePass(pass));
    EXPECT_EQ(pm.Run(program_).message(), "");
    bool found = false;
    ir::Walk(program_, [&](ir::Operation op) { found |= op.name() == name; });
    return found;
  }

 private:
  Value X(const ir::Shape& dims) {
    return Real(b_.AddInput("x", context_.TensorType(DataType::kU8, dims)));
  }
  Value Weights(const ir::Shape& dims) {
    const ir::Type type = context_.TensorType(DataType::kU8, dims);
    const std::vector<std::byte> all(static_cast<size_t>(type.NumElements()), std::byte{255});
    return Real(b_.Constant(context_.DenseAttr(type, all)));
  }
  Value Bias(int64_t bias) {
    return b_.ConstantFloats(std::vector<float>{0, static_cast<float>(bias)},
                             std::vector<int64_t>{2});
  }
  Value Real(Value q) { return b_.Make<ops::DequantizeLinear>({q, Number(1), ZeroPoint()}); }
  Value Number(double value) { return b_.ConstantScalar(DataType::kF32, value); }
  Value ZeroPoint() { return b_.ConstantScalar(DataType::kU8, 0); }

  ir::IrContext context_;
  ir::Program program_{&context_};
  ir::Builder b_;
  Value y_;
};

TEST(QuantizedSums, OfAMatmulFit) {
  EXPECT_TRUE(Product().MatMul(kTerms).Becomes("fused.qlinear"));
  EXPECT_FALSE(Product().MatMul(kTerms + 1).Becomes("fused.qlinear"));
}

TEST(QuantizedSums, FitWithTheBias) {
  EXPECT_TRUE(Product().MatMul(kTerms).Add(-kLeft).Becomes("fused.qlinear"));
  EXPECT_FALSE(Product().MatMul(kTerms).Add(-kLeft - 1).Becomes("fused.qlinear"));
}

TEST(QuantizedSums, OfAGemmFit) {
  EXPECT_TRUE(Product().Gemm(kTerms, kLeft).Becomes("fused.qlinear"));
  EXPECT_FALSE(Product().Gemm(kTerms, kLeft + 1).Becomes("fused.qlinear"));
}

TEST(QuantizedSums, OfAConvolutionFit) {
  EXPECT_TRUE(Product().Conv(kTerms).Becomes("fused.qconv2d"));
  EXPECT_FALSE(Product().Conv(kTerms + 1).Becomes("fused.qconv2d"));
}

TEST(QuantizedSums, FitForOnnxRuntime) {
  EXPECT_TRUE(Product().Gemm(kTerms, 0).Becomes("com.microsoft.QGemm", "ort"));
  EXPECT_FALSE(Product().Gemm(kTerms + 1, 0).Becomes("com.microsoft.QGemm", "ort"));
  EXPECT_TRUE(Product().Conv(kTerms).Becomes("onnx.QLinearConv", "ort"));
  EXPECT_FALSE(Product().Conv(kTerms + 1).Becomes("onnx.QLinearConv", "ort"));
}

}  // namespace
}  // namespace weft::passes
