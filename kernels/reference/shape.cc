// Ops about shapes: their results are known when shapes are, so sessions compute them while planning.
#include <algorithm>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

int64_t ClampedBound(int64_t bound, int64_t rank) {
  return std::clamp<int64_t>(bound < 0 ? bound + rank : bound, 0, rank);
}

absl::Status Shape(const AttrsOf<ops::Shape>& attrs, const KernelArgs& args) {
  const std::span<const int64_t> dims = args.inputs[0].dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t start = ClampedBound(attrs.start, rank);
  const int64_t end = std::max(start, ClampedBound(attrs.end.value_or(rank), rank));
  std::copy(dims.begin() + start, dims.begin() + end, args.output<int64_t>(0));
  return absl::OkStatus();
}
absl::Status CheckShape(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::Shape>();
  const auto rank = static_cast<int64_t>(context.dims(0).size());
  const int64_t start = ClampedBound(attrs.start, rank);
  const int64_t end = std::max(start, ClampedBound(attrs.end.value_or(rank), rank));
  if (context.result_type(0).dtype() != ir::DataType::kI64 ||
      context.result_type(0).NumElements() != end - start)
    return context.InvalidArgument("the result is not " + std::to_string(end - start) +
                                   " i64 numbers");
  return absl::OkStatus();
}
const RegisterReference<ops::Shape> kShape(&Shape, &CheckShape);

absl::Status ConstantOfShape(const AttrsOf<ops::ConstantOfShape>& attrs, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  const size_t size = ir::ElementSize(y.dtype);
  const std::byte zero[16] = {};
  const std::byte* value = attrs.value ? attrs.value->bytes().data() : zero;
  for (int64_t i = 0; i < y.NumElements(); ++i) std::memcpy(y.data + i * size, value, size);
  return absl::OkStatus();
}
absl::Status CheckConstantOfShape(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::ConstantOfShape>();
  const ir::DataType dtype = context.result_type(0).dtype();
  if (!attrs.value) {
    if (dtype == ir::DataType::kF32) return absl::OkStatus();
    return context.InvalidArgument("the result is not of type f32, that of the default value");
  }
  if (!attrs.value->Is(ir::AttrKind::kDense) || attrs.value->dense_type().dtype() != dtype ||
      attrs.value->bytes().size() != ir::ElementSize(dtype))
    return context.InvalidArgument("value must be one element of the result's type");
  return absl::OkStatus();
}
const RegisterReference<ops::ConstantOfShape> kConstantOfShape(&ConstantOfShape,
                                                               &CheckConstantOfShape);

}  // namespace
}  // namespace weft::kernels::reference
