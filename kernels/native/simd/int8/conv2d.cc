#include "kernels/native/simd/int8/conv2d.h"

#include <algorithm>
#include <cstring>

#include "kernels/native/simd/window_axis.h"

namespace weft::kernels::simd {
namespace {

// Writes up to kStep - 1 bytes more, which the next copy or nobody reads; reads as many more.
void CopyPast(const std::byte* from, int64_t bytes, std::byte* to) {
  constexpr int64_t kStep = 32;
  static_assert(kStep <= kInt8ReadsPast);
  for (int64_t i = 0; i < bytes; i += kStep) std::memcpy(to + i, from + i, kStep);
}

// A window becomes a row of A: its rows of pixels, one after the other.
struct Windows {
  const Int8Conv2dArguments* arguments;
  WindowAxis rows, columns;
  Range inner_columns = columns.Inner();

  int64_t channels() const { return arguments->shape.in_channels; }
  int64_t RowBytes() const { return columns.kernel * channels(); }
  // Whether the pixels of a row of a window follow each other in memory.
  bool IsContiguous() const { return columns.dilation == 1 && arguments->x_stride == channels(); }

  void Pad(int64_t pixels, std::byte* to) const {
    std::memset(to, static_cast<uint8_t>(arguments->x_zero),
                static_cast<size_t>(pixels * channels()));
  }

  // One row of the window at `column`.
  void GatherPixels(const std::byte* image_row, int64_t column, std::byte* to) const {
    const Range taps = columns.TapsAt(column);
    if (taps.size() == 0) return Pad(columns.kernel, to);
    const int64_t stride = arguments->x_stride;
    Pad(taps.begin, to);
    const std::byte* from = image_row + columns.InputAt(column, taps.begin) * stride;
    std::byte* at = to + taps.begin * channels();
    if (IsContiguous()) {
      CopyPast(from, taps.size() * channels(), at);
    } else {
      for (int64_t i = 0; i < taps.size(); ++i, at += channels(), from += columns.dilation * stride)
        CopyPast(from, channels(), at);
    }
    Pad(columns.kernel - taps.end, to + taps.end * channels());
  }

  // One row of each of the windows at `outputs`, `stride` apart: most lie on the image as a whole.
  void GatherRow(const std::byte* image_row, const Range& outputs, std::byte* to,
                 int64_t stride) const {
    const int64_t first = std::clamp(inner_columns.begin, outputs.begin, outputs.end);
    const int64_t last = IsContiguous() ? std::clamp(inner_columns.end, first, outputs.end) : first;
    int64_t column = outputs.begin;
    for (; column < first; ++column, to += stride) GatherPixels(image_row, column, to);
    for (; column < last; ++column, to += stride)
      CopyPast(image_row + columns.InputAt(column, 0) * arguments->x_stride, RowBytes(), to);
    for (; column < outputs.end; ++column, to += stride) GatherPixels(image_row, column, to);
  }

  // Windows next to each other in a row of the result. What a copy writes too much is behind its row of a
  // window, and is written after it.
  void GatherWindows(int64_t image, int64_t row, const Range& outputs, std::byte* to,
                     int64_t stride) const {
    const Range taps = rows.TapsAt(row);
    for (int64_t i = 0; i < rows.kernel; ++i, to += RowBytes()) {
      if (i >= taps.begin && i < taps.end) {
        const int64_t in_row = image * rows.in + rows.InputAt(row, i);
        GatherRow(arguments->x + in_row * columns.in * arguments->x_stride, outputs, to, stride);
      } else {
        for (int64_t w = 0; w < outputs.size(); ++w) Pad(columns.kernel, to + w * stride);
      }
    }
  }

  static void Gather(const void* context, int64_t first, int64_t count, std::byte* to,
                     int64_t stride) {
    const auto& self = *static_cast<const Windows*>(context);
    const int64_t width = self.columns.out, height = self.rows.out;
    for (const int64_t last = first + count; first < last;) {
      const int64_t row = first / width, column = first % width;
      const int64_t end = std::min(width, column + last - first);
      self.GatherWindows(row / height, row % height, {column, end}, to, stride);
      to += (end - column) * stride;
      first += end - column;
    }
  }
};

bool IsProduct(const Conv2dShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_height == 1 &&
         s.stride_width == 1 && s.out_height() == s.in_height && s.out_width() == s.in_width &&
         s.pad_top == 0 && s.pad_left == 0;
}

}  // namespace

Int8Matrix PackInt8Conv2dWeights(const Int8ConvWeights& weights, const Conv2dShape& shape,
                                 ThreadPool& pool) {
  const int64_t taps = shape.kernel_height * shape.kernel_width, channels = shape.in_channels;
  const int64_t k = taps * channels;
  std::vector<std::byte> by_tap(static_cast<size_t>(shape.out_channels * k));
  size_t at = 0;
  for (int64_t o = 0; o < shape.out_channels; ++o)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c) by_tap[at++] = weights.data[o * k + c * taps + tap];
  return Int8Matrix::Pack({.b = by_tap.data(),
                           .row_stride = 1,
                           .column_stride = k,
                           .k = k,
                           .n = shape.out_channels,
                           .b_signed = weights.is_signed,
                           .a_signed = weights.x_signed,
                           .zeros = weights.zeros},
                          pool);
}

void Int8Conv2d(const Int8Conv2dArguments& arguments, ThreadPool& pool) {
  const Conv2dShape& s = arguments.shape;
  const Windows windows = {&arguments, s.rows(), s.columns()};
  Int8GemmArguments g;
  g.m = s.batch * windows.rows.out * windows.columns.out;
  g.a_zero = arguments.x_zero;
  g.b = arguments.weights;
  g.bias = arguments.bias;
  g.result = arguments.result;
  if (IsProduct(s)) {
    g.a = arguments.x;
    g.a_stride = arguments.x_stride;
  } else {
    g.gather = &Windows::Gather;
    g.context = &windows;
  }
  Int8Gemm(g, pool);
}

}  // namespace weft::kernels::simd
