// What the user may have meant: the nearest of the names that exist.
//
//   UnknownName("pipeline", "fues", names) is InvalidArgument
//   "unknown pipeline 'fues'; did you mean 'fuse'?"
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/base/status.h"

namespace weft::ir {

// Insertions, deletions, replacements and swaps of neighbours that turn a into b, in
// O(|a| * |b|) time.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate nearest to `name`; "" when none is near: at most a third of the name differs, or
// one starts with the other. Equally near ones: the first.
std::string Nearest(std::string_view name, std::span<const std::string_view> candidates);
std::string Nearest(std::string_view name, std::span<const std::string> candidates);

// "; did you mean 'x'?" for the nearest candidate, or nothing when none is near.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates);

absl::Status UnknownName(std::string_view kind, std::string_view name,
                         std::span<const std::string> candidates);

// Ok when `name` is one of the candidates.
absl::Status CheckName(std::string_view kind, std::string_view name,
                       std::span<const std::string> candidates);

}  // namespace weft::ir
