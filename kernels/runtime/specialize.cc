#include "kernels/runtime/specialize.h"

#include "ir/analysis/shape_inference.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/rewriter.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

bool NamesAllItReads(ir::Operation op) {
  return op.num_regions() == 0 || op.HasTrait(ir::kBodyInRegion);
}

// Of a value that no plan holds: no kernel is needed for that.
bool IsIdentityOfOthers(ir::Operation op) {
  if (!op.Is<ir::ops::Identity>()) return false;
  const ir::Type type = op.operand(0).type();
  return type.HasElement() || HoldsStrings(type);
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
                        ir::Evaluator& evaluator, const ir::FoldOptions& options) {
  ir::Rewriter rewriter(&program);
  for (size_t i = 0; i < input_types.size(); ++i)
    rewriter.SetType(program.body().argument(static_cast<uint32_t>(i)), input_types[i]);
  ir::ConstantFolder folder(&evaluator, options);
  for (const ir::Operation op : program.body()) {
    if (IsIdentityOfOthers(op)) {
      rewriter.ReplaceAllUses(op.result(), op.operand(0));
      rewriter.Erase(op);
      continue;
    }
    if (op.num_results() == 0 || op.HasTrait(ir::kConstantLike)) continue;
    if (NamesAllItReads(op)) WEFT_RETURN_IF_ERROR(ir::RefineResultTypes(op, rewriter));
    folder.Fold(op, rewriter);
  }
  EraseUnused(program, rewriter);
  return absl::OkStatus();
}

}  // namespace weft::kernels
