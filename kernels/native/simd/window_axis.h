// One axis of a sliding window, of a convolution or a pool: which taps of a window fall on the image
// and where.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::kernels::simd {

struct Range {
  int64_t begin;
  int64_t end;

  int64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

struct WindowAxis {
  int64_t in, out, kernel, stride, dilation, pad;  // pad: in front

  // The taps of output `at` that fall on the image.
  Range TapsAt(int64_t at) const {
    const int64_t start = at * stride - pad;
    const int64_t begin = start < 0 ? std::min(kernel, CeilDiv(-start, dilation)) : 0;
    const int64_t end = start >= in ? begin : std::min(kernel, CeilDiv(in - start, dilation));
    return {begin, std::max(begin, end)};
  }
  int64_t InputAt(int64_t at, int64_t tap) const { return at * stride - pad + tap * dilation; }

  // The outputs all of whose taps fall on the image.
  Range Inner() const {
    const int64_t begin = std::min(out, CeilDiv(pad, stride));
    const int64_t last = in - 1 - (kernel - 1) * dilation + pad;  // largest start + pad
    const int64_t end = last < 0 ? begin : std::min(out, last / stride + 1);
    return {begin, std::max(begin, end)};
  }

 private:
  static int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
};

}  // namespace weft::kernels::simd
