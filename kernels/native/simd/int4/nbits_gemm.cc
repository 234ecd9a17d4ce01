#include "kernels/native/simd/int4/nbits_gemm.h"

#include <algorithm>

#include "kernels/native/simd/gemm_tile.h"

namespace weft::kernels::simd {
namespace {

// A product of a few rows.
struct NBitsDots {
  const NBitsMatrix& b;
  const float* x;  // rows of A, their numbers in the order of chunks, with zeros up to whole chunks
  int64_t x_stride;
  int64_t m;
  const float* bias;
  float* y;
  int64_t y_stride;
};

// The loops of one instruction set for numbers and blocks of one size.
struct NBitsLoops {
  int64_t most_dot_rows;  // of products that are faster as dots
  // A row of `k` floats, brought into the order of chunks, and zeros up to y_floats.
  void (*order_row)(const float* x, int64_t k, float* y, int64_t y_floats);
  // Columns [first, last).
  void (*dots)(const NBitsDots& dots, int64_t first, int64_t last);
  // Numbers [begin, end) of columns [first, first + columns), as packed panels.
  void (*dequantize)(const NBitsMatrix& b, int64_t first, int64_t columns, int64_t begin,
                     int64_t end, float* panels);
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/int4/nbits_gemm_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

constexpr int64_t kLeastDotRows = 2, kMostDotRows = 8;  // most_dot_rows of all instruction sets
constexpr int64_t kLargestChunk = 64;                   // numbers: 16 bytes of 2 bits

// What a task of more rows has in scratch memory: at most so many columns, a part of their depth at a time.
constexpr int64_t kTaskColumns = 256;
constexpr int64_t kTaskRows = 512;
static_assert(kPartDepth % 256 == 0, "parts have whole blocks");

int64_t OrderedFloats(int64_t k) { return RoundUp(k, kLargestChunk); }

void RunFewRows(const NBitsGemmArguments& p, const NBitsLoops& loops, float* scratch,
                ThreadPool& pool) {
  const int64_t row_floats = OrderedFloats(p.b.k);
  for (int64_t i = 0; i < p.m; ++i)
    loops.order_row(p.a + i * p.a_stride, p.b.k, scratch + i * row_floats, row_floats);
  const NBitsDots dots = {p.b, scratch, row_floats, p.m, p.bias, p.c, p.c_stride};
  constexpr int64_t kColumns = 8;  // a multiple of those that are computed together
  const int64_t count = CeilDiv(p.b.n, kColumns);
  const int64_t tile = TileFor(count, kColumns * p.b.k * (1 + p.m) / 8);
  pool.ParallelFor(count, tile, [&](int64_t begin, int64_t end) {
    loops.dots(dots, begin * kColumns, std::min(end * kColumns, p.b.n));
  });
}

// Columns [first, last) and some rows of a product of many.
struct NBitsTask {
  int64_t row, rows, first, last;
};

void RunTask(const NBitsGemmArguments& p, const NBitsLoops& loops, const TileSet& tiles,
             const NBitsTask& task, float* scratch) {
  const int64_t columns = task.last - task.first;
  Block block;
  block.tile.a_stride = p.a_stride;
  block.tile.c = p.c + task.row * p.c_stride + task.first;
  block.tile.c_stride = p.c_stride;
  block.bias = p.bias == nullptr ? nullptr : p.bias + task.first;
  for (int64_t begin = 0; begin < p.b.k; begin += kPartDepth) {
    const int64_t end = std::min(begin + kPartDepth, p.b.k);
    loops.dequantize(p.b, task.first, columns, begin, end, scratch);
    block.tile.a = p.a + task.row * p.a_stride + begin;
    block.tile.depth = end - begin;
    block.tile.accumulate = begin != 0;
    block.b = Panels::Packed(scratch, end - begin, columns);
    RunBlock(tiles, block, task.rows, 0, columns);
  }
}

void RunManyRows(const NBitsGemmArguments& p, const NBitsLoops& loops, float* scratch,
                 ThreadPool& pool) {
  constexpr int64_t kTasksPerThread = 8;
  const TileSet& tiles = TilesFor(ComputeMode(), p.m, p.b.k, p.b.n);
  const int64_t panels = CeilDiv(p.b.n, kPanel), threads = pool.num_threads();
  const int64_t wanted = threads == 1 ? 1 : kTasksPerThread * threads;
  const int64_t task_panels = std::clamp<int64_t>(panels / wanted, 1, kTaskColumns / kPanel);
  const int64_t panel_tasks = CeilDiv(panels, task_panels);
  const int64_t row_tasks = CeilDiv(p.m, kTaskRows);
  const int64_t task_rows = CeilDiv(p.m, row_tasks);
  pool.ParallelForSlots(panel_tasks * row_tasks, 1, [&](int slot, int64_t begin, int64_t) {
    const int64_t row = begin % row_tasks * task_rows;
    const int64_t first = begin / row_tasks * task_panels * kPanel;
    const NBitsTask task = {.row = row,
                            .rows = std::min(task_rows, p.m - row),
                            .first = first,
                            .last = std::min(p.b.n, first + task_panels * kPanel)};
    RunTask(p, loops, tiles, task, scratch + slot * kTaskColumns * kPartDepth);
  });
}

}  // namespace

int64_t NBitsGemmScratchBytes(int64_t m, int64_t k, int num_threads) {
  const int64_t ordered = m <= kMostDotRows ? m * OrderedFloats(k) : 0;
  const int64_t panels = m > kLeastDotRows ? num_threads * kTaskColumns * kPartDepth : 0;
  const int64_t floats = std::max(ordered, panels);
  return floats * static_cast<int64_t>(sizeof(float));
}

void NBitsGemm(const NBitsGemmArguments& arguments, void* scratch, ThreadPool& pool) {
  const NBitsLoops& loops = WEFT_DISPATCH(LoopsFor)(arguments.b.bits, arguments.b.block_size);
  auto* const floats = static_cast<float*>(scratch);
  if (arguments.m <= loops.most_dot_rows) {
    RunFewRows(arguments, loops, floats, pool);
  } else {
    RunManyRows(arguments, loops, floats, pool);
  }
}

}  // namespace weft::kernels::simd
