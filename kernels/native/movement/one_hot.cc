// onnx.OneHot: everything is `off`, and then one element for each index is `on`.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// Where `on` is, -1 for nowhere. Fractions of an index are dropped; negative ones count from the end.
template <class Index>
int64_t PlaceOf(Index index, int64_t depth) {
  if constexpr (std::is_floating_point_v<Index>) {
    const double whole = std::trunc(static_cast<double>(index));
    const auto end = static_cast<double>(depth);
    return whole >= -end && whole < end ? PlaceOf(static_cast<int64_t>(whole), depth) : -1;
  } else {
    const int64_t place = index < 0 ? index + depth : index;
    return place >= 0 && place < depth ? place : -1;
  }
}

// Element is an unsigned integer of the size of an element.
template <class Index, class Element>
void OneHot(const AxisView& view, const KernelArgs& args) {
  const auto* const indices = args.input<Index>(0);
  const auto* const values = args.input<Element>(2);
  auto* const y = args.output<Element>(0);
  const Element off = values[0], on = values[1];
  const int64_t depth = view.extent, count = view.outer * view.inner;
  args.pool->ParallelFor(count, TileFor(count, depth), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t outer = begin / view.inner, inner = begin % view.inner;
      const int64_t n = std::min(view.inner - inner, end - begin);
      Element* const to = y + outer * depth * view.inner + inner;
      for (int64_t at = 0; at < depth; ++at) std::fill_n(to + at * view.inner, n, off);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t place = PlaceOf(indices[begin + i], depth);
        if (place >= 0) to[place * view.inner + i] = on;
      }
      begin += n;
    }
  });
}

using Function = void (*)(const AxisView&, const KernelArgs&);

template <class Index>
Function FunctionOf(size_t element_size) {
  switch (element_size) {
    case 1:
      return &OneHot<Index, uint8_t>;
    case 2:
      return &OneHot<Index, uint16_t>;
    case 4:
      return &OneHot<Index, uint32_t>;
    case 8:
      return &OneHot<Index, uint64_t>;
    default:
      return nullptr;
  }
}

Made MakeOneHot(const KernelContext& context) {
  const ir::DataType indices = context.input_type(0).dtype();
  const size_t size = ir::ElementSize(context.result_type(0).dtype());
  const Function run = indices == ir::DataType::kI64   ? FunctionOf<int64_t>(size)
                       : indices == ir::DataType::kI32 ? FunctionOf<int32_t>(size)
                       : indices == ir::DataType::kF32 ? FunctionOf<float>(size)
                                                       : nullptr;
  const std::span<const int64_t> y = context.result_dims(0);
  const int64_t axis = ir::NormalAxis(context.attrs_of<ops::OneHot>().axis, y.size());
  if (run == nullptr || context.input_type(1).dtype() != ir::DataType::kI64 ||
      context.input_type(2).dtype() != context.result_type(0).dtype() ||
      context.input_type(1).NumElements() != 1 || context.input_type(2).NumElements() != 2)
    return context.Unsupported("these element types");
  if (axis < 0 || axis >= static_cast<int64_t>(y.size()))
    return context.Unsupported("an axis that the result does not have");
  ir::Shape rest(y.begin(), y.end());
  rest.erase(rest.begin() + axis);
  if (!std::ranges::equal(rest, context.dims(0)))
    return context.Unsupported("a result that does not fit the indices");
  return MakeNative("one hot", {}, [run, view = AxisView(y, axis)](const KernelArgs& args) {
    const int64_t depth = *args.input<int64_t>(1);
    if (depth != view.extent)
      return ir::InvalidArgument("depth is " + std::to_string(depth) +
                                 ", which is not what the result has");
    run(view, args);
    return absl::OkStatus();
  });
}
const RegisterKernel<ops::OneHot> kOneHot("native", &MakeOneHot);

}  // namespace
}  // namespace weft::kernels::native
