#include "passes/pass_conflict.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace weft::passes {

std::string ConflictOf(const std::vector<std::string>& passes) {
  // Each undoes what the other did.
  constexpr std::pair<std::string_view, std::string_view> kReverse[] = {
      {"fuse-matmuls", "split-qkv-matmul"}};
  const auto runs = [&](std::string_view pass) {
    return std::find(passes.begin(), passes.end(), pass) != passes.end();
  };
  for (const auto& [a, b] : kReverse)
    if (runs(a) && runs(b))
      return "passes '" + std::string(a) + "' and '" + std::string(b) +
             "' undo each other: ask for one of them";
  return {};
}

}  // namespace weft::passes
