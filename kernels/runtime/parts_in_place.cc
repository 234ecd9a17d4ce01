// Tensors that a later step only puts into a wider one (Concat) are written there at once.
#include <algorithm>

#include "kernels/runtime/plan_builder.h"

namespace weft::kernels {

// Whether the tensor may be written into the memory of the root `whole`. Where it is not dense there,
// nothing else may read it, and its step must be able to space its rows.
bool PlanBuilder::MayBePart(int tensor, int whole, bool is_dense,
                            const std::vector<size_t>& readers) const {
  const int index = tensors_[tensor].root;
  const Root& root = roots_[index];
  if (root.home != Home::kArena || root.merged_into >= 0 || root.part_of >= 0 || index == whole)
    return false;
  if (roots_[whole].home == Home::kOutput && root.overread) return false;
  if (is_dense) return true;
  const StepTensors& from = step_tensors_[root.first];
  return readers[static_cast<size_t>(index)] == 1 && from.outputs[0] == tensor &&
         plan_->steps_[root.first].kernel->SpacesRows();
}

void PlanBuilder::WritePartsInPlace() {
  std::vector<size_t> readers(roots_.size());  // of each root
  for (const StepTensors& step : step_tensors_)
    for (const int input : step.inputs)
      if (input >= 0) ++readers[static_cast<size_t>(tensors_[input].root)];
  // From the last to the first, so that a whole that is a part itself knows it.
  for (size_t step = step_tensors_.size(); step-- > 0;) {
    const StepTensors& tensors = step_tensors_[step];
    if (tensors.outputs.empty()) continue;
    const int whole = tensors_[tensors.outputs[0]].root;
    for (size_t i = 0; i < tensors.inputs.size(); ++i) {
      const auto placement = plan_->steps_[step].kernel->PlacementOf(i);
      if (!placement || tensors.inputs[i] < 0) continue;
      const ir::Type type = tensors_[tensors.inputs[i]].type;
      const bool is_dense = placement->row == type.NumElements();
      if (!is_dense && (type.dims().empty() || type.dims().back() != placement->row)) continue;
      if (!MayBePart(tensors.inputs[i], whole, is_dense, readers)) continue;
      Root& part = roots_[tensors_[tensors.inputs[i]].root];
      part.part_of = whole;
      part.offset = static_cast<size_t>(placement->offset) * ir::ElementSize(type.dtype());
      if (!is_dense) plan_->steps_[part.first].result_stride = placement->stride;
      // The memory of the whole, which may be a part of another's, is in use from then on.
      for (int at = whole; at >= 0; at = roots_[at].part_of) {
        roots_[at].first = std::min(roots_[at].first, part.first);
        roots_[at].last = std::max(roots_[at].last, part.last);
        roots_[at].overread |= part.overread;
      }
    }
  }
}

}  // namespace weft::kernels
