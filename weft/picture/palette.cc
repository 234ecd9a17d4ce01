#include "weft/picture/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::picture {
namespace {

constexpr int kHues[] = {214, 28, 140, 330, 265, 50, 180, 0, 95, 300, 235, 15};

// Saturation and lightness from 0 to 1; CSS Color Module Level 4, section 7.1.
std::string Hex(int hue, double saturation, double lightness) {
  const double chroma = saturation * std::min(lightness, 1 - lightness);
  const auto channel = [&](int n) {
    const double k = std::fmod(n + hue / 30.0, 12.0);
    const double value = lightness - chroma * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<int>(std::lround(255 * value));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

}  // namespace

std::vector<RuleColour> ColoursOf(const Lineage& lineage) {
  std::vector<size_t> touched(lineage.labels.size()), order(lineage.labels.size());
  for (const NodeLineage& node : lineage.before)
    if (node.label >= 0) ++touched[node.label];
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return touched[a] > touched[b]; });
  std::vector<RuleColour> colours(order.size());
  for (size_t rank = 0; rank < order.size(); ++rank)
    colours[order[rank]] = {rank, kHues[rank % std::size(kHues)], rank / std::size(kHues) % 2 == 1};
  return colours;
}

std::string FillOf(const RuleColour& colour) {
  return colour.is_pale ? Hex(colour.hue, 0.45, 0.92) : Hex(colour.hue, 0.78, 0.86);
}

std::string LineOf(const RuleColour& colour) {
  return colour.is_pale ? Hex(colour.hue, 0.30, 0.42) : Hex(colour.hue, 0.60, 0.42);
}

}  // namespace weft::picture
