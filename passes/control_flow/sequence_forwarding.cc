// sequence-forwarding: tensors that go into a sequence and come out at known positions do so directly.
//   sequence_at(sequence_construct(a, b), 1) => b
//   concat_from_sequence(sequence_construct(a, b)) => concat(a, b)
//   sequence_length(sequence_construct(a, b)) => 2
// A SplitToSequence of known parts becomes a Split where all who read it know their positions. A
// position that there is not stays an error of the run.
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/shape_inference.h"
#include "ir/dialects/onnx.h"
#include "ir/walk.h"
#include "passes/control_flow/decided_control.h"
#include "passes/control_flow/try_make.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

using ir::Operation;
using ir::Value;
namespace ops = ir::ops;

constexpr size_t kMostElements = 256;  // of a sequence whose elements are remembered

// The place that `position` names among `count` elements.
std::optional<size_t> PlaceAmong(Value position, size_t count) {
  const std::optional<double> number = ConstantNumber(position);
  if (!number) return std::nullopt;
  const double place = *number < 0 ? *number + static_cast<double>(count) : *number;
  if (place < 0 || place >= static_cast<double>(count)) return std::nullopt;
  return static_cast<size_t>(place);
}

// The sizes of the parts of a SplitToSequence.
std::optional<ir::Ints> PartSizes(Operation split) {
  const ir::Type type = split.operand(0).type();
  if (!type.HasRank()) return std::nullopt;
  const int64_t axis = ir::NormalAxis(split.attrs_of<ops::SplitToSequence>().axis, type.rank());
  if (axis < 0 || axis >= static_cast<int64_t>(type.rank())) return std::nullopt;
  const int64_t whole = type.dim(axis);
  int64_t size = 1;
  if (split.HasOperand(1)) {
    std::optional<ir::Ints> given = ir::ConstantInts(split.operand(1));
    if (!given || !split.operand(1).type().HasRank()) return std::nullopt;
    if (split.operand(1).type().rank() == 1) return given;
    size = given->front();
  }
  if (!ir::IsStaticDim(whole) || whole <= 0 || size <= 0) return std::nullopt;
  if ((whole - 1) / size >= static_cast<int64_t>(kMostElements)) return std::nullopt;
  ir::Ints sizes(static_cast<size_t>((whole - 1) / size), size);
  sizes.push_back(whole - size * static_cast<int64_t>(sizes.size()));
  return sizes;
}

class Forwarder {
 public:
  Forwarder(ir::Program& program, RewriteTrace* trace) : rewriter_(program, trace) {}

  // Operands before users.
  void Visit(Operation op) {
    if (op.Is<ops::SplitToSequence>()) {
      Split(op);
    } else if (op.num_results() == 1 && op.result().type().IsSequence()) {
      Remember(op);
    } else if (op.Is<ops::SequenceAt>()) {
      At(op);
    } else if (op.Is<ops::ConcatFromSequence>()) {
      Join(op);
    } else if (op.Is<ops::SequenceLength>()) {
      if (const Elements* elements = Find(op.operand(0)))
        Replace(op, [&] {
          return rewriter_.ConstantScalar(ir::DataType::kI64,
                                          static_cast<double>(elements->size()));
        });
    }
  }
  // Sequences that nobody reads any more, users before operands.
  void EraseUnused(const std::vector<Operation>& ops) {
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
      if (op->IsAlive() && op->num_results() == 1 && elements_.contains(op->result().id()) &&
          op->IsUnused())
        rewriter_.EraseWithDeadOperands(*op);
  }
  uint64_t forwarded() const { return forwarded_; }

 private:
  using Elements = std::vector<Value>;

  const Elements* Find(Value sequence) const {
    const auto found = elements_.find(sequence.id());
    return found == elements_.end() ? nullptr : &found->second;
  }

  void Remember(Operation op) {
    Elements elements;
    if (op.Is<ops::SequenceConstruct>()) {
      elements = op.operands().vec();
    } else if (op.Is<ops::SequenceInsert>() || op.Is<ops::SequenceErase>()) {
      const Elements* before = Find(op.operand(0));
      if (!before) return;
      elements = *before;
      const bool inserts = op.Is<ops::SequenceInsert>();
      const uint32_t at = inserts ? 2 : 1;
      // The end is a place to insert at, and the last element is what is erased without a position.
      std::optional<size_t> place = elements.size() - (inserts ? 0 : 1);
      if (op.HasOperand(at)) place = PlaceToChange(op.operand(at), elements.size(), inserts);
      if (!place || *place > elements.size()) return;
      const auto where = elements.begin() + static_cast<std::ptrdiff_t>(*place);
      if (inserts) {
        elements.insert(where, op.operand(1));
      } else {
        elements.erase(where);
      }
    } else if (!op.Is<ops::SequenceEmpty>()) {
      return;
    }
    if (elements.size() <= kMostElements) elements_[op.result().id()] = std::move(elements);
  }

  // One may insert behind the last element, too.
  static std::optional<size_t> PlaceToChange(Value position, size_t count, bool inserts) {
    if (inserts && ConstantNumber(position) == static_cast<double>(count)) return count;
    return PlaceAmong(position, count);
  }

  void At(Operation op) {
    const Elements* elements = Find(op.operand(0));
    const auto place = elements ? PlaceAmong(op.operand(1), elements->size()) : std::nullopt;
    if (place) Replace(op, [&] { return (*elements)[*place]; });
  }

  void Join(Operation op) {
    const Elements* elements = Find(op.operand(0));
    if (!elements || elements->empty()) return;
    const auto attrs = op.attrs_of<ops::ConcatFromSequence>();
    Replace(op, [&] {
      Elements parts = *elements;
      if (attrs.new_axis != 0 && !ChangeRank<ops::Unsqueeze>(attrs.axis, &parts)) return Value();
      const Operation concat = TryMake<ops::Concat>(rewriter_, parts, {.axis = attrs.axis});
      return concat ? concat.result() : Value();
    });
  }

  // Only where nobody reads the sequence any more.
  void Split(Operation op) {
    const std::optional<ir::Ints> sizes = PartSizes(op);
    if (!sizes || sizes->empty() || sizes->size() > kMostElements || op.IsUnused()) return;
    for (const ir::OpOperand use : op.result().uses()) {
      const Operation user = use.owner();
      const bool knows = user.Is<ops::SequenceAt>()
                             ? PlaceAmong(user.operand(1), sizes->size()).has_value()
                             : user.Is<ops::ConcatFromSequence>() || user.Is<ops::SequenceLength>();
      if (!knows) return;
    }
    if (rewriter_.AtLimit()) return;
    const Operation before = op.prev();
    rewriter_.Begin("split", op);
    Elements parts = MakeParts(op, *sizes);
    if (parts.empty()) return EraseBetween(before, op);
    rewriter_.Commit();
    elements_[op.result().id()] = std::move(parts);
    ++forwarded_;
  }

  // Nothing where the tensor does not have these parts.
  Elements MakeParts(Operation op, const ir::Ints& sizes) {
    const auto attrs = op.attrs_of<ops::SplitToSequence>();
    MakeBefore(op);
    const Operation split =
        TryMake<ops::Split>(rewriter_, {op.operand(0), rewriter_.ConstantInts(sizes)},
                            {.axis = attrs.axis}, sizes.size());
    if (!split) return {};
    Elements parts = split.results().vec();
    const bool drops_axis = !op.HasOperand(1) && attrs.keepdims == 0;
    if (drops_axis && !ChangeRank<ops::Squeeze>(attrs.axis, &parts)) return {};
    return parts;
  }

  template <class Make>
  void Replace(Operation op, const Make& make) {
    if (rewriter_.AtLimit()) return;
    const Operation before = op.prev();
    rewriter_.Begin("forward", op);
    MakeBefore(op);
    const Value value = make();
    if (!value || !FitsAllReaders(op, {value})) return EraseBetween(before, op);
    rewriter_.Replace(op, {value});
    rewriter_.Commit();
    ++forwarded_;
  }

  void MakeBefore(Operation op) {
    rewriter_.SetInsertionPoint(op);
    rewriter_.set_location(op.location());
  }
  void EraseBetween(Operation before, Operation op) {
    while (op.prev() != before) rewriter_.Erase(op.prev());
  }

  // Squeeze or Unsqueeze of all.
  template <class O>
  bool ChangeRank(int64_t axis, Elements* values) {
    const Value axes = rewriter_.ConstantInts({axis});
    for (Value& value : *values) {
      const Operation made = TryMake<O>(rewriter_, {value, axes}, {});
      if (!made) return false;
      value = made.result();
    }
    return true;
  }

  TracedRewriter rewriter_;
  std::unordered_map<uint32_t, Elements> elements_;  // of sequences that are known
  uint64_t forwarded_ = 0;
};

class SequenceForwarding : public Pass {
 public:
  SequenceForwarding()
      : Pass("sequence-forwarding",
             "reads tensors of a sequence from where they come, at positions that are known") {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    std::vector<Operation> ops;
    ir::Walk(program, [&](Operation op) { ops.push_back(op); });
    Forwarder forwarder(program, trace_);
    for (const Operation op : ops) forwarder.Visit(op);
    forwarder.EraseUnused(ops);
    if (forwarder.forwarded() == 0) return absl::OkStatus();
    Count("values forwarded", forwarder.forwarded());
    MarkChanged();
    // An element is better known than what all have in common. Where that does not fit, the error
    // belongs to run time, and types stay what they are.
    if (ir::PropagateTypes(*program.Clone()).ok()) ir::PropagateTypes(program).IgnoreError();
    return absl::OkStatus();
  }

 private:
  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(SequenceForwarding);

}  // namespace
}  // namespace weft::passes
