#include "ir/analysis/reference_body.h"

#include <algorithm>
#include <string>

#include "ir/clone.h"
#include "ir/infer.h"

namespace weft::ir {
namespace {

// A copy without regions whose types follow from its operands, and from what was stated.
bool CopyInferred(Builder& builder, Operation op, ValueMap& map) {
  OperationState state{.opcode = op.opcode(), .attrs = op.attrs(), .location = op.location()};
  for (const Value operand : op.operands()) state.operands.push_back(map.Get(operand));
  std::string error;
  if (!InferResultTypes(builder.context(), state, op.num_results(), &state.result_types, &error))
    return false;
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Type stated = op.result(i).type();
    if (!Compatible(stated, state.result_types[i])) return false;
    state.result_types[i] = Merge(builder.context(), state.result_types[i], stated);
  }
  const Operation copy = builder.Create(std::move(state));
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    map.Set(op.result(i), copy.result(i));
    builder.program()->SetName(copy.result(i), op.result(i).name());
  }
  return true;
}

std::vector<Value> Inline(Builder& builder, Block body, std::span<const Value> operands) {
  ValueMap map;
  if (operands.size() != body.num_arguments()) return {};
  for (uint32_t i = 0; i < operands.size(); ++i) map.Set(body.argument(i), operands[i]);
  std::vector<Value> results;
  for (const Operation op : body) {
    if (op.HasTrait(kTerminator)) {
      for (const Value value : op.operands()) results.push_back(map.Get(value));
    } else if (op.num_regions() > 0 || !CopyInferred(builder, op, map)) {
      return {};
    }
  }
  return results;
}

// What bodies of such tensors make could be too large to count.
constexpr int64_t kMaxElements = int64_t{1} << 40;

bool IsTooLarge(std::span<const Value> values) {
  return std::any_of(values.begin(), values.end(), [](Value v) {
    return v && v.type().IsStatic() && v.type().NumElements() > kMaxElements;
  });
}

// Whether the element types are known, which decide what the constants of a body are.
bool AreTyped(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(), [](Value v) {
    return !v || (v.type().IsTensor() && v.type().dtype() != DataType::kNull);
  });
}

}  // namespace

bool HasReferenceBody(Operation op) {
  return op.def() && (op.def()->decompose || op.HasTrait(kBodyInRegion));
}

std::vector<Value> BuildReferenceBody(Builder& builder, Operation op,
                                      std::span<const Value> operands) {
  return BuildReferenceBody(builder, op, operands, op.num_results());
}

std::vector<Value> BuildReferenceBody(Builder& builder, Operation op,
                                      std::span<const Value> operands, size_t num_results) {
  if (op.HasTrait(kBodyInRegion)) return Inline(builder, op.region(0).front(), operands);
  if (IsTooLarge(operands)) return {};
  if (!AreTyped(operands)) return {};
  return op.def()->decompose(builder, operands, op.attrs(), num_results);
}

bool ReplaceByReferenceBody(Rewriter& rewriter, Operation op) {
  const Operation before = op.prev();
  rewriter.SetInsertionPoint(op);
  rewriter.set_location(op.location());
  const std::vector<Value> body = BuildReferenceBody(rewriter, op, op.operands().vec());
  if (body.size() == op.num_results()) {
    rewriter.Replace(op, body);
    return true;
  }
  while (op.prev() != before) rewriter.Erase(op.prev());  // of a body that came to nothing
  return false;
}

}  // namespace weft::ir
