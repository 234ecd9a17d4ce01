#include "kernels/native/simd/gemm.h"

#include <new>

#include "ir/base/large_memory.h"
#include "kernels/native/simd/amx_gemm.h"
#include "kernels/native/simd/dot_products.h"
#include "kernels/native/simd/gemm_tile.h"
#include "kernels/thread_scratch.h"

namespace weft::kernels::simd {
namespace {

// How a product is cut into tasks: ranges of rows times ranges of panels.
struct Grid {
  int64_t task_rows;
  int64_t task_panels;
  int64_t row_tasks;
  int64_t panel_tasks;
  bool by_panels;  // neighbouring tasks share panels rather than rows
};

// For products on term tiles. A task splits the panels of B that it needs, and its rows of A where
// others have other rows, so there are few, in whole blocks of the tiles.
Grid MakeGridOfTerms(int64_t m, int64_t n, int64_t k, int num_threads) {
  constexpr int64_t kLeastWork = 1024 * 1024;
  constexpr int64_t kTasksPerThread = 3;
  const int64_t panels = CeilDiv(n, kPanel), blocks = CeilDiv(m, kTermBlock);
  const int64_t wanted =
      num_threads == 1 ? 1 : std::min(kTasksPerThread * num_threads, m * n * k / kLeastWork + 1);
  Grid grid;
  grid.by_panels = n > m;
  grid.task_rows = grid.by_panels ? m : CeilDiv(blocks, std::min(wanted, blocks)) * kTermBlock;
  grid.row_tasks = CeilDiv(m, grid.task_rows);
  grid.task_panels = CeilDiv(panels, std::min(CeilDiv(wanted, grid.row_tasks), panels));
  grid.panel_tasks = CeilDiv(panels, grid.task_panels);
  return grid;
}

Grid MakeGrid(const TileSet& tiles, int64_t m, int64_t n, int64_t k, int num_threads) {
  // Multiply-adds that are worth a task of their own, and tasks per thread that balance well
  // enough.
  constexpr int64_t kLeastWork = 64 * 1024;
  constexpr int64_t kTasksPerThread = 8;
  const int64_t panels = CeilDiv(n, kPanel);
  if (tiles.term_tiles != nullptr) return MakeGridOfTerms(m, n, k, num_threads);
  const int64_t row_tiles = CeilDiv(m, tiles.max_rows);
  const int64_t tile_rows = CeilDiv(m, row_tiles);
  const int64_t cached_tiles =
      std::max<int64_t>(4, kCachedRowsOfA / (tile_rows * std::min(k, kMaxDepth) + 1));
  const int64_t wanted =
      num_threads == 1 ? 1 : std::min(kTasksPerThread * num_threads, m * n * k / kLeastWork + 1);
  Grid grid;
  grid.by_panels = n > m;  // B is the larger operand: every thread keeps to its part of it
  grid.row_tasks = CeilDiv(row_tiles, cached_tiles);
  grid.panel_tasks = 1;
  if (grid.by_panels) {
    grid.panel_tasks = std::clamp<int64_t>(wanted / grid.row_tasks, 1, panels);
    grid.row_tasks = std::clamp<int64_t>(wanted / grid.panel_tasks, grid.row_tasks, row_tiles);
  } else {
    grid.row_tasks = std::clamp<int64_t>(wanted, grid.row_tasks, row_tiles);
    grid.panel_tasks = std::clamp<int64_t>(wanted / grid.row_tasks, 1, panels);
  }
  grid.task_rows = CeilDiv(row_tiles, grid.row_tasks) * tile_rows;
  grid.task_panels = CeilDiv(panels, grid.panel_tasks);
  grid.row_tasks = CeilDiv(m, grid.task_rows);
  grid.panel_tasks = CeilDiv(panels, grid.task_panels);
  return grid;
}

// A product whose tasks share A.
struct Product {
  const TileSet* tiles;
  Block block;
  int64_t m, n;
  Grid grid;
  std::byte* terms_of_a = nullptr;  // where tasks of the same rows would split them again
};

void RunTask(const Product& product, int64_t index) {
  const Grid& grid = product.grid;
  const int64_t row_task = grid.by_panels ? index % grid.row_tasks : index / grid.panel_tasks;
  const int64_t panel_task = grid.by_panels ? index / grid.row_tasks : index % grid.panel_tasks;
  const int64_t row = row_task * grid.task_rows;
  Block block = product.block;
  block.tile.a += row * block.tile.a_stride;
  block.tile.c += row * block.tile.c_stride;
  if (block.tile.residual != nullptr) block.tile.residual += row * block.tile.residual_stride;
  const int64_t rows = std::min(grid.task_rows, product.m - row);
  const int64_t first = panel_task * grid.task_panels * kPanel;
  const int64_t last = std::min(product.n, first + grid.task_panels * kPanel);
  if (product.terms_of_a != nullptr) {
    RunBlockOnTiles(*product.tiles->term_tiles, *product.tiles, block, rows, first, last,
                    product.terms_of_a);
  } else {
    RunBlock(*product.tiles, block, rows, first, last);
  }
}

// Splits A once for all tasks, where they have the same rows and the terms are not many.
void ShareTermsOfA(Product* product, ThreadPool& pool) {
  constexpr int64_t kMostBytes = 8 << 20;
  const Tile& tile = product->block.tile;
  const Grid& grid = product->grid;
  if (product->tiles->term_tiles == nullptr || grid.row_tasks > 1 || grid.panel_tasks == 1 ||
      tile.depth == 0)
    return;
  const int64_t bytes = TermBytesOfA(*product->tiles->term_tiles, product->m, tile.depth);
  if (bytes > kMostBytes) return;
  std::byte* terms = ThreadScratch(bytes, ScratchUse::kShared);
  pool.ParallelFor(product->m, TileFor(product->m, 2 * tile.depth),
                   [&](int64_t begin, int64_t end) {
                     SplitRowsOfA(*product->tiles->term_tiles, tile, product->m, begin, end, terms);
                   });
  product->terms_of_a = terms;
}

void RunProduct(const Block& block, int64_t m, int64_t n, ThreadPool& pool) {
  if (m == 0 || n == 0) return;
  const TileSet& tiles = TilesFor(ComputeMode(), m, block.tile.depth, n);
  Product product = {&tiles, block, m, n,
                     MakeGrid(tiles, m, n, block.tile.depth, pool.num_threads())};
  ShareTermsOfA(&product, pool);
  pool.ParallelFor(product.grid.row_tasks * product.grid.panel_tasks, 1,
                   [&](int64_t begin, int64_t) { RunTask(product, begin); });
}

}  // namespace

int64_t PackedMatrix::BytesOf(int64_t k, int64_t n) {
  return k * PackedColumns(n) * static_cast<int64_t>(sizeof(float));
}

const float* WeightSource::At(int64_t first, int64_t count) const {
  if (is_in_memory()) return data_ + first;
  auto* const room = reinterpret_cast<float*>(
      ThreadScratch(count * static_cast<int64_t>(sizeof(float)), ScratchUse::kSource));
  read_(first, {room, static_cast<size_t>(count)});
  return room;
}

WeightSource WeightSource::From(int64_t first) const {
  if (is_in_memory()) return data_ + first;
  return WeightSource([this, first](int64_t i, std::span<float> to) { read_(first + i, to); });
}

PackedMatrix PackedMatrix::In(float* memory, int64_t k, int64_t n) {
  PackedMatrix packed;
  packed.k_ = k;
  packed.n_ = n;
  packed.data_ = memory;
  if (memory == nullptr) {
    packed.own_.reset(
        static_cast<float*>(ir::AllocateForWriting(static_cast<size_t>(packed.bytes()))));
    packed.data_ = packed.own_.get();
    if (packed.data_ == nullptr) throw std::bad_alloc();
  }
  return packed;
}

PackedMatrix PackedMatrix::Pack(const WeightSource& b, int64_t row_stride, int64_t column_stride,
                                int64_t k, int64_t n, ThreadPool& pool, float* memory) {
  const TileSet& tiles = TilesFor(CurrentIsa());
  const auto pack = [&](const float* from, int64_t rows, int64_t columns, float* to) {
    tiles.pack(from, row_stride, column_stride, rows, columns, 0, 1, to);
  };
  if (b.is_in_memory() || column_stride != 1) {
    const auto write = [&](const Panel& panel) {
      const int64_t last = (k - 1) * row_stride + (panel.columns - 1) * column_stride;
      pack(b.At(panel.first * column_stride, k == 0 ? 0 : last + 1), k, panel.columns, panel.data);
    };
    return PackBy(k, n, pool, write, memory);
  }
  // Whole rows at a time, since a panel's are short pieces far apart.
  constexpr int64_t kFloatsRead = 256 * 1024;
  PackedMatrix packed = In(memory, k, n);
  const int64_t rows = std::max<int64_t>(1, kFloatsRead / std::max<int64_t>(row_stride, 1));
  pool.ParallelFor(CeilDiv(k, rows), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * rows; row < std::min(k, end * rows); row += rows) {
      const int64_t count = std::min(rows, k - row);
      const float* const from = b.At(row * row_stride, (count - 1) * row_stride + n);
      for (int64_t first = 0; first < n; first += kPanel) {
        const int64_t columns = std::min(kPanel, n - first);
        pack(from + first, count, columns, packed.PanelAt(first) + row * PackedColumns(columns));
      }
    }
  });
  return packed;
}

PackedMatrix PackedMatrix::PackBy(int64_t k, int64_t n, ThreadPool& pool,
                                  const std::function<void(const Panel& panel)>& write,
                                  float* memory) {
  PackedMatrix packed = In(memory, k, n);
  pool.ParallelFor(CeilDiv(n, kPanel), TileFor(CeilDiv(n, kPanel), 2 * k * kPanel),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t first = begin * kPanel; first < std::min(n, end * kPanel);
                          first += kPanel) {
                       const int64_t columns = std::min(kPanel, n - first);
                       write({packed.PanelAt(first), PackedColumns(columns), first, columns});
                     }
                   });
  return packed;
}

void Gemm(const GemmArguments& arguments, ThreadPool& pool) {
  const PackedMatrix& b = *arguments.b;
  Block block;
  block.tile.a = arguments.a;
  block.tile.a_stride = arguments.a_stride;
  block.tile.depth = b.k();
  block.tile.c = arguments.c;
  block.tile.c_stride = arguments.c_stride;
  block.tile.residual = arguments.residual;
  block.tile.residual_stride = arguments.residual_stride;
  block.b = Panels::Packed(b.data(), b.k(), b.n());
  block.bias = arguments.bias;
  block.activation = arguments.activation;
  RunProduct(block, arguments.m, b.n(), pool);
}

namespace {

// A batched product after the loops over the batch that A and C walk as more rows of one matrix
// have become such.
struct BatchPlan {
  LoopNest<3> nest;  // a, b, c
  const TileSet* tiles = nullptr;
  int64_t batches = 1;
  int64_t m = 0;
  bool in_place = false;        // B needs no packing
  bool batch_parallel = false;  // one batch per task, each with its own packed B
  DotProducts dots = nullptr;   // of few rows with a B that is transposed; else null
  int64_t packed_floats = 0;    // of one B
};

BatchPlan PlanBatch(const BatchMatmulArguments& a, int num_threads) {
  BatchPlan plan;
  plan.m = a.m;
  for (int i = 0; i < a.batch.size(); ++i) {
    plan.nest.Add(a.batch[i], {a.a_batch_strides[i], a.b_batch_strides[i], a.c_batch_strides[i]});
  }
  plan.nest.Coalesce();
  const int last = plan.nest.rank - 1;
  if (plan.nest.strides[1][last] == 0 && plan.nest.strides[0][last] == a.m * a.a_stride &&
      plan.nest.strides[2][last] == a.m * a.c_stride) {
    plan.m *= plan.nest.extents[last];
    plan.nest.extents[last] = 1;
  }
  for (int i = 0; i < plan.nest.rank; ++i) plan.batches *= plan.nest.extents[i];
  // Packing reads and writes B once more; few rows do not earn that back. A stride of whole pages
  // makes the columns of B fall on the same cache sets, so that B is copied from fewer rows on.
  // Products on term tiles read B once.
  plan.tiles = &TilesFor(ComputeMode(), plan.m, a.k, a.n);
  if (a.b_transposed && plan.m <= kMostRowsForDots && a.activation.kind == ActivationKind::kNone)
    plan.dots = DotProductsFor(CurrentIsa());
  plan.in_place = !a.b_transposed && a.n % 16 == 0 &&
                  (plan.tiles->term_tiles != nullptr || plan.m <= 2 * plan.tiles->max_rows);
  plan.packed_floats = plan.in_place || plan.dots != nullptr ? 0 : a.k * PackedColumns(a.n);
  plan.batch_parallel = plan.batches >= num_threads;
  return plan;
}

// Every task makes a few columns of one product, or all of some.
void RunDots(const BatchMatmulArguments& a, const BatchPlan& plan, ThreadPool& pool) {
  constexpr int64_t kColumns = 16;
  const int64_t parts = CeilDiv(a.n, kColumns), count = plan.batches * parts;
  pool.ParallelFor(count, TileFor(count, kColumns * a.k), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t column = begin % parts * kColumns;
      const int64_t together = std::min(end - begin, parts - begin % parts);
      const int64_t columns = std::min(together * kColumns, a.n - column);
      int64_t offsets[3];
      plan.nest.OffsetsAt(begin / parts, plan.nest.rank, offsets);
      plan.dots({a.a + offsets[0], a.a_stride, plan.m},
                {a.b + offsets[1] + column * a.b_stride, a.b_stride, columns}, a.k,
                a.c + offsets[2] + column, a.c_stride);
      begin += together;
    }
  });
}

}  // namespace

bool IsMadeOfDots(const BatchMatmulArguments& arguments) {
  return PlanBatch(arguments, 1).dots != nullptr;
}

int64_t BatchMatmulScratchBytes(const BatchMatmulArguments& arguments, int num_threads) {
  const BatchPlan plan = PlanBatch(arguments, num_threads);
  const int64_t copies = plan.batch_parallel ? num_threads : 1;
  return copies * plan.packed_floats * static_cast<int64_t>(sizeof(float));
}

void BatchMatmul(const BatchMatmulArguments& arguments, void* scratch, ThreadPool& pool) {
  const BatchPlan plan = PlanBatch(arguments, pool.num_threads());
  if (plan.batches * plan.m * arguments.n == 0) return;
  if (plan.dots != nullptr) return RunDots(arguments, plan, pool);
  const TileSet& tiles = *plan.tiles;
  const int64_t n = arguments.n, k = arguments.k;
  const int64_t row_stride = arguments.b_transposed ? 1 : arguments.b_stride;
  const int64_t column_stride = arguments.b_transposed ? arguments.b_stride : 1;
  const int64_t panels = CeilDiv(n, kPanel);
  const auto block_at = [&](int64_t batch, const float* packed) {
    int64_t offsets[3];
    plan.nest.OffsetsAt(batch, plan.nest.rank, offsets);
    Block block;
    block.tile.a = arguments.a + offsets[0];
    block.tile.a_stride = arguments.a_stride;
    block.tile.depth = k;
    block.tile.c = arguments.c + offsets[2];
    block.tile.c_stride = arguments.c_stride;
    block.b = packed == nullptr ? Panels::InPlace(arguments.b + offsets[1], arguments.b_stride, n)
                                : Panels::Packed(packed, k, n);
    block.activation = arguments.activation;
    return block;
  };
  const auto b_at = [&](int64_t batch) {
    int64_t offsets[3];
    plan.nest.OffsetsAt(batch, plan.nest.rank, offsets);
    return arguments.b + offsets[1];
  };
  float* packed = plan.in_place ? nullptr : static_cast<float*>(scratch);
  if (plan.batch_parallel) {
    const int64_t tile = TileFor(plan.batches, plan.m * n * k / 16 + n * k);
    pool.ParallelForSlots(plan.batches, tile, [&](int slot, int64_t begin, int64_t end) {
      float* mine = packed == nullptr ? nullptr : packed + slot * plan.packed_floats;
      for (int64_t i = begin; i < end; ++i) {
        if (mine != nullptr) {
          tiles.pack(b_at(i), row_stride, column_stride, k, n, 0, panels, mine);
        }
        RunBlock(tiles, block_at(i, mine), plan.m, 0, n);
      }
    });
    return;
  }
  for (int64_t i = 0; i < plan.batches; ++i) {
    if (packed != nullptr) {
      pool.ParallelFor(panels, TileFor(panels, 2 * k * kPanel), [&](int64_t begin, int64_t end) {
        tiles.pack(b_at(i), row_stride, column_stride, k, n, begin, end, packed);
      });
    }
    RunProduct(block_at(i, packed), plan.m, n, pool);
  }
}

}  // namespace weft::kernels::simd
