#include "kernels/native/simd/elementwise/variadic.h"

#include <algorithm>
#include <vector>

#include "kernels/native/simd/elementwise/rows.h"

#define WEFT_ISA_BODY "kernels/native/simd/elementwise/variadic_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// Elements of the result at a time, so that what is accumulated stays in the first-level cache.
constexpr int64_t kTile = 1024;

// Calls row(operand, x, stride, offset in the tile, n) for all operands in their order.
template <typename Row>
void ForEachOperand(std::span<const VariadicOperand> operands,
                    const std::vector<LoopNest<2>>& nests, int64_t begin, int64_t end,
                    const Row& row) {
  for (size_t k = 0; k < operands.size(); ++k) {
    const LoopNest<2>& nest = nests[k];
    nest.ForEachRow(begin, end, [&](const int64_t(&offsets)[2], int64_t n) {
      row(k, operands[k].data + offsets[0], nest.strides[0][nest.rank - 1], offsets[1] - begin, n);
    });
  }
}

}  // namespace

void Variadic(VariadicOp op, std::span<const VariadicOperand> operands, float* y,
              std::span<const int64_t> shape, ThreadPool& pool) {
  const Dims y_strides = RowMajorStrides(shape);
  std::vector<LoopNest<2>> nests;
  for (const VariadicOperand& operand : operands) {
    LoopNest<2> nest;
    for (int i = 0; i < y_strides.size(); ++i)
      nest.Add(shape[static_cast<size_t>(i)], {operand.strides[i], y_strides[i]});
    nest.Coalesce();
    nests.push_back(nest);
  }
  const int64_t count = NumElements(shape);
  const auto start = WEFT_DISPATCH(StartRow);
  const auto add = WEFT_DISPATCH(AddRow);
  const auto round = WEFT_DISPATCH(RoundRow);
  // A sum of zeros below 0 is one, a mean of such is not.
  const double first = op == VariadicOp::kMean ? 0.0 : -0.0;
  const double divisor = op == VariadicOp::kMean ? static_cast<double>(operands.size()) : 1;
  const BinaryOp extreme = op == VariadicOp::kMax ? BinaryOp::kMax : BinaryOp::kMin;
  const auto sum = [&](int64_t begin, int64_t end) {
    double sums[kTile];
    ForEachOperand(operands, nests, begin, end,
                   [&](size_t k, const float* x, int64_t stride, int64_t at, int64_t n) {
                     if (k == 0)
                       start(x, stride, first, sums + at, n);
                     else
                       add(x, stride, sums + at, n);
                   });
    round(sums, divisor, y + begin, end - begin);
  };
  const auto compare = [&](int64_t begin, int64_t end) {
    float so_far[kTile];
    ForEachOperand(operands, nests, begin, end,
                   [&](size_t k, const float* x, int64_t stride, int64_t at, int64_t n) {
                     float* const to = so_far + at;
                     if (k == 0)
                       for (int64_t i = 0; i < n; ++i) to[i] = x[i * stride];
                     else
                       BinaryOnRow(extreme, static_cast<const float*>(to), 1, x, stride, to, n);
                   });
    std::copy(so_far, so_far + (end - begin), y + begin);
  };
  const bool is_sum = op == VariadicOp::kSum || op == VariadicOp::kMean;
  const int64_t cost = static_cast<int64_t>(operands.size()) + 1;
  pool.ParallelFor(count, TileFor(count, cost), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kTile) {
      const int64_t stop = std::min(at + kTile, end);
      if (is_sum)
        sum(at, stop);
      else
        compare(at, stop);
    }
  });
}

}  // namespace weft::kernels::simd
