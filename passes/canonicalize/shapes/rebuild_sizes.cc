// rebuild-sizes: a vector of sizes that exporters gather one by one, with arithmetic that changes none of
// them, is read from the shapes that have them, where that takes fewer operations:
//   concat(unsqueeze(gather(shape(x), 0)), [64], unsqueeze(gather(shape(x), 1))) =>
//       concat(shape(x)[0:1], [64], shape(x)[1:2])
// What the entries are follows from the types (ir/dialects/onnx/infer/shape_value.h). Sizes of inputs are read
// there, whatever value they were asked of, which is then not kept for its shape.
#include "passes/canonicalize/shapes/rebuild_sizes.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

using ir::Operation;
using ir::Value;
namespace ops = ir::ops;

constexpr size_t kMaxEntries = 16, kMaxSources = 16;
constexpr int kMaxOps = 64;  // of one computation that are looked at

// What a vector is known to hold: at least one size that has a name. None of a value that is no such vector.
std::optional<ir::ShapeValue> EntriesOf(Value value) {
  const ir::Type type = value.type();
  if (type.dtype() != ir::DataType::kI64 || !type.HasRank() || type.rank() != 1 ||
      type.NumElements() < 1 || type.NumElements() > static_cast<int64_t>(kMaxEntries))
    return std::nullopt;
  auto entries = ir::EvaluateShapeValue(value);
  if (!entries) return std::nullopt;
  const bool has_size = std::ranges::any_of(*entries, [](const ir::ShapeEntry& entry) {
    return !entry.is_number && entry.is_size && entry.value != ir::kUnknownDim;
  });
  return has_size ? entries : std::nullopt;
}

// Whether an entry is that dimension: one that is not known is none, whatever it is.
bool IsDim(const ir::ShapeEntry& entry, int64_t dim) {
  return dim != ir::kUnknownDim && entry == ir::ShapeEntry::OfDim(dim);
}

// What a vector is put together from.
struct Piece {
  enum Kind { kNumbers, kSizes, kOperand } kind = kNumbers;
  Value source;               // whose sizes, or all of whose entries they are
  size_t begin = 0, end = 0;  // axes of the source, or numbers by entries of the vector
};

// Pieces, and how many operations they are.
struct Plan {
  size_t num_ops = 0;
  std::vector<Piece> pieces;
};

bool IsBetter(const Plan& a, const Plan& b) {
  return std::pair(a.num_ops, a.pieces.size()) < std::pair(b.num_ops, b.pieces.size());
}

bool IsAllOf(const Piece& piece) {
  return piece.begin == 0 && piece.end == piece.source.type().rank();
}

// The inputs that `op` can read: of the program, or of the operation around it that reads nothing else.
std::vector<Value> InputsAround(Operation op) {
  ir::Block block = op.block();
  for (Operation parent = block.ParentOp(); parent && !parent.HasTrait(ir::kIsolated);
       parent = block.ParentOp())
    block = parent.block();
  return block.arguments().vec();
}

// What `op` computes its entries with, itself first, users before what they use as a rule.
std::vector<Operation> ComputationOf(Operation op) {
  std::set<uint32_t> seen{op.id()};
  std::vector<Operation> open{op};
  for (size_t i = 0; i < open.size() && i < kMaxOps; ++i) {
    if (open[i].Is<ops::Shape>()) continue;
    for (const Value operand : open[i].operands()) {
      const Operation source = operand ? operand.DefiningOp() : Operation();
      if (source && !source.HasTrait(ir::kConstantLike) && source.num_regions() == 0 &&
          seen.insert(source.id()).second)
        open.push_back(source);
    }
  }
  return open;
}

// How many of `computation` are there for its first operation alone and for none of `kept`; too few where a user
// comes after what it uses.
size_t CountDead(const std::vector<Operation>& computation, const std::vector<Piece>& kept) {
  std::set<uint32_t> dead{computation.front().id()};
  for (const Operation op : computation) {
    bool is_dead = op.HasTrait(ir::kPure);
    for (const Value result : op.results()) {
      for (const Operation user : result.users()) is_dead &= dead.contains(user.id());
      for (const Piece& piece : kept) is_dead &= piece.source != result;
    }
    if (is_dead) dead.insert(op.id());
  }
  return dead.size();
}

// Values whose sizes `op` may read, those first that are there anyway: inputs, then operands of transposes, then
// what it reads the sizes of now.
std::vector<Value> SourcesFor(Operation op, const std::vector<Operation>& computation) {
  std::vector<Value> shaped;
  for (const Operation part : computation)
    if (part.Is<ops::Shape>()) shaped.push_back(part.operand(0));
  const std::vector<Value> inputs = InputsAround(op);
  std::vector<Value> sources;
  const auto add = [&](Value value) {
    if (value.type().HasRank() && sources.size() < kMaxSources) sources.push_back(value);
  };
  for (const Value value : shaped)
    if (std::ranges::find(inputs, value) != inputs.end()) add(value);
  for (const Value value : inputs) add(value);
  for (const Value value : shaped)
    if (const Operation made = value.DefiningOp(); made && made.Is<ops::Transpose>())
      add(made.operand(0));
  for (const Value value : shaped) add(value);
  return sources;
}

// From the last entry to the first, so that the rest behind a piece is planned before it.
class Planner {
 public:
  Planner(Operation op, const ir::ShapeValue& entries, std::vector<Value> sources,
          bool shapes_of_parts)
      : op_(op),
        entries_(entries),
        sources_(std::move(sources)),
        shapes_of_parts_(shapes_of_parts) {}

  std::optional<Plan> Run() {
    rest_.resize(entries_.size() + 1);
    rest_.back() = Plan();
    if (op_.Is<ops::Concat>()) FindOperands();
    for (size_t i = entries_.size(); i-- > 0;) PlanFrom(i);
    std::optional<Plan> plan = std::move(rest_.front());
    if (plan && plan->pieces.size() > 1) ++plan->num_ops;  // Concat
    return plan;
  }

 private:
  // The operands of a Concat with entries that no source has, where the type of each says how many it has: what
  // they hold may be known where that is not.
  void FindOperands() {
    const auto is_counted = [](Value operand) { return operand.type().NumElements() >= 0; };
    if (!std::ranges::all_of(op_.operands().vec(), is_counted)) return;
    size_t begin = 0;
    for (const Value operand : op_.operands()) {
      const auto size = static_cast<size_t>(operand.type().NumElements());
      const auto has = [&](const ir::ShapeEntry& entry) {
        return entry.is_number || std::ranges::any_of(sources_, [&](Value source) {
                 return std::ranges::any_of(source.type().dims(),
                                            [&](int64_t dim) { return IsDim(entry, dim); });
               });
      };
      const std::span<const ir::ShapeEntry> entries(entries_.data() + begin, size);
      if (!std::ranges::all_of(entries, has)) operands_.emplace_back(begin, operand);
      begin += size;
    }
  }

  void PlanFrom(size_t i) {
    for (const auto& [begin, operand] : operands_) {
      const auto size = static_cast<size_t>(operand.type().NumElements());
      if (begin == i) Try(i, i + size, {Piece::kOperand, operand}, 0);
    }
    for (size_t end = i; end < entries_.size() && entries_[end].is_number; ++end)
      Try(i, end + 1, {Piece::kNumbers, Value(), i, end + 1}, 0);
    for (const Value source : sources_) {
      const std::span<const int64_t> dims = source.type().dims();
      for (size_t begin = 0; begin < dims.size(); ++begin)
        for (size_t n = 0; i + n < entries_.size() && begin + n < dims.size() &&
                           IsDim(entries_[i + n], dims[begin + n]);
             ++n) {
          const Piece piece = {Piece::kSizes, source, begin, begin + n + 1};
          Try(i, i + n + 1, piece, shapes_of_parts_ || IsAllOf(piece) ? 1 : 2);
        }
    }
  }

  void Try(size_t from, size_t to, const Piece& piece, size_t num_ops) {
    if (!rest_[to]) return;
    Plan plan = {num_ops + rest_[to]->num_ops, {piece}};
    plan.pieces.insert(plan.pieces.end(), rest_[to]->pieces.begin(), rest_[to]->pieces.end());
    if (!rest_[from] || IsBetter(plan, *rest_[from])) rest_[from] = std::move(plan);
  }

  const Operation op_;
  const ir::ShapeValue& entries_;
  const std::vector<Value> sources_;
  const bool shapes_of_parts_;
  std::vector<std::pair<size_t, Value>> operands_;  // by the entry they begin with
  std::vector<std::optional<Plan>> rest_;           // of the entries from each one on
};

class RebuildSizes : public Pass {
 public:
  RebuildSizes()
      : Pass("rebuild-sizes",
             "reads sizes from the shapes that have them, where arithmetic collected them one by "
             "one") {}

  absl::Status Initialize(ir::IrContext&, const PassContext& run) override {
    trace_ = run.trace;
    if (const auto* given = run.options.Get<RebuildSizesOptions>()) options_ = *given;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    std::vector<Operation> ops;
    ir::Walk(program, [&](Operation op) {
      if (op.num_results() == 1 && op.num_regions() == 0 && op.HasTrait(ir::kPure) &&
          !op.HasTrait(ir::kConstantLike))
        ops.push_back(op);
    });
    shapes_of_parts_ = OpsetFor(program) >= 15;
    TracedRewriter rewriter(program, trace_);
    // The last first: what only it reads is gone before it is looked at.
    for (size_t i = ops.size(); i-- > 0;) {
      if (!ops[i].IsAlive()) continue;
      const auto entries = EntriesOf(ops[i].result());
      if (!entries) continue;
      if (rewriter.AtLimit()) break;
      Rebuild(ops[i], *entries, rewriter);
    }
    return absl::OkStatus();
  }

 private:
  void Rebuild(Operation op, const ir::ShapeValue& entries, TracedRewriter& rewriter) {
    const std::vector<Operation> computation = ComputationOf(op);
    const auto plan = Planner(op, entries, SourcesFor(op, computation), shapes_of_parts_).Run();
    if (!plan) return;
    const bool frees_value = op.Is<ops::Shape>() && !op.operand(0).IsBlockArgument() &&
                             plan->pieces.size() == 1 &&
                             plan->pieces.front().source != op.operand(0);
    const size_t num_ops = CountDead(computation, plan->pieces);
    if (plan->num_ops > num_ops || (plan->num_ops == num_ops && !frees_value)) return;
    rewriter.Begin("rebuild", op);
    rewriter.SetInsertionPoint(op);
    rewriter.set_location(op.location());
    std::vector<Value> parts;
    for (const Piece& piece : plan->pieces) parts.push_back(Make(piece, entries, rewriter));
    const Value whole =
        parts.size() == 1 ? parts.front() : rewriter.Make<ops::Concat>(parts, {.axis = 0});
    const std::vector<Value> operands = op.operands().vec();
    rewriter.Replace(op, {whole});
    for (const Value operand : operands) {
      const Operation def = operand && operand.IsAlive() ? operand.DefiningOp() : Operation();
      if (def && def.IsUnused() && def.HasTrait(ir::kPure)) rewriter.EraseWithDeadOperands(def);
    }
    rewriter.Commit();
    Count("vectors rebuilt");
    MarkChanged();
  }

  Value Make(const Piece& piece, const ir::ShapeValue& entries, TracedRewriter& rewriter) const {
    const auto begin = static_cast<int64_t>(piece.begin), end = static_cast<int64_t>(piece.end);
    if (piece.kind == Piece::kOperand) return piece.source;
    if (piece.kind == Piece::kNumbers) {
      ir::Ints numbers;
      for (size_t i = piece.begin; i < piece.end; ++i) numbers.push_back(entries[i].value);
      return rewriter.ConstantInts(numbers);
    }
    if (IsAllOf(piece)) return rewriter.Make<ops::Shape>({piece.source});
    if (shapes_of_parts_)
      return rewriter.Make<ops::Shape>({piece.source}, {.end = end, .start = begin});
    return rewriter.Make<ops::Slice>({rewriter.Make<ops::Shape>({piece.source}),
                                      rewriter.ConstantInts({begin}), rewriter.ConstantInts({end}),
                                      rewriter.ConstantInts({0})});
  }

  // Any where the program was read from no ONNX model.
  int64_t OpsetFor(ir::Program& program) const {
    constexpr int64_t kAny = INT64_MAX;
    const ir::Attribute imports = program.module().attr("onnx.opset_imports");
    if (options_.target_opset != 0) return options_.target_opset;
    if (!imports.Is(ir::AttrKind::kStrings)) return kAny;
    for (const std::string& import : imports.AsStrings()) {  // ":13", "com.microsoft:1"
      int64_t opset = kAny;
      const char* const end = import.data() + import.size();
      if (import.starts_with(':') && std::from_chars(import.data() + 1, end, opset).ptr == end)
        return opset;
    }
    return kAny;
  }

  RewriteTrace* trace_ = nullptr;
  RebuildSizesOptions options_;
  bool shapes_of_parts_ = true;
};
WEFT_REGISTER_PASS(RebuildSizes);

}  // namespace
}  // namespace weft::passes
