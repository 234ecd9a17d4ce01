// Where along an axis the largest or smallest element is.
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/search/extremum.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// What simd::FindExtremum can search, or Unsupported.
absl::StatusOr<AxisView> SearchedAxis(const KernelContext& context, int64_t axis) {
  const std::span<const int64_t> dims = context.dims(0);
  axis = ir::NormalAxis(axis, dims.size());
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size()))
    return context.Unsupported("an axis that x does not have");
  const AxisView view(dims, axis);
  if (view.extent < 1 || view.extent > std::numeric_limits<int32_t>::max())
    return context.Unsupported("an axis of no or more than 2^31 elements");
  return view;
}

template <class T>
std::unique_ptr<Kernel> MakeSearchOf(const AxisView& view, simd::ExtremumOptions options) {
  return MakeNative("extremum search", {}, [=](const KernelArgs& args) {
    simd::FindExtremum(args.input<T>(0), view.outer, view.extent, view.inner, options,
                       args.output<int64_t>(0), *args.pool);
  });
}

template <class O, bool kSmallest>
Made MakeSearch(const KernelContext& context) {
  const auto attrs = context.attrs_of<O>();
  WEFT_ASSIGN_OR_RETURN(const AxisView view, SearchedAxis(context, attrs.axis));
  if (context.result_type(0).dtype() != ir::DataType::kI64 ||
      context.result_type(0).NumElements() != view.outer * view.inner)
    return context.Unsupported("a result that is not one i64 for each row");
  const simd::ExtremumOptions options = {kSmallest, attrs.select_last_index != 0};
  switch (context.input_type(0).dtype()) {
    case ir::DataType::kF32:
      return MakeSearchOf<float>(view, options);
    case ir::DataType::kF64:
      return MakeSearchOf<double>(view, options);
    case ir::DataType::kI8:
      return MakeSearchOf<int8_t>(view, options);
    case ir::DataType::kU8:
      return MakeSearchOf<uint8_t>(view, options);
    case ir::DataType::kI32:
      return MakeSearchOf<int32_t>(view, options);
    case ir::DataType::kI64:
      return MakeSearchOf<int64_t>(view, options);
    default:
      return context.Unsupported("these element types");
  }
}
const RegisterKernel<ops::ArgMax> kArgMax("native", &MakeSearch<ops::ArgMax, false>);
const RegisterKernel<ops::ArgMin> kArgMin("native", &MakeSearch<ops::ArgMin, true>);

// 1 where the first of the largest elements is, and else 0.
Made MakeHardmax(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  WEFT_ASSIGN_OR_RETURN(const AxisView view,
                        SearchedAxis(context, context.attrs_of<ops::Hardmax>().axis));
  const int64_t rows = view.outer * view.inner;
  const NativeOptions options = {.scratch_bytes = static_cast<size_t>(rows) * sizeof(int64_t)};
  return MakeNative("hardmax", options, [view](const KernelArgs& args) {
    auto* const found = reinterpret_cast<int64_t*>(args.scratch);
    simd::FindExtremum(args.input<float>(0), view.outer, view.extent, view.inner, {}, found,
                       *args.pool);
    float* const y = args.output<float>(0);
    const int64_t slice = view.extent * view.inner;
    args.pool->ParallelFor(view.outer, TileFor(view.outer, slice), [=](int64_t begin, int64_t end) {
      std::fill(y + begin * slice, y + end * slice, 0.0f);
      for (int64_t row = begin * view.inner; row < end * view.inner; ++row)
        y[row / view.inner * slice + found[row] * view.inner + row % view.inner] = 1;
    });
  });
}
const RegisterKernel<ops::Hardmax> kHardmax("native", &MakeHardmax);

}  // namespace
}  // namespace weft::kernels::native
