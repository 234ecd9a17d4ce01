#include "ir/infer.h"

namespace weft::ir {

bool InferContext::Fail(std::string message) {
  error_ = std::string(opcode_.name()) + ": " + std::move(message);
  return false;
}

bool InferResultTypes(IrContext* context, const OperationState& state, size_t num_results,
                      std::vector<Type>* types, std::string* error) {
  types->assign(num_results, Type());
  const OpDef* def = context->FindOp(state.opcode);
  if (!def || !def->infer) return true;
  InferContext c(context, state.opcode, state.operands, state.attrs, num_results);
  const bool ok = def->infer(c);
  if (ok) {
    *types = c.results();
  } else {
    *error = c.error();
  }
  return ok;
}

bool Compatible(Type actual, Type expected) {
  if (actual == expected || !actual || !expected) return true;
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
  if (!a || a == b) return b;
  if (!b || !a.IsTensor() || !b.IsTensor()) return a;
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
