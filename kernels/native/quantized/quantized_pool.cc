// Pools of 8-bit integers, NHWC: one pass over the channels for each position of a window.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/dialects/fused.h"
#include "kernels/native/quantized/quantized.h"
#include "kernels/native/simd/int8/quantize.h"

namespace weft::kernels::native {
namespace {

namespace fused = ir::fused;
using ir::DataType;

struct Windows {
  int64_t height, width, channels, out_height, out_width, images;
  ir::Ints kernel, strides, pads, dilations;
};

Windows WindowsOf(const KernelContext& context, ir::Ints kernel, ir::Ints strides, ir::Ints pads,
                  ir::Ints dilations) {
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  return {x[1],
          x[2],
          x[3],
          y[1],
          y[2],
          x[0],
          std::move(kernel),
          std::move(strides),
          std::move(pads),
          std::move(dilations)};
}

// visit(pixel) for each pixel of x in the window at (row, column) of the result.
template <class Visit>
void ForEachPixel(const Windows& w, int64_t image, int64_t row, int64_t column,
                  const Visit& visit) {
  for (int64_t i = 0; i < w.kernel[0]; ++i) {
    const int64_t y = row * w.strides[0] - w.pads[0] + i * w.dilations[0];
    if (y < 0 || y >= w.height) continue;
    for (int64_t j = 0; j < w.kernel[1]; ++j) {
      const int64_t x = column * w.strides[1] - w.pads[1] + j * w.dilations[1];
      if (x >= 0 && x < w.width) visit((image * w.height + y) * w.width + x);
    }
  }
}

// row(image, row of the result) for all rows.
template <class Row>
void ForEachRow(const Windows& w, ThreadPool& pool, const Row& row) {
  pool.ParallelFor(w.images * w.out_height, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row(i / w.out_height, i % w.out_height);
  });
}

// The least number where a window has no pixel.
void MaxPool(const Windows& w, bool is_signed, const uint8_t* x, uint8_t* y, ThreadPool& pool) {
  constexpr int64_t kTogether = 32;
  ForEachRow(w, pool, [&](int64_t image, int64_t row) {
    for (int64_t column = 0; column < w.out_width; ++column) {
      uint8_t* out = y + ((image * w.out_height + row) * w.out_width + column) * w.channels;
      const uint8_t* pixels[kTogether];
      int64_t count = 0;
      const auto join = [&] {
        simd::MaxOfBytes(pixels, count, is_signed, out, w.channels);
        pixels[0] = out;  // goes on with those that follow
        count = 1;
      };
      ForEachPixel(w, image, row, column, [&](int64_t pixel) {
        pixels[count++] = x + pixel * w.channels;
        if (count == kTogether) join();
      });
      if (count > 0) {
        join();
      } else {
        std::fill_n(out, w.channels, static_cast<uint8_t>(is_signed ? INT8_MIN : 0));
      }
    }
  });
}

struct Mean {
  Windows windows;
  Quantization x, y;
  bool count_padding;
};

template <class X, class Y>
void MeanPool(const Mean& mean, const X* x, Y* y, ThreadPool& pool) {
  const Windows& w = mean.windows;
  ForEachRow(w, pool, [&](int64_t image, int64_t row) {
    std::vector<int32_t> sums(static_cast<size_t>(w.channels));
    for (int64_t column = 0; column < w.out_width; ++column) {
      int64_t count = 0;
      std::fill(sums.begin(), sums.end(), 0);
      ForEachPixel(w, image, row, column, [&](int64_t pixel) {
        const X* in = x + pixel * w.channels;
        for (int64_t c = 0; c < w.channels; ++c) sums[c] += in[c] - mean.x.zero;
        ++count;
      });
      if (mean.count_padding) count = w.kernel[0] * w.kernel[1];
      const double scale = double{mean.x.scale} / static_cast<double>(count);
      Y* out = y + ((image * w.out_height + row) * w.out_width + column) * w.channels;
      for (int64_t c = 0; c < w.channels; ++c)
        out[c] = Round<Y>(static_cast<float>(sums[c] * scale) / mean.y.scale, mean.y.zero);
    }
  });
}

Made MakeMean(const KernelContext& context, Windows windows, bool count_padding) {
  WEFT_ASSIGN_OR_RETURN(const Quantization x, ReadQuantization(context, 1, 2));
  WEFT_ASSIGN_OR_RETURN(const Quantization y, ReadQuantization(context, 3, 4));
  if (windows.kernel[0] * windows.kernel[1] > 1 << 22)
    return context.Unsupported("a window whose sums 32 bits do not hold");
  const Mean mean = {std::move(windows), x, y, count_padding};
  const bool from_signed = context.input_type(0).dtype() == DataType::kI8;
  const bool to_signed = context.result_type(0).dtype() == DataType::kI8;
  return MakeNative("quantised mean", {}, [=](const KernelArgs& args) {
    const auto pool = [&](const auto* in) {
      if (to_signed)
        MeanPool(mean, in, args.output<int8_t>(0), *args.pool);
      else
        MeanPool(mean, in, args.output<uint8_t>(0), *args.pool);
    };
    if (from_signed)
      pool(args.input<int8_t>(0));
    else
      pool(args.input<uint8_t>(0));
  });
}

// Whether some window lies outside of x, so that its mean is none.
bool HasEmptyWindow(const Windows& w) {
  const int64_t rows = (w.out_height - 1) * w.strides[0],
                columns = (w.out_width - 1) * w.strides[1];
  return rows - w.pads[0] >= w.height || columns - w.pads[1] >= w.width ||
         w.pads[0] >= w.kernel[0] || w.pads[1] >= w.kernel[1];
}

Made MakeQAveragePool2d(const KernelContext& context) {
  const auto attrs = context.attrs_of<fused::QAveragePool2d>();
  Windows windows =
      WindowsOf(context, attrs.kernel_shape, attrs.strides, attrs.pads, ir::Ints{1, 1});
  if (HasEmptyWindow(windows)) return context.Unsupported("a window that lies in the padding");
  if (attrs.count_include_pad && attrs.ceil_mode)
    return context.Unsupported("padding that is counted, with ceil_mode");
  return MakeMean(context, std::move(windows), attrs.count_include_pad);
}
const RegisterKernel<fused::QAveragePool2d> kQAveragePool2d("native", &MakeQAveragePool2d);

Made MakeQGlobalAveragePool2d(const KernelContext& context) {
  const std::span<const int64_t> x = context.dims(0);
  return MakeMean(context, WindowsOf(context, {x[1], x[2]}, {1, 1}, {0, 0, 0, 0}, {1, 1}), false);
}
const RegisterKernel<fused::QGlobalAveragePool2d> kQGlobalAveragePool2d("native",
                                                                        &MakeQGlobalAveragePool2d);

}  // namespace

Made MakeByteMaxPool2d(const KernelContext& context) {
  const auto attrs = context.attrs_of<fused::MaxPool2d>();
  const Windows w =
      WindowsOf(context, attrs.kernel_shape, attrs.strides, attrs.pads, attrs.dilations);
  const bool is_signed = context.input_type(0).dtype() == DataType::kI8;
  return MakeNative("byte max pool", {}, [=](const KernelArgs& args) {
    MaxPool(w, is_signed, args.input<uint8_t>(0), args.output<uint8_t>(0), *args.pool);
  });
}

}  // namespace weft::kernels::native
