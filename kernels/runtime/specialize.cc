#include "kernels/runtime/specialize.h"

#include <string>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/rewriter.h"
#include "kernels/kernel.h"

namespace weft::kernels {
namespace {

std::string Where(ir::Operation op) {
  return op.location().empty() ? "" : std::string(op.location().str()) + ": ";
}

bool NamesAllItReads(ir::Operation op) {
  return op.num_regions() == 0 || op.HasTrait(ir::kBodyInRegion);
}

absl::Status InferAgain(ir::Operation op, ir::Rewriter& rewriter) {
  const ir::OperationState state{
      .opcode = op.opcode(), .operands = op.operands().vec(), .attrs = op.attrs()};
  std::vector<ir::Type> types;
  std::string error;
  if (!ir::InferResultTypes(op.context(), state, op.num_results(), &types, &error))
    return ir::InvalidArgument(Where(op) + error);
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const ir::Value result = op.result(i);
    if (!types[i] || types[i] == result.type()) continue;
    if (!ir::Compatible(result.type(), types[i]) && result.type().dtype() != ir::DataType::kNull)
      return ir::InvalidArgument(Where(op) + std::string(op.name()) + ": result " +
                                 std::to_string(i) + " is stated as " + result.type().ToString() +
                                 " but is " + types[i].ToString() + " for these inputs");
    rewriter.SetType(result, ir::Merge(op.context(), types[i], result.type()));
  }
  return absl::OkStatus();
}

// The op's operands as constants, when it can be computed now.
bool CollectConstants(ir::Operation op, std::vector<ir::Attribute>* operands) {
  if (!op.HasTrait(ir::kPure) || op.HasTrait(ir::kRandom) || op.HasTrait(ir::kConstantLike) ||
      op.num_regions() > 0 || op.num_results() == 0)
    return false;
  const bool shape_only = ReadsShapesOnly(op.opcode());
  for (const ir::Value value : op.operands()) {
    ir::Attribute dense = ir::ConstantValue(value);
    if (value && (!dense || dense.IsElided())) {
      if (!shape_only || !value.type().IsStatic()) return false;
      dense = op.context()->ElidedDenseAttr(value.type(), "");
    }
    operands->push_back(dense);
  }
  return true;
}

// Replaces the op by constants if it can be computed now. One that fails is left to fail at run
// time, where its message has a place.
void Fold(ir::Operation op, ir::Evaluator& evaluator, ir::Rewriter& rewriter) {
  std::vector<ir::Attribute> operands;
  if (!CollectConstants(op, &operands)) return;
  const auto values = evaluator.Evaluate(op, operands);
  if (!values.ok()) return;
  rewriter.SetInsertionPoint(op);
  rewriter.set_location(op.location());
  std::vector<ir::Value> constants;
  for (const ir::Attribute dense : *values) constants.push_back(rewriter.Constant(dense));
  rewriter.Replace(op, constants);
}

void EraseUnused(ir::Program& program, ir::Rewriter& rewriter) {
  for (ir::Operation op = program.body().back(); op;) {
    const ir::Operation before = op.prev();
    if (op.HasTrait(ir::kPure) && NamesAllItReads(op) && op.IsUnused()) rewriter.Erase(op);
    op = before;
  }
}

}  // namespace

absl::Status Specialize(ir::Program& program, std::span<const ir::Type> input_types,
                        ir::Evaluator& evaluator) {
  ir::Rewriter rewriter(&program);
  for (size_t i = 0; i < input_types.size(); ++i)
    rewriter.SetType(program.body().argument(static_cast<uint32_t>(i)), input_types[i]);
  for (const ir::Operation op : program.body()) {
    if (op.num_results() == 0 || op.HasTrait(ir::kConstantLike)) continue;
    if (NamesAllItReads(op)) WEFT_RETURN_IF_ERROR(InferAgain(op, rewriter));
    Fold(op, evaluator, rewriter);
  }
  EraseUnused(program, rewriter);
  return absl::OkStatus();
}

}  // namespace weft::kernels
