#include "ir/dialects/onnx/infer/either.h"

namespace weft::ir {

Type EitherType(IrContext* context, Type a, Type b) {
  if (!a || !b) return {};
  if (a.HasElement() && a.kind() == b.kind()) {
    const Type element = EitherType(context, a.element(), b.element());
    if (!element) return {};
    return a.IsSequence() ? context->SequenceType(element) : context->OptionalType(element);
  }
  if (!a.IsTensor() || !b.IsTensor() || a.dtype() != b.dtype()) return {};
  if (a == b) return a;
  if (!a.HasRank() || !b.HasRank() || a.rank() != b.rank())
    return context->UnrankedTensorType(a.dtype());
  Shape dims = a.shape();
  for (size_t i = 0; i < dims.size(); ++i)
    if (!SameDim(dims[i], b.dims()[i])) dims[i] = kUnknownDim;
  return context->TensorType(a.dtype(), dims);
}

}  // namespace weft::ir
