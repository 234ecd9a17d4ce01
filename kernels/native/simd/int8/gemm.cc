#include "kernels/native/simd/int8/gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "ir/base/large_memory.h"
#include "kernels/native/simd/amx_gemm.h"
#include "kernels/thread_scratch.h"

namespace weft::kernels::simd {
namespace {

inline constexpr int64_t kInt8SumsStride = 2 * kInt8Panel;

// Rows of A by one panel of B or two, whose sums go to `sums`.
struct Int8Block {
  const std::byte* a = nullptr;
  int64_t a_stride = 0;
  int64_t rows = 0;
  bool a_signed = false;
  const std::byte* b = nullptr;
  int64_t panel_bytes = 0;  // from a panel to the next
  int64_t panels = 1;
  int64_t groups = 0;  // of kInt8Group along the depth
  int32_t* sums = nullptr;
  // A line from here is brought near whenever a group's number has none of these bits.
  const std::byte* ahead = nullptr;
  int64_t ahead_mask = 0;
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_VNNI 0
#define WEFT_ISA_BODY "kernels/native/simd/int8/gemm_body.inc"
#include "kernels/native/simd/foreach_isa.inc"
#undef WEFT_VNNI

#if defined(__x86_64__)
#define WEFT_VNNI 1
#define WEFT_ISA avx512vnni
#define WEFT_LANES 16
#if defined(__clang__)
#pragma clang attribute push(                                                               \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target( \
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c,prefer-vector-width=512")
#endif
#include "kernels/native/simd/simd.inc"
//
#include "kernels/native/simd/int8/gemm_body.inc"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef WEFT_ISA
#undef WEFT_LANES
#undef WEFT_VNNI
#endif

namespace weft::kernels::simd {
namespace {

constexpr Int8Kernels kPortable = {"portable", false, &baseline::RunInt8Product};
constexpr Int8Kernels kEmulatedTiles = {"emulated tiles", true, &baseline::RunInt8ProductOnTiles};
#if defined(__x86_64__)
constexpr Int8Kernels kAvx2 = {"avx2", false, &avx2::RunInt8Product};
constexpr Int8Kernels kAvx512 = {"avx512", false, &avx512::RunInt8Product};
constexpr Int8Kernels kVnni = {"avx512 vnni", false, &avx512vnni::RunInt8Product};
constexpr Int8Kernels kTiles = {"amx", true, &avx512::RunInt8ProductOnTiles};
#endif

const Int8Kernels& OnVectors(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512 || isa == Isa::kAmx) return HasVnni() ? kVnni : kAvx512;
  if (isa == Isa::kAvx2) return kAvx2;
#endif
  static_cast<void>(isa);
  return kPortable;
}

const Int8Kernels* OnTiles(Isa isa) {
  if (isa == Isa::kEmulatedAmx) return &kEmulatedTiles;
#if defined(__x86_64__)
  if (isa == Isa::kAmx && HasInt8Tiles()) return &kTiles;
#endif
  return nullptr;
}

const Int8Kernels& KernelsFor(Isa isa, int64_t rows, int64_t depth) {
  // From there on tiles were never slower, on a Granite Rapids.
  constexpr int64_t kLeastRows = 4, kLeastDepth = 16;
  const Int8Kernels* tiles = OnTiles(isa);
  return tiles != nullptr && rows >= kLeastRows && depth >= kLeastDepth ? *tiles : OnVectors(isa);
}

// --- one product ----------------------------------------------------------------------

// How it is cut into tasks: ranges of rows times ranges of panels.
struct Grid {
  int64_t task_rows, row_tasks, task_panels, panel_tasks;
};

Grid MakeGrid(const Int8GemmArguments& g, int num_threads) {
  constexpr int64_t kLeastWork = 1 << 18, kTasksPerThread = 4, kBlockRows = 32;
  constexpr int64_t kBytesOfA = 1 << 18;  // that a task goes over for every panel
  const int64_t k = g.b->k(), n = g.b->n(), panels = CeilDiv(n, kInt8Panel);
  const int64_t wanted = num_threads == 1 ? 1
                                          : std::clamp<int64_t>(g.m * n * k / kLeastWork, 1,
                                                                kTasksPerThread * num_threads);
  Grid grid;
  const int64_t most_rows = std::max(kBlockRows, kBytesOfA / (k + 1) / kBlockRows * kBlockRows);
  const bool by_rows = g.m >= kBlockRows * wanted && (g.gather != nullptr || g.m >= n);
  grid.task_rows = std::min(most_rows, by_rows ? RoundUp(CeilDiv(g.m, wanted), kBlockRows) : g.m);
  grid.row_tasks = CeilDiv(g.m, grid.task_rows);
  const int64_t columns =
      by_rows ? 1 : std::min(CeilDiv(wanted, grid.row_tasks), CeilDiv(panels, 2));
  grid.task_panels = RoundUp(CeilDiv(panels, columns), 2);
  grid.panel_tasks = CeilDiv(panels, grid.task_panels);
  return grid;
}

int32_t SumOfRow(const std::byte* row, int64_t k, bool is_signed) {
  int32_t sum = 0;
  if (is_signed) {
    for (int64_t i = 0; i < k; ++i) sum += static_cast<int8_t>(row[i]);
  } else {
    for (int64_t i = 0; i < k; ++i) sum += static_cast<uint8_t>(row[i]);
  }
  return sum;
}

class Product {
 public:
  Product(const Int8GemmArguments& g, ThreadPool& pool)
      : g_(g),
        b_(*g.b),
        kernels_(g.kernels != nullptr ? *g.kernels : KernelsFor(CurrentIsa(), g.m, b_.k())),
        grid_(MakeGrid(g, pool.num_threads())),
        // Not a power of two apart, where rows would share a set of the cache.
        row_bytes_(g.gather == nullptr ? g.a_stride : RoundUp(b_.k(), kInt8Chunk) + kInt8Chunk) {}

  void Run(ThreadPool& pool) {
    const int64_t columns = RoundUp(b_.n(), kInt8Panel), padded = columns * 4;
    const bool shares = grid_.panel_tasks > 1 && MakesRows();
    std::byte* shared =
        ThreadScratch(3 * padded + (shares ? RowsBytes(g_.m) : 0), ScratchUse::kShared);
    offsets_ = reinterpret_cast<int32_t*>(shared);
    FillOffsets(columns);
    scales_ = Padded(g_.result.scales, shared + padded);
    float_bias_ = Padded(g_.result.float_bias, shared + 2 * padded);
    if (shares) {
      rows_ = shared + 3 * padded;
      pool.ParallelFor(g_.m, 16, [&](int64_t begin, int64_t end) {
        MakeRows(begin, end - begin, rows_, begin, g_.m);
      });
    }
    pool.ParallelFor(grid_.row_tasks * grid_.panel_tasks, 1,
                     [&](int64_t task, int64_t) { RunTask(task); });
  }

 private:
  // Whether rows of A are gathered or summed.
  bool MakesRows() const { return g_.gather != nullptr || !b_.zeros().empty(); }
  int64_t SumsBytes(int64_t rows) const { return b_.zeros().empty() ? 0 : RoundUp(rows * 4, 64); }
  int64_t RowsBytes(int64_t rows) const {
    return SumsBytes(rows) + (g_.gather == nullptr ? 0 : rows * row_bytes_ + kInt8ReadsPast);
  }

  void FillOffsets(int64_t columns) const {
    for (int64_t j = 0; j < columns; ++j) {
      const auto sum = static_cast<uint32_t>(b_.column_sums()[j]);
      const uint32_t bias =
          g_.bias != nullptr && j < b_.n() ? static_cast<uint32_t>(g_.bias[j]) : 0;
      offsets_[j] = static_cast<int32_t>(bias - static_cast<uint32_t>(g_.a_zero) * sum);
    }
  }
  const float* Padded(const float* values, std::byte* to) const {
    if (values == nullptr) return nullptr;
    auto* floats = reinterpret_cast<float*>(to);
    std::copy_n(values, b_.n(), floats);
    std::fill(floats + b_.n(), floats + RoundUp(b_.n(), kInt8Panel), 0.0f);
    return floats;
  }

  // Rows [first, first + rows) of A and their sums, into memory for `all` rows, at row `at` of it.
  void MakeRows(int64_t first, int64_t rows, std::byte* memory, int64_t at, int64_t all) const {
    std::byte* a = memory + SumsBytes(all) + at * row_bytes_;
    if (g_.gather != nullptr) g_.gather(g_.context, first, rows, a, row_bytes_);
    if (b_.zeros().empty()) return;
    auto* sums = reinterpret_cast<int32_t*>(memory) + at;
    const std::byte* from = g_.gather != nullptr ? a : g_.a + first * row_bytes_;
    for (int64_t i = 0; i < rows; ++i)
      sums[i] = SumOfRow(from + i * row_bytes_, b_.k(), b_.a_signed());
  }

  void RunTask(int64_t task) const {
    const int64_t row = task % grid_.row_tasks * grid_.task_rows;
    const int64_t panel = task / grid_.row_tasks * grid_.task_panels;
    Int8Product p;
    p.rows = std::min(grid_.task_rows, g_.m - row);
    std::byte* memory = rows_;
    int64_t at = row, all = g_.m;  // where the rows are in it
    if (rows_ == nullptr && MakesRows()) {
      memory = ThreadScratch(RowsBytes(p.rows), ScratchUse::kTask);
      at = 0;
      all = p.rows;
      MakeRows(row, p.rows, memory, 0, p.rows);
    }
    p.a =
        g_.gather == nullptr ? g_.a + row * row_bytes_ : memory + SumsBytes(all) + at * row_bytes_;
    p.a_stride = row_bytes_;
    p.b = &b_;
    p.first_panel = panel;
    p.last_panel = std::min(panel + grid_.task_panels, CeilDiv(b_.n(), kInt8Panel));
    p.offsets = offsets_;
    if (!b_.zeros().empty()) p.row_sums = reinterpret_cast<const int32_t*>(memory) + at;
    p.scales = scales_;
    p.float_bias = float_bias_;
    p.result = g_.result;
    p.result.c =
        static_cast<std::byte*>(g_.result.c) + row * g_.result.c_stride * g_.result.element_bytes();
    kernels_.run(p);
  }

  const Int8GemmArguments& g_;
  const Int8Matrix& b_;
  const Int8Kernels& kernels_;
  const Grid grid_;
  const int64_t row_bytes_;
  int32_t* offsets_ = nullptr;
  const float *scales_ = nullptr, *float_bias_ = nullptr;
  std::byte* rows_ = nullptr;  // that tasks share
};

// --- packing --------------------------------------------------------------------------

int ByteOf(const Int8Source& s, int64_t i, int64_t j) {
  const std::byte byte = s.b[i * s.row_stride + j * s.column_stride];
  return s.b_signed ? static_cast<int8_t>(byte) : static_cast<uint8_t>(byte);
}

// To the sign that A has not.
int ShiftOf(const Int8Source& s) { return s.b_signed != s.a_signed ? 0 : s.b_signed ? 128 : -128; }

// Returns the sums of its columns.
void PackPanel(const Int8Source& s, int64_t panel, std::byte* to, int32_t* sums) {
  const int shift = ShiftOf(s);
  const int64_t first = panel * kInt8Panel, columns = std::min(kInt8Panel, s.n - first);
  for (int64_t i = 0; i < s.k; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const int value = ByteOf(s, i, first + j) + shift;
      sums[j] += value;
      to[(i / kInt8Group * kInt8Panel + j) * kInt8Group + i % kInt8Group] =
          static_cast<std::byte>(value);
    }
}

}  // namespace

Int8Matrix Int8Matrix::Pack(const Int8Source& source, ThreadPool& pool) {
  Int8Matrix packed;
  packed.k_ = source.k;
  packed.n_ = source.n;
  packed.a_signed_ = source.a_signed;
  packed.panel_bytes_ = RoundUp(source.k, kInt8Chunk) * kInt8Panel;
  const int64_t panels = CeilDiv(source.n, kInt8Panel);
  const int64_t bytes = std::max<int64_t>(64, panels * packed.panel_bytes_);
  packed.data_.reset(static_cast<std::byte*>(ir::AllocateForWriting(static_cast<size_t>(bytes))));
  if (packed.data_ == nullptr) throw std::bad_alloc();
  std::fill_n(packed.data_.get(), bytes, std::byte{0});
  packed.column_sums_.resize(static_cast<size_t>(panels * kInt8Panel));
  pool.ParallelFor(panels, TileFor(panels, 4 * source.k * kInt8Panel),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       PackPanel(source, i, packed.data_.get() + i * packed.panel_bytes_,
                                 packed.column_sums_.data() + i * kInt8Panel);
                   });
  const std::span<const int> zeros = source.zeros;
  const int shift = ShiftOf(source);
  std::vector<int32_t> shifted(packed.column_sums_.size());
  for (int64_t j = 0; j < source.n; ++j)
    shifted[j] =
        (zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(j)]) + shift;
  if (std::any_of(shifted.begin(), shifted.end(), [](int32_t zero) { return zero != 0; })) {
    for (int64_t j = 0; j < source.n; ++j)
      packed.column_sums_[j] =
          static_cast<int32_t>(static_cast<uint32_t>(packed.column_sums_[j]) -
                               static_cast<uint32_t>(source.k) * static_cast<uint32_t>(shifted[j]));
    packed.zeros_ = std::move(shifted);
  }
  return packed;
}

void Int8Gemm(const Int8GemmArguments& arguments, ThreadPool& pool) {
  if (arguments.m == 0 || arguments.b->n() == 0) return;
  Product(arguments, pool).Run(pool);
}

std::span<const Int8Kernels* const> SupportedInt8Kernels() {
  static const std::vector<const Int8Kernels*> supported = [] {
    std::vector<const Int8Kernels*> all = {&kPortable, &kEmulatedTiles};
#if defined(__x86_64__)
    if (FindIsa("avx2")) all.push_back(&kAvx2);
    if (FindIsa("avx512")) all.push_back(&kAvx512);
    if (HasVnni()) all.push_back(&kVnni);
    if (OnTiles(SupportedIsas().back()) != nullptr) all.push_back(&kTiles);
#endif
    return all;
  }();
  return supported;
}

}  // namespace weft::kernels::simd
