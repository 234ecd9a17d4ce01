// Places buffers of known lifetimes in one arena: two that live at the same time never overlap.
//
// Greedy best fit, largest first: every buffer goes into the smallest gap that holds it among those
// buffers already placed that live when it does. Quadratic in the number of buffers, with a small
// constant (0.1 s for 10,000).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace weft::kernels {

struct BufferLifetime {
  size_t bytes = 0;
  int first = 0;  // step that writes it
  int last = 0;   // last step that reads it
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // one per buffer, multiples of kAlignment
  size_t bytes = 0;             // of the arena
};

MemoryPlan PlanMemory(std::span<const BufferLifetime> buffers);

}  // namespace weft::kernels
