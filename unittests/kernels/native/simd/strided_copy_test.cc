#include "kernels/native/simd/strided_copy.h"

#include <numeric>

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

template <typename T>
std::vector<T> Distinct(int64_t n) {
  std::vector<T> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(i * 2654435761u + 1);
  return values;
}

int64_t Offset(int64_t index, const Dims& shape, const Dims& strides) {
  int64_t offset = 0;
  for (int i = shape.size() - 1; i >= 0; --i) {
    offset += index % shape[i] * strides[i];
    index /= shape[i];
  }
  return offset;
}

template <typename T>
void CheckTranspose(const Dims& shape, const Dims& perm, ThreadPool& pool) {
  const int64_t n = NumElements(shape);
  const std::vector<T> x = Distinct<T>(n);
  std::vector<T> y(x.size() + 1, T{99});
  Transpose(x.data(), shape, perm, y.data(), sizeof(T), pool);
  const Dims strides = RowMajorStrides(shape);
  Dims y_shape, x_strides;
  for (int64_t axis : perm) {
    y_shape.push_back(shape[static_cast<int>(axis)]);
    x_strides.push_back(strides[static_cast<int>(axis)]);
  }
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(y[i], x[Offset(i, y_shape, x_strides)])
        << "element " << i << " of " << sizeof(T) << " bytes";
  }
  ASSERT_EQ(y[n], T{99});
}

struct Case {
  Dims shape, perm;
};

const Case kTransposes[] = {
    {{7}, {0}},
    {{33, 197}, {1, 0}},
    {{1, 13}, {1, 0}},
    {{64, 48}, {1, 0}},
    {{3, 1000}, {1, 0}},
    {{1000, 3}, {1, 0}},
    {{2, 33, 5, 16}, {0, 2, 1, 3}},
    {{2, 33, 5, 7}, {0, 2, 3, 1}},
    {{2, 13, 14, 3}, {0, 3, 1, 2}},
    {{2, 3, 13, 14}, {0, 2, 3, 1}},
    {{2, 17, 18, 19}, {3, 2, 1, 0}},
    {{0, 4}, {1, 0}},
    {{3, 2, 3, 2, 3, 2, 3, 2}, {7, 5, 3, 1, 6, 4, 2, 0}},
    {{520, 530}, {1, 0}},
};

TEST(CpuTranspose, AgreesWithPlainLoopsForEveryElementSize) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const Case& c : kTransposes) {
      CheckTranspose<uint8_t>(c.shape, c.perm, pool);
      CheckTranspose<uint16_t>(c.shape, c.perm, pool);
      CheckTranspose<uint32_t>(c.shape, c.perm, pool);
      CheckTranspose<uint64_t>(c.shape, c.perm, pool);
    }
  });
}

TEST(CpuTranspose, AgreesForEveryPermutationOfFourAxes) {
  ForEachVariant([&](ThreadPool& pool) {
    std::vector<int64_t> perm = {0, 1, 2, 3};
    do {
      CheckTranspose<uint32_t>({5, 17, 4, 33}, Dims(std::span<const int64_t>(perm)), pool);
    } while (std::next_permutation(perm.begin(), perm.end()));
  });
}

TEST(CpuCopyStrided, WritesOnlyItsPartOfAConcat) {
  ForEachVariant([&](ThreadPool& pool) {
    const auto x = Distinct<uint32_t>(5 * 13);
    std::vector<uint32_t> y(5 * 33, 1);
    CopyStrided(x.data(), Dims{13, 1}, y.data() + 7, Dims{33, 1}, Dims{5, 13}, 4, pool);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 33; ++j) {
        ASSERT_EQ(y[i * 33 + j], j >= 7 && j < 20 ? x[i * 13 + j - 7] : 1u);
      }
    }
  });
}

TEST(CpuCopyStrided, ReadsBackwardsAndRepeatedly) {
  ForEachVariant([&](ThreadPool& pool) {
    const auto x = Distinct<uint16_t>(7 * 40);
    std::vector<uint16_t> y(3 * 7 * 13);
    // x[:, 39::-3] for each of three repetitions.
    CopyStrided(x.data() + 39, Dims{0, 40, -3}, y.data(), Dims{91, 13, 1}, Dims{3, 7, 13}, 2, pool);
    for (int i = 0; i < 3 * 7 * 13; ++i) ASSERT_EQ(y[i], x[i / 13 % 7 * 40 + 39 - 3 * (i % 13)]);
  });
}

TEST(CpuCopyStrided, CopiesAScalar) {
  ThreadPool pool(1);
  const double x = 5;
  double y = 0;
  CopyStrided(&x, Dims{}, &y, Dims{}, Dims{}, 8, pool);
  EXPECT_EQ(y, 5);
}

TEST(CpuCopyStrided, FillsWithAValue) {
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t n : {0, 1, 13, 100003}) {
      std::vector<float> y(static_cast<size_t>(n) + 1, 1.0f);
      const float value = 2.5f;
      Fill(&value, y.data(), n, 4, pool);
      for (int64_t i = 0; i <= n; ++i) ASSERT_EQ(y[i], i < n ? 2.5f : 1.0f);
    }
  });
}

template <typename Index>
void CheckGather(int64_t outer, int64_t extent, int64_t inner, const std::vector<Index>& indices,
                 ThreadPool& pool) {
  const auto x = Distinct<uint32_t>(outer * extent * inner);
  const auto count = static_cast<int64_t>(indices.size());
  std::vector<uint32_t> y(static_cast<size_t>(outer * count * inner));
  ASSERT_EQ(Gather(x.data(), outer, extent, inner * 4, indices.data(), count, y.data(), pool), -1);
  for (int64_t i = 0; i < outer * count * inner; ++i) {
    int64_t index = indices[i / inner % count];
    if (index < 0) index += extent;
    ASSERT_EQ(y[i], x[(i / inner / count * extent + index) * inner + i % inner]);
  }
}

TEST(CpuGather, TakesRowsAndCountsNegativeIndicesFromTheEnd) {
  ForEachVariant([&](ThreadPool& pool) {
    CheckGather<int64_t>(3, 7, 13, {0, 6, -1, -7, 3, 3}, pool);
    CheckGather<int32_t>(1, 33, 197, {32, -33, 5}, pool);
    CheckGather<int32_t>(5, 4, 1, {2}, pool);
    CheckGather<int64_t>(2, 4, 3, {}, pool);
    CheckGather<int64_t>(0, 4, 3, {1}, pool);
  });
}

TEST(CpuGather, ReportsTheFirstBadIndexAndWritesNothing) {
  ThreadPool pool(1);
  const float x[4] = {1, 2, 3, 4};
  float y[3] = {9, 9, 9};
  const int64_t indices[3] = {3, 4, -5};
  EXPECT_EQ(Gather(x, 1, 4, 4, indices, 3, y, pool), 1);
  EXPECT_EQ(Gather(x, 1, 4, 4, indices + 2, 1, y, pool), 0);
  const int64_t zero = 0;
  EXPECT_EQ(Gather(x, 1, 0, 4, &zero, 1, y, pool), 0);
  EXPECT_EQ(y[0], 9);
}

}  // namespace
}  // namespace weft::kernels::simd
