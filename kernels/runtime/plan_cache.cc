#include "kernels/runtime/plan_cache.h"

#include <utility>

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
  if (prepared_.size() == capacity_) prepared_.erase(prepared_.begin());
  prepared_.push_back(std::move(prepared));
  return prepared_.back().get();
}

}  // namespace weft::kernels
