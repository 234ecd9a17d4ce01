#include "kernels/native/simd/pool2d.h"

#include <limits>

namespace weft::kernels::simd {
namespace {

// The taps of one output, for all channels. Steps are in floats.
struct PoolWindow {
  const float* x = nullptr;  // the first tap
  int64_t tap_rows = 0, taps = 0;
  int64_t tap_row_step = 0, tap_step = 0;
  float factor = 1;
  float* y = nullptr;
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/pool2d_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// How many taps of output `at` lie in the padded image: the last window may reach beyond it.
int64_t PaddedTaps(const WindowAxis& axis, int64_t at, int64_t pad_after) {
  const int64_t start = at * axis.stride;
  return std::min(start + axis.kernel, axis.in + axis.pad + pad_after) - start;
}

void RunRow(const Pool2dArguments& a, void (*run)(const PoolWindow&, int64_t), int64_t image,
            int64_t row) {
  const Range row_taps = a.rows.TapsAt(row);
  const int64_t padded_rows = a.count_padding ? PaddedTaps(a.rows, row, a.pad_bottom) : 0;
  PoolWindow w;
  w.tap_row_step = a.rows.dilation * a.columns.in * a.channels;
  w.tap_step = a.columns.dilation * a.channels;
  w.y = a.y + (image * a.rows.out + row) * a.columns.out * a.channels;
  for (int64_t column = 0; column < a.columns.out; ++column, w.y += a.channels) {
    const Range taps = a.columns.TapsAt(column);
    w.tap_rows = row_taps.size();
    w.taps = taps.size();
    if (w.tap_rows * w.taps == 0 && a.op == PoolOp::kMax) {
      std::fill(w.y, w.y + a.channels, -std::numeric_limits<float>::infinity());
      continue;
    }
    const int64_t count = a.count_padding ? padded_rows * PaddedTaps(a.columns, column, a.pad_right)
                                          : w.tap_rows * w.taps;
    w.factor = 1 / static_cast<float>(count);
    const int64_t in_row = image * a.rows.in + a.rows.InputAt(row, row_taps.begin);
    const int64_t in_column = a.columns.InputAt(column, taps.begin);
    w.x = w.tap_rows * w.taps == 0 ? a.x : a.x + (in_row * a.columns.in + in_column) * a.channels;
    run(w, a.channels);
  }
}

}  // namespace

void Pool2d(const Pool2dArguments& arguments, ThreadPool& pool) {
  const Pool2dArguments& a = arguments;
  const auto run = a.op == PoolOp::kMax ? WEFT_DISPATCH(MaxOfWindow) : WEFT_DISPATCH(MeanOfWindow);
  const int64_t rows = a.batch * a.rows.out;
  const int64_t cost = a.columns.out * a.channels * (a.rows.kernel * a.columns.kernel + 1);
  if (rows * cost == 0) return;
  pool.ParallelFor(rows, TileFor(rows, cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) RunRow(a, run, i / a.rows.out, i % a.rows.out);
  });
}

}  // namespace weft::kernels::simd
