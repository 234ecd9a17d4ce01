// What a tensor of numbers holds, in a few numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/attribute.h"

namespace weft::picture {

struct WeightStatistics {
  double min = 0, max = 0, mean = 0, deviation = 0;  // of finite elements
  double zeros = 0;                                  // share of all
  uint64_t not_finite = 0;
  uint64_t seen = 0;                // elements that were looked at, evenly spread over all
  std::vector<uint32_t> histogram;  // bins of equal width from min to max
};

inline constexpr size_t kHistogramBins = 40;
inline constexpr int64_t kMostElementsSeen = 1 << 20;

// nullopt where there is nothing to say: no contents, no numbers, or one element.
std::optional<WeightStatistics> StatisticsOf(ir::Attribute dense);

}  // namespace weft::picture
