#include "kernels/native/simd/attention.h"

#include <limits>
#include <memory>

#include "unittests/kernels/native/simd/simd_test_util.h"
#include "unittests/sanitizers.h"

namespace weft::kernels::simd {
namespace {

// 64-byte aligned floats, filled with a value that would spoil results.
struct Scratch {
  explicit Scratch(int64_t bytes) : storage(static_cast<size_t>(bytes / 4 + 32), NAN) {
    data = storage.data();
    size_t space = storage.size() * 4;
    data = std::align(64, static_cast<size_t>(bytes), data, space);
  }
  std::vector<float> storage;
  void* data;
};

enum class Layout { kBatchHeadRow, kBatchRowHead };  // [B, H, S, D] or [B, S, H, D]

// `gap` more floats lie between rows than needed.
template <typename View, typename Pointer>
View MakeView(Pointer data, Layout layout, int64_t heads, int64_t rows, int64_t size, int64_t gap) {
  const int64_t width = size + gap;
  if (layout == Layout::kBatchHeadRow) return {data, heads * rows * width, rows * width, width};
  return {data, heads * rows * width, width, heads * width};
}

struct Case {
  int64_t batch, heads, kv_heads, queries, keys, head_size, value_size;
};

struct Mask {
  bool used = false, batch = false, head = false, query = false, key = false;
  bool keeps = false;  // some scores, in place of being added to them
};

double At(const AttentionView& v, int64_t b, int64_t h, int64_t r, int64_t c) {
  return v.data[b * v.batch_stride + h * v.head_stride + r * v.row_stride + c];
}

std::vector<double> Reference(const AttentionArguments& a) {
  std::vector<double> y;
  for (int64_t b = 0; b < a.batch; ++b) {
    for (int64_t h = 0; h < a.heads; ++h) {
      const int64_t kv = h / (a.heads / a.kv_heads);
      for (int64_t s = 0; s < a.queries; ++s) {
        std::vector<double> p(static_cast<size_t>(a.keys));
        double highest = -INFINITY, sum = 0;
        for (int64_t t = 0; t < a.keys; ++t) {
          for (int64_t d = 0; d < a.head_size; ++d)
            p[t] += At(a.q, b, h, s, d) * At(a.k, b, kv, t, d);
          p[t] *= a.scale;
          if (a.keep != nullptr && a.keep[b * a.keep_strides.batch + h * a.keep_strides.head +
                                          s * a.keep_strides.query + t * a.keep_strides.key] == 0)
            p[t] = a.fill;
          if (a.mask != nullptr) {
            p[t] += a.mask[b * a.mask_strides.batch + h * a.mask_strides.head +
                           s * a.mask_strides.query + t * a.mask_strides.key];
          }
          highest = std::fmax(highest, p[t]);
        }
        for (double& value : p) sum += value = std::exp(value - highest);
        for (int64_t d = 0; d < a.value_size; ++d) {
          double out = 0;
          for (int64_t t = 0; t < a.keys; ++t) out += p[t] * At(a.v, b, kv, t, d);
          y.push_back(out / sum);
        }
      }
    }
  }
  return y;
}

// Runs the kernel, checks that nothing beside its rows is written, and returns y as [B, H, S, D].
std::vector<float> RunAttention(AttentionArguments a, Layout layout, ThreadPool& pool) {
  const int64_t gap = 3;
  std::vector<float> y(static_cast<size_t>(a.batch * a.heads * a.queries * (a.value_size + gap)),
                       77);
  a.y = MakeView<AttentionOutput>(y.data(), layout, a.heads, a.queries, a.value_size, gap);
  Scratch scratch(AttentionScratchBytes(a, pool.num_threads()));
  Attention(a, scratch.data, pool);
  std::vector<float> result;
  for (int64_t i = 0; i < a.batch * a.heads * a.queries; ++i) {
    const float* row = a.y.data + i / (a.heads * a.queries) * a.y.batch_stride +
                       i / a.queries % a.heads * a.y.head_stride + i % a.queries * a.y.row_stride;
    result.insert(result.end(), row, row + a.value_size);
    for (int64_t j = 0; j < gap; ++j) EXPECT_EQ(row[a.value_size + j], 77);
  }
  return result;
}

void Check(const Case& c, Layout layout, const Mask& mask, ThreadPool& pool) {
  SCOPED_TRACE(::testing::Message()
               << c.batch << " x " << c.heads << "/" << c.kv_heads << " x " << c.queries << " x "
               << c.keys << " x " << c.head_size << " x " << c.value_size);
  const int64_t gap = 2;
  const auto q = RandomFloats(c.batch * c.heads * c.queries * (c.head_size + gap), 1, -2, 2);
  const auto k = RandomFloats(c.batch * c.kv_heads * c.keys * (c.head_size + gap), 2, -2, 2);
  const auto v = RandomFloats(c.batch * c.kv_heads * c.keys * (c.value_size + gap), 3);
  const auto m = RandomFloats(c.batch * c.heads * c.queries * c.keys, 4, -3, 3);
  std::vector<uint8_t> keep(m.size());
  AttentionArguments a;
  a.batch = c.batch, a.heads = c.heads, a.kv_heads = c.kv_heads;
  a.queries = c.queries, a.keys = c.keys;
  a.head_size = c.head_size, a.value_size = c.value_size;
  a.scale = 1 / std::sqrt(static_cast<float>(c.head_size));
  a.q = MakeView<AttentionView>(q.data(), layout, c.heads, c.queries, c.head_size, gap);
  a.k = MakeView<AttentionView>(k.data(), layout, c.kv_heads, c.keys, c.head_size, gap);
  a.v = MakeView<AttentionView>(v.data(), layout, c.kv_heads, c.keys, c.value_size, gap);
  if (mask.used) {
    const MaskStrides strides = {.batch = mask.batch ? c.heads * c.queries * c.keys : 0,
                                 .head = mask.head ? c.queries * c.keys : 0,
                                 .query = mask.query ? c.keys : 0,
                                 .key = mask.key ? 1 : 0};
    if (mask.keeps) {
      for (size_t i = 0; i < m.size(); ++i) keep[i] = m[i] > -1;
      a.keep = keep.data(), a.keep_strides = strides;
      a.fill = -2.5f;
    } else {
      a.mask = m.data(), a.mask_strides = strides;
    }
  }
  // Averages of many values are small beside the sums they come from.
  const double tolerance = kTolerance + 3e-8 * (std::sqrt(static_cast<double>(c.keys)) +
                                                std::sqrt(static_cast<double>(c.head_size)));
  EXPECT_LT(RelativeError(RunAttention(a, layout, pool), Reference(a)), tolerance);
}

TEST(CpuAttention, AgreesWithDoublesForOddShapesAndBothLayouts) {
  const Case cases[] = {{1, 1, 1, 1, 1, 1, 1},         {2, 3, 3, 7, 7, 16, 16},
                        {1, 2, 2, 33, 33, 64, 64},     {2, 2, 2, 13, 40, 20, 20},
                        {1, 2, 2, 197, 197, 32, 32},   {1, 3, 3, 60, 100, 24, 40},
                        {1, 12, 12, 128, 128, 64, 64}, {3, 1, 1, 15, 129, 17, 33}};
  ForEachProductVariant([&](ThreadPool& pool) {
    for (const Case& c : cases) {
      if (kSanitized && c.heads * c.queries > 1000) continue;  // minutes
      for (Layout layout : {Layout::kBatchHeadRow, Layout::kBatchRowHead})
        Check(c, layout, {}, pool);
    }
  });
}

TEST(CpuAttention, SharesKeyHeadsAmongQueryHeads) {
  ForEachProductVariant([&](ThreadPool& pool) {
    Check({2, 8, 1, 1, 300, 64, 64}, Layout::kBatchRowHead, {}, pool);
    Check({2, 8, 2, 5, 77, 32, 48}, Layout::kBatchRowHead, {}, pool);
    Check({1, 6, 3, 33, 40, 16, 16}, Layout::kBatchHeadRow, {true, true, true, true, true}, pool);
  });
}

TEST(CpuAttention, TakesMasksOfEveryBroadcastShape) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (int bits = 0; bits < 32; ++bits) {
      const Mask mask{true,
                      (bits & 1) != 0,
                      (bits & 2) != 0,
                      (bits & 4) != 0,
                      (bits & 8) != 0,
                      (bits & 16) != 0};
      Check({2, 3, 3, 9, 19, 16, 16}, Layout::kBatchRowHead, mask, pool);
      Check({2, 3, 3, 2, 19, 16, 16}, Layout::kBatchHeadRow, mask, pool);
    }
  });
}

TEST(CpuAttention, MergesBlocksOfLongRows) {
  ForEachProductVariant([&](ThreadPool& pool) {
    Check({1, 1, 1, 3, 5000, 8, 8}, Layout::kBatchRowHead, {true, false, false, true, true}, pool);
    Check({1, 1, 1, 20, 4500, 16, 16}, Layout::kBatchRowHead, {}, pool);
    Check({1, 2, 1, 5, 1408, 256, 256}, Layout::kBatchRowHead, {}, pool);
    Check({1, 2, 2, 1, 1001, 512, 520}, Layout::kBatchRowHead, {}, pool);
  });
}

// With heads so large that tiles pay (attention.cc).
TEST(CpuAttention, AgreesWithDoublesForLargeHeads) {
  ForEachProductVariant([&](ThreadPool& pool) {
    Check({1, 2, 2, 40, 70, 128, 128}, Layout::kBatchRowHead, {}, pool);
    Check({1, 2, 1, 33, 45, 136, 130}, Layout::kBatchHeadRow, {true, true, true, true, true}, pool);
    const bool is_slow = CurrentIsa() == Isa::kEmulatedAmx || CurrentIsa() == Isa::kPortable;
    if (kSanitized || is_slow) return;
    Check({1, 2, 1, 70, 1408, 256, 256}, Layout::kBatchRowHead, {}, pool);
  });
}

TEST(CpuAttention, IgnoresMaskedKeysAndGivesNaNWhereAllAreMasked) {
  const int64_t keys = 4100, size = 16;
  const auto q = RandomFloats(12 * size, 1), k = RandomFloats(keys * size, 2),
             v = RandomFloats(keys * size, 3);
  std::vector<float> mask(static_cast<size_t>(12 * keys), -std::numeric_limits<float>::infinity());
  // Row 0: nothing; row 1: the last key alone; row 2: the first alone; the others: every seventh
  // key.
  mask[2 * keys - 1] = 0;
  mask[2 * keys] = 0;
  for (int64_t i = 3; i < 12; ++i) {
    for (int64_t t = 0; t < keys; t += 7) mask[i * keys + t] = 0;
  }
  ForEachProductVariant([&](ThreadPool& pool) {
    for (int64_t queries : {4, 12}) {
      AttentionArguments a;
      a.queries = queries, a.keys = keys, a.head_size = size, a.value_size = size;
      a.q = {q.data(), 0, 0, size}, a.k = {k.data(), 0, 0, size}, a.v = {v.data(), 0, 0, size};
      a.mask = mask.data(), a.mask_strides = {.query = keys, .key = 1};
      const auto y = RunAttention(a, Layout::kBatchHeadRow, pool);
      EXPECT_LT(RelativeError(y, Reference(a)), 2 * kTolerance);
      for (int64_t d = 0; d < size; ++d) {
        EXPECT_TRUE(std::isnan(y[d]));
        EXPECT_EQ(y[size + d], v[(keys - 1) * size + d]);
        EXPECT_EQ(y[2 * size + d], v[d]);
      }
    }
  });
}

TEST(CpuAttention, TakesEmptyBatchesAndNoKeys) {
  ThreadPool pool(2);
  AttentionArguments a;
  a.batch = 0, a.queries = 3, a.keys = 4, a.head_size = 8, a.value_size = 8;
  EXPECT_EQ(AttentionScratchBytes(a, 2), 0);
  Attention(a, nullptr, pool);
  a.batch = 1, a.keys = 0;
  EXPECT_EQ(AttentionScratchBytes(a, 2), 0);
  for (float value : RunAttention(a, Layout::kBatchHeadRow, pool)) EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace weft::kernels::simd
