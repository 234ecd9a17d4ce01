// concat-forwarding: who reads a part of a concatenation reads the operand that is that part, and who
// joins all the parts of a value reads the value:
//   slice(concat(a, b), from the size of a) => b;  split(concat(a, b)) => a, b;  concat(split(x)) => x
// Nothing is computed; the order of axes and the sizes of operands decide. Caches of keys and values,
// which exporters join and cut again, are such.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/dialects/onnx.h"
#include "ir/walk.h"
#include "passes/canonicalize/slice_range.h"
#include "passes/control_flow/decided_control.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

using ir::Operation;
using ir::Value;
namespace ops = ir::ops;

// The size of `value` along `axis` of Concat or Split, which may count from the end.
int64_t SizeAlong(Value value, int64_t axis) {
  const ir::Type type = value.type();
  if (!type.HasRank()) return ir::kUnknownDim;
  const int64_t at = ir::NormalAxis(axis, type.rank());
  return at < 0 || at >= static_cast<int64_t>(type.rank()) ? ir::kUnknownDim : type.dim(at);
}

// Both axes are of tensors of one rank.
bool SameAxis(int64_t a, int64_t b, Value of) {
  return of.type().HasRank() &&
         ir::NormalAxis(a, of.type().rank()) == ir::NormalAxis(b, of.type().rank());
}

// Null where operand 0 is no result of an O.
template <class O>
Operation SourceOf(Operation op) {
  const Operation source = op.operand(0).DefiningOp();
  return source.Is<O>() ? source : Operation();
}

// Of concat(split(x)) with all parts in their order x; else null.
Value WholeOf(Operation concat) {
  const Operation split = SourceOf<ops::Split>(concat);
  if (!split || split.num_results() != concat.num_operands()) return {};
  const int64_t axis = concat.attrs_of<ops::Concat>().axis;
  if (!SameAxis(split.attrs_of<ops::Split>().axis, axis, split.operand(0))) return {};
  for (uint32_t i = 0; i < concat.num_operands(); ++i)
    if (concat.operand(i) != split.result(i)) return {};
  return split.operand(0);
}

// Of split(concat(xs)) whose parts have the sizes of xs these; else none.
std::vector<Value> PartsOf(Operation split) {
  const Operation concat = SourceOf<ops::Concat>(split);
  if (!concat || concat.num_operands() != split.num_results()) return {};
  const int64_t axis = concat.attrs_of<ops::Concat>().axis;
  if (!SameAxis(split.attrs_of<ops::Split>().axis, axis, split.operand(0))) return {};
  for (uint32_t i = 0; i < split.num_results(); ++i) {
    const int64_t size = SizeAlong(concat.operand(i), axis);
    if (size == ir::kUnknownDim || size != SizeAlong(split.result(i), axis)) return {};
  }
  return concat.operands().vec();
}

// Where the operands of a Concat begin, as far as their sizes are numbers.
class Places {
 public:
  explicit Places(Operation concat)
      : from_begin_(concat.num_operands() + 1), from_end_(from_begin_) {
    const int64_t axis = concat.attrs_of<ops::Concat>().axis;
    const uint32_t count = concat.num_operands();
    from_begin_.front() = from_end_.back() = 0;
    for (uint32_t i = 0; i < count; ++i)
      from_begin_[i + 1] = Moved(from_begin_[i], SizeAlong(concat.operand(i), axis), 1);
    for (uint32_t i = count; i-- > 0;)
      from_end_[i] = Moved(from_end_[i + 1], SizeAlong(concat.operand(i), axis), -1);
  }
  // Whether `position` is that of the beginning of operand i; of the end for i = num_operands(). Counted
  // from the end where it is negative.
  bool IsAt(int64_t position, uint32_t i) const {
    return (position >= 0 ? from_begin_ : from_end_)[i] == position;
  }

 private:
  using Position = std::optional<int64_t>;
  static Position Moved(Position from, int64_t size, int64_t direction) {
    int64_t to = 0;
    if (!from || !ir::IsStaticDim(size) || __builtin_add_overflow(*from, direction * size, &to))
      return std::nullopt;
    return to;
  }
  std::vector<Position> from_begin_, from_end_;  // the latter not above 0
};

// The places of each Concat that was asked for, by its id: no op is made that could take the id of another.
using PlaceTable = std::unordered_map<uint32_t, Places>;

// Of a slice that is one operand of a Concat that one; else null.
Value PartOf(Operation slice, PlaceTable& table) {
  const Operation concat = SourceOf<ops::Concat>(slice);
  const std::optional<SliceRange> range = RangeOf(slice);
  if (!concat || !range ||
      !SameAxis(range->axis, concat.attrs_of<ops::Concat>().axis, concat.result()))
    return {};
  const Places& places = table.try_emplace(concat.id(), concat).first->second;
  const uint32_t count = concat.num_operands();
  for (uint32_t i = 0; i < count; ++i) {
    const bool ends = places.IsAt(range->end, i + 1) ||
                      (i + 1 == count && range->end == std::numeric_limits<int64_t>::max());
    if (ends && places.IsAt(range->start, i)) return concat.operand(i);
  }
  return {};
}

// What `op` is, result by result; none where that is not known.
std::vector<Value> Forwarded(Operation op, PlaceTable& places) {
  if (op.num_operands() == 0 || !op.operand(0) || op.operand(0).IsBlockArgument()) return {};
  if (op.Is<ops::Split>()) return PartsOf(op);
  Value value;
  if (op.Is<ops::Slice>()) value = PartOf(op, places);
  if (op.Is<ops::Concat>()) value = WholeOf(op);
  return value ? std::vector<Value>{value} : std::vector<Value>{};
}

class ConcatForwarding : public Pass {
 public:
  ConcatForwarding()
      : Pass("concat-forwarding",
             "reads the operands of a concatenation in place of its parts, a value in place of all "
             "its parts joined") {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    std::vector<Operation> ops;
    ir::Walk(program, [&](Operation op) { ops.push_back(op); });
    TracedRewriter rewriter(program, trace_);
    PlaceTable places;
    for (const Operation op : ops) {
      if (!op.IsAlive()) continue;
      const std::vector<Value> values = Forwarded(op, places);
      if (values.empty() || !FitsAllReaders(op, values)) continue;
      if (rewriter.AtLimit()) break;
      const Operation source = op.operand(0).DefiningOp();
      // Types of what takes the places of results may say more.
      for (const Value result : op.results())
        for (const Operation user : result.users()) places.erase(user.id());
      rewriter.Begin("forward", op);
      rewriter.Replace(op, values);
      if (source.IsUnused()) rewriter.EraseWithDeadOperands(source);
      rewriter.Commit();
      Count("values forwarded", values.size());
      MarkChanged();
    }
    return absl::OkStatus();
  }

 private:
  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(ConcatForwarding);

}  // namespace
}  // namespace weft::passes
