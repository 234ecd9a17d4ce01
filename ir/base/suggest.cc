#include "ir/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace weft::ir {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                          d[i - 1][j - 1] + static_cast<size_t>(a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string Nearest(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr size_t kLongestName = 200;  // of a user; what is longer is no slip
  if (name.empty() || name.size() > kLongestName) return "";
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  if (!best.empty() || name.size() < 3) return std::string(best);
  for (std::string_view candidate : candidates)
    if (candidate.compare(0, name.size(), name) == 0 ||
        (!candidate.empty() && name.compare(0, candidate.size(), candidate) == 0))
      return std::string(candidate);
  return "";
}

std::string Nearest(std::string_view name, std::span<const std::string> candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return Nearest(name, views);
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string nearest = Nearest(name, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

absl::Status UnknownName(std::string_view kind, std::string_view name,
                         std::span<const std::string> candidates) {
  constexpr size_t kFewNames = 8;
  std::string message = fmt::format("unknown {} '{}'", kind, name);
  if (const std::string nearest = Nearest(name, candidates); !nearest.empty()) {
    message += fmt::format("; did you mean '{}'?", nearest);
  } else if (!candidates.empty() && candidates.size() <= kFewNames) {
    message += fmt::format("; there is {}", fmt::join(candidates, ", "));
  }
  return InvalidArgument(message);
}

absl::Status CheckName(std::string_view kind, std::string_view name,
                       std::span<const std::string> candidates) {
  if (std::find(candidates.begin(), candidates.end(), name) != candidates.end())
    return absl::OkStatus();
  return UnknownName(kind, name, candidates);
}

}  // namespace weft::ir
