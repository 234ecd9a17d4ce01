// What runs one program for the types of inputs that it has met: bounded, the one used least recently
// goes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/segments/segment.h"

namespace weft::kernels {

// For inputs of one set of types: the plan of the whole program, or where sizes follow from values
// its first segment.
struct PreparedProgram {
  std::unique_ptr<PackedWeights> own;  // of the constants that were computed for it; may be null
  std::unique_ptr<Plan> plan;
  std::unique_ptr<Segment> first;
  const std::vector<ir::Type>& input_types() const {
    return plan != nullptr ? plan->input_types() : first->input_types();
  }
};

class PlanCache {
 public:
  // Keeps `capacity` programs, and more while all together take at most about `more_bytes`. Where they take more than
  // kMostBytes, the two that were used last: sizes that grow with every run, as those of a decoder's caches, come once.
  explicit PlanCache(size_t capacity, size_t more_bytes = 0)
      : capacity_(capacity), more_bytes_(more_bytes) {}

  // The one for `count` inputs of types for which is(i, type) holds; null when there is none.
  // Allocates nothing.
  template <class Is>
  PreparedProgram* Find(size_t count, const Is& is) {
    const auto fits = [&](const std::unique_ptr<PreparedProgram>& prepared) {
      const std::vector<ir::Type>& types = prepared->input_types();
      if (types.size() != count) return false;
      for (size_t i = 0; i < count; ++i)
        if (!is(i, types[i])) return false;
      return true;
    };
    const auto found = std::find_if(prepared_.rbegin(), prepared_.rend(), fits);
    if (found == prepared_.rend()) return nullptr;
    std::rotate(prepared_.rbegin(), found, found + 1);
    return prepared_.back().get();
  }

  // Makes one from a program that is specialised for its inputs (kernels/runtime/specialize.h) and
  // differs from all others in their types. What `resources` refers to must outlive the cache; `own`,
  // inside of resources.packed, has the constants that were computed for the program.
  // Outputs may be bound to inputs where all sizes are known.
  absl::StatusOr<PreparedProgram*> Add(std::unique_ptr<ir::Program> program,
                                       PlanResources resources,
                                       std::unique_ptr<PackedWeights> own = nullptr,
                                       std::span<const BoundPorts> bound = {});

  size_t size() const { return prepared_.size(); }

  static constexpr size_t kMostBytes = size_t{256} << 20;

 private:
  bool HasTooMany() const;

  size_t capacity_, more_bytes_;
  std::vector<std::unique_ptr<PreparedProgram>> prepared_;  // the one used last is last
};

}  // namespace weft::kernels
