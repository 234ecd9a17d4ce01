#include "weft/check/random_run.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>

#include "ir/base/escape.h"
#include "ir/dim/dim_expr.h"
#include "weft/check/inputs.h"
#include "weft/io/shapes.h"

namespace weft {
namespace {

using kernels::RuntimeValue;

std::vector<std::vector<ir::DimBinding>> SizesToTry(ir::Program& program, uint64_t seed,
                                                    const SizesOfSymbols& given) {
  constexpr int64_t kSizes[] = {2, 3, 5, 4, 1, 7, 8, 16, 32, 64, 128};
  const std::vector<std::string> symbols = SymbolsOf(program);
  if (symbols.empty()) return {{}};
  std::vector<std::vector<ir::DimBinding>> all;
  for (size_t i = 0; i < std::size(kSizes); ++i)
    for (const bool same : {false, true}) {
      if (same && symbols.size() == 1) continue;
      std::vector<ir::DimBinding>& sizes = all.emplace_back();
      for (size_t s = 0; s < symbols.size(); ++s) {
        const size_t number = i + seed - 1;
        const auto of_symbol = given.find(symbols[s]);
        const int64_t size =
            of_symbol == given.end()
                ? kSizes[number % std::size(kSizes)] + (same ? 0 : static_cast<int64_t>(s))
                : of_symbol->second[(number + (same ? 0 : s)) % of_symbol->second.size()];
        sizes.push_back({ir::SymbolicDim(symbols[s]), size});
      }
    }
  return all;
}

std::string SizesText(const std::vector<ir::DimBinding>& sizes) {
  std::string text;
  for (const ir::DimBinding& size : sizes)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ",
                        ir::EscapeControl(ir::SymbolName(size.symbol)), size.size);
  return text;
}

}  // namespace

absl::StatusOr<RandomRun> RunOnRandomInputs(ir::Program& program, kernels::Session& session,
                                            uint64_t seed, const SizesOfSymbols& given) {
  const auto infos = std::span(session.inputs());
  absl::Status why;
  for (const auto& sizes : SizesToTry(program, seed, given)) {
    auto inputs = CompleteInputs(infos, std::vector<std::optional<RuntimeValue>>(infos.size()),
                                 {.seed = seed, .ranges = {}, .sizes = sizes});
    auto outputs = inputs.ok() ? session.RunValues(*inputs) : inputs.status();
    if (outputs.ok()) return RandomRun{*std::move(inputs), *std::move(outputs), SizesText(sizes)};
    if (why.ok()) why = outputs.status();
  }
  return why;
}

}  // namespace weft
