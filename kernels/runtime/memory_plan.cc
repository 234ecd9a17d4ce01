#include "kernels/runtime/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/tensor.h"

namespace weft::kernels {
namespace {

size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Placed {
  size_t offset, end;
  int first, last;
};

// The start of the smallest gap of at least `bytes` between `placed` (sorted by offset) that are
// alive in [first, last].
size_t FindGap(const std::vector<Placed>& placed, size_t bytes, int first, int last) {
  size_t best = SIZE_MAX, best_gap = SIZE_MAX, end = 0;
  for (const Placed& p : placed) {
    if (p.last < first || p.first > last) continue;
    if (p.offset > end && p.offset - end >= bytes && p.offset - end < best_gap) {
      best = end;
      best_gap = p.offset - end;
    }
    end = std::max(end, p.end);
  }
  return best == SIZE_MAX ? end : best;
}

}  // namespace

MemoryPlan PlanMemory(std::span<const BufferLifetime> buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  MemoryPlan plan;
  plan.offsets.resize(buffers.size());
  std::vector<Placed> placed;
  for (const size_t i : order) {
    const BufferLifetime& b = buffers[i];
    const size_t bytes = RoundUp(b.bytes);
    const size_t offset = FindGap(placed, bytes, b.first, b.last);
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    if (bytes == 0) continue;
    const Placed entry{offset, offset + bytes, b.first, b.last};
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), entry,
                         [](const Placed& x, const Placed& y) { return x.offset < y.offset; }),
        entry);
  }
  return plan;
}

}  // namespace weft::kernels
