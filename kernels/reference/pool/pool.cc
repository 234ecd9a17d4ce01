// Pools in one to three spatial dimensions.
#include <algorithm>
#include <limits>

#include "ir/dialects/onnx.h"
#include "kernels/reference/pool/each_in_window.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// The number, in the order of a column-major channel, of its row-major element i.
int64_t ColumnMajor(const Window& w, int64_t i) {
  const int64_t i2 = i % w.in[2], i1 = i / w.in[2] % w.in[1], i0 = i / w.in[2] / w.in[1];
  return (i2 * w.in[1] + i1) * w.in[0] + i0;
}

// The largest number of each window: NaN is skipped, and the result where a window holds nothing
// else. ONNX Runtime (1.30, f32) skips it too, but returns one that it reads last, and after any of
// them forgets what came before. Of equal zeros the first is the result.
template <class T>
void MaxPoolOf(const AttrsOf<ops::MaxPool>& attrs, const Window& w, const KernelArgs& args) {
  using Wide = std::conditional_t<kIsFloat<T>, double, T>;
  using Limits = std::numeric_limits<Wide>;
  constexpr Wide kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const bool column_major = attrs.storage_order != 0;
  Wide largest;
  int64_t found;  // where, in the channel
  for (int64_t c = 0; c < args.inputs[0].dims[0] * args.inputs[0].dims[1]; ++c) {
    const T* in = args.input<T>(0) + c * w.InSize();
    const int64_t first = c * w.OutSize();
    ForEachInWindow(
        w,
        [&](int64_t, int64_t, int64_t) {
          largest = kLowest;
          found = -1;
        },
        [&](int64_t i) {
          const auto value = static_cast<Wide>(in[i]);
          if (found >= 0 && !(value > largest) && largest == largest) return;
          largest = value;
          found = i;
        },
        [&](int64_t o) {
          args.output<T>(0)[first + o] = T(largest);
          if (args.outputs.size() < 2) return;
          const int64_t at = std::max<int64_t>(found, 0);
          args.output<int64_t>(1)[first + o] =
              c * w.InSize() + (column_major ? ColumnMajor(w, at) : at);
        });
  }
}

absl::Status MaxPool(const AttrsOf<ops::MaxPool>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow(attrs, x.dims, attrs.kernel_shape, y.dims));
  VisitNumber(x.dtype, [&](auto tag) { MaxPoolOf<decltype(tag)>(attrs, w, args); });
  return absl::OkStatus();
}
absl::Status CheckMaxPool(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::MaxPool>();
  const auto window =
      MakeWindow(attrs, context.dims(0), attrs.kernel_shape, context.result_dims(0));
  if (!window.ok()) return ir::Annotate(window.status(), context.op().name());
  if (context.input_type(0).dtype() != context.result_type(0).dtype() ||
      !VisitNumber(context.input_type(0).dtype(), [](auto) {}))
    return context.Unsupported("these element types");
  return absl::OkStatus();
}
const RegisterReference<ops::MaxPool> kMaxPool(&MaxPool, &CheckMaxPool);

// How many elements of a window are in the padded input: ceil_mode lets windows reach beyond it.
int64_t PaddedCount(const Window& w, const int64_t (&o)[Window::kSpatial]) {
  int64_t count = 1;
  for (int axis = 0; axis < Window::kSpatial; ++axis) {
    const int64_t start = o[axis] * w.stride[axis];
    const int64_t size = w.in[axis] + w.pad_before[axis] + w.pad_after[axis];
    const int64_t room = (size - start + w.dilation[axis] - 1) / w.dilation[axis];
    count *= std::clamp<int64_t>(room, 0, w.kernel[axis]);
  }
  return count;
}

absl::Status AveragePool(const AttrsOf<ops::AveragePool>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow(attrs, x.dims, attrs.kernel_shape, y.dims));
  const std::vector<double> in = ReadDoubles(x);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  for (int64_t c = 0; c < x.dims[0] * x.dims[1]; ++c) {
    double sum = 0;
    int64_t count = 0, padded_count = 0;
    ForEachInWindow(
        w,
        [&](int64_t o0, int64_t o1, int64_t o2) {
          sum = 0;
          count = 0;
          padded_count = PaddedCount(w, {o0, o1, o2});
        },
        [&](int64_t i) {
          sum += in[c * w.InSize() + i];
          ++count;
        },
        [&](int64_t o) {
          const int64_t divisor = attrs.count_include_pad != 0 ? padded_count : count;
          out[c * w.OutSize() + o] = sum / static_cast<double>(divisor);
        });
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckAveragePool(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::AveragePool>();
  const auto window =
      MakeWindow(attrs, context.dims(0), attrs.kernel_shape, context.result_dims(0));
  if (!window.ok()) return ir::Annotate(window.status(), context.op().name());
  return SameFloats(context);
}
const RegisterReference<ops::AveragePool> kAveragePool(&AveragePool, &CheckAveragePool);

}  // namespace
}  // namespace weft::kernels::reference
