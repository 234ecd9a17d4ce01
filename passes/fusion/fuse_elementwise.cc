// fuse-elementwise: a group of elementwise ops becomes one op that passes over memory once.
// Seed: ai_system_graph_optimization.md, 5.2.5 operator fusion.
//
//   relu(x * y + z)  =>  elementwise(x, y, z) { relu(x * y + z) }
//
// A group grows from its last op towards the inputs: an op joins when all its users have joined, so
// nothing but the last result leaves the group and no path can leave it and come back. All its ops
// have one shape, known to be the same; a smaller one would be computed again for every element that
// it is broadcast to, and stays outside as an input. No number changes: each op of the body is
// computed and rounded as it was.
#include <algorithm>
#include <queue>
#include <unordered_set>

#include "ir/clone.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/infer.h"
#include "ir/origin/origin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using ir::Operation;
using ir::Value;

// Ops of one group; what is left of longer chains is the next group.
constexpr size_t kMaxOps = 32;

bool IsOfFusableType(Value value) {
  return value.type().IsTensor() &&
         (value.type().dtype() == DataType::kF32 || value.type().dtype() == DataType::kBool);
}

bool IsShapeKnown(ir::Type type) {
  return type.HasRank() && std::all_of(type.dims().begin(), type.dims().end(),
                                       [](int64_t dim) { return dim != ir::kUnknownDim; });
}

// Sums of three round once.
bool HasOwnLoop(Operation op) {
  const bool is_variadic = op.Is<ops::Min>() || op.Is<ops::Max>() || op.Is<ops::Sum>();
  return op.HasTrait(ir::kOwnLoop) || (is_variadic && op.num_operands() != 2);
}

// The sums of integer products, on their way to be scaled.
bool ConvertsIntegers(Operation op) {
  return op.Is<ops::Cast>() && op.operand(0).type().IsTensor() &&
         op.operand(0).type().dtype() == DataType::kI32 &&
         op.result().type().dtype() == DataType::kF32;
}

bool CanJoin(Operation op) {
  if (!ir::fused::Elementwise::MayHold(op) || HasOwnLoop(op)) return false;
  if (!IsOfFusableType(op.result()) || !IsShapeKnown(op.result().type())) return false;
  if (ConvertsIntegers(op)) return true;
  const std::vector<Value> operands = op.operands().vec();
  return std::all_of(operands.begin(), operands.end(),
                     [](Value v) { return !v || IsOfFusableType(v); });
}

bool HasShapeOf(Operation op, Operation other) {
  const auto a = op.result().type().dims(), b = other.result().type().dims();
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

class FuseElementwise : public Pass {
 public:
  FuseElementwise()
      : Pass("fuse-elementwise", "groups of elementwise operations become one loop over memory",
             {.seed = "ai-system"}) {}
  absl::Status Initialize(ir::IrContext& context, const PassContext&) override;
  absl::Status Run(ir::Program& program) override;

 private:
  // In the order of the block; the last one is `root`. Every op that may join is looked at after all
  // that come behind it, so all its users that ever will have joined.
  static std::vector<Operation> Grow(Operation root);
  // Whether only `members` use the op. Their operands are few, so many users need not be listed.
  static bool IsUsedOnlyBy(const std::unordered_set<uint32_t>& members, Operation op);
  static std::vector<Value> InputsOf(const std::vector<Operation>& group);
  // False when the shape of the group does not follow from its inputs: a model may state more about
  // a result, and the bounds of a Clip do not broadcast with it.
  static bool Fuse(const std::vector<Operation>& group, ir::Rewriter& rewriter);
  // Moves the group into the op.
  static void FillBody(const std::vector<Operation>& group, Operation fused,
                       ir::Rewriter& rewriter);

  RewriteTrace* trace_ = nullptr;
};

absl::Status FuseElementwise::Initialize(ir::IrContext& context, const PassContext& pass_context) {
  ir::LoadFusedDialect(context);
  trace_ = pass_context.trace;
  return absl::OkStatus();
}

absl::Status FuseElementwise::Run(ir::Program& program) {
  std::vector<Operation> roots;
  ir::Walk(program, [&](Operation op) {
    if (CanJoin(op) && !op.ParentOp().HasTrait(ir::kBodyInRegion)) roots.push_back(op);
  });
  TracedRewriter rewriter(program, trace_);
  for (; !roots.empty(); roots.pop_back()) {
    if (!roots.back().IsAlive()) continue;
    const std::vector<Operation> group = Grow(roots.back());
    if (group.size() < 2) continue;
    if (rewriter.AtLimit()) break;
    rewriter.Begin("fuse", roots.back());
    if (!Fuse(group, rewriter)) continue;
    rewriter.Commit();
    Count("groups fused");
    Count("operations fused", group.size());
    MarkChanged();
  }
  return absl::OkStatus();
}

std::vector<Operation> FuseElementwise::Grow(Operation root) {
  const auto is_earlier = [](Operation a, Operation b) { return a.IsBefore(b); };
  std::priority_queue<Operation, std::vector<Operation>, decltype(is_earlier)> next(is_earlier);
  std::unordered_set<uint32_t> seen, members;
  std::vector<Operation> group;
  const auto add = [&](Operation op) {
    group.push_back(op);
    members.insert(op.id());
    for (const Value operand : op.operands())
      if (operand && !operand.IsBlockArgument() && operand.ParentBlock() == root.block() &&
          seen.insert(operand.DefiningOp().id()).second)
        next.push(operand.DefiningOp());
  };
  for (add(root); !next.empty() && group.size() < kMaxOps;) {
    const Operation op = next.top();
    next.pop();
    if (CanJoin(op) && HasShapeOf(op, root) && IsUsedOnlyBy(members, op)) add(op);
  }
  std::reverse(group.begin(), group.end());
  return group;
}

bool FuseElementwise::IsUsedOnlyBy(const std::unordered_set<uint32_t>& members, Operation op) {
  constexpr size_t kMostOperands = 3;
  if (op.result().use_count() > kMostOperands * members.size()) return false;
  for (const Operation user : op.result().users())
    if (!members.contains(user.id())) return false;
  return true;
}

std::vector<Value> FuseElementwise::InputsOf(const std::vector<Operation>& group) {
  std::unordered_set<uint32_t> known;
  std::vector<Value> inputs;
  for (const Operation op : group) {
    for (const Value operand : op.operands())
      if (operand && known.insert(operand.id()).second) inputs.push_back(operand);
    known.insert(op.result().id());
  }
  return inputs;
}

bool FuseElementwise::Fuse(const std::vector<Operation>& group, ir::Rewriter& rewriter) {
  const Operation root = group.back();
  ir::OperationState state{.opcode = ir::kOpcodeOf<ir::fused::Elementwise>,
                           .operands = InputsOf(group),
                           .num_regions = 1,
                           .location = root.location()};
  std::string error;
  const ir::Type type = root.result().type();
  if (!ir::InferResultTypes(root.context(), state, 1, &state.result_types, &error)) return false;
  if (!state.result_types[0] ||
      !(root.context()->TensorType(type.dtype(), state.result_types[0].dims()) == type))
    return false;
  state.result_types = {type};
  rewriter.SetInsertionPoint(root);
  FillBody(group, rewriter.Create(std::move(state)), rewriter);
  return true;
}

void FuseElementwise::FillBody(const std::vector<Operation>& group, Operation fused,
                               ir::Rewriter& rewriter) {
  const ir::Block body = rewriter.AppendBlock(fused.region(0));
  ir::ValueMap map;
  for (const Value input : fused.operands())
    map.Set(input, rewriter.AddArgument(body, input.type()));
  rewriter.SetInsertionPointToEnd(body);
  for (const Operation op : group) ir::CloneOperation(rewriter, op, map);
  rewriter.Create(
      {.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = {map.Get(group.back().result())}});
  ir::AddSources(fused, group);
  rewriter.Replace(group.back(), {fused.result()});
  for (size_t i = group.size() - 1; i-- > 0;) rewriter.Erase(group[i]);
}
WEFT_REGISTER_PASS(FuseElementwise);

}  // namespace
}  // namespace weft::passes
