#include "passes/pass_conflict.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace weft::passes {

std::string ConflictOf(const std::vector<std::string>& names) {
  // Each undoes what the other did.
  constexpr std::pair<std::string_view, std::string_view> kReverse[] = {
      {"fuse-matmuls", "split-qkv-matmul"},
      {"merge-qkv-matmul", "split-qkv-matmul"},
      {"merge-qkv-linear", "split-qkv-matmul"}};
  const auto runs = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& [a, b] : kReverse)
    if (runs(a) && runs(b))
      return "'" + std::string(a) + "' and '" + std::string(b) +
             "' undo each other: ask for one of them";
  return {};
}

}  // namespace weft::passes
