#include "ir/infer.h"

#include <algorithm>

namespace weft::ir {

bool InferContext::Fail(std::string message) {
  error_ = std::string(opcode_.name()) + ": " + std::move(message);
  return false;
}

bool InferResultTypes(IrContext* context, Opcode opcode, std::span<const Value> operands,
                      AttrDict attrs, std::span<Type> types, std::string* error, bool* from_types) {
  if (from_types) *from_types = true;
  const OpDef* def = context->FindOp(opcode);
  if (!def || !def->infer) return true;
  const bool cacheable = operands.size() <= InferenceCache::kMaxOperands &&
                         types.size() <= InferenceCache::kMaxResults;
  InferenceCache::Entry question;
  InferenceCache::Entry* slot = nullptr;
  if (cacheable) {
    question.opcode = opcode.id();
    question.num_operands = static_cast<uint8_t>(operands.size());
    question.num_results = static_cast<uint8_t>(types.size());
    question.attrs = attrs.id();
    for (size_t i = 0; i < operands.size(); ++i)
      question.operand_types[i] = operands[i] ? operands[i].type().id() : kNoId;
    slot = &context->inference_cache().Slot(question);
    if (slot->SameQuestion(question)) {
      for (size_t i = 0; i < types.size(); ++i)
        types[i] = context->TypeFromId(slot->result_types[i]);
      return true;
    }
  }
  InferContext c(context, opcode, operands, attrs, types);
  if (!def->infer(c)) {
    *error = c.error();
    return false;
  }
  if (from_types) *from_types = !c.saw_values();
  if (cacheable && !c.saw_values()) {
    for (size_t i = 0; i < types.size(); ++i) question.result_types[i] = types[i].id();
    *slot = question;
  }
  return true;
}

bool ProveOperandShapes(Operation op, std::string* why) {
  const OpDef* def = op.def();
  if (!def || !def->infer) return true;
  const std::vector<Value> operands = op.operands().vec();
  std::vector<Type> types(op.num_results());
  InferContext c(op.program()->context(), op.opcode(), operands, op.attrs(), types);
  c.set_must_prove();
  if (def->infer(c)) return true;
  *why = c.error();
  return false;
}

bool InferResultTypes(IrContext* context, const OperationState& state, size_t num_results,
                      std::vector<Type>* types, std::string* error) {
  types->assign(num_results, Type());
  return InferResultTypes(context, state.opcode, state.operands, state.attrs, *types, error);
}

namespace {

// Such a tensor may turn out to be anything.
bool NothingKnown(Type type) {
  return !type || (type.IsTensor() && !type.HasRank() && type.dtype() == DataType::kNull);
}

}  // namespace

bool Compatible(Type actual, Type expected) {
  if (actual == expected || NothingKnown(actual) || NothingKnown(expected)) return true;
  if (actual.HasElement() && actual.kind() == expected.kind())
    return Compatible(actual.element(), expected.element());
  if (actual.IsVector() && expected.IsVector()) {
    const auto a = actual.elements(), e = expected.elements();
    return std::equal(a.begin(), a.end(), e.begin(), e.end(), Compatible);
  }
  if (!actual.IsTensor() || !expected.IsTensor()) return false;
  if (actual.dtype() != expected.dtype() && actual.dtype() != DataType::kNull &&
      expected.dtype() != DataType::kNull)
    return false;
  if (!actual.HasRank() || !expected.HasRank()) return true;
  if (actual.rank() != expected.rank()) return false;
  for (size_t i = 0; i < actual.rank(); ++i) {
    const int64_t a = actual.dims()[i], e = expected.dims()[i];
    if (IsStaticDim(a) && IsStaticDim(e) && a != e) return false;
  }
  return true;
}

Type Merge(IrContext* context, Type a, Type b) {
  if (a == b || !a) return b;
  if (NothingKnown(b)) return a;
  if (NothingKnown(a)) return b;
  if (a.HasElement() && a.kind() == b.kind()) {
    const Type element = Merge(context, a.element(), b.element());
    return a.IsSequence() ? context->SequenceType(element) : context->OptionalType(element);
  }
  if (a.IsVector() && b.IsVector()) {
    std::vector<Type> elements;
    for (size_t i = 0; i < a.elements().size(); ++i)
      elements.push_back(Merge(context, a.elements()[i], b.elements()[i]));
    return context->VectorType(elements);
  }
  if (!a.IsTensor() || !b.IsTensor()) return a;
  const DataType dtype = a.dtype() == DataType::kNull ? b.dtype() : a.dtype();
  if (!a.HasRank())
    return b.HasRank() ? context->TensorType(dtype, b.dims()) : context->UnrankedTensorType(dtype);
  if (!b.HasRank()) return context->TensorType(dtype, a.dims());
  Shape dims = a.shape();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (IsStaticDim(dims[i])) continue;
    const int64_t other = b.dims()[i];
    if (IsStaticDim(other) || dims[i] == kUnknownDim) dims[i] = other;
  }
  return context->TensorType(dtype, dims);
}

}  // namespace weft::ir
