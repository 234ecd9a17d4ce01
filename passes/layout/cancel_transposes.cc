// cancel-transposes: operations between transposes are computed in the order of axes that leaves the fewest of
// them, whatever runs the program:
//   transpose(relu(transpose(x, p)), inverse(p)) => relu(x)
// Operations that are as good in either order of axes, what stands in front of the transposes by p or what stands
// behind them, are put into one of two sides. A value that is read on the side where it is not made costs one
// transpose, whoever reads it, so the sides that cost the least are a minimum cut.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/dialects/onnx.h"
#include "ir/walk.h"
#include "passes/layout/axis_order.h"
#include "passes/layout/minimum_cut.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

using ir::Ints;
using ir::Operation;
using ir::Value;
namespace ops = ir::ops;

// Of a Transpose that moves something.
std::optional<Ints> PermOf(Operation op) {
  if (!op.Is<ops::Transpose>()) return std::nullopt;
  const std::optional<Ints> perm = op.attrs_of<ops::Transpose>().perm;
  return perm && !std::is_sorted(perm->begin(), perm->end()) ? perm : std::nullopt;
}

// In front of transposes by p, or behind them. A transpose by the inverse of p leads back.
enum class Side : uint8_t { kFront, kBehind };
Side Other(Side side) { return side == Side::kFront ? Side::kBehind : Side::kFront; }

// The operations of one block around its transposes by one permutation and by the inverse of it.
class Sides {
 public:
  // What may be moved: `folds`: constants too, which folding computes; `exact`: no sums.
  struct Limits {
    bool folds = true, exact = false;
  };
  Sides(ir::Block block, const Ints& perm, Limits limits)
      : block_(block), perm_(perm), inverse_(InverseOf(perm)), limits_(limits) {
    std::vector<Operation> transposes;
    for (const Operation op : block)
      if (IsTranspose(op)) transposes.push_back(op);
    if (transposes.size() < 2) return;
    for (const Operation transpose : transposes) {
      const Value x = transpose.operand(0);
      if (!side_of_.contains(x.id()) && !side_of_.contains(transpose.result().id()))
        Put(x, SideInFrontOf(transpose));
      while (!put_.empty()) {
        const Value value = put_.back();
        put_.pop_back();
        Spread(value);
      }
    }
    for (const Operation op : block)
      if (const auto movable = movables_.find(op.id()); movable != movables_.end())
        in_order_.push_back(&movable->second);
  }

  // Whether other sides leave fewer transposes; they are what Apply() makes.
  bool Improve() {
    MinimumCut cut;
    for (Movable* m : in_order_) {
      m->node = cut.AddNode();
      if (m->side == Side::kFront)
        cut.AddEdge(MinimumCut::kSource, m->node, kMovePrice);
      else
        cut.AddEdge(m->node, MinimumCut::kSink, kMovePrice);
    }
    int64_t transposes = 0;
    for (const auto& [root, versions] : Versions()) transposes += AddPrice(versions, cut);
    if (transposes == 0 || cut.Solve() / kTransposePrice >= transposes) return false;
    std::erase_if(in_order_, [&](const Movable* m) {
      return cut.IsWithSource(m->node) == (m->side == Side::kFront);
    });
    return true;
  }
  // After Improve(): what goes to the other side, in the order of the block.
  size_t num_moved() const { return in_order_.size(); }
  Operation first_moved() const { return in_order_[0]->op; }

  void Apply(ir::Rewriter& rewriter) {
    std::set<uint32_t> roots, went;  // of values that others read or make now; operations that go
    for (const Movable* m : in_order_) {
      Move(*m, rewriter);
      went.insert(m->op.id());
      for (const Value result : m->op.results()) roots.insert(result.id());
      for (size_t i = 0; i < m->roles.size(); ++i)
        if (m->roles[i] == AxisRole::kFollows)
          roots.insert(RootOf(m->op.operand(static_cast<uint32_t>(i))).id());
    }
    for (const Operation turn : turns_)
      if (roots.contains(RootOf(turn.result()).id())) went.insert(turn.id());
    std::vector<std::pair<Operation, std::vector<Value>>> going;  // with what its results come from
    for (const Operation op : block_) {
      if (!went.contains(op.id())) continue;
      going.emplace_back(op, std::vector<Value>());
      for (const Value result : op.results()) going.back().second.push_back(RootOf(result));
    }
    for (size_t i = going.size(); i-- > 0;) {  // those that read others first
      const auto& [op, its_roots] = going[i];
      std::vector<Value> values;
      for (const Value result : op.results())
        values.push_back(result.IsUnused()
                             ? Value()
                             : ValueOn(its_roots[result.index()], SideOf(result), rewriter));
      rewriter.Replace(op, values);
    }
  }

 private:
  struct Movable {
    Operation op;
    std::vector<AxisRole> roles;
    Side side;  // where it stands
    size_t node = 0;
  };
  // Fewer transposes first, then fewer operations that move.
  static constexpr int64_t kTransposePrice = int64_t{1} << 24, kMovePrice = 1;

  bool IsTranspose(Operation op) const {
    const std::optional<Ints> perm = PermOf(op);
    return perm && (*perm == perm_ || *perm == inverse_);
  }
  Side SideInFrontOf(Operation transpose) const {
    return *PermOf(transpose) == perm_ ? Side::kFront : Side::kBehind;
  }
  Side SideOf(Value value) const { return side_of_.at(value.id()); }
  void Put(Value value, Side side) {
    if (side_of_.emplace(value.id(), side).second) put_.push_back(value);
  }
  bool CanPut(Value value, Side side) const {
    const auto there = side_of_.find(value.id());
    return there == side_of_.end() || there->second == side;
  }

  // The sides of what makes and what reads it follow. What would stand on both stays what it is.
  void Spread(Value value) {
    std::vector<Operation> around = value.users();
    if (!value.IsBlockArgument()) around.push_back(value.DefiningOp());
    for (const Operation op : around) {
      if (!(op.block() == block_)) continue;
      if (IsTranspose(op))
        AddTurn(op, value);
      else
        AddMovable(op, value);
    }
  }
  void AddTurn(Operation transpose, Value value) {
    if (turn_ids_.contains(transpose.id())) return;
    const bool reads = transpose.operand(0) == value;
    const Side front = reads ? SideOf(value) : Other(SideOf(value));
    const bool is_its = perm_ == inverse_ || front == SideInFrontOf(transpose);
    if (!is_its || !CanPut(transpose.operand(0), front) ||
        !CanPut(transpose.result(), Other(front)))
      return;
    turns_.push_back(transpose);
    turn_ids_.insert(transpose.id());
    Put(transpose.operand(0), front);
    Put(transpose.result(), Other(front));
  }
  void AddMovable(Operation op, Value value) {
    if (movables_.contains(op.id())) return;
    std::optional<std::vector<AxisRole>> roles = AxisRolesOf(op, perm_.size(), limits_.exact);
    if (!roles || (!limits_.folds && std::ranges::count(*roles, AxisRole::kConstant) > 0)) return;
    std::vector<Value> all = op.results().vec();
    for (size_t i = 0; i < roles->size(); ++i)
      if ((*roles)[i] == AxisRole::kFollows) all.push_back(op.operand(static_cast<uint32_t>(i)));
    const Side side = SideOf(value);
    if (std::ranges::count(all, value) == 0 ||
        !std::ranges::all_of(all, [&](Value v) { return CanPut(v, side); }))
      return;
    for (const Value v : all) Put(v, side);
    movables_.emplace(op.id(), Movable{op, *std::move(roles), side});
  }

  // What is transposed to it, perhaps more than once.
  Value RootOf(Value value) const {
    while (!value.IsBlockArgument() && turn_ids_.contains(value.DefiningOp().id()))
      value = value.DefiningOp().operand(0);
    return value;
  }
  // Of each root, it and what transposes make of it.
  std::map<uint32_t, std::vector<Value>> Versions() const {
    std::map<uint32_t, std::vector<Value>> versions;
    std::set<uint32_t> seen;
    const auto add = [&](Value value) {
      const Value root = RootOf(value);
      if (seen.insert(root.id()).second) versions[root.id()].push_back(root);
      if (value != root && seen.insert(value.id()).second) versions[root.id()].push_back(value);
    };
    for (const Operation turn : turns_) add(turn.result());
    for (const Movable* m : in_order_) {
      for (const Value result : m->op.results()) add(result);
      for (const Value operand : m->op.operands())
        if (operand && side_of_.contains(operand.id())) add(operand);
    }
    return versions;
  }

  // One transpose where somebody reads it on the side where it is not made. Whether that is so now.
  bool AddPrice(const std::vector<Value>& versions, MinimumCut& cut) {
    const auto end_of = [](Side side) {
      return side == Side::kFront ? MinimumCut::kSource : MinimumCut::kSink;
    };
    const Value root = versions[0];
    const Movable* maker = root.IsBlockArgument() ? nullptr : Find(root.DefiningOp());
    const size_t made = maker ? maker->node : end_of(SideOf(root));
    bool is_transposed = false;
    std::set<size_t> readers;
    for (const Value version : versions)
      for (const ir::OpOperand use : version.uses()) {
        if (turn_ids_.contains(use.owner().id())) continue;
        const Movable* reader = Find(use.owner());
        const bool follows = reader && reader->roles[use.index()] == AxisRole::kFollows;
        readers.insert(follows ? reader->node : end_of(SideOf(version)));
        is_transposed |= SideOf(version) != SideOf(root);
      }
    readers.erase(made);
    if (readers.empty()) return is_transposed;
    const size_t to_behind = cut.AddNode(), to_front = cut.AddNode();
    cut.AddEdge(made, to_behind, kTransposePrice);
    cut.AddEdge(to_front, made, kTransposePrice);
    for (const size_t reader : readers) {
      cut.AddEdge(to_behind, reader, MinimumCut::kNever);
      cut.AddEdge(reader, to_front, MinimumCut::kNever);
    }
    return is_transposed;
  }
  const Movable* Find(Operation op) const {
    const auto movable = movables_.find(op.id());
    return movable == movables_.end() ? nullptr : &movable->second;
  }

  void Move(const Movable& m, ir::Rewriter& rewriter) {
    const Side side = Other(m.side);
    std::vector<Value> followers;
    for (size_t i = 0; i < m.roles.size(); ++i)
      if (m.roles[i] == AxisRole::kFollows)
        followers.push_back(
            ValueOn(RootOf(m.op.operand(static_cast<uint32_t>(i))), side, rewriter));
    rewriter.SetInsertionPoint(m.op);
    rewriter.set_location(m.op.location());
    const Operation moved =
        CreateInOrder(rewriter, m.op, m.roles, followers, side == Side::kFront ? perm_ : inverse_);
    for (const Value result : m.op.results())
      made_[{result.id(), side}] = moved.result(result.index());
  }
  // A root, or its transpose, which is then made where the root is.
  Value ValueOn(Value root, Side side, ir::Rewriter& rewriter) {
    const auto made = [&](Side s) {
      const auto there = made_.find({root.id(), s});
      return there == made_.end() ? Value() : there->second;
    };
    if (const Value there = made(side)) return there;
    Value other = made(Other(side));
    if (!other) {  // nothing has moved it
      if (SideOf(root) == side) return root;
      other = root;
    }
    const Operation maker = other.IsBlockArgument() ? Operation() : other.DefiningOp();
    if (maker && maker.block() == block_) {
      rewriter.SetInsertionPointAfter(maker);
      rewriter.set_location(maker.location());
    } else {
      rewriter.SetInsertionPointToStart(block_);
      rewriter.set_location({});
    }
    return made_[{root.id(), side}] = rewriter.Make<ops::Transpose>(
               {other}, {.perm = side == Side::kBehind ? perm_ : inverse_});
  }

  const ir::Block block_;
  const Ints perm_, inverse_;
  const Limits limits_;
  std::unordered_map<uint32_t, Side> side_of_;  // where a value is read and made now
  std::vector<Value> put_;                      // of those, whose neighbours have no side yet
  std::vector<Operation> turns_;                // transposes from one side to the other
  std::unordered_set<uint32_t> turn_ids_;
  std::unordered_map<uint32_t, Movable> movables_;
  std::vector<Movable*> in_order_;  // all, and after Improve() those that are moved
  std::map<std::pair<uint32_t, Side>, Value> made_;  // by roots
};

class CancelTransposes : public Pass {
 public:
  CancelTransposes()
      : Pass("cancel-transposes",
             "operations between transposes in the order of axes that leaves the fewest",
             {.numerics = drr::NumericClass::kReassociates, .honours_numerics = true}) {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    limits_ = {.folds = pass_context.fold_constants,
               .exact = pass_context.numerics == drr::NumericClass::kExact};
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    std::map<uint32_t, std::pair<ir::Block, std::set<Ints>>>
        perms;  // by block, without their inverses
    ir::Walk(program, [&](Operation op) {
      const std::optional<Ints> perm = PermOf(op);
      if (!perm) return;
      auto& [block, all] = perms[op.block().id()];
      block = op.block();
      if (!all.contains(InverseOf(*perm))) all.insert(*perm);
    });
    TracedRewriter rewriter(program, trace_);
    for (const auto& [id, of_block] : perms)
      for (const Ints& perm : of_block.second) {
        Sides sides(of_block.first, perm, limits_);
        if (!sides.Improve()) continue;
        if (rewriter.AtLimit()) return absl::OkStatus();
        rewriter.Begin("cancel", sides.first_moved());
        sides.Apply(rewriter);
        rewriter.Commit();
        Count("operations moved", sides.num_moved());
        MarkChanged();
      }
    return absl::OkStatus();
  }

 private:
  RewriteTrace* trace_ = nullptr;
  Sides::Limits limits_;
};
WEFT_REGISTER_PASS(CancelTransposes);

}  // namespace
}  // namespace weft::passes
