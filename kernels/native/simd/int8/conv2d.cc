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

struct Windows {
  const Int8Conv2dArguments* arguments;
  WindowAxis rows, columns;

  // Rows of windows follow each other in memory where their pixels do.
  void GatherRow(const std::byte* image_row, int64_t column, const Range& taps,
                 std::byte* to) const {
    const Int8Conv2dArguments& a = *arguments;
    const int64_t channels = a.shape.in_channels, stride = a.x_stride;
    const auto around = static_cast<uint8_t>(a.x_zero);
    if (taps.begin > 0) std::memset(to, around, static_cast<size_t>(taps.begin * channels));
    const std::byte* from = image_row + columns.InputAt(column, taps.begin) * stride;
    std::byte* at = to + taps.begin * channels;
    if (columns.dilation == 1 && stride == channels) {
      CopyPast(from, taps.size() * channels, at);
    } else {
      for (int64_t i = 0; i < taps.size(); ++i, at += channels, from += columns.dilation * stride)
        CopyPast(from, channels, at);
    }
    if (taps.end < columns.kernel)
      std::memset(to + taps.end * channels, around,
                  static_cast<size_t>((columns.kernel - taps.end) * channels));
  }

  void GatherWindow(int64_t image, int64_t row, int64_t column, std::byte* to) const {
    const Int8Conv2dArguments& a = *arguments;
    const int64_t row_bytes = columns.kernel * a.shape.in_channels;
    const Range row_taps = rows.TapsAt(row), taps = columns.TapsAt(column);
    for (int64_t i = 0; i < rows.kernel; ++i, to += row_bytes) {
      if (i < row_taps.begin || i >= row_taps.end || taps.size() == 0) {
        std::memset(to, static_cast<uint8_t>(a.x_zero), static_cast<size_t>(row_bytes));
        continue;
      }
      const int64_t in_row = image * rows.in + rows.InputAt(row, i);
      GatherRow(a.x + in_row * columns.in * a.x_stride, column, taps, to);
    }
  }

  static void Gather(const void* context, int64_t first, int64_t count, std::byte* to,
                     int64_t stride) {
    const auto& self = *static_cast<const Windows*>(context);
    const int64_t width = self.columns.out, height = self.rows.out;
    int64_t column = first % width, row = first / width % height, image = first / width / height;
    for (int64_t i = 0; i < count; ++i, to += stride) {
      self.GatherWindow(image, row, column, to);
      if (++column < width) continue;
      column = 0;
      if (++row < height) continue;
      row = 0;
      ++image;
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
