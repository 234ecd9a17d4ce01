// Pools in one to three spatial dimensions.
#include <limits>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"
#include "kernels/window.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Calls body(o, i) for every result o of one channel and every input i inside its window; begin(o)
// before and end(o) after those of one o.
template <class Begin, class Body, class End>
void ForEachInWindow(const Window& w, const Begin& begin, const Body& body, const End& end) {
  int64_t o = 0;
  for (int64_t o0 = 0; o0 < w.out[0]; ++o0)
    for (int64_t o1 = 0; o1 < w.out[1]; ++o1)
      for (int64_t o2 = 0; o2 < w.out[2]; ++o2, ++o) {
        begin(o0, o1, o2);
        for (int64_t k = 0; k < w.KernelSize(); ++k) {
          const int64_t i0 = w.At(0, o0, k / w.kernel[2] / w.kernel[1]);
          const int64_t i1 = w.At(1, o1, k / w.kernel[2] % w.kernel[1]);
          const int64_t i2 = w.At(2, o2, k % w.kernel[2]);
          if (i0 < 0 || i0 >= w.in[0] || i1 < 0 || i1 >= w.in[1] || i2 < 0 || i2 >= w.in[2])
            continue;
          body((i0 * w.in[1] + i1) * w.in[2] + i2);
        }
        end(o);
      }
}

// The largest number of each window: NaN is skipped, and the result where a window holds nothing
// else. ONNX Runtime (1.30, f32) skips it too, but returns one that it reads last, and after any of
// them forgets what came before. Of equal zeros the first is the result.
absl::Status MaxPool(const AttrsOf<ops::MaxPool>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow(attrs, x.dims, attrs.kernel_shape, y.dims));
  VisitNumber(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, T>;
    using Limits = std::numeric_limits<Wide>;
    constexpr Wide kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    Wide largest;
    bool found;
    for (int64_t c = 0; c < x.dims[0] * x.dims[1]; ++c) {
      const T* in = args.input<T>(0) + c * w.InSize();
      T* out = args.output<T>(0) + c * w.OutSize();
      ForEachInWindow(
          w,
          [&](int64_t, int64_t, int64_t) {
            largest = kLowest;
            found = false;
          },
          [&](int64_t i) {
            const auto value = static_cast<Wide>(in[i]);
            if (!found || value > largest || largest != largest) largest = value;
            found = true;
          },
          [&](int64_t o) { out[o] = T(largest); });
    }
  });
  return absl::OkStatus();
}
absl::Status CheckMaxPool(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::MaxPool>();
  if (context.num_results() > 1 && !context.op().result(1).IsUnused())
    return context.Unsupported("the second result, Indices");
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
    count *= std::min(start + w.kernel[axis], size) - start;
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

absl::Status GlobalAveragePool(const AttrsOf<ops::GlobalAveragePool>&, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<double> in = ReadDoubles(x);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  const size_t size = out.empty() ? 0 : in.size() / out.size();
  for (size_t c = 0; c < out.size(); ++c) {
    for (size_t i = 0; i < size; ++i) out[c] += in[c * size + i];
    out[c] /= static_cast<double>(size);
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
const RegisterReference<ops::GlobalAveragePool> kGlobalAveragePool(&GlobalAveragePool, &SameFloats);

}  // namespace
}  // namespace weft::kernels::reference
