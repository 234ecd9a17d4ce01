// For tests: ops with regions whose result types are not stated.
//
//   const Operation op = MakeWithRegions<ops::If>(program, {cond}, 1);
//   const Block branch = AddBlock(op, 0, {});
//   AtEndOf(branch).Create(...);
//   ReturnFrom(branch, {y});
#pragma once

#include <vector>

#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"

namespace weft::ir {

// Before the end of the program's body.
template <class O>
Operation MakeWithRegions(Program& program, std::vector<Value> operands, size_t num_results,
                          const typename O::template Attrs<BuilderSlot>& attrs = {}) {
  IrContext& context = *program.context();
  return Rewriter(&program).Builder::Create(OperationState{
      .opcode = kOpcodeOf<O>,
      .operands = std::move(operands),
      .attrs = MakeAttrs<O>(context, attrs),
      .result_types = std::vector<Type>(num_results, context.UnrankedTensorType(DataType::kNull)),
      .num_regions = static_cast<uint32_t>(O::kInfo.num_regions)});
}

inline Block AddBlock(Operation op, uint32_t region, const std::vector<Type>& arguments) {
  Rewriter rewriter(op.program());
  const Block block = rewriter.AppendBlock(op.region(region));
  for (const Type type : arguments) rewriter.AddArgument(block, type);
  return block;
}

inline Rewriter AtEndOf(Block block) {
  Rewriter rewriter(block.program());
  rewriter.SetInsertionPointToEnd(block);
  return rewriter;
}

inline void ReturnFrom(Block block, const std::vector<Value>& values) {
  AtEndOf(block).Builder::Create(OperationState{.opcode = kOpcodeOf<ReturnOp>, .operands = values});
}

}  // namespace weft::ir
