// A rule that is wrong is refuted before it is applied; one that is trusted is found out by the check.
#include <fstream>

#include "example.h"

constexpr const char* kModel = R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
}
)";
constexpr const char* kRules = R"(
rule relu-to-tanh {
  numerics exact
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.Tanh(%x) }
  replace %0 with !0
}
)";

absl::Status Validate() {
  std::ofstream("wrong.weft") << kRules;
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::FromText(kModel));
  const auto judged = model.Optimize({.rules_files = {"wrong.weft"}});
  const auto checked =
      model.Optimize({.rules_files = {"wrong.weft"}, .trust_rules = true, .check = 3});
  for (const absl::Status& status : {judged.status(), checked.status()}) {
    if (!absl::IsFailedPrecondition(status)) return absl::InternalError("the rule was believed");
    std::printf("refused: %s\n", std::string(status.message()).c_str());
  }
  return absl::OkStatus();
}

int main() { return ExitCode(Validate()); }
