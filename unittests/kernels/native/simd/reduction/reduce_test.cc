#include "kernels/native/simd/reduction/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

double Join(ReduceOp op, double a, double x) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMean:
      return a + x;
    case ReduceOp::kMax:
      return std::fmax(a, x);
    case ReduceOp::kMin:
      return std::fmin(a, x);
    case ReduceOp::kSumSquare:
    case ReduceOp::kNorm:
      return a + x * x;
    case ReduceOp::kProduct:
      return a * x;
    case ReduceOp::kAbsoluteSum:
      return a + std::fabs(x);
    case ReduceOp::kLogSumExp:
      return a + std::exp(x);
  }
  return a;
}

double Identity(ReduceOp op) {
  if (op == ReduceOp::kMax) return -INFINITY;
  if (op == ReduceOp::kMin) return INFINITY;
  return op == ReduceOp::kProduct ? 1 : 0;
}

TEST(CpuReduce, AgreesWithDoublesForEveryOpAndAxis) {
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t extent : {1, 7, 13, 49, 64, 197, 3001}) {
      for (int64_t inner : {1, 2, 33, 129}) {
        for (int op_index = 0; op_index <= static_cast<int>(ReduceOp::kLogSumExp); ++op_index) {
          const auto op = static_cast<ReduceOp>(op_index);
          // Products of many numbers stay near 1.
          const float low = op == ReduceOp::kProduct ? 0.999f : -1;
          const auto x = RandomFloats(5 * extent * inner, 9, low, 1.002f);
          std::vector<float> y(static_cast<size_t>(5 * inner));
          Reduce(op, x.data(), y.data(), 5, extent, inner, pool);
          std::vector<double> expected(y.size());
          for (int64_t i = 0; i < 5 * inner; ++i) {
            double value = Identity(op);
            for (int64_t k = 0; k < extent; ++k) {
              value = Join(op, value, x[(i / inner * extent + k) * inner + i % inner]);
            }
            if (op == ReduceOp::kMean) value /= static_cast<double>(extent);
            if (op == ReduceOp::kNorm) value = std::sqrt(value);
            if (op == ReduceOp::kLogSumExp) value = std::log(value);
            expected[i] = value;
          }
          const double tolerance = op == ReduceOp::kProduct ? 1e-5 : kTolerance;
          EXPECT_LT(RelativeError(y, expected), tolerance)
              << op_index << " " << extent << " x " << inner;
        }
      }
    }
  });
}

TEST(CpuReduce, KeepsNaNAndGivesTheIdentityOfAnEmptyAxis) {
  ForEachVariant([&](ThreadPool& pool) {
    for (ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin}) {
      for (int64_t at : {0, 5, 40, 99}) {
        for (int64_t inner : {1, 2}) {
          auto x = RandomFloats(100, 1);
          x[at] = std::numeric_limits<float>::quiet_NaN();
          float y[2];
          Reduce(op, x.data(), y, 1, 100 / inner, inner, pool);
          EXPECT_TRUE(std::isnan(y[at % inner])) << at;
        }
      }
      std::vector<float> x(100 * 512, 1), results(512);  // so many go in parts
      x[77 * 512 + 300] = std::numeric_limits<float>::quiet_NaN();
      Reduce(op, x.data(), results.data(), 1, 100, 512, pool);
      for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(std::isnan(results[i]), i == 300);
      float y[3] = {9, 9, 9};
      Reduce(op, nullptr, y, 1, 0, 3, pool);
      EXPECT_EQ(y[1], Identity(op));
    }
  });
}

}  // namespace
}  // namespace weft::kernels::simd
