#include "kernels/derived_constant.h"

#include <memory>

namespace weft::kernels {

ir::Attribute DerivedConstant(const KernelContext& context, ir::Attribute from,
                              const std::string& how, const std::function<ir::Attribute()>& make) {
  const auto derived =
      context.packed().Get<ir::Attribute>("constant of w=" + std::to_string(from.id()) + " " + how,
                                          [&]() -> absl::StatusOr<std::shared_ptr<ir::Attribute>> {
                                            return std::make_shared<ir::Attribute>(make());
                                          });
  return **derived;  // which always succeeds
}

ir::Attribute WithDims(const KernelContext& context, ir::Attribute dense,
                       std::span<const int64_t> dims) {
  return DerivedConstant(context, dense, "dims=" + ir::ToString(dims), [&] {
    ir::IrContext& ir = *dense.dense_type().context();
    const ir::Type type = ir.TensorType(dense.dense_type().dtype(), dims);
    if (dense.storage()->computed == nullptr) return ir.DenseAttrView(type, dense.bytes());
    return ir.ComputedDenseAttr(
        type, [dense](size_t first, std::span<std::byte> to) { dense.Read(first, to); });
  });
}

}  // namespace weft::kernels
