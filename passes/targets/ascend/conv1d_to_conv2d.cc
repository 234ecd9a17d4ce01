// conv1d-to-conv2d: runs 1-D convolutions, and what lies between them, on images of height 1, for
// hardware without 1-D convolution. Seed: ascend_knowledge_base.md, Conv1d2Conv2d.
//
//   relu(conv(x, w))  =>  squeeze(relu(conv(unsqueeze(x, 2), w as [O, I, 1, k])), 2)
//
// A value enters and leaves such a region once. The seed writes the first pad twice, which is wrong
// for asymmetric pads, and gives constants of rank 2 their new dimension in the wrong place.
#include <unordered_set>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/ascend/retype.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

constexpr size_t kRank = 3;     // of [N, C, L]
constexpr int64_t kHeight = 2;  // the new dimension: [N, C, 1, L]

bool IsRank3(ir::Value v) { return v && v.type().HasRank() && v.type().rank() == kRank; }

// The slots of op that get the new dimension; none when op cannot be in a region. Constants of a
// binary op are no slots: they keep their rank where it is below the others'.
RetypedOp SlotsOf(ir::Operation op) {
  for (ir::Value result : op.results())
    if (!IsRank3(result)) return {};
  if (op.Is<ops::Conv>()) {
    const bool fits =
        IsRank3(op.operand(0)) && IsRank3(op.operand(1)) && ir::Contents(op.operand(1));
    return fits ? RetypedOp{op, 0b1, kAllSlots} : RetypedOp{};
  }
  if (!op.HasTrait(ir::kRankGeneric) || op.num_operands() == 0 || op.num_results() == 0) return {};
  RetypedOp slots{op, 0b1, kAllSlots};
  if (op.def()->info->operands[0].arity == ir::Arity::kVariadic) slots.operands = kAllSlots;
  if (op.HasTrait(ir::kElementwise) && op.num_operands() == 2)
    slots.operands =
        (ir::Contents(op.operand(0)) ? 0 : 0b01) | (ir::Contents(op.operand(1)) ? 0 : 0b10);
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    if (HasSlot(slots.operands, i) && !IsRank3(op.operand(i))) return {};
  return slots.operands == 0 ? RetypedOp{} : slots;
}

// Convolutions and all that is connected to them by values of rank 3.
class Region {
 public:
  explicit Region(ir::Program& program) {
    ir::Walk(program, [&](ir::Operation op) {
      if (op.Is<ops::Conv>()) Add(op);
    });
    for (size_t i = 0; i < members_.size(); ++i) AddNeighbours(members_[i]);
  }
  const std::vector<RetypedOp>& members() const { return members_; }

 private:
  void Add(ir::Operation op) {
    if (!op || seen_.count(op.id())) return;
    const RetypedOp slots = SlotsOf(op);
    if (!slots.op) return;
    seen_.insert(op.id());
    members_.push_back(slots);
  }
  void AddNeighbours(RetypedOp member) {
    for (uint32_t i = 0; i < member.op.num_operands(); ++i)
      if (HasSlot(member.operands, i) && member.op.operand(i))
        Add(member.op.operand(i).DefiningOp());
    for (ir::Value result : member.op.results())
      for (ir::Operation user : result.users()) Add(user);
  }

  std::vector<RetypedOp> members_;
  std::unordered_set<uint32_t> seen_;
};

// A dimension of 1 before the last one, of lists that have one entry per spatial dimension too.
ir::Shape WithUnitBeforeLast(ir::Shape dims) {
  dims.insert(dims.end() - 1, 1);
  return dims;
}

ir::Value ReshapedConstant(ir::Rewriter& rewriter, ir::Value constant) {
  const ir::Attribute dense = ir::Contents(constant);
  const ir::Type type = rewriter.context()->TensorType(constant.type().dtype(),
                                                       WithUnitBeforeLast(constant.type().shape()));
  return rewriter.Constant(rewriter.context()->DenseAttr(type, dense.bytes()));
}

void ExtendConv(ir::Rewriter& rewriter, ir::Operation conv) {
  ir::IrContext& context = *rewriter.context();
  for (const char* name : {"kernel_shape", "strides", "dilations"})
    if (const ir::Attribute list = conv.attr(name); list && !list.AsInts().empty())
      rewriter.SetAttr(conv, name, context.IntsAttr(WithUnitBeforeLast(list.AsInts())));
  if (const ir::Attribute pads = conv.attr("pads"); pads && !pads.AsInts().empty())
    rewriter.SetAttr(conv, "pads",
                     context.IntsAttr(ir::Ints{0, pads.AsInts()[0], 0, pads.AsInts()[1]}));
  rewriter.SetInsertionPoint(conv);
  rewriter.SetOperand(conv, 1, ReshapedConstant(rewriter, conv.operand(1)));
}

// Constants that are no slots and attributes of a member, as they are for rank 4.
void Extend(ir::Rewriter& rewriter, RetypedOp member) {
  const ir::Operation op = member.op;
  if (op.Is<ops::Conv>()) return ExtendConv(rewriter, op);
  if (const ir::Attribute axis = op.attr("axis")) {
    const int64_t old = axis.AsInt();
    const int64_t moved = old >= kHeight ? old + 1 : old < -1 ? old - 1 : old;
    rewriter.SetAttr(op, "axis", rewriter.context()->IntAttr(moved));
    return;
  }
  rewriter.SetInsertionPoint(op);
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    if (!HasSlot(member.operands, i) && ir::Contents(op.operand(i)) &&
        op.operand(i).type().rank() >= 2)
      rewriter.SetOperand(op, i, ReshapedConstant(rewriter, op.operand(i)));
}

class Conv1dToConv2d : public Pass {
 public:
  Conv1dToConv2d()
      : Pass("conv1d-to-conv2d", "1-D convolutions on images of height 1",
             {.seed = "ascend", .numerics = drr::NumericClass::kReassociates}) {}

  absl::Status Run(ir::Program& program) override {
    const Region region(program);
    if (region.members().empty()) return absl::OkStatus();
    ir::Rewriter rewriter(&program);
    for (const RetypedOp& member : region.members()) Extend(rewriter, member);
    Retype(rewriter, region.members(),
           {.inside =
                [](ir::Type type) {
                  return type.context()->TensorType(type.dtype(), WithUnitBeforeLast(type.shape()));
                },
            .enter =
                [](ir::Rewriter& r, ir::Value v) {
                  if (ir::Contents(v)) return ReshapedConstant(r, v);
                  return r.Make<ops::Unsqueeze>({v, r.ConstantInts({kHeight})});
                },
            .leave =
                [](ir::Rewriter& r, ir::Value v) {
                  return r.Make<ops::Squeeze>({v, r.ConstantInts({kHeight})});
                }});
    Count("operations extended", region.members().size());
    MarkChanged();
    return absl::OkStatus();
  }
};
WEFT_REGISTER_PASS(Conv1dToConv2d);

}  // namespace
}  // namespace weft::passes
