#include "weft/check/sizes.h"

#include <fmt/format.h>

#include <iterator>

#include "ir/base/escape.h"
#include "weft/io/shapes.h"

namespace weft {

std::vector<std::vector<ir::DimBinding>> SizesToTry(ir::Program& program, uint64_t seed) {
  constexpr int64_t kSizes[] = {2, 3, 5, 4, 1, 7, 8, 16, 32, 64, 128};
  const std::vector<std::string> symbols = SymbolsOf(program);
  if (symbols.empty()) return {{}};
  std::vector<std::vector<ir::DimBinding>> all;
  for (size_t i = 0; i < std::size(kSizes); ++i)
    for (const bool same : {false, true}) {
      if (same && symbols.size() == 1) continue;
      std::vector<ir::DimBinding>& sizes = all.emplace_back();
      for (size_t s = 0; s < symbols.size(); ++s)
        sizes.push_back({ir::SymbolicDim(symbols[s]), kSizes[(i + seed - 1) % std::size(kSizes)] +
                                                          (same ? 0 : static_cast<int64_t>(s))});
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

}  // namespace weft
