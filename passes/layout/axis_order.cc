#include "passes/layout/axis_order.h"

#include <algorithm>
#include <string_view>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx.h"

namespace weft::passes {

using ir::Attribute;
using ir::AttrKind;
using ir::Ints;
using ir::Operation;
using ir::Type;
using ir::Value;
namespace ops = ir::ops;

namespace {

using Roles = std::vector<AxisRole>;

bool HasRank(Value value, size_t rank) {
  return value && value.type().HasRank() && static_cast<size_t>(value.type().rank()) == rank;
}

// Of an elementwise operation, which broadcasts its operands.
std::optional<AxisRole> RoleInBroadcast(Value operand, size_t rank) {
  if (!operand) return AxisRole::kNone;
  const Type type = operand.type();
  if (!type.HasRank() || static_cast<size_t>(type.rank()) > rank) return std::nullopt;
  if (type.NumElements() == 1) return AxisRole::kNone;
  if (ir::Contents(operand))
    return type.IsStatic() ? std::optional(AxisRole::kConstant) : std::nullopt;
  return HasRank(operand, rank) ? std::optional(AxisRole::kFollows) : std::nullopt;
}

// With one scale, and that of no block, which has the rank of x.
template <class Op>
bool IsPerTensor(Operation op) {
  if (!op.Is<Op>() || op.attrs_of<Op>().block_size != 0) return false;
  const std::vector<Value> operands = op.operands().vec();
  return std::all_of(operands.begin() + 1, operands.end(),
                     [](Value v) { return !v || v.type().NumElements() == 1; });
}

bool IsReduction(Operation op) {
  return op.Is<ops::ReduceMean>() || op.Is<ops::ReduceMax>() || op.Is<ops::ReduceMin>() ||
         op.Is<ops::ReduceSum>() || op.Is<ops::ReduceProd>() || op.Is<ops::ReduceL1>() ||
         op.Is<ops::ReduceL2>() || op.Is<ops::ReduceSumSquare>() || op.Is<ops::ReduceLogSum>() ||
         op.Is<ops::ReduceLogSumExp>();
}

// Its attribute that lists axes, or is one; null where it has none.
struct Axes {
  std::string_view name;
  Attribute value;
};
Axes AxesOf(Operation op) {
  ir::IrContext& context = *op.program()->context();
  if (op.Is<ops::Concat>()) return {"axis", context.IntAttr(op.attrs_of<ops::Concat>().axis)};
  if (op.Is<ops::Split>()) return {"axis", context.IntAttr(op.attrs_of<ops::Split>().axis)};
  return IsReduction(op) ? Axes{"axes", op.attr("axes")} : Axes{};
}

// As those of x, of which the operation reads transpose(x, perm); null where one is none.
Attribute MovedAxes(ir::IrContext& context, Attribute axes, const Ints& perm) {
  const bool is_one = axes.Is(AttrKind::kInt);
  std::optional<Ints> list = AxesBefore(perm, is_one ? Ints{axes.AsInt()} : axes.AsInts());
  if (!list) return {};
  std::ranges::sort(*list);
  return is_one ? context.IntAttr((*list)[0]) : context.IntsAttr(*list);
}

bool AreAxes(ir::IrContext& context, const Axes& axes, size_t rank) {
  if (!axes.value) return true;
  if (!axes.value.Is(AttrKind::kInt) && !axes.value.Is(AttrKind::kInts)) return false;
  return static_cast<bool>(MovedAxes(context, axes.value, Ints(rank)));
}

// With sizes of 1 in front where its rank is a lower one.
Value MovedConstant(ir::Rewriter& rewriter, Value constant, const Ints& perm) {
  Ints sizes(constant.type().dims().begin(), constant.type().dims().end());
  if (sizes.size() < perm.size()) {
    sizes.insert(sizes.begin(), perm.size() - sizes.size(), 1);
    constant =
        rewriter.Make<ops::Reshape>({constant, rewriter.ConstantInts(sizes)}, {.allowzero = 1});
  }
  return rewriter.Make<ops::Transpose>({constant}, {.perm = InverseOf(perm)});
}

// Of an operation whose first operand alone has axes.
Roles FirstFollows(Operation op, AxisRole second = AxisRole::kNone) {
  Roles roles(op.num_operands(), AxisRole::kNone);
  roles[0] = AxisRole::kFollows;
  if (roles.size() > 1) roles[1] = second;
  return roles;
}

}  // namespace

Ints InverseOf(const Ints& perm) {
  Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

std::optional<Ints> AxesBefore(const Ints& p, const Ints& axes) {
  const auto rank = static_cast<int64_t>(p.size());
  Ints before;
  for (int64_t axis : axes) {
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank) return std::nullopt;
    before.push_back(p[static_cast<size_t>(axis)]);
  }
  return before;
}

std::optional<Ints> PadsBefore(const Ints& p, const std::optional<Ints>& pads,
                               const std::optional<Ints>& axes) {
  const std::optional<Ints> padded = axes ? AxesBefore(p, *axes) : p;
  if (!pads || !padded || pads->size() != 2 * padded->size()) return std::nullopt;
  Ints all(2 * p.size());
  for (size_t i = 0; i < padded->size(); ++i) {
    const auto axis = static_cast<size_t>((*padded)[i]);
    all[axis] = (*pads)[i];
    all[axis + p.size()] = (*pads)[i + padded->size()];
  }
  return all;
}

std::optional<Roles> AxisRolesOf(Operation op, size_t rank, bool exact) {
  if (op.num_regions() > 0 || op.num_results() == 0 || op.num_operands() == 0 ||
      !op.HasTrait(ir::kPure) || op.HasTrait(ir::kRandom))
    return std::nullopt;
  for (const Value result : op.results())
    if (!HasRank(result, rank)) return std::nullopt;
  if (!AreAxes(*op.program()->context(), AxesOf(op), rank)) return std::nullopt;
  const bool is_concat = op.Is<ops::Concat>();
  if (op.HasTrait(ir::kElementwise) || is_concat) {
    // What ONNX Runtime adds broadcasts in ways of its own.
    if (op.num_operands() > 1 && !op.name().starts_with("onnx.")) return std::nullopt;
    Roles roles;
    for (const Value operand : op.operands()) {
      const std::optional<AxisRole> role = RoleInBroadcast(operand, rank);
      if (!role || (is_concat && !HasRank(operand, rank))) return std::nullopt;
      roles.push_back(*role);
    }
    return std::ranges::count(roles, AxisRole::kFollows) > 0 ? std::optional(roles) : std::nullopt;
  }
  if (!HasRank(op.operand(0), rank) || ir::Contents(op.operand(0))) return std::nullopt;
  if (op.Is<ops::Split>()) return FirstFollows(op);
  if (IsReduction(op)) {
    const Attribute keepdims = op.attr("keepdims");
    const bool keeps = !keepdims.Is(AttrKind::kInt) || keepdims.AsInt() != 0;
    return keeps && !exact ? std::optional(FirstFollows(op)) : std::nullopt;
  }
  if (IsPerTensor<ops::QuantizeLinear>(op) || IsPerTensor<ops::DequantizeLinear>(op))
    return FirstFollows(op);
  if (op.Is<ops::Pad>()) {
    const std::optional<Ints> pads = ir::ConstantInts(op.operand(1));
    const bool lists_axes = op.num_operands() > 3 && op.operand(3);
    if (pads && pads->size() == 2 * rank && !lists_axes) return FirstFollows(op, AxisRole::kPads);
  }
  return std::nullopt;
}

Operation CreateInOrder(ir::Rewriter& rewriter, Operation op, const Roles& roles,
                        const std::vector<Value>& followers, const Ints& perm) {
  ir::IrContext& context = *rewriter.context();
  ir::OperationState state{.opcode = op.opcode(), .attrs = op.attrs()};
  if (const Axes axes = AxesOf(op); axes.value)
    state.attrs =
        context.With(state.attrs, ir::Name(axes.name), MovedAxes(context, axes.value, perm));
  for (size_t i = 0, follower = 0; i < roles.size(); ++i) {
    const Value operand = op.operand(static_cast<uint32_t>(i));
    const AxisRole role = roles[i];
    state.operands.push_back(role == AxisRole::kFollows    ? followers[follower++]
                             : role == AxisRole::kConstant ? MovedConstant(rewriter, operand, perm)
                             : role == AxisRole::kPads     ? rewriter.ConstantInts(*PadsBefore(
                                                                 perm, ir::ConstantInts(operand), {}))
                                                           : operand);
  }
  for (const Value result : op.results()) {
    ir::Shape shape(perm.size());
    for (size_t i = 0; i < perm.size(); ++i)
      shape[static_cast<size_t>(perm[i])] = result.type().dim(static_cast<int64_t>(i));
    state.result_types.push_back(context.TensorType(result.type().dtype(), shape));
  }
  return rewriter.Create(std::move(state));
}

}  // namespace weft::passes
