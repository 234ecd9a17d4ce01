// shape-arithmetic: integers that are computed from the sizes of values, as exporters write the target
// of every Reshape, are computed once. What a small integer tensor holds follows from the types
// (ir/dialects/onnx/infer/shape_value.h) as expressions of symbols: numbers become a constant, and of
// two tensors with equal expressions the later one's users read the earlier one. Equal symbols are
// equal sizes, in all blocks; a value is replaced only by one that dominates it.
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/rewriter.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

// Rank, and entries as they are compared; of an expression its symbol.
using Key = std::pair<size_t, std::vector<std::pair<int64_t, bool>>>;

// Nothing of a value with an entry that is not known, or that is no tensor of sizes.
std::optional<ir::ShapeValue> KnownEntries(ir::Value value) {
  const ir::Type type = value.type();
  if (type.dtype() != ir::DataType::kI64 || !type.HasRank() || type.rank() > 1 ||
      type.NumElements() < 1)
    return std::nullopt;
  auto entries = ir::EvaluateShapeValue(value);
  if (!entries) return std::nullopt;
  for (const ir::ShapeEntry& entry : *entries)
    if (!entry.is_number && entry.value == ir::kUnknownDim) return std::nullopt;
  return entries;
}

class SizeMerger {
 public:
  SizeMerger(ir::Program& program, RewriteTrace* trace) : rewriter_(program, trace) {}

  // Recursion is over nesting of regions only, which importer and parser bound.
  void RunOnBlock(ir::Block block) {
    std::vector<Key> here;
    for (ir::Operation op = block.front(), next; op; op = next) {
      next = op.next();
      if (rewriter_.AtLimit()) break;
      if (op.num_regions() > 0) {
        RunOnRegions(op);
      } else if (op.num_results() == 1 && op.HasTrait(ir::kPure) &&
                 !op.HasTrait(ir::kConstantLike) && !op.IsUnused()) {
        Visit(op, &here);
      }
    }
    for (const Key& key : here) known_.erase(key);
  }
  uint64_t merged() const { return merged_; }
  uint64_t folded() const { return folded_; }

 private:
  void RunOnRegions(ir::Operation op) {
    std::map<Key, ir::Value> outside;
    const bool isolated = op.HasTrait(ir::kIsolated);
    if (isolated) outside.swap(known_);
    for (uint32_t i = 0; i < op.num_regions(); ++i)
      for (const ir::Block inner : op.region(i).blocks()) RunOnBlock(inner);
    if (isolated) known_.swap(outside);
  }

  void Visit(ir::Operation op, std::vector<Key>* here) {
    const auto entries = KnownEntries(op.result());
    if (!entries) return;
    Key key{op.result().type().rank(), {}};
    std::vector<int64_t> numbers;
    for (const ir::ShapeEntry& entry : *entries) {
      key.second.emplace_back(entry.value, entry.is_number);
      if (entry.is_number) numbers.push_back(entry.value);
    }
    if (numbers.size() == entries->size()) return Fold(op, numbers);
    const auto [known, is_new] = known_.try_emplace(key, op.result());
    if (is_new) {
      here->push_back(std::move(key));
    } else {
      rewriter_.Begin("merge", op);
      rewriter_.Replace(op, {known->second});
      rewriter_.Commit();
      ++merged_;
    }
  }

  void Fold(ir::Operation op, std::span<const int64_t> numbers) {
    rewriter_.Begin("fold", op);
    const ir::Type type = op.result().type();
    rewriter_.SetInsertionPoint(op);
    rewriter_.Replace(op,
                      {rewriter_.Constant(type.context()->DenseAttrOf<int64_t>(type, numbers))});
    rewriter_.Commit();
    ++folded_;
  }

  TracedRewriter rewriter_;
  std::map<Key, ir::Value> known_;  // of the blocks around the current op
  uint64_t merged_ = 0, folded_ = 0;
};

class ShapeArithmetic : public Pass {
 public:
  ShapeArithmetic()
      : Pass("shape-arithmetic", "computes each shape that follows from sizes of values once") {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    SizeMerger merger(program, trace_);
    merger.RunOnBlock(program.body());
    if (merger.merged() + merger.folded() == 0) return absl::OkStatus();
    if (merger.merged() > 0) Count("shapes merged", merger.merged());
    if (merger.folded() > 0) Count("shapes folded", merger.folded());
    MarkChanged();
    return absl::OkStatus();
  }

 private:
  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(ShapeArithmetic);

}  // namespace
}  // namespace weft::passes
