#include <memory>
#include <string>
#include <vector>

#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "drr/rule_file.h"
#include "drr/text/rule_text.h"
#include "ir/analysis/verifier.h"
#include "ir/base/check.h"
#include "ir/rewriter.h"
#include "ir/text/parser.h"
#include "ir/walk.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

// Something for rules to match, with names for those that look nodes up.
constexpr std::string_view kProgram =
    R"(module {input_names:strings["x","w"],output_names:strings["y","z"]} (%0 "x": tensor<2x4xf32>, %1 "w": tensor<4x4xf32>) {
 (%2) = "builtin.constant" () {value:dense<tensor<f32>, [0.5]>} : () -> tensor<f32>
 (%3) = "onnx.Relu" (%0) {} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("a")
 (%4) = "onnx.MatMul" (%3, %1) {} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("b")
 (%5) = "onnx.Tanh" (%4) {} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("c")
 (%6) = "onnx.Mul" (%5, %2) {} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32> loc("d")
 (%7) = "onnx.Add" (%6, %0) {} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> loc("e")
 (%8) = "onnx.Softmax" (%7) {axis:-1} : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("f")
 () = "builtin.return" (%7, %8) {} : (tensor<2x4xf32>, tensor<2x4xf32>) -> 
}
)";

void CheckMessages(const drr::text::RuleFile& file) {
  WEFT_CHECK(file.errors.empty() || file.rules.empty(), "rules beside errors");
  for (const std::string& error : file.errors) {
    WEFT_CHECK(error.starts_with("f:"), error);
    WEFT_CHECK(error.find('\n') == std::string::npos, error);
  }
}

// Once at every operation, from the last to the first.
void Apply(const drr::text::RuleFile& file, ir::Program& program) {
  std::vector<ir::Operation> ops;
  ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    for (const std::unique_ptr<drr::Rule>& rule : file.rules) {
      if (!op->IsAlive()) break;
      drr::MatchContext match(rule.get());
      if (!drr::Matcher(*rule).Match(*op, &match)) continue;
      ir::Rewriter rewriter(&program);
      std::string why_not;
      drr::Apply(match, rewriter, &why_not);
      const absl::Status valid = ir::Verify(program);
      WEFT_CHECK(valid.ok(), ir::Message(valid));
    }
  }
}

}  // namespace

void FuzzRules(std::span<const uint8_t> bytes) {
  ir::IrContext& context = ContextForInput();
  const std::unique_ptr<ir::Program> program = *ir::ParseProgram(context, kProgram);
  const drr::text::RuleFile file =
      drr::text::ReadRules(TextOf(bytes), "f", &context, program.get());
  CheckMessages(file);
  for (const std::unique_ptr<drr::Rule>& rule : file.rules) {
    const std::string printed = drr::text::PrintRule(*rule);
    const drr::text::RuleFile again = drr::text::ReadRules(printed, "f", &context, program.get());
    WEFT_CHECK(again.errors.empty(), again.errors[0] + "\n" + printed);
    WEFT_CHECK(again.rules.size() == 1, printed);
    WEFT_CHECK(drr::text::PrintRule(*again.rules[0]) == printed, printed);
  }
  Apply(file, *program);
}

}  // namespace weft::fuzz
