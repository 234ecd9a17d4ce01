#include <string>
#include <string_view>
#include <vector>

#include "ir/analysis/verifier.h"
#include "ir/base/check.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

void ParseAndPrint(std::string_view text, const ir::ParseOptions& options) {
  ir::IrContext& context = ContextForInput();
  const auto program = ir::ParseProgram(context, text, options);
  if (!program.ok()) {
    const std::string_view message = ir::Message(program.status());
    WEFT_CHECK(program.status().code() == absl::StatusCode::kInvalidArgument, message);
    WEFT_CHECK(message.starts_with("<text>:"), message);
    return;
  }
  (void)ir::Verify(**program);  // may refuse it; must not crash
  const std::string printed =
      ir::PrintProgram(**program, {.full_weights = true, .locations = true});
  const auto copy = ir::ParseProgram(context, printed);
  WEFT_CHECK(copy.ok(), std::string(ir::Message(copy.status())) + "\n" + printed);
  WEFT_CHECK(ir::PrintProgram(**copy, {.full_weights = true, .locations = true}) == printed,
             "prints to another text than it was read from\n" + printed);
}

}  // namespace

void FuzzProgramText(std::span<const uint8_t> bytes) {
  ParseAndPrint(TextOf(bytes), {.check_types = true});
  std::vector<std::string> warnings;
  ParseAndPrint(TextOf(bytes), {.allow_undefined = true, .warnings = &warnings});
}

}  // namespace weft::fuzz
