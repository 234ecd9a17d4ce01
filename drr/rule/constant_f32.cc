#include "drr/rule/constant_f32.h"

#include "ir/context.h"

namespace weft::drr {

std::optional<std::span<const float>> ConstantF32(const BoundTensor& tensor) {
  const ir::Attribute dense = tensor.constant();
  if (!dense || dense.dense_type().dtype() != ir::DataType::kF32) return std::nullopt;
  return dense.elements<float>();
}

ir::Attribute FillF32(ir::IrContext* context, std::span<const int64_t> dims,
                      const std::function<void(std::span<float>)>& fill) {
  const ir::Type type = context->TensorType(ir::DataType::kF32, dims);
  std::byte* writable = nullptr;
  ir::WeightBuffer buffer =
      ir::IrContext::AllocateWeightBuffer(static_cast<size_t>(type.NumBytes()), &writable);
  fill({reinterpret_cast<float*>(writable), static_cast<size_t>(type.NumElements())});
  return context->DenseAttrAdopt(type, std::move(buffer));
}

}  // namespace weft::drr
