// Layers that repeat: siblings of one structure, and sequences that come again and again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/picture/groups.h"

namespace weft::picture {

// Part of a sequence: `times` times the same `period` elements, from `first` on.
struct Repetition {
  size_t first = 0, period = 0, times = 0;
  size_t size() const { return period * times; }
};

// The repetition of three times or more that covers most, of the shortest period and then the first of
// equals; size() == 0 when there is none. In time O(max_period * n).
Repetition LongestRepetition(std::span<const uint64_t> sequence, size_t max_period = 200);

// Puts alike siblings into groups of kind kRepeats, and where a level has many items, repetitions of
// operations into groups of kind kBlock.
void FindRepeats(const Graph& graph, GroupTree* tree);

}  // namespace weft::picture
