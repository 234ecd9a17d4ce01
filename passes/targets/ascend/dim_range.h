// The sizes that a symbolic dimension takes: "n=1..64", or "n=64..512*64", multiples of 64 only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"

namespace weft::passes {

struct DimRange {
  std::string name;
  int64_t low = 1, high = 1;  // both of them sizes it takes, at least 1
  int64_t step = 1;           // low and high are multiples of it

  std::vector<int64_t> Sizes(size_t at_most) const;  // evenly spread, ascending
};

// Of the pass sampled-dynamic-reshape: the sizes it draws from.
struct SampledDynamicReshapeOptions {
  std::vector<DimRange> dim_ranges;
};

absl::StatusOr<DimRange> ParseDimRange(std::string_view text);

}  // namespace weft::passes
