// A rule of one's own in C++. It belongs to the group "canonicalize", so that every pipeline runs it.
#include <passes/rules.h>

#include "example.h"

namespace weft::passes {

// relu(sqrt(x)) => sqrt(x), which is never negative
WEFT_RULE(DropReluOfSqrt, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto root = src.Op<ops::Sqrt>()(x);
  auto out = src.Op<ops::Relu>()(root);
  res.Tensor(out) = res.Op<ops::Sqrt>()(x);
}

}  // namespace weft::passes

constexpr const char* kModel = R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Sqrt" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%2) {} : (tensor<2x3xf32>) ->
}
)";

absl::Status Apply() {
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::FromText(kModel));
  WEFT_ASSIGN_OR_RETURN(const weft::Report report, model.Optimize({.check = 1}));
  std::printf("%s", report.ToString().c_str());
  for (const weft::RuleReport& rule : report.rules)
    if (rule.rule == "drop-relu-of-sqrt" && rule.applied == 1) return absl::OkStatus();
  return absl::InternalError("the rule was not applied");
}

int main() { return ExitCode(Apply()); }
