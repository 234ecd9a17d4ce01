#include "drr/rule/constant_f32.h"

#include "ir/context.h"

namespace weft::drr {

std::optional<ir::DenseElements<float>> ConstantF32(const BoundTensor& tensor) {
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

ir::Attribute ComputeF32(ir::IrContext* context, std::span<const int64_t> dims,
                         const std::function<void(size_t first, std::span<float>)>& fill) {
  const auto compute = [fill](size_t first, std::span<std::byte> to) {
    fill(first / sizeof(float), {reinterpret_cast<float*>(to.data()), to.size() / sizeof(float)});
  };
  return context->ComputedDenseAttr(context->TensorType(ir::DataType::kF32, dims), compute);
}

}  // namespace weft::drr
