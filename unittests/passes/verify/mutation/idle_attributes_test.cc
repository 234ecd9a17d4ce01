// Attributes that say nothing: kernels give the same bits with any value of them.
#include "passes/verify/mutation/idle_attributes.h"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>

#include "ir/evaluator.h"
#include "ir/text/parser.h"
#include "ir/walk.h"
#include "kernels/runtime/program_runner.h"
#include "passes/verify/test_inputs.h"
#include "unittests/fixtures/golden.h"

namespace weft::passes {
namespace {

// A program with @ where the attribute is, of the last op that has it.
struct Place {
  std::string name, attr, text, by_default;
  std::vector<std::string> others;
  friend void PrintTo(const Place& place, std::ostream* out) { *out << place.name; }
};

std::string With(const Place& place, const std::string& value) {
  std::string text = place.text;
  return text.replace(text.find('@'), 1, value);
}

std::unique_ptr<ir::Program> Parsed(ir::IrContext& context, const std::string& text) {
  auto program = ir::ParseProgram(context, text, {});
  EXPECT_TRUE(program.ok()) << program.status() << "\n" << text;
  return program.ok() ? *std::move(program) : nullptr;
}

// The last op that has such an attribute.
ir::Operation OpWith(ir::Program& program, const std::string& attr) {
  ir::Operation last;
  ir::Walk(program, [&](ir::Operation op) {
    if (op.def() != nullptr && op.def()->FindField(ir::Name(attr)) != nullptr) last = op;
  });
  return last;
}

std::vector<ir::Attribute> Results(ir::Program& program, InputKind kind) {
  std::vector<ir::Type> types;
  for (const ir::Value input : program.body().arguments()) types.push_back(input.type());
  kernels::SessionRunner runner;
  auto results =
      runner.Run(program, MakeInputs(types, kind, 3), ir::ProgramRunner::Kernels::kReference);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<ir::Attribute>();
}

std::string Quantized(const std::string& attrs, const std::string& scale = "tensor<f32>, [0.25]") {
  const std::string type = scale.substr(0, scale.find(", "));
  return R"(module {} (%0: tensor<2x3x4xf32>) {
    (%1) = "builtin.constant" () {value:dense<)" +
         scale + R"(>} : () -> )" + type + R"(
    (%2) = "builtin.constant" () {value:dense<tensor<u8>, [7]>} : () -> tensor<u8>
    (%3) = "onnx.QuantizeLinear" (%0, %1, %2) {)" +
         attrs + R"(} : (tensor<2x3x4xf32>, )" + type +
         R"(, tensor<u8>) -> tensor<2x3x4xu8>
    () = "builtin.return" (%3) {} : (tensor<2x3x4xu8>) -> 
  })";
}
std::string Dequantized(const std::string& attrs) {
  return R"(module {} (%0: tensor<2x3x4xu8>) {
    (%1) = "builtin.constant" () {value:dense<tensor<1xf32>, [0.25]>} : () -> tensor<1xf32>
    (%2) = "onnx.DequantizeLinear" (%0, %1) {)" +
         attrs + R"(} : (tensor<2x3x4xu8>, tensor<1xf32>) -> tensor<2x3x4xf32>
    () = "builtin.return" (%2) {} : (tensor<2x3x4xf32>) -> 
  })";
}
// Of one block, because a block_size wants a scale of the rank of x.
std::string OneBlock(const std::string& op, const std::string& from, const std::string& to) {
  return "module {} (%0: tensor<3x" + from + R"(>) {
    (%1) = "builtin.constant" () {value:dense<tensor<1xf32>, [0.25]>} : () -> tensor<1xf32>
    (%2) = "onnx.)" +
         op + R"(" (%0, %1) {axis:0,block_size:@} : (tensor<3x)" + from +
         R"(>, tensor<1xf32>) -> tensor<3x)" + to + R"(>
    () = "builtin.return" (%2) {} : (tensor<3x)" +
         to + ">) -> \n}";
}
std::string Cast(const std::string& attrs) {
  return R"(module {} (%0: tensor<2x3xf32>) {
    (%1) = "onnx.Cast" (%0) {to:int32,)" +
         attrs + R"(} : (tensor<2x3xf32>) -> tensor<2x3xi32>
    () = "builtin.return" (%1) {} : (tensor<2x3xi32>) -> 
  })";
}
const char* const kReshape = R"(module {} (%0: tensor<2x3xf32>) {
    (%1) = "builtin.constant" () {value:dense<tensor<2xi64>, [3, -1]>} : () -> tensor<2xi64>
    (%2) = "onnx.Reshape" (%0, %1) {allowzero:@} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
    () = "builtin.return" (%2) {} : (tensor<3x2xf32>) -> 
  })";
const char* const kGemm = R"(module {} (%0: tensor<2x3xf32>, %1: tensor<3x4xf32>) {
    (%2) = "onnx.Gemm" (%0, %1) {beta:@} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    () = "builtin.return" (%2) {} : (tensor<2x4xf32>) -> 
  })";
const char* const kMaxPool = R"(module {} (%0: tensor<1x2x5x5xf32>) {
    (%1) = "onnx.MaxPool" (%0) {kernel_shape:array[3,2],storage_order:@} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x4xf32>
    () = "builtin.return" (%1) {} : (tensor<1x2x3x4xf32>) -> 
  })";
const char* const kAveragePool = R"(module {} (%0: tensor<1x2x5x5xf32>) {
    (%1) = "onnx.AveragePool" (%0) {kernel_shape:array[3,2],count_include_pad:@} : (tensor<1x2x5x5xf32>) -> tensor<1x2x3x4xf32>
    () = "builtin.return" (%1) {} : (tensor<1x2x3x4xf32>) -> 
  })";
const char* const kLayerNorm = R"(module {} (%0: tensor<2x3x4xf32>, %1: tensor<4xf32>) {
    (%2) = "fused.layer_norm" (%0, %1) {axis:@} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    () = "builtin.return" (%2) {} : (tensor<2x3x4xf32>) -> 
  })";
const char* const kAttention =
    R"(module {} (%0: tensor<1x2x3x4xf32>, %1: tensor<1x2x5x4xf32>, %2: tensor<1x2x5x4xf32>) {
    (%3) = "fused.attention" (%0, %1, %2) {scale:0.5,fill:@} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32>
    () = "builtin.return" (%3) {} : (tensor<1x2x3x4xf32>) -> 
  })";
const char* const kHeads =
    R"(module {} (%0: tensor<1x3x4xf32>, %1: tensor<1x5x4xf32>, %2: tensor<1x5x4xf32>) {
    (%3) = "com.microsoft.MultiHeadAttention" (%0, %1, %2) {num_heads:2,mask_filter_value:@} : (tensor<1x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x3x4xf32>
    () = "builtin.return" (%3) {} : (tensor<1x3x4xf32>) -> 
  })";
const char* const kPackedHeads = R"(module {} (%0: tensor<1x3x4xf32>, %1: tensor<4x12xf32>) {
    (%2) = "com.microsoft.Attention" (%0, %1) {num_heads:2,mask_filter_value:@} : (tensor<1x3x4xf32>, tensor<4x12xf32>) -> tensor<1x3x4xf32>
    () = "builtin.return" (%2) {} : (tensor<1x3x4xf32>) -> 
  })";
const char* const kFusedConv = R"(module {} (%0: tensor<1x2x5x5xf32>, %1: tensor<3x2x3x2xf32>) {
    (%2) = "com.microsoft.FusedConv" (%0, %1) {activation:"Relu"@} : (tensor<1x2x5x5xf32>, tensor<3x2x3x2xf32>) -> tensor<1x3x3x4xf32>
    () = "builtin.return" (%2) {} : (tensor<1x3x3x4xf32>) -> 
  })";
const char* const kReduceMean = R"(module {} (%0: tensor<2x3x4xf32>) {
    (%1) = "onnx.ReduceMean" (%0) {axes:array[1],noop_with_empty_axes:@} : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>
    () = "builtin.return" (%1) {} : (tensor<2x1x4xf32>) -> 
  })";
const char* const kReduceAll = R"(module {} (%0: tensor<2x3x4xf32>) {
    (%1) = "onnx.ReduceMean" (%0) {@} : (tensor<2x3x4xf32>) -> tensor<1x1x1xf32>
    () = "builtin.return" (%1) {} : (tensor<1x1x1xf32>) -> 
  })";
const char* const kCastLike = R"(module {} (%0: tensor<2x3xf32>, %1: tensor<i32>) {
    (%2) = "onnx.CastLike" (%0, %1) {saturate:@} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xi32>
    () = "builtin.return" (%2) {} : (tensor<2x3xi32>) -> 
  })";
const char* const kConv = R"(module {} (%0: tensor<1x2x5x5xf32>, %1: tensor<3x2x3x2xf32>) {
    (%2) = "onnx.Conv" (%0, %1) {@} : (tensor<1x2x5x5xf32>, tensor<3x2x3x2xf32>) -> tensor<1x3x3x4xf32>
    () = "builtin.return" (%2) {} : (tensor<1x3x3x4xf32>) -> 
  })";

// Rows of the table %0, but of which the remainder is taken.
std::string Rows(const std::string& attrs, const std::string& of = "%0") {
  return R"(module {} (%0: tensor<3x4xf32>, %1: tensor<2x5xi64>, %2: tensor<4x4xf32>) {
    (%3) = "onnx.Shape" ()" +
         of + ") {end:1} : (" + (of == "%0" ? "tensor<3x4xf32>" : "tensor<4x4xf32>") +
         R"() -> tensor<1xi64>
    (%4) = "onnx.Mod" (%1, %3) {)" +
         attrs + R"(} : (tensor<2x5xi64>, tensor<1xi64>) -> tensor<2x5xi64>
    (%5) = "onnx.Cast" (%4) {to:int32} : (tensor<2x5xi64>) -> tensor<2x5xi32>
    (%6) = "onnx.Gather" (%0, %5) {axis:0} : (tensor<3x4xf32>, tensor<2x5xi32>) -> tensor<2x5x4xf32>
    () = "builtin.return" (%6) {} : (tensor<2x5x4xf32>) -> 
  })";
}
const char* const kTranspose = R"(module {} (%0: tensor<3x1x1x4xf32>) {
    (%1) = "onnx.Transpose" (%0) {perm:@} : (tensor<3x1x1x4xf32>) -> tensor<3x1x4x1xf32>
    () = "builtin.return" (%1) {} : (tensor<3x1x4x1xf32>) -> 
  })";

const std::vector<Place> kPlaces = {
    {"QuantizeAxis", "axis", Quantized("axis:@"), "1", {"0", "-1", "2"}},
    {"QuantizeOutputDtype", "output_dtype", Quantized("output_dtype:@"), "0", {"2"}},
    {"QuantizePrecision", "precision", Quantized("precision:@"), "0", {"1"}},
    {"QuantizeSaturate", "saturate", Quantized("saturate:@"), "1", {"0"}},
    {"QuantizeBlockSize", "block_size", OneBlock("QuantizeLinear", "f32", "u8"), "0", {"3", "8"}},
    {"DequantizeAxis", "axis", Dequantized("axis:@"), "1", {"0", "-3"}},
    {"DequantizeOutputDtype", "output_dtype", Dequantized("output_dtype:@"), "0", {"1"}},
    {"DequantizeBlockSize", "block_size", OneBlock("DequantizeLinear", "u8", "f32"), "0", {"3"}},
    {"CastSaturate", "saturate", Cast("saturate:@"), "1", {"0"}},
    {"CastRoundMode", "round_mode", Cast("round_mode:@"), R"("up")", {R"("down")"}},
    {"ReshapeAllowzero", "allowzero", kReshape, "0", {"1"}},
    {"ModFmod", "fmod", Rows("fmod:@"), "0", {"1"}},
    {"GemmBeta", "beta", kGemm, "1.0", {"0.5", "0.0"}},
    {"MaxPoolStorageOrder", "storage_order", kMaxPool, "0", {"1"}},
    {"AveragePoolCountIncludePad", "count_include_pad", kAveragePool, "0", {"1"}},
    {"LayerNormAxis", "axis", kLayerNorm, "-1", {"2"}},
    {"ReduceMeanNoop", "noop_with_empty_axes", kReduceMean, "0", {"1"}},
    {"ReduceMeanAxes", "axes", kReduceAll, "", {"axes:array[0,1,2]", "axes:array[-1,0,1]"}},
    {"CastLikeSaturate", "saturate", kCastLike, "1", {"0"}},
    {"TransposePerm", "perm", kTranspose, "array[0,1,3,2]", {"array[0,2,3,1]"}},
    {"ConvKernelShape", "kernel_shape", kConv, "", {"kernel_shape:array[3,2]"}},
    {"MultiHeadAttentionMaskFilterValue", "mask_filter_value", kHeads, "-10000.0", {"-1.0"}},
    {"PackedAttentionMaskFilterValue", "mask_filter_value", kPackedHeads, "-10000.0", {"-1.0"}},
    {"FusedConvActivationParams",
     "activation_params",
     kFusedConv,
     "",
     {",activation_params:floats[]"}},
    {"ConvStrides", "strides", kConv, "", {"strides:array[1,1]"}},
    {"ConvDilations", "dilations", kConv, "", {"dilations:array[1,1]"}},
    {"AttentionFill", "fill", kAttention, "0.0", {"-1000.0"}},
};

class IdleAttributes : public testing::TestWithParam<Place> {};

TEST_P(IdleAttributes, MakeNoDifferenceToKernels) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const auto expected = Parsed(context, With(GetParam(), GetParam().by_default));
  ASSERT_NE(expected, nullptr);
  for (const std::string& value : GetParam().others) {
    const auto other = Parsed(context, With(GetParam(), value));
    ASSERT_NE(other, nullptr);
    EXPECT_TRUE(IsIdle(OpWith(*other, GetParam().attr), ir::Name(GetParam().attr))) << value;
    for (const InputKind kind : {InputKind::kLattice, InputKind::kReal, InputKind::kSpecial})
      EXPECT_EQ(Results(*other, kind), Results(*expected, kind)) << value;
    EXPECT_GE(DropIdleAttributes(*other), 1);
    EXPECT_EQ(DropIdleAttributes(*other), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, IdleAttributes, testing::ValuesIn(kPlaces),
                         [](const auto& info) { return info.param.name; });

TEST(IdleAttributes, AreNotInTheTextNorAreDefaults) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const auto text = [&](const std::string& attrs) {
    return TextWithoutIdle(*Parsed(context, Quantized(attrs)));
  };
  EXPECT_EQ(text("axis:1"), text(""));
  EXPECT_EQ(text("axis:2,saturate:0"), text(""));
  EXPECT_NE(text("precision:10"), text(""));
}

// Where they say something.
TEST(IdleAttributes, AreNoneWhereKernelsReadThem) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const auto is_idle = [&](const std::string& attr, const std::string& text) {
    return IsIdle(OpWith(*Parsed(context, text), attr), ir::Name(attr));
  };
  EXPECT_FALSE(is_idle("axis", Quantized("axis:1", "tensor<3xf32>, [1, 2, 3]")));
  EXPECT_FALSE(is_idle("precision", Quantized("precision:10")));
  EXPECT_FALSE(is_idle("noop_with_empty_axes", R"(module {} (%0: tensor<2x3xf32>) {
    (%1) = "onnx.ReduceMean" (%0) {axes:array[],noop_with_empty_axes:1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    () = "builtin.return" (%1) {} : (tensor<2x3xf32>) -> 
  })"));
  EXPECT_FALSE(is_idle("axes", R"(module {} (%0: tensor<2x3x4xf32>) {
    (%1) = "onnx.ReduceMean" (%0) {axes:array[0,1]} : (tensor<2x3x4xf32>) -> tensor<1x1x4xf32>
    () = "builtin.return" (%1) {} : (tensor<1x1x4xf32>) -> 
  })"));
  EXPECT_FALSE(is_idle("perm", R"(module {} (%0: tensor<3x1x1x4xf32>) {
    (%1) = "onnx.Transpose" (%0) {perm:array[3,1,2,0]} : (tensor<3x1x1x4xf32>) -> tensor<4x1x1x3xf32>
    () = "builtin.return" (%1) {} : (tensor<4x1x1x3xf32>) -> 
  })"));
  EXPECT_FALSE(is_idle("count_include_pad", R"(module {} (%0: tensor<1x2x5x5xf32>) {
    (%1) = "onnx.AveragePool" (%0) {kernel_shape:array[3,2],count_include_pad:1,pads:array[1,0,0,0]} : (tensor<1x2x5x5xf32>) -> tensor<1x2x4x4xf32>
    () = "builtin.return" (%1) {} : (tensor<1x2x4x4xf32>) -> 
  })"));
  EXPECT_FALSE(is_idle("fmod", Rows("fmod:1", "%2")));
  EXPECT_FALSE(is_idle("scale", With(kPlaces.back(), "0.0")));
}

}  // namespace
}  // namespace weft::passes
