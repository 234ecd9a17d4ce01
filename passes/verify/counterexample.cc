#include "passes/verify/counterexample.h"

#include <fmt/format.h>

#include "ir/analysis/constant.h"
#include "ir/text/printer.h"

namespace weft::passes {
namespace {

std::string NumbersText(ir::Attribute dense) {
  constexpr int64_t kMostShown = 24;
  std::string text = dense.dense_type().ToString() + " [";
  for (int64_t i = 0, n = dense.dense_type().NumElements(); i < n; ++i) {
    if (i == kMostShown) return text + ", ...]";
    text += fmt::format("{}{:.9g}", i == 0 ? "" : ", ", ir::DenseElement(dense, i));
  }
  return text + "]";
}

// Whole lines.
std::string Commented(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i)
    result += (i == 0 || text[i - 1] == '\n' ? "// " : "") + std::string(1, text[i]);
  return result;
}

}  // namespace

std::string CounterexampleText(ir::Program& before, ir::Program& after,
                               std::span<const ir::Attribute> inputs, const Results& results) {
  std::string text = ir::PrintProgram(before, {.full_weights = true});
  for (size_t i = 0; i < inputs.size(); ++i)
    text += fmt::format("// input {}: {}\n", i, NumbersText(inputs[i]));
  for (size_t i = 0; i < results.before.size(); ++i)
    text += fmt::format("// output {}: {}\n", i, NumbersText(results.before[i]));
  for (const ir::Attribute result : results.after)
    text += fmt::format("// after it: {}\n", NumbersText(result));
  return text + "// the program after it:\n" +
         Commented(ir::PrintProgram(after, {.full_weights = true}));
}

}  // namespace weft::passes
