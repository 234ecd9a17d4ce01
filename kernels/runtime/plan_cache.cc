#include "kernels/runtime/plan_cache.h"

#include <utility>

#include "kernels/runtime/segments/program_cut.h"

namespace weft::kernels {

absl::StatusOr<PreparedProgram*> PlanCache::Add(std::unique_ptr<ir::Program> program,
                                                PlanResources resources,
                                                std::unique_ptr<PackedWeights> own,
                                                std::span<const BoundPorts> bound) {
  auto prepared = std::make_unique<PreparedProgram>();
  if (own != nullptr) {
    own->KeepConstantsOf(*program);
    resources.packed = own.get();
    prepared->own = std::move(own);
  }
  if (HasKnownSizes(*program)) {
    WEFT_ASSIGN_OR_RETURN(prepared->plan, Plan::Create(std::move(program), resources, bound));
  } else if (!bound.empty()) {
    return ir::Unsupported(
        "outputs that lie where inputs lie, in a program whose sizes follow from values");
  } else {
    WEFT_ASSIGN_OR_RETURN(prepared->first, Segment::Create(std::move(program), resources, 0));
  }
  prepared_.push_back(std::move(prepared));
  while (HasTooMany()) prepared_.erase(prepared_.begin());
  return prepared_.back().get();
}

bool PlanCache::HasTooMany() const {
  constexpr size_t kStepBytes = 4096;  // about: the operation, its kernel and their types
  size_t bytes = 0;
  bool has_segments = false;  // which make plans, too
  for (const std::unique_ptr<PreparedProgram>& one : prepared_) {
    if (one->plan != nullptr) {
      bytes += one->plan->arena_bytes() + one->plan->steps().size() * kStepBytes;
    } else {
      bytes += one->first->arena_bytes();
      has_segments = true;
    }
  }
  if (bytes > kMostBytes && prepared_.size() > 2) return true;
  return prepared_.size() > capacity_ && (has_segments || bytes > more_bytes_);
}

}  // namespace weft::kernels
