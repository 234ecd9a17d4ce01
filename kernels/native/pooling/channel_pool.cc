#include "kernels/native/pooling/channel_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/simd/pooling/taps.h"
#include "kernels/native/simd/window_axis.h"
#include "kernels/window.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

constexpr int64_t kTogether = 512;  // results of a row

// Windows over the channels of an image.
class ChannelWindows {
 public:
  static absl::StatusOr<ChannelWindows> Make(const KernelContext& context, const Window& w) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    for (int axis = 0; axis < Window::kSpatial; ++axis)
      for (const int64_t size : {w.kernel[axis], w.stride[axis], w.dilation[axis],
                                 w.pad_before[axis], w.pad_after[axis], w.in[axis], w.out[axis]})
        if (size > kMost) return context.Unsupported("windows of more than 2^31 elements");
    if (w.InSize() > kMost) return context.Unsupported("channels of more than 2^31 elements");
    return ChannelWindows(w, context.dims(0)[0] * context.dims(0)[1]);
  }
  const Window& window() const { return w_; }

  // Up to kTogether results of one row.
  struct Part {
    int64_t channel;
    int64_t at[Window::kSpatial];  // the first of them
    int64_t count;
  };
  // run(part) for parts that cover all results.
  template <class Run>
  void ForEachPart(ThreadPool& pool, const Run& run) const {
    const int64_t rows = w_.out[0] * w_.out[1], pieces = (w_.out[2] + kTogether - 1) / kTogether;
    const int64_t tasks = channels_ * rows * pieces;
    const int64_t cost = std::min(w_.out[2], kTogether) * w_.KernelSize() + 64;
    pool.ParallelFor(tasks, TileFor(tasks, cost), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t row = task / pieces % rows, first = task % pieces * kTogether;
        run(Part{task / pieces / rows,
                 {row / w_.out[1], row % w_.out[1], first},
                 std::min(kTogether, w_.out[2] - first)});
      }
    });
  }
  // Of the results: which of the channel is the first.
  int64_t FirstOf(const Part& part) const {
    return (part.at[0] * w_.out[1] + part.at[1]) * w_.out[2] + part.at[2];
  }

  // join(first, last, i) for each tap in order: those of the results [first, last) of the part are the elements i,
  // i + the stride, and so on of the channel.
  template <class Join>
  void ForEachTap(const Part& part, const Join& join) const {
    const simd::Range t0 = axes_[0].TapsAt(part.at[0]), t1 = axes_[1].TapsAt(part.at[1]);
    for (int64_t k0 = t0.begin; k0 < t0.end; ++k0) {
      for (int64_t k1 = t1.begin; k1 < t1.end; ++k1) {
        const int64_t row =
            (w_.At(0, part.at[0], k0) * w_.in[1] + w_.At(1, part.at[1], k1)) * w_.in[2];
        for (int64_t k2 = 0; k2 < w_.kernel[2]; ++k2) {
          const auto [begin, end] = w_.Inside(2, k2);
          const int64_t first = std::max(begin, part.at[2]);
          const int64_t last = std::min(end, part.at[2] + part.count);
          if (first < last) join(first - part.at[2], last - part.at[2], row + w_.At(2, first, k2));
        }
      }
    }
  }

  // How many taps of the windows at `at` along an axis fall on the image.
  int64_t TapsAt(int axis, int64_t at) const { return axes_[axis].TapsAt(at).size(); }
  // Or on the padded image, beyond which ceil_mode lets windows reach.
  int64_t PaddedTapsAt(int axis, int64_t at) const {
    const int64_t size = w_.in[axis] + w_.pad_before[axis] + w_.pad_after[axis];
    const int64_t room = size - at * w_.stride[axis] + w_.dilation[axis] - 1;
    return std::clamp<int64_t>(room / w_.dilation[axis], 0, w_.kernel[axis]);
  }
  bool HasTaps(const Part& part, int64_t i) const {
    return TapsAt(0, part.at[0]) > 0 && TapsAt(1, part.at[1]) > 0 && TapsAt(2, part.at[2] + i) > 0;
  }

  // The number, in the order of a column-major channel, of its row-major element i.
  int64_t ColumnMajor(int64_t i) const {
    const int64_t i2 = i % w_.in[2], i1 = i / w_.in[2] % w_.in[1], i0 = i / w_.in[2] / w_.in[1];
    return (i2 * w_.in[1] + i1) * w_.in[0] + i0;
  }

 private:
  ChannelWindows(const Window& w, int64_t channels) : w_(w), channels_(channels) {
    for (int axis = 0; axis < Window::kSpatial; ++axis)
      axes_[axis] = {w.in[axis],     w.out[axis],      w.kernel[axis],
                     w.stride[axis], w.dilation[axis], w.pad_before[axis]};
  }

  Window w_;
  simd::WindowAxis axes_[Window::kSpatial];
  int64_t channels_;
};

template <class Attrs>
absl::StatusOr<ChannelWindows> WindowsOf(const KernelContext& context, const Attrs& attrs) {
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow(attrs, context.dims(0), attrs.kernel_shape,
                                                   context.result_dims(0)));
  return ChannelWindows::Make(context, w);
}

// --- the largest ------------------------------------------------------------------

// Of the elements that are no NaN, of equal ones the first; NaN where there are only such.
template <class T>
Made MakeMaxPoolOf(const ChannelWindows& windows, bool column_major) {
  return MakeNative("max pooling", {}, [windows, column_major](const KernelArgs& args) {
    using Limits = std::numeric_limits<T>;
    const Window& w = windows.window();
    const bool wants_places = args.outputs.size() > 1;
    windows.ForEachPart(*args.pool, [&](const ChannelWindows::Part& part) {
      const T* const x = args.input<T>(0) + part.channel * w.InSize();
      const int64_t to = part.channel * w.OutSize() + windows.FirstOf(part);
      T* const y = args.output<T>(0) + to;
      int32_t places[kTogether];
      std::fill_n(y, part.count, Limits::has_quiet_NaN ? Limits::quiet_NaN() : Limits::lowest());
      if (wants_places) std::fill_n(places, part.count, -1);
      windows.ForEachTap(part, [&](int64_t first, int64_t last, int64_t i) {
        const simd::Tap<T> tap = {x + i, w.stride[2], last - first};
        if (wants_places)
          simd::JoinLargest(tap, y + first, static_cast<int32_t>(i), places + first);
        else
          simd::JoinLargest(tap, y + first);
      });
      if (Limits::has_infinity)
        for (int64_t i = 0; i < part.count; ++i)
          if (y[i] != y[i] && !windows.HasTaps(part, i)) y[i] = -Limits::infinity();
      if (!wants_places) return;
      for (int64_t i = 0; i < part.count; ++i) {
        const int64_t at = std::max(places[i], 0);
        args.output<int64_t>(1)[to + i] =
            part.channel * w.InSize() + (column_major ? windows.ColumnMajor(at) : at);
      }
    });
  });
}

// --- sums -------------------------------------------------------------------------

// finish(part, sums of its windows' terms, results).
template <class Finish>
Made MakeSums(std::string_view name, const ChannelWindows& windows, simd::TapTerm term,
              const Finish& finish) {
  return MakeNative(name, {}, [windows, term, finish](const KernelArgs& args) {
    const Window& w = windows.window();
    windows.ForEachPart(*args.pool, [&](const ChannelWindows::Part& part) {
      const float* const x = args.input<float>(0) + part.channel * w.InSize();
      double sums[kTogether];
      std::fill_n(sums, part.count, 0);
      windows.ForEachTap(part, [&](int64_t first, int64_t last, int64_t i) {
        simd::AddTerms({x + i, w.stride[2], last - first}, term, sums + first);
      });
      float* const y = args.output<float>(0) + part.channel * w.OutSize() + windows.FirstOf(part);
      finish(part, sums, y);
    });
  });
}

Made MakeLpPool(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::LpPool>();
  if (attrs.p != 1 && attrs.p != 2) return context.Unsupported("other norms than 1 and 2");
  WEFT_ASSIGN_OR_RETURN(const ChannelWindows windows, WindowsOf(context, attrs));
  if (attrs.p == 1)
    return MakeSums("pooling of norms", windows, simd::TapTerm::kMagnitude,
                    [](const ChannelWindows::Part& part, const double* sums, float* y) {
                      for (int64_t i = 0; i < part.count; ++i) y[i] = static_cast<float>(sums[i]);
                    });
  return MakeSums("pooling of norms", windows, simd::TapTerm::kSquare,
                  [](const ChannelWindows::Part& part, const double* sums, float* y) {
                    for (int64_t i = 0; i < part.count; ++i)
                      y[i] = static_cast<float>(std::sqrt(sums[i]));
                  });
}
const RegisterKernel<ops::LpPool> kLpPool("native", &MakeLpPool);

}  // namespace

Made MakeChannelMaxPool(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::MaxPool>();
  const ir::DataType dtype = context.input_type(0).dtype();
  if (context.result_type(0).dtype() != dtype ||
      (context.num_results() > 1 && context.result_type(1).dtype() != ir::DataType::kI64))
    return context.Unsupported("these element types");
  WEFT_ASSIGN_OR_RETURN(const ChannelWindows windows, WindowsOf(context, attrs));
  const bool column_major = attrs.storage_order != 0;
  switch (dtype) {
    case ir::DataType::kF32:
      return MakeMaxPoolOf<float>(windows, column_major);
    case ir::DataType::kF64:
      return MakeMaxPoolOf<double>(windows, column_major);
    case ir::DataType::kI8:
      return MakeMaxPoolOf<int8_t>(windows, column_major);
    case ir::DataType::kU8:
      return MakeMaxPoolOf<uint8_t>(windows, column_major);
    default:
      return context.Unsupported("these element types");
  }
}

Made MakeChannelAveragePool(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::AveragePool>();
  WEFT_ASSIGN_OR_RETURN(const ChannelWindows windows, WindowsOf(context, attrs));
  const bool padded = attrs.count_include_pad != 0;
  const auto count = [windows, padded](int axis, int64_t at) {
    return padded ? windows.PaddedTapsAt(axis, at) : windows.TapsAt(axis, at);
  };
  std::vector<int64_t> columns;  // counts, which take divisions
  for (int64_t o = 0; o < windows.window().out[2]; ++o) columns.push_back(count(2, o));
  return MakeSums("average pooling", windows, simd::TapTerm::kItself,
                  [count, columns](const ChannelWindows::Part& part, const double* sums, float* y) {
                    const int64_t rows = count(0, part.at[0]) * count(1, part.at[1]);
                    const int64_t* const counts = columns.data() + part.at[2];
                    for (int64_t i = 0; i < part.count; ++i)
                      y[i] = static_cast<float>(sums[i] / static_cast<double>(rows * counts[i]));
                  });
}

}  // namespace weft::kernels::native
