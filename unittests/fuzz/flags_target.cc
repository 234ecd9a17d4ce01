#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ir/analysis/verifier.h"
#include "ir/base/check.h"
#include "ir/text/parser.h"
#include "passes/targets/ascend/dim_range.h"
#include "tools/cli/program_main.h"
#include "tools/cli/rule_bound.h"
#include "tools/cli/shape_flags.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/targets.h"

namespace weft::fuzz {
namespace {

// Dimensions that are known, unknown, symbols and made of symbols.
constexpr std::string_view kProgram =
    R"(module {input_names:strings["x","y:0","ids"],output_names:strings["a","b","c"]} (%0: tensor<"n"x3x"m"xf32>, %1: tensor<"2*n + 1"x-1xf32>, %2: tensor<"n"xi64>) {
 (%3) = "onnx.Relu" (%0) {} : (tensor<"n"x3x"m"xf32>) -> tensor<"n"x3x"m"xf32>
 (%4) = "onnx.Transpose" (%3) {perm:array[1,0,2]} : (tensor<"n"x3x"m"xf32>) -> tensor<3x"n"x"m"xf32>
 (%5) = "onnx.Tanh" (%1) {} : (tensor<"2*n + 1"x-1xf32>) -> tensor<"2*n + 1"x-1xf32>
 (%6) = "onnx.Shape" (%5) {} : (tensor<"2*n + 1"x-1xf32>) -> tensor<2xi64>
 (%7) = "onnx.Concat" (%4, %4) {axis:1} : (tensor<3x"n"x"m"xf32>, tensor<3x"n"x"m"xf32>) -> tensor<3x"2*n"x"m"xf32>
 () = "builtin.return" (%7, %6, %2) {} : (tensor<3x"2*n"x"m"xf32>, tensor<2xi64>, tensor<"n"xi64>) -> 
}
)";

struct Flags {
  tools::ShapeFlags shapes;
  std::vector<std::string> dim_ranges, fail_if;
};

// False where the arguments are none that the command line takes.
bool ParseArguments(std::string_view text, Flags* flags) {
  std::vector<std::string> arguments;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    arguments.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  CLI::App app("", "fuzz");
  app.set_help_flag();
  tools::AddDimFlag(app, &flags->shapes);
  tools::AddInputShapeFlags(app, &flags->shapes);
  app.add_option("--dim-range", flags->dim_ranges)->allow_extra_args(false);
  app.add_option("--fail-if", flags->fail_if)->allow_extra_args(false);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError&) {
    return false;
  }
  return true;
}

}  // namespace

void FuzzFlags(std::span<const uint8_t> bytes) {
  Flags flags;
  if (!ParseArguments(TextOf(bytes), &flags)) return;
  for (const std::string& range : flags.dim_ranges) {
    const auto parsed = passes::ParseDimRange(range);
    if (!parsed.ok()) continue;
    WEFT_CHECK(1 <= parsed->low && parsed->low <= parsed->high && parsed->step >= 1, range);
    const std::vector<int64_t> sizes = parsed->Sizes(5);
    WEFT_CHECK(!sizes.empty() && sizes.size() <= 5, range);
    for (const int64_t size : sizes)
      WEFT_CHECK(parsed->low <= size && size <= parsed->high && size % parsed->step == 0, range);
  }
  for (const std::string& bound : flags.fail_if) (void)tools::ParseRuleBound(bound, {});
  ir::IrContext& context = ContextForInput();
  const auto program = ir::ParseProgram(context, kProgram);
  WEFT_CHECK(program.ok(), ir::Message(program.status()));
  const absl::Status applied = tools::ApplyShapes(flags.shapes, **program);
  if (!applied.ok()) return;
  const absl::Status valid = ir::Verify(**program);
  WEFT_CHECK(valid.ok(), ir::Message(valid));
}

}  // namespace weft::fuzz
