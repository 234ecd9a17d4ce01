// A pass of one's own, for what no rule can say; it runs by name, between others.
#include <ir/walk.h>
#include <passes/pass_registry.h>

#include <map>

#include "example.h"

namespace {

class PrintOperators : public weft::passes::Pass {
 public:
  PrintOperators() : Pass("print-operators", "how many operations of each kind there are") {}

  absl::Status Run(weft::ir::Program& program) override {
    std::map<std::string, int> counts;
    weft::ir::Walk(program, [&](weft::ir::Operation op) { ++counts[std::string(op.name())]; });
    for (const auto& [name, count] : counts) std::printf("%d %s\n", count, name.c_str());
    return absl::OkStatus();
  }
};
WEFT_REGISTER_PASS(PrintOperators);

constexpr const char* kModel = R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Neg" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Neg" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%2) {} : (tensor<2x3xf32>) ->
}
)";

absl::Status Run() {
  WEFT_ASSIGN_OR_RETURN(weft::Model model, weft::Model::FromText(kModel));
  return model.Optimize({.passes = {"print-operators", "canonicalize", "print-operators"}})
      .status();
}

}  // namespace

int main() { return ExitCode(Run()); }
