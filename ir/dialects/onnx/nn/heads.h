// Heads of attention in reference bodies.
#pragma once

#include <optional>

#include "ir/builder.h"

namespace weft::ir::ops {

// Of any attention: sizes made of more could not be counted.
inline constexpr int64_t kMaxHeads = 1 << 20;

// [B, S, heads * depth] as [B, heads, S, depth]; what has four dimensions stays.
Value SplitHeads(Builder& b, Value x, std::optional<int64_t> heads);
// The reverse.
Value MergeHeads(Builder& b, Value x);
// Every head of x, [B, n, S, D], `times` in a row, which makes `heads` (both of one element).
Value RepeatHeads(Builder& b, Value x, Value heads, Value times);
Value RepeatHeads(Builder& b, Value x, Value heads, int64_t times);

}  // namespace weft::ir::ops
