#include "kernels/native/simd/depthwise.h"

#include <algorithm>

#include "kernels/native/simd/window_axis.h"

namespace weft::kernels::simd {
namespace {

// How the taps of a row lie. kAny takes their number and steps from the row; the others are known to
// the compiler, and outputs next to each other share what they load.
enum class TapRow { kAny, k3Stride1, k3Stride2, k5Stride1, k5Stride2 };
constexpr int TapsOf(TapRow taps) {
  return taps == TapRow::k3Stride1 || taps == TapRow::k3Stride2 ? 3 : 5;
}
constexpr int StrideOf(TapRow taps) {
  return taps == TapRow::k3Stride1 || taps == TapRow::k5Stride1 ? 1 : 2;
}

// Outputs next to each other in a row of the image that see the same taps, or of two rows, where both see
// all taps and strides are 1 (k3Stride1, k5Stride1). Steps are in floats.
struct DepthwiseRow {
  TapRow kind = TapRow::kAny;
  bool two_rows = false;
  int64_t channels = 0;
  int64_t pixels = 0;
  const float* x = nullptr;  // the first tap of the first output
  int64_t x_step = 0;        // from an output to the next
  int64_t tap_rows = 0, taps = 0;
  int64_t tap_row_step = 0, tap_step = 0;
  const float* weights = nullptr;  // of the first tap
  int64_t weight_row_step = 0;
  const float* bias = nullptr;
  const float* residual = nullptr;
  float* y = nullptr;
  int64_t y_row_step = 0;  // to the second row, of the residual too
  RegisterActivation activation = {};
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/depthwise_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

struct Depthwise2d {
  const DepthwiseArguments* arguments;
  WindowAxis rows, columns;
  Range inner_columns;
  Range paired_rows;    // an even number, run two at a time
  DepthwiseRow common;  // what all rows share
  bool activate;        // in a second pass over a row
  void (*run)(const DepthwiseRow&);
  void (*activate_row)(const Activation&, float*, int64_t);
};

TapRow KindOf(const WindowAxis& columns, int64_t taps) {
  for (const TapRow kind :
       {TapRow::k3Stride1, TapRow::k3Stride2, TapRow::k5Stride1, TapRow::k5Stride2}) {
    if (columns.dilation == 1 && taps == TapsOf(kind) && columns.stride == StrideOf(kind))
      return kind;
  }
  return TapRow::kAny;
}

// Outputs [begin, end) of a row, or of it and the next, which see the same column taps.
void RunColumns(const Depthwise2d& d, int64_t image, int64_t row, bool two_rows,
                const Range& columns) {
  const DepthwiseArguments& a = *d.arguments;
  const int64_t channels = a.shape.in_channels;
  const Range row_taps = d.rows.TapsAt(row), taps = d.columns.TapsAt(columns.begin);
  DepthwiseRow r = d.common;
  r.pixels = columns.size();
  r.tap_rows = taps.size() == 0 ? 0 : row_taps.size();
  r.taps = taps.size();
  r.kind = KindOf(d.columns, taps.size());
  r.two_rows = two_rows;
  const int64_t out = ((image * d.rows.out + row) * d.columns.out + columns.begin) * channels;
  r.y = a.y + out;
  if (a.residual != nullptr) r.residual = a.residual + out;
  if (r.tap_rows > 0) {
    const int64_t in_row = image * d.rows.in + d.rows.InputAt(row, row_taps.begin);
    const int64_t in_column = d.columns.InputAt(columns.begin, taps.begin);
    r.x = a.x + (in_row * d.columns.in + in_column) * channels;
    r.weights = a.weights + (row_taps.begin * d.columns.kernel + taps.begin) * channels;
  } else {  // all is padding: addresses that offsets may be added to
    r.x = a.x;
    r.weights = a.weights;
  }
  d.run(r);
}

// One row of outputs, or two: the columns that the borders cut one by one, the others together.
void RunRows(const Depthwise2d& d, int64_t image, int64_t row, bool two_rows) {
  for (int64_t column = 0; column < d.columns.out;) {
    const bool inner = column == d.inner_columns.begin && d.inner_columns.size() > 0;
    const int64_t end = inner ? d.inner_columns.end : column + 1;
    RunColumns(d, image, row, two_rows && inner, {column, end});
    if (two_rows && !inner) RunColumns(d, image, row + 1, false, {column, end});
    column = end;
  }
  if (!d.activate) return;
  const int64_t n = d.columns.out * d.common.channels;
  d.activate_row(d.arguments->activation, d.arguments->y + (image * d.rows.out + row) * n,
                 two_rows ? 2 * n : n);
}

// Of the rows that see all taps, where two of them share what they read.
Range PairedRows(const Depthwise2d& d) {
  const TapRow kind = KindOf(d.columns, d.columns.kernel);
  const bool shares = (kind == TapRow::k3Stride1 || kind == TapRow::k5Stride1) &&
                      d.rows.kernel == d.columns.kernel && d.rows.stride == 1 &&
                      d.rows.dilation == 1 && d.inner_columns.size() > 0;
  const Range inner = d.rows.Inner();
  if (!shares || inner.size() < 2) return {0, 0};
  return {inner.begin, inner.end - inner.size() % 2};
}

}  // namespace

void PackDepthwiseWeights(const float* weights, const Conv2dShape& shape, float* packed) {
  const int64_t taps = shape.kernel_height * shape.kernel_width, channels = shape.in_channels;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t) packed[t * channels + c] = weights[c * taps + t];
}

std::vector<float> PackDepthwiseWeights(const float* weights, const Conv2dShape& shape) {
  const int64_t taps = shape.kernel_height * shape.kernel_width;
  std::vector<float> packed(static_cast<size_t>(taps * shape.in_channels));
  PackDepthwiseWeights(weights, shape, packed.data());
  return packed;
}

void Depthwise(const DepthwiseArguments& arguments, ThreadPool& pool) {
  const Conv2dShape& s = arguments.shape;
  const int64_t channels = s.in_channels;
  Depthwise2d d;
  d.arguments = &arguments;
  d.rows = s.rows();
  d.columns = s.columns();
  d.inner_columns = d.columns.Inner();
  d.paired_rows = PairedRows(d);
  d.common.channels = channels;
  d.common.x_step = s.stride_width * channels;
  d.common.tap_row_step = s.dilation_height * s.in_width * channels;
  d.common.tap_step = s.dilation_width * channels;
  d.common.weight_row_step = s.kernel_width * channels;
  d.common.y_row_step = d.columns.out * channels;
  d.common.bias = arguments.bias;
  d.activate = FoldActivation(arguments.activation, &d.common.activation);
  d.run = WEFT_DISPATCH(RunDepthwiseRow);
  d.activate_row = WEFT_DISPATCH(ActivateRow);
  // A pair of rows is one unit of work, as is any other row.
  const int64_t pairs = d.paired_rows.size() / 2, units = d.rows.out - pairs;
  const int64_t cost = d.columns.out * channels * (s.kernel_height * s.kernel_width / 2 + 2);
  if (s.batch * units * cost == 0) return;
  pool.ParallelFor(s.batch * units, TileFor(s.batch * units, cost),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) {
                       const int64_t unit = i % units, in_pairs = unit - d.paired_rows.begin;
                       const bool is_pair = in_pairs >= 0 && in_pairs < pairs;
                       const int64_t row = unit + std::clamp<int64_t>(in_pairs, 0, pairs);
                       RunRows(d, i / units, row, is_pair);
                     }
                   });
}

}  // namespace weft::kernels::simd
