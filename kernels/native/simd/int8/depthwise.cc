// Depthwise convolutions of bytes (conv2d.h).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "kernels/native/simd/int8/conv2d.h"
#include "kernels/native/simd/window_axis.h"
#include "kernels/thread_scratch.h"

namespace weft::kernels::simd {
namespace {

// Pixels next to each other in a row of the result, all channels.
struct Int8DepthwiseRow {
  const std::byte* const* taps =
      nullptr;  // of the first pixel: where each has its channels; an even number
  int64_t num_pairs = 0;
  int64_t pixels = 0;
  int64_t step = 0;                  // from the taps of a pixel to those of the next
  int64_t channels = 0, stride = 0;  // of `pairs`: channels in whole vectors
  const int16_t* pairs = nullptr;
  Int8Product common = {};  // offsets, scales, result of the first pixel
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/int8/depthwise_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

constexpr int64_t kWholeChannels = 16;
int64_t WholeChannels(int64_t channels) {
  return (channels + kWholeChannels - 1) / kWholeChannels * kWholeChannels;
}

struct Depthwise2d {
  const Int8DepthwiseArguments* arguments;
  WindowAxis rows, columns;
  Range inner_columns;
  Int8DepthwiseRow common;
  const std::byte* around;  // channels of a pixel that is not on the image
  void (*run)(const Int8DepthwiseRow&);
};

// Outputs [columns) of a row, which see the same taps, and more than one only where those are on the image
// or all around it.
void RunColumns(const Depthwise2d& d, int64_t image, int64_t row, const Range& columns,
                const std::byte** taps) {
  const Int8DepthwiseArguments& a = *d.arguments;
  const int64_t channels = a.shape.in_channels;
  const Range row_taps = d.rows.TapsAt(row), column_taps = d.columns.TapsAt(columns.begin);
  int64_t at = 0;
  for (int64_t i = 0; i < d.rows.kernel; ++i) {
    const bool in_rows = i >= row_taps.begin && i < row_taps.end;
    const int64_t in_row = image * d.rows.in + (in_rows ? d.rows.InputAt(row, i) : 0);
    for (int64_t j = 0; j < d.columns.kernel; ++j) {
      const bool inside = in_rows && j >= column_taps.begin && j < column_taps.end;
      const int64_t pixel = in_row * d.columns.in + d.columns.InputAt(columns.begin, j);
      taps[at++] = inside ? a.x + pixel * channels : d.around;
    }
  }
  if (at % 2 != 0) taps[at] = taps[0];  // by a weight of 0
  Int8DepthwiseRow r = d.common;
  r.taps = taps;
  r.pixels = columns.size();
  const int64_t out = (image * d.rows.out + row) * d.columns.out + columns.begin;
  r.common.result.c =
      static_cast<std::byte*>(a.result.c) + out * a.result.c_stride * a.result.element_bytes();
  d.run(r);
}

// One row of outputs: those that the left and right borders cut one by one, the others together where no
// row of taps is around the image, whose pixel does not move on with them.
void RunRow(const Depthwise2d& d, int64_t image, int64_t row, const std::byte** taps) {
  const bool whole = d.rows.TapsAt(row).size() == d.rows.kernel;
  for (int64_t column = 0; column < d.columns.out;) {
    const bool together = whole && column == d.inner_columns.begin && d.inner_columns.size() > 0;
    const int64_t end = together ? d.inner_columns.end : column + 1;
    RunColumns(d, image, row, {column, end}, taps);
    column = end;
  }
}

}  // namespace

Int8DepthwiseWeights PackInt8DepthwiseWeights(const Int8ConvWeights& weights,
                                              const Conv2dShape& shape) {
  const int64_t taps = shape.kernel_height * shape.kernel_width, channels = shape.in_channels;
  const int64_t stride = WholeChannels(channels), num_pairs = (taps + 1) / 2;
  Int8DepthwiseWeights packed;
  packed.pairs.resize(static_cast<size_t>(num_pairs * stride * 2));
  packed.sums.resize(static_cast<size_t>(stride));
  for (int64_t c = 0; c < channels; ++c) {
    const int zero = weights.zeros.empty()
                         ? 0
                         : weights.zeros[weights.zeros.size() == 1 ? 0 : static_cast<size_t>(c)];
    for (int64_t tap = 0; tap < taps; ++tap) {
      const std::byte byte = weights.data[c * taps + tap];
      const int value =
          (weights.is_signed ? static_cast<int8_t>(byte) : static_cast<uint8_t>(byte)) - zero;
      packed.pairs[(tap / 2 * stride + c) * 2 + tap % 2] = static_cast<int16_t>(value);
      packed.sums[c] += value;
    }
  }
  return packed;
}

void Int8Depthwise(const Int8DepthwiseArguments& arguments, ThreadPool& pool) {
  const Conv2dShape& s = arguments.shape;
  const int64_t channels = s.in_channels, stride = WholeChannels(channels);
  const int64_t taps = s.kernel_height * s.kernel_width;
  // Offsets and scales of channels, and a pixel around the image.
  std::byte* shared = ThreadScratch(9 * stride + kInt8ReadsPast, ScratchUse::kShared);
  auto* offsets = reinterpret_cast<int32_t*>(shared);
  auto* scales = reinterpret_cast<float*>(shared + 4 * stride);
  std::byte* around = shared + 8 * stride;
  std::memset(shared, 0, static_cast<size_t>(8 * stride));
  std::memset(around, static_cast<uint8_t>(arguments.x_zero),
              static_cast<size_t>(stride + kInt8ReadsPast));
  for (int64_t c = 0; c < channels; ++c) {
    const uint32_t bias = arguments.bias == nullptr ? 0 : static_cast<uint32_t>(arguments.bias[c]);
    offsets[c] = static_cast<int32_t>(bias - static_cast<uint32_t>(arguments.x_zero) *
                                                 static_cast<uint32_t>(arguments.weights->sums[c]));
    if (arguments.result.scales != nullptr) scales[c] = arguments.result.scales[c];
  }
  Depthwise2d d;
  d.arguments = &arguments;
  d.rows = s.rows();
  d.columns = s.columns();
  d.inner_columns = d.columns.Inner();
  d.common.num_pairs = (taps + 1) / 2;
  d.common.step = s.stride_width * channels;
  d.common.channels = channels;
  d.common.stride = stride;
  d.common.pairs = arguments.weights->pairs.data();
  d.common.common.offsets = offsets;
  d.common.common.scales = scales;
  d.common.common.result = arguments.result;
  d.around = around;
  const bool is_signed = arguments.x_signed;
  d.run =
      is_signed ? WEFT_DISPATCH(RunInt8Depthwise<true>) : WEFT_DISPATCH(RunInt8Depthwise<false>);
  const int64_t rows = s.batch * d.rows.out;
  if (rows * d.columns.out * channels == 0) return;
  const int64_t cost = d.columns.out * channels * (taps / 4 + 1);
  pool.ParallelFor(rows, TileFor(rows, cost), [&](int64_t begin, int64_t end) {
    constexpr auto kPointer = static_cast<int64_t>(sizeof(const std::byte*));
    std::byte* scratch = ThreadScratch((taps + 1) * kPointer, ScratchUse::kTask);
    auto* pointers = new (scratch) const std::byte*[static_cast<size_t>(taps + 1)];
    for (int64_t i = begin; i < end; ++i) RunRow(d, i / d.rows.out, i % d.rows.out, pointers);
  });
}

}  // namespace weft::kernels::simd
