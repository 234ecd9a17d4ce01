#include "passes/targets/ascend/constant_slice.h"

#include <vector>

#include "ir/context.h"

namespace weft::passes {

ir::Attribute SliceConstant(ir::Attribute dense, std::span<const int64_t> begins,
                            std::span<const int64_t> sizes) {
  const ir::Type type = dense.dense_type();
  const std::span<const std::byte> bytes = dense.bytes();
  const size_t element = ir::ElementSize(type.dtype());
  // Where the rows that are kept begin, in elements, found dimension by dimension.
  std::vector<size_t> starts = {0};
  auto stride = static_cast<size_t>(type.NumElements());
  for (size_t i = 0; i < begins.size(); ++i) {
    stride = type.dims()[i] == 0 ? 0 : stride / static_cast<size_t>(type.dims()[i]);
    const bool is_last = i + 1 == begins.size();
    std::vector<size_t> next;
    for (const size_t start : starts)
      for (int64_t k = 0; k < (is_last ? 1 : sizes[i]); ++k)
        next.push_back(start + static_cast<size_t>(begins[i] + k) * stride);
    starts = std::move(next);
  }
  const size_t row = element * static_cast<size_t>(sizes.empty() ? 1 : sizes.back());
  std::vector<std::byte> kept;
  kept.reserve(starts.size() * row);
  for (const size_t start : starts) {
    const std::span<const std::byte> from = bytes.subspan(start * element, row);
    kept.insert(kept.end(), from.begin(), from.end());
  }
  ir::IrContext* context = type.context();
  return context->DenseAttr(context->TensorType(type.dtype(), sizes), kept);
}

}  // namespace weft::passes
