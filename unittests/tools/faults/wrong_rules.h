// Rules as text that change what a program computes, to be found out.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

// Flags with which ir-opt applies such rules all the same.
inline std::vector<std::string> WithWrongRules(std::vector<std::string> flags) {
  flags.emplace_back("--trust-rules");
  return flags;
}

// -(-x) => x, which is right, for files that hold both
inline constexpr const char* kDropNegs = R"(
rule drop-negs {
  numerics exact
  source {
    %0 = onnx.Neg(%x)
    %1 = onnx.Neg(%0)
  }
  result { }
  replace %1 with %x
}
)";

// relu(x) => tanh(x)
inline constexpr const char* kReluToTanh = R"(
rule relu-to-tanh {
  numerics exact
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.Tanh(%x) }
  replace %0 with !0
}
)";

// -x => |x|
inline constexpr const char* kNegToAbs = R"(
rule neg-to-abs {
  numerics exact
  source { %0 = onnx.Neg(%x) }
  result { !0 = onnx.Abs(%x) }
  replace %0 with !0
}
)";

// tanh(x) + c => log(exp(tanh(x))) + c, where it rounds more often
inline constexpr const char* kTanhAwayAndBack = R"(
rule away-and-back {
  numerics exact
  source {
    %0 = onnx.Tanh(%x)
    %1 = onnx.Add(%0, %c)
  }
  result {
    !0 = onnx.Tanh(%x)
    !1 = onnx.Exp(!0)
    !2 = onnx.Log(!1)
    !3 = onnx.Add(!2, %c)
  }
  replace %1 with !3
}
)";
inline constexpr const char* kTanh =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<20x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [2.7]>} : () -> tensor<f32>
 (%2) = "onnx.Tanh" (%0) {} : (tensor<20x3xf32>) -> tensor<20x3xf32>
 (%3) = "onnx.Add" (%2, %1) {} : (tensor<20x3xf32>, tensor<f32>) -> tensor<20x3xf32>
 () = "builtin.return" (%3) {} : (tensor<20x3xf32>) ->
}
)";

}  // namespace weft::tools
