#include "kernels/native/simd/reduction/normalize.h"

#include <algorithm>
#include <cmath>

#include "kernels/native/simd/reduction/slices.h"

#define WEFT_ISA_BODY "kernels/native/simd/reduction/normalize_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// A kernel of the middle axis of [outer, extent, inner]: rows() where it is the last, else slice().
template <typename Rows, typename Slice>
void AlongAxis(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
               ThreadPool& pool, const Rows& rows, const Slice& slice) {
  if (outer * extent * inner == 0) return;
  if (inner == 1) {
    pool.ParallelFor(outer, TileFor(outer, 4 * extent), [=](int64_t begin, int64_t end) {
      rows(x + begin * extent, y + begin * extent, end - begin, extent);
    });
    return;
  }
  ForEachSlice(outer, extent, inner, 4, pool, [=](int64_t i, int64_t begin, int64_t end) {
    slice(x + i * extent * inner, y + i * extent * inner, extent, inner, begin, end);
  });
}

}  // namespace

void Softmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
             ThreadPool& pool) {
  AlongAxis(x, y, outer, extent, inner, pool, WEFT_DISPATCH(SoftmaxRows),
            WEFT_DISPATCH(SoftmaxSlice));
}

void MaskedSoftmax(const MaskedSoftmaxArguments& a, ThreadPool& pool) {
  const int64_t rows = NumElements(a.rows);
  if (rows * a.columns == 0) return;
  LoopNest<1> nest;
  for (int i = 0; i < a.rows.size(); ++i) nest.Add(a.rows[i], {a.mask_strides[i]});
  nest.Coalesce();
  const auto run = WEFT_DISPATCH(MaskedSoftmaxRow);
  pool.ParallelFor(rows, TileFor(rows, 5 * a.columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t offset[1];
      nest.OffsetsAt(row, nest.rank, offset);
      run(a.x + row * a.columns, a.mask + offset[0], a.y + row * a.columns, a.columns);
    }
  });
}

void LogSoftmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
                ThreadPool& pool) {
  AlongAxis(x, y, outer, extent, inner, pool, WEFT_DISPATCH(LogSoftmaxRows),
            WEFT_DISPATCH(LogSoftmaxSlice));
}

void LayerNorm(const LayerNormArguments& arguments, ThreadPool& pool) {
  if (arguments.columns == 0) return;
  const auto rows = WEFT_DISPATCH(LayerNormRows);
  pool.ParallelFor(arguments.rows, TileFor(arguments.rows, 3 * arguments.columns),
                   [rows, &arguments](int64_t begin, int64_t end) { rows(arguments, begin, end); });
}

namespace {

// With channels last rows of x are summed in pieces, which do not depend on how many threads there are, and the
// sums of the pieces in double.
constexpr int64_t kRowsOfPiece = 64;

int64_t PiecesOf(const GroupNormArguments& a) {
  return (a.spatial + kRowsOfPiece - 1) / kRowsOfPiece;
}

// What the elements of each group sum up to in all pieces of one batch.
double GroupSum(const GroupNormArguments& a, const float* sums, int64_t group) {
  const int64_t channels = a.channels / a.groups;
  double total = 0;
  for (int64_t piece = 0; piece < PiecesOf(a); ++piece)
    for (int64_t c = group * channels; c < (group + 1) * channels; ++c)
      total += sums[piece * a.channels + c];
  return total;
}

void GroupNormChannelsLast(const GroupNormArguments& a, ThreadPool& pool) {
  const auto add = WEFT_DISPATCH(AddToColumns);
  const auto add_squares = WEFT_DISPATCH(AddSquaresToColumns);
  const auto normalize = WEFT_DISPATCH(NormalizeRowsByColumn);
  const int64_t pieces = PiecesOf(a), channels = a.channels / a.groups;
  const double count = static_cast<double>(channels * a.spatial);
  float* const sums = a.scratch;                    // [pieces, channels]
  float* const means = sums + pieces * a.channels;  // [channels], and so on
  float *const factors = means + a.channels, *const shifts = factors + a.channels;
  const auto for_each_piece = [&](auto body) {
    pool.ParallelFor(pieces, TileFor(pieces, kRowsOfPiece * a.channels * 2),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t piece = begin; piece < end; ++piece)
                         body(piece, std::min(kRowsOfPiece, a.spatial - piece * kRowsOfPiece));
                     });
  };
  for (int64_t batch = 0; batch < a.batch; ++batch) {
    const float* x = a.x + batch * a.spatial * a.channels;
    float* y = a.y + batch * a.spatial * a.channels;
    const auto piece_of = [&](auto* p, int64_t piece) {
      return p + piece * kRowsOfPiece * a.channels;
    };
    std::fill_n(sums, pieces * a.channels, 0.0f);
    for_each_piece([&](int64_t piece, int64_t rows) {
      add(piece_of(x, piece), rows, a.channels, sums + piece * a.channels);
    });
    for (int64_t group = 0; group < a.groups; ++group) {
      const double sum = GroupSum(a, sums, group);
      // -0 for 0, as above.
      std::fill_n(means + group * channels, channels,
                  sum == 0 ? -0.0f : static_cast<float>(sum / count));
    }
    std::fill_n(sums, pieces * a.channels, 0.0f);
    for_each_piece([&](int64_t piece, int64_t rows) {
      add_squares(piece_of(x, piece), means, rows, a.channels, sums + piece * a.channels);
    });
    for (int64_t group = 0; group < a.groups; ++group) {
      const auto variance = static_cast<float>(GroupSum(a, sums, group) / count);
      const float factor = 1.0f / std::sqrt(variance + a.epsilon);
      for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
        factors[c] = a.scale == nullptr ? factor : factor * a.scale[c];
        shifts[c] = a.shift == nullptr ? -0.0f : a.shift[c];  // changes nothing
      }
    }
    for_each_piece([&](int64_t piece, int64_t rows) {
      normalize(a, piece_of(x, piece), means, factors, shifts, piece_of(y, piece), rows);
    });
  }
}

}  // namespace

int64_t GroupNormScratch(const GroupNormArguments& a) {
  return a.channels_last ? (PiecesOf(a) + 3) * a.channels : 0;
}

void GroupNorm(const GroupNormArguments& arguments, ThreadPool& pool) {
  if (arguments.channels_last && arguments.spatial * arguments.channels > 0)
    return GroupNormChannelsLast(arguments, pool);
  const int64_t rows = arguments.batch * arguments.groups;
  const int64_t columns = arguments.channels / arguments.groups * arguments.spatial;
  if (rows * columns == 0) return;
  const auto run = WEFT_DISPATCH(GroupNormRows);
  pool.ParallelFor(rows, TileFor(rows, 4 * columns),
                   [run, &arguments](int64_t begin, int64_t end) { run(arguments, begin, end); });
}

}  // namespace weft::kernels::simd
