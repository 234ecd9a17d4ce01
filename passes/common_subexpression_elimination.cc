// common-subexpression-elimination: of two pure ops with the same name, operands, attributes and
// result types, the later reads the earlier one's results. Operands of commutative ops are compared
// unordered. Constants are compared by content. Ops with regions and random ops are left alone; an
// op is replaced only by one that dominates it (in its block, or in an enclosing block before it).
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

using ir::Operation;

class CommonSubexpressionElimination : public Pass {
 public:
  CommonSubexpressionElimination()
      : Pass("common-subexpression-elimination", "computes equal things once") {}

  absl::Status Run(ir::Program& program) override {
    ir::Rewriter rewriter(&program);
    scopes_.clear();
    RunOnBlock(program.body(), rewriter);
    return absl::OkStatus();
  }

 private:
  using Scope = std::unordered_multimap<uint64_t, Operation>;

  // Recursion is over nesting of regions only, which importer and parser bound.
  void RunOnBlock(ir::Block block, ir::Rewriter& rewriter) {
    scopes_.emplace_back();
    for (Operation op : block) {
      for (uint32_t i = 0; i < op.num_regions(); ++i) {
        std::vector<Scope> outer;
        if (op.HasTrait(ir::kIsolated)) outer.swap(scopes_);
        for (ir::Block inner : op.region(i).blocks()) RunOnBlock(inner, rewriter);
        if (op.HasTrait(ir::kIsolated)) scopes_.swap(outer);
      }
      if (!Eligible(op)) continue;
      const uint64_t hash = Hash(op);
      if (const Operation same = Find(op, hash)) {
        rewriter.Replace(op, same.results().vec());
        Count("operations merged");
        MarkChanged();
      } else {
        scopes_.back().emplace(hash, op);
      }
    }
    scopes_.pop_back();
  }

  static bool Eligible(Operation op) {
    return op.HasTrait(ir::kPure) && !op.HasTrait(ir::kRandom) && op.num_regions() == 0 &&
           op.num_results() > 0;
  }

  static std::vector<ir::Value> SortedOperands(Operation op) {
    std::vector<ir::Value> operands = op.operands().vec();
    if (op.HasTrait(ir::kCommutative) && operands.size() >= 2 &&
        operands[1].id() < operands[0].id())
      std::swap(operands[0], operands[1]);
    return operands;
  }

  static ir::Attribute LargeConstant(Operation op) {
    if (!op.Is<ir::ConstantOp>()) return {};
    const ir::Attribute value = op.attr("value");
    return value && value.Is(ir::AttrKind::kDense) && !value.IsElided() ? value : ir::Attribute();
  }

  static uint64_t Mix(uint64_t h, uint64_t x) {  // splitmix64's finaliser over a running sum
    h += x + 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
  }

  static uint64_t Hash(Operation op) {
    uint64_t h = Mix(op.opcode().id(), op.num_results());
    for (ir::Value v : op.results()) h = Mix(h, v.type().id());
    if (const ir::Attribute dense = LargeConstant(op)) {
      // Size and a sample: contents are compared in full when hashes agree.
      const auto bytes = dense.bytes();
      h = Mix(h, bytes.size());
      const size_t step = std::max<size_t>(1, bytes.size() / 64);
      for (size_t i = 0; i < bytes.size(); i += step) h = Mix(h, static_cast<uint64_t>(bytes[i]));
      return h;
    }
    h = Mix(h, op.attrs().id());
    for (ir::Value v : SortedOperands(op)) h = Mix(h, v ? v.id() : ir::kNoId);
    return h;
  }

  static bool Same(Operation a, Operation b) {
    if (!(a.opcode() == b.opcode()) || a.num_results() != b.num_results()) return false;
    for (uint32_t i = 0; i < a.num_results(); ++i)
      if (!(a.result(i).type() == b.result(i).type())) return false;
    const ir::Attribute x = LargeConstant(a), y = LargeConstant(b);
    if (x && y) {
      if (x == y) return true;
      if (x.dense_strings() != y.dense_strings()) return false;
      const auto p = x.bytes(), q = y.bytes();
      return p.size() == q.size() && (p.empty() || std::memcmp(p.data(), q.data(), p.size()) == 0);
    }
    return a.attrs() == b.attrs() && SortedOperands(a) == SortedOperands(b);
  }

  Operation Find(Operation op, uint64_t hash) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto [begin, end] = scope->equal_range(hash);
      for (auto it = begin; it != end; ++it)
        if (Same(it->second, op)) return it->second;
    }
    return {};
  }

  std::vector<Scope> scopes_;  // of the blocks around the current op, innermost last
};
WEFT_REGISTER_PASS(CommonSubexpressionElimination);

}  // namespace
}  // namespace weft::passes
