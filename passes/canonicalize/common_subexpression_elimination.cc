// common-subexpression-elimination: of two pure ops with the same name, operands and attributes the
// later one's users read the earlier one's results, which then have the type that either states. In
// different blocks the types must be the same. Operands of commutative ops are compared unordered.
// Constants are compared by content. Ops with regions and random ops are left alone; an op is
// replaced only by one that dominates it (in its block, or in an enclosing block before it).
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ir/dialects/builtin.h"
#include "ir/graph_view.h"
#include "ir/rewriter.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

using ir::Operation;

// The ops of the blocks around the current one by hash. Chained; entries of inner blocks lie after
// those of outer ones, so that leaving a block drops the last ones.
class ScopedOps {
 public:
  // Entries before `visible_from` are those of blocks outside the innermost isolated op.
  struct Mark {
    size_t size;
    size_t visible_from;
  };
  Mark Enter(bool isolated) {
    const Mark mark{entries_.size(), visible_from_};
    if (isolated) visible_from_ = entries_.size();
    return mark;
  }
  void Leave(Mark mark) {
    while (entries_.size() > mark.size) {
      heads_[entries_.back().hash & Mask()] = entries_.back().next;
      entries_.pop_back();
    }
    visible_from_ = mark.visible_from;
  }

  void Add(uint32_t hash, uint32_t op) {
    if (entries_.size() == heads_.size()) Grow();
    uint32_t& head = heads_[hash & Mask()];
    entries_.push_back({hash, op, head});
    head = static_cast<uint32_t>(entries_.size() - 1);
  }

  // The innermost op with this hash for which `same(op)`; ir::kNoId if there is none.
  template <class Same>
  uint32_t Find(uint32_t hash, Same same) const {
    if (heads_.empty()) return ir::kNoId;
    for (uint32_t i = heads_[hash & Mask()]; i != ir::kNoId && i >= visible_from_;
         i = entries_[i].next)
      if (entries_[i].hash == hash && same(entries_[i].op)) return entries_[i].op;
    return ir::kNoId;
  }

 private:
  struct Entry {
    uint32_t hash, op, next;
  };
  size_t Mask() const { return heads_.size() - 1; }
  void Grow() {
    heads_.assign(std::max<size_t>(64, heads_.size() * 2), ir::kNoId);
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      uint32_t& head = heads_[entries_[i].hash & Mask()];
      entries_[i].next = head;
      head = i;
    }
  }
  std::vector<uint32_t> heads_;  // a power of two, at least as many as entries
  std::vector<Entry> entries_;
  size_t visible_from_ = 0;
};

class Merger {
 public:
  Merger(ir::Program& program, RewriteTrace* trace)
      : program_(program), view_(&program), rewriter_(program, trace) {}
  // Recursion is over nesting of regions only, which importer and parser bound.
  void RunOnBlock(ir::Block block, bool isolated);
  uint64_t merged() const { return merged_; }

 private:
  void Visit(uint32_t op);
  // The operand at place i once the first two of a commutative op are in order.
  uint32_t OperandInOrder(uint32_t op, uint32_t i, bool commutes) const;
  ir::Attribute LargeConstant(uint32_t op) const;
  uint32_t NumResults(uint32_t op) const {
    return view_.HasExtraResults(op) ? view_.OperationAt(op).num_results() : 1;
  }
  static uint64_t Mix(uint64_t h, uint64_t x);
  static uint64_t HashOf(ir::Attribute dense);
  uint32_t Hash(uint32_t op, bool commutes) const;
  bool Same(uint32_t a, uint32_t b, bool commutes) const;
  bool CanMeet(uint32_t a, uint32_t b, uint32_t result) const;

  ir::Program& program_;
  ir::GraphView view_;
  TracedRewriter rewriter_;
  ScopedOps ops_;
  uint64_t merged_ = 0;
};

inline void Merger::RunOnBlock(ir::Block block, bool isolated) {
  const ScopedOps::Mark mark = ops_.Enter(isolated);
  const Operation first = block.front();
  uint32_t after = ir::kNoId;
  for (uint32_t op = first ? first.id() : ir::kNoId; op != ir::kNoId; op = after) {
    after = view_.next(op);
    if (view_.HasRegions(op)) {
      const Operation holder = view_.OperationAt(op);
      for (uint32_t i = 0; i < holder.num_regions(); ++i)
        for (ir::Block inner : holder.region(i).blocks())
          RunOnBlock(inner, holder.HasTrait(ir::kIsolated));
    } else {
      Visit(op);
    }
  }
  ops_.Leave(mark);
}

inline void Merger::Visit(uint32_t op) {
  const ir::OpDef* def = program_.context()->FindOp(ir::Opcode::FromId(view_.opcode(op)));
  if (!def || !def->Has(ir::kPure) || def->Has(ir::kRandom) || !view_.HasResult(op)) return;
  const bool commutes = def->Has(ir::kCommutative);
  const uint32_t hash = Hash(op, commutes);
  const uint32_t same = ops_.Find(hash, [&](uint32_t other) { return Same(other, op, commutes); });
  if (same == ir::kNoId) {
    ops_.Add(hash, op);
    return;
  }
  if (rewriter_.AtLimit()) return;
  const Operation merged = view_.OperationAt(op), kept = view_.OperationAt(same);
  rewriter_.Begin("merge", merged);
  if (view_.HasExtraResults(op)) {
    rewriter_.Replace(merged, kept.results().vec());
  } else {
    rewriter_.Replace(merged, {kept.result()});
  }
  rewriter_.Commit();
  ++merged_;
}

inline uint32_t Merger::OperandInOrder(uint32_t op, uint32_t i, bool commutes) const {
  if (commutes && i < 2 && view_.num_operands(op) >= 2 &&
      view_.operand(op, 1) < view_.operand(op, 0))
    i = 1 - i;
  return view_.operand(op, i);
}

inline ir::Attribute Merger::LargeConstant(uint32_t op) const {
  if (view_.opcode(op) != ir::kOpcodeOf<ir::ConstantOp>.id()) return {};
  const ir::Attribute value = view_.OperationAt(op).attr("value");
  return value && value.Is(ir::AttrKind::kDense) && !value.IsElided() ? value : ir::Attribute();
}

inline uint64_t Merger::Mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0xff51afd7ed558ccdu;
  return h ^ h >> 32;
}

// Of all strings, of all bytes of what is small, else of the size and samples of the beginning, the middle and the
// end: contents are compared in full when hashes agree.
uint64_t Merger::HashOf(ir::Attribute dense) {
  std::array<uint64_t, 8> sample;
  const size_t size = dense.num_bytes(), part = std::min(size, sizeof(sample));
  uint64_t h = size;
  for (const std::string& text : dense.dense_strings()) h = Mix(h, std::hash<std::string>()(text));
  if (constexpr size_t kSmall = 8192; part < size && size <= kSmall) {
    std::array<uint64_t, kSmall / sizeof(uint64_t)> words;
    words[(size - 1) / sizeof(uint64_t)] = 0;
    dense.Read(0, std::as_writable_bytes(std::span(words)).first(size));
    for (size_t i = 0; i * sizeof(uint64_t) < size; ++i) h = Mix(h, words[i]);
    return h;
  }
  for (const size_t last : {part, (size + part) / 2, size}) {
    sample = {};
    const size_t begin =
        (last - part) / sizeof(sample) * sizeof(sample);  // where an element begins
    dense.Read(begin,
               std::as_writable_bytes(std::span(sample)).first(std::min(part, size - begin)));
    for (const uint64_t word : sample) h = Mix(h, word);
    if (last == size) break;
  }
  return h;
}

inline uint32_t Merger::Hash(uint32_t op, bool commutes) const {
  const uint32_t num_results = NumResults(op), num_operands = view_.num_operands(op);
  uint64_t h = Mix(uint64_t{num_results} << 16 | view_.opcode(op), num_operands);
  // Types may differ in what they know; only constants have them in full.
  if (num_operands == 0) h = Mix(h, view_.type(view_.result(op, 0)));
  if (const ir::Attribute dense = LargeConstant(op)) {
    h = Mix(h, HashOf(dense));
  } else {
    h = Mix(h, view_.attrs(op));
    for (uint32_t i = 0; i < num_operands; ++i) h = Mix(h, OperandInOrder(op, i, commutes));
  }
  return static_cast<uint32_t>(h);
}

inline bool Merger::CanMeet(uint32_t a, uint32_t b, uint32_t result) const {
  const Operation kept = view_.OperationAt(a), merged = view_.OperationAt(b);
  return kept.block() == merged.block() &&
         ir::MeetTypes(merged.result(result), kept.result(result));
}

// Reads no more of contents in files than it takes to find a difference.
bool HaveSameBytes(ir::Attribute a, ir::Attribute b) {
  if (a.num_bytes() != b.num_bytes()) return false;
  constexpr size_t kChunk = 64 * 1024;
  std::vector<std::byte> x(std::min(kChunk, a.num_bytes())), y(x.size());
  for (size_t at = 0; at < a.num_bytes(); at += kChunk) {
    const size_t size = std::min(kChunk, a.num_bytes() - at);
    a.Read(at, std::span(x).first(size));
    b.Read(at, std::span(y).first(size));
    if (std::memcmp(x.data(), y.data(), size) != 0) return false;
  }
  return true;
}

bool Merger::Same(uint32_t a, uint32_t b, bool commutes) const {
  const uint32_t num_results = NumResults(a), num_operands = view_.num_operands(a);
  if (view_.opcode(a) != view_.opcode(b) || num_results != NumResults(b) ||
      num_operands != view_.num_operands(b))
    return false;
  for (uint32_t i = 0; i < num_results; ++i)
    if (view_.type(view_.result(a, i)) != view_.type(view_.result(b, i)) && !CanMeet(a, b, i))
      return false;
  const ir::Attribute x = LargeConstant(a), y = LargeConstant(b);
  if (x && y) {
    if (x == y) return true;
    return x.dense_strings() == y.dense_strings() && HaveSameBytes(x, y);
  }
  if (view_.attrs(a) != view_.attrs(b)) return false;
  for (uint32_t i = 0; i < num_operands; ++i)
    if (OperandInOrder(a, i, commutes) != OperandInOrder(b, i, commutes)) return false;
  return true;
}

class CommonSubexpressionElimination : public Pass {
 public:
  CommonSubexpressionElimination()
      : Pass("common-subexpression-elimination", "computes equal things once",
             {.seed = "ai-system"}) {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    Merger merger(program, trace_);
    merger.RunOnBlock(program.body(), false);
    if (merger.merged() == 0) return absl::OkStatus();
    Count("operations merged", merger.merged());
    MarkChanged();
    return absl::OkStatus();
  }

 private:
  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(CommonSubexpressionElimination);

}  // namespace
}  // namespace weft::passes
