// Which tensors of a plan share memory: parts that a later step only puts into a wider tensor, parts that a step only
// takes out of one, results over operands, outputs where an input lies.
#include <algorithm>

#include "kernels/runtime/plan_builder.h"

namespace weft::kernels {
namespace {

// Whether a part of that type has all its elements in one row of the whole.
bool IsDense(const Placement& part, ir::Type type) { return part.rows.row == type.NumElements(); }

}  // namespace

std::vector<PlanBuilder::Read> PlanBuilder::ReadsOf(int root) const {
  std::vector<Read> reads;
  for (size_t step = 0; step < step_tensors_.size(); ++step) {
    const std::vector<int>& inputs = step_tensors_[step].inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] >= 0 && tensors_[inputs[i]].root == root) reads.push_back({step, i});
  }
  return reads;
}

// --- parts of a wider tensor (Concat), which are written there at once -------------------

// Whether the tensor may be written into the memory of the root `whole`. Where it is not dense there,
// nothing else may read it, and its step must be able to space its rows.
bool PlanBuilder::MayBePart(int tensor, int whole, bool is_dense) const {
  const int index = tensors_[tensor].root;
  const Root& root = roots_[index];
  if (root.home != Home::kArena || root.merged_into >= 0 || root.part_of >= 0 || index == whole)
    return false;
  if (roots_[FindWhole(whole)].home == Home::kOutput && root.overread) return false;
  if (is_dense) return true;
  const StepTensors& from = step_tensors_[root.first];
  return from.outputs[0] == tensor && plan_->steps_[root.first].kernel->SpacesRows() &&
         ReadsOf(index).size() == 1;
}

// Whether the step makes an output that is bound to an input which it would move apart: what is written there before the
// step would be lost, or the input be.
bool PlanBuilder::GrowsOverInput(size_t step) const {
  const StepTensors& tensors = step_tensors_[step];
  const Root& whole = roots_[tensors_[tensors.outputs[0]].root];
  if (whole.home != Home::kOutput) return false;
  for (size_t i = 0; i < tensors.inputs.size(); ++i) {
    if (tensors.inputs[i] < 0) continue;
    const Tensor& input = tensors_[tensors.inputs[i]];
    const Root& from = roots_[input.root];
    if (from.home != Home::kInput || !IsBound(whole.port, from.port)) continue;
    const Kernel& kernel = *plan_->steps_[step].kernel;
    const auto placement = kernel.PlacementOf(i);
    const bool stays = placement && IsDense(*placement, input.type);
    if (kernel.MayGrowOver(i) && !stays) return true;
  }
  return false;
}

void PlanBuilder::WritePartsInPlace() {
  // From the last to the first, so that a whole that is a part itself knows it.
  for (size_t step = step_tensors_.size(); step-- > 0;) {
    const StepTensors& tensors = step_tensors_[step];
    if (tensors.outputs.empty() || GrowsOverInput(step)) continue;
    const int whole = tensors_[tensors.outputs[0]].root;
    for (size_t i = 0; i < tensors.inputs.size(); ++i) {
      const auto placement = plan_->steps_[step].kernel->PlacementOf(i);
      if (!placement || tensors.inputs[i] < 0) continue;
      const ir::Type type = tensors_[tensors.inputs[i]].type;
      const bool is_dense = IsDense(*placement, type);
      if (!is_dense && (type.dims().empty() || type.dims().back() != placement->rows.row)) continue;
      if (!MayBePart(tensors.inputs[i], whole, is_dense)) continue;
      Root& part = roots_[tensors_[tensors.inputs[i]].root];
      part.part_of = whole;
      part.offset = static_cast<size_t>(placement->offset) * ir::ElementSize(type.dtype());
      if (!is_dense) {
        plan_->steps_[part.first].result_stride = placement->rows.stride;
        SpaceReaders(tensors_[tensors.inputs[i]].root, placement->rows);
      }
      UseWholeWith(part);
    }
  }
}

// The memory of the whole, which may be a part of another's, is in use while that of the part is.
void PlanBuilder::UseWholeWith(const Root& part) {
  for (int at = part.part_of; at >= 0; at = roots_[at].part_of) {
    roots_[at].first = std::min(roots_[at].first, part.first);
    roots_[at].last = std::max(roots_[at].last, part.last);
    roots_[at].overread |= part.overread;
  }
}

// --- parts of a wider tensor (Split, Slice), which are read there -------------------------

// Whether all that read a root can read rows of it apart from each other.
bool PlanBuilder::AllReadSpaced(int root, const RowSpacing& rows) const {
  const std::vector<Read> reads = ReadsOf(root);
  return std::all_of(reads.begin(), reads.end(), [&](const Read& read) {
    const Kernel& kernel = *plan_->steps_[read.step].kernel;
    const ir::Type type = tensors_[step_tensors_[read.step].inputs[read.operand]].type;
    return !kernel.Reads(read.operand) ||
           (SpacedStrides(type.dims(), rows) && kernel.ReadsSpaced(read.operand, rows));
  });
}

void PlanBuilder::SpaceReaders(int root, const RowSpacing& rows) {
  for (const Read& read : ReadsOf(root)) {
    std::vector<RowSpacing>& spacings = plan_->steps_[read.step].spacings;
    spacings.resize(step_tensors_[read.step].inputs.size());
    spacings[read.operand] = rows;
  }
}

size_t PlanBuilder::BytesOfResults(int step) const {
  size_t bytes = 0;
  for (const int output : step_tensors_[step].outputs) bytes += roots_[tensors_[output].root].bytes;
  return bytes;
}

// Whether the result of a step may lie where it stands in the step's operand 0, whose memory is that of the root
// `whole`.
bool PlanBuilder::MayBeReadInWhole(int result, int whole, const Placement& placement) const {
  const Root& root = roots_[tensors_[result].root];
  if (root.home != Home::kArena || root.part_of >= 0 || root.overread || root.bytes == 0)
    return false;
  if (root.last == static_cast<int>(step_tensors_.size())) return false;  // an output
  const Root& from = roots_[whole];
  if (from.home == Home::kConstant) return false;
  // Memory is not kept longer for less than a half of it.
  if (from.home == Home::kArena && root.last > from.last &&
      2 * BytesOfResults(root.first) < from.bytes)
    return false;
  // The whole must be dense itself.
  if (from.part_of >= 0 && plan_->steps_[from.first].result_stride != 0) return false;
  if (IsDense(placement, tensors_[result].type)) return true;
  // Rows of less than a cache line are sooner copied than read one line after the other.
  constexpr size_t kCacheLine = 64;
  const auto row = static_cast<size_t>(placement.rows.row);
  return row * ir::ElementSize(root.dtype) >= kCacheLine &&
         AllReadSpaced(tensors_[result].root, placement.rows);
}

void PlanBuilder::ReadPartsInPlace() {
  for (size_t step = 0; step < step_tensors_.size(); ++step) {
    const StepTensors& tensors = step_tensors_[step];
    for (size_t i = 0; i < tensors.outputs.size(); ++i) {
      const auto placement = plan_->steps_[step].kernel->PlacementInOperand(i);
      if (!placement) continue;
      const int result = tensors.outputs[i];
      const int whole = tensors_[tensors.inputs[0]].root;
      if (!MayBeReadInWhole(result, whole, *placement)) continue;
      const ir::Type type = tensors_[result].type;
      Root& part = roots_[tensors_[result].root];
      part.part_of = whole;
      part.offset = static_cast<size_t>(placement->offset) * ir::ElementSize(type.dtype());
      if (!IsDense(*placement, type)) SpaceReaders(tensors_[result].root, placement->rows);
      UseWholeWith(part);
    }
  }
}

// --- results over operands ---------------------------------------------------

// Whether the result of a step may lie in the memory of an operand: the analysis says that nobody
// reads that later, the kernel that it writes no element before it has read it. Roots are looked at
// too: they know what memory is not the plan's, and which ops turned out to be views.
bool PlanBuilder::MayShare(int step, uint32_t operand) const {
  const StepTensors& tensors = step_tensors_[step];
  if (!plan_->steps_[step].kernel->MayOverwrite(operand)) return false;
  if (inplace_.WhyNot(tensors.op, operand) != nullptr) return false;
  const int from = FindRoot(tensors_[tensors.inputs[operand]].root);
  const Root& memory = roots_[from];
  const Root& result = roots_[FindRoot(tensors_[tensors.outputs[0]].root)];
  if (memory.part_of >= 0 || result.part_of >= 0) return false;
  if (memory.home != Home::kArena || memory.last != step || memory.bytes != result.bytes)
    return false;
  // A program's output is where the caller wants it, and behind its end is nothing to read.
  if (result.home == Home::kOutput ? memory.overread : result.home != Home::kArena) return false;
  for (size_t i = 0; i < tensors.inputs.size(); ++i) {
    if (i != operand && tensors.inputs[i] >= 0 &&
        FindWhole(tensors_[tensors.inputs[i]].root) == from)
      return false;
  }
  return true;
}

bool PlanBuilder::ShareWith(int step, uint32_t operand) {
  if (!MayShare(step, operand)) return false;
  const StepTensors& tensors = step_tensors_[step];
  const int from = FindRoot(tensors_[tensors.inputs[operand]].root);
  const int to = FindRoot(tensors_[tensors.outputs[0]].root);
  roots_[from].last = roots_[to].last;
  roots_[from].overread |= roots_[to].overread;
  roots_[from].home = roots_[to].home;
  roots_[from].port = roots_[to].port;
  roots_[to].merged_into = from;
  return true;
}

// Tries the operand that the op is marked with first.
void PlanBuilder::ShareInPlace() {
  for (int step = 0; step < static_cast<int>(step_tensors_.size()); ++step) {
    const ir::Operation op = step_tensors_[step].op;
    const std::optional<uint32_t> marked = ir::MarkedOperand(op);
    if (marked && ShareWith(step, *marked)) continue;
    for (uint32_t i = 0; i < op.num_operands(); ++i)
      if (ShareWith(step, i)) break;
  }
}

// --- outputs where an input lies -----------------------------------------------

bool PlanBuilder::IsBound(size_t output, size_t input) const {
  return std::any_of(bound_.begin(), bound_.end(), [&](const BoundPorts& ports) {
    return ports.output == output && ports.input == input;
  });
}

// The step that writes all of a root's memory; -1 where there are several, one over the result of another.
int PlanBuilder::OnlyWriter(int root) const {
  int writer = -1;
  for (size_t step = 0; step < step_tensors_.size(); ++step) {
    for (const int output : step_tensors_[step].outputs) {
      if (FindRoot(tensors_[output].root) != root) continue;
      if (writer >= 0) return -1;
      writer = static_cast<int>(step);
    }
  }
  return writer;
}

// Whether nothing that is read of the input changes before it is read, though the output is written there.
bool PlanBuilder::MayLieInInput(int output, int input) const {
  const Root& from = roots_[input];
  const Root& to = roots_[output];
  if (from.overread || from.last < to.first || from.bytes == 0)
    return true;  // copied first; read before
  const int writer = OnlyWriter(output);
  if (writer < 0) return false;
  const StepTensors& tensors = step_tensors_[writer];
  const Kernel& kernel = *plan_->steps_[writer].kernel;
  size_t reads = 0;
  bool stays = false, overwrites = false, grows = false;
  for (size_t i = 0; i < tensors.inputs.size(); ++i) {
    if (tensors.inputs[i] < 0 || FindWhole(tensors_[tensors.inputs[i]].root) != input) continue;
    ++reads;
    if (tensors_[tensors.inputs[i]].root != input) continue;  // a part of it
    const ir::Type type = tensors_[tensors.inputs[i]].type;
    const auto placement = kernel.PlacementOf(i);
    stays |= placement && placement->offset == 0 && IsDense(*placement, type);
    overwrites |= kernel.MayOverwrite(i) && from.bytes == to.bytes;
    grows |= kernel.MayGrowOver(i) && from.bytes < to.bytes;
  }
  return stays ||
         ((overwrites || grows) && reads == 1 && from.last == writer && to.first == writer);
}

// What may not be written there is computed elsewhere and copied at the end. An input that is an output itself must have
// been saved by then.
void PlanBuilder::BindOutputs() {
  for (const BoundPorts& ports : bound_) {
    const int input = tensors_[input_tensors_[ports.input]].root;
    const int output = FindRoot(tensors_[output_tensors_[ports.output]].root);
    if (output == input) continue;
    Root& memory = roots_[output];
    const bool is_there = memory.home == Home::kOutput && memory.port == ports.output;
    if (is_there && MayLieInInput(output, input)) continue;
    if (is_there) memory.home = Home::kArena;
    roots_[input].is_staged |= roots_[input].last == static_cast<int>(step_tensors_.size());
  }
}

}  // namespace weft::kernels
