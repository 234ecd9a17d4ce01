// ir-opt --convert.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// y = tanh(conv(x, w)) * 1e-12: no weight takes the factor in.
constexpr const char* kConv =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<1x1x3x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<1x1x2x2xf32>, [0.3,-1.7,7e4,0.9]>} : () -> tensor<1x1x2x2xf32>
 (%2) = "onnx.Conv" (%0, %1) {} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
 (%3) = "builtin.constant" () {value:dense<tensor<f32>, [1e-12]>} : () -> tensor<f32>
 (%5) = "onnx.Tanh" (%2) {} : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
 (%4) = "onnx.Mul" (%5, %3) {} : (tensor<1x1x2x2xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
 () = "builtin.return" (%4) {} : (tensor<1x1x2x2xf32>) ->
}
)";
// A loop-free model whose input has a size that nobody knows.
constexpr const char* kDynamic =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<?xf32>) {
 (%1) = "onnx.Exp" (%0) {} : (tensor<?xf32>) -> tensor<?xf32>
 () = "builtin.return" (%1) {} : (tensor<?xf32>) ->
}
)";

TEST_F(IrOpt, ConvertsAModelAndSaysWhatThatDoesToItsOutputs) {
  const std::string in = Write("a.ir", kConv);
  const Outcome outcome = Accept({in, "--convert", "f16"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("tensor<1x1x3x3xf16>"), Not(HasSubstr("f32"))));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("3 operations converted to f16\n"),
                    HasSubstr("1 weight too large for f16 became its largest"),
                    HasSubstr("1 weight too small for f16 became its smallest"),
                    ContainsRegex("y +[0-9.e+-]+ +[0-9.e+-]+ +[0-9.e+-]+ +[0-9.e+-]+\n")));
}

TEST_F(IrOpt, KeepsTheInterfaceAndOpsOfAConvertedModel) {
  const std::string in = Write("a.ir", kConv);
  const Outcome outcome = Accept({in, "--convert", "f16", "--keep-io", "--keep", "Mul"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("%0: tensor<1x1x3x3xf32>"),
                                 HasSubstr(R"("onnx.Mul" (%)"), HasSubstr("{to:float16}")));
  EXPECT_THAT(outcome.err, HasSubstr(", 1 kept as named"));
}

TEST_F(IrOpt, KeepsInF32WhatTheTargetOpsetHasNotInTheType) {
  const std::string in = Write("a.ir", kConv);
  const Outcome old =
      Accept({in, "--convert", "bf16", "--target-opset", "21", "-o", Path("old.onnx")});
  EXPECT_THAT(old.err, HasSubstr("has no bf16 for operands or results of Conv\n"));
  Accept({Path("old.onnx"), "-o", Path("again.onnx")});
  const Outcome later =
      Accept({in, "--convert", "bf16", "--target-opset", "22", "-o", Path("new.onnx")});
  EXPECT_THAT(later.err, Not(HasSubstr("has no bf16")));
}

// x * (1 + erf(x / sqrt(2))) * 1/2; in f16 the root would be another number.
constexpr const char* kGelu =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.4142135]>} : () -> tensor<f32>
 (%2) = "onnx.Div" (%0, %1) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 (%3) = "onnx.Erf" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%4) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%5) = "onnx.Add" (%3, %4) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 (%6) = "onnx.Mul" (%0, %5) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
 (%7) = "builtin.constant" () {value:dense<tensor<f32>, [0.5]>} : () -> tensor<f32>
 (%8) = "onnx.Mul" (%6, %7) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 () = "builtin.return" (%8) {} : (tensor<2x3xf32>) ->
}
)";

TEST_F(IrOpt, ConvertsOperatorsThatItNamedBefore) {
  const std::string in = Write("a.ir", kGelu);
  const auto convert = [&](const char* opset) {
    return Accept({in, "--convert", "f16", "--target-opset", opset}).out;
  };
  EXPECT_THAT(convert("20"),
              HasSubstr(R"("onnx.Gelu" (%0) {approximate:"none"} : (tensor<2x3xf16>))"));
  EXPECT_THAT(convert("19"), AllOf(HasSubstr("onnx.Erf"), Not(HasSubstr("onnx.Gelu"))));
}

TEST_F(IrOpt, WritesTheOpsetThatHasBf16WhereTheUserNamesNone) {
  const auto convert = [&](const char* to) {
    const Outcome outcome =
        Accept({Write("a.ir", kConv), "--convert", to, "-o", Path("converted.onnx")});
    return outcome.err;
  };
  const std::string as_bf16 = convert("bf16");
  EXPECT_THAT(as_bf16, HasSubstr("ir-opt: warning: opset 17 has no bf16 for Conv, so the model is "
                                 "written with opset 22; see --target-opset\n"));
  EXPECT_THAT(as_bf16, Not(HasSubstr("for operands or results of Conv")));
  EXPECT_THAT(convert("f16"), Not(HasSubstr("opset")));
}

TEST_F(IrOpt, ConvertsAModelWhoseOutputsAreStringsToo) {
  const Outcome outcome = Accept(
      {Write(
           "a.ir",
           R"(module {input_names:strings["x"],output_names:strings["y","text"]} (%0: tensor<3xf32>) {
 (%1) = "onnx.Exp" (%0) {} : (tensor<3xf32>) -> tensor<3xf32>
 (%2) = "onnx.Cast" (%1) {saturate:1,to:str} : (tensor<3xf32>) -> tensor<3xstr>
 () = "builtin.return" (%1, %2) {} : (tensor<3xf32>, tensor<3xstr>) ->
}
)"),
       "--convert", "f16"});
  EXPECT_THAT(outcome.err, ContainsRegex("text +(the same|other) strings"));
}

TEST_F(IrOpt, ConvertsWhatItCannotRunAndSaysSo) {
  const Outcome outcome = Accept({Write("a.ir", kDynamic), "--convert", "f16"});
  EXPECT_THAT(outcome.out, HasSubstr("tensor<-1xf16>"));
  EXPECT_THAT(outcome.err, HasSubstr("difference not measured: input 'x' has type"));
}

TEST_F(IrOpt, RefusesConversionsThatMeanNothing) {
  const std::string in = Write("a.ir", kConv);
  EXPECT_THAT(Refusal({in, "--convert", "f61"}), HasSubstr("did you mean 'f16'?"));
  EXPECT_THAT(Refusal({in, "--keep-io"}), HasSubstr("--keep-io and --keep need --convert"));
  EXPECT_THAT(Refusal({in, "--convert", "f16", "--keep", "Conf"}),
              HasSubstr("unknown operator or node 'Conf'; did you mean 'Conv'?"));
}

}  // namespace
}  // namespace weft::tools
