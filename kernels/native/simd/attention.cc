#include "kernels/native/simd/attention.h"

#include <cmath>
#include <limits>

#include "kernels/native/simd/amx_gemm.h"
#include "kernels/native/simd/dot_products.h"
#include "kernels/native/simd/gemm_tile.h"

namespace weft::kernels::simd {
namespace {

struct AttentionFunctions {
  void (*scale_into)(const float* x, float factor, float* y, int64_t n);
  void (*scale_and_add)(const float* x, float x_factor, float* y, float y_factor, int64_t n);
  void (*add_mask)(float* scores, const float* mask, int64_t mask_stride, int64_t n);
  void (*fill_dropped)(float* scores, const uint8_t* keep, int64_t keep_stride, float fill,
                       int64_t n);
  float (*exp_row)(float* scores, int64_t n, float* highest);
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/attention_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The rows of a group are the queries of all heads that read one key head, head after head. A task
// is a range of rows of a group, or, with split keys, all rows of a group and a range of keys.
struct Plan {
  const TileSet* tiles;
  int64_t group_heads;
  int64_t groups;
  int64_t group_rows;
  DotProducts dot;   // few rows: keys are read in place; else null
  bool pack_values;  // V has no multiple of 16 columns

  int64_t task_rows;
  int64_t row_tasks;  // per group
  int64_t key_tasks;  // per group; more than 1: split keys
  int64_t task_keys;
  int64_t block_rows;  // whose scores are held at once
  int64_t block_keys;

  // Parts of a thread's scratch, in floats.
  int64_t packed_keys, packed_values, queries, scores, output, state;
  int64_t per_thread;
  // What the tasks of split keys leave for the merge, behind the scratch of all threads.
  int64_t partial;  // per group and key task
};

void PlanTasks(const AttentionArguments& a, int num_threads, const TileSet& tiles, Plan* p) {
  // Keys whose packed form, with the values, stays in half an L2 cache.
  constexpr int64_t kCacheFloats = 128 * 1024;
  constexpr int64_t kMaxTaskRows = 224;
  const int64_t tile_rows = tiles.term_tiles == nullptr ? tiles.max_rows : kTermBlock;
  constexpr int64_t kTasksPerThread = 4;
  constexpr int64_t kLeastTaskKeys = 128;
  const int64_t most_keys = RoundUp(
      std::clamp<int64_t>(kCacheFloats / std::max(a.head_size, a.value_size), 128, 2048), kPanel);
  p->row_tasks = CeilDiv(p->group_rows, kMaxTaskRows);
  p->key_tasks = 1;
  if (num_threads > 1) {
    if (p->dot && p->groups < num_threads) {
      p->key_tasks = std::clamp<int64_t>(a.keys / kLeastTaskKeys, 1, num_threads);
    } else if (!p->dot) {
      // Every row task packs the keys again, so it should have some rows to earn that.
      const int64_t wanted =
          CeilDiv(kTasksPerThread * num_threads, std::max<int64_t>(1, p->groups));
      p->row_tasks = std::clamp<int64_t>(wanted, p->row_tasks,
                                         std::max(p->row_tasks, p->group_rows / (4 * tile_rows)));
    }
  }
  p->task_rows = CeilDiv(p->group_rows, p->row_tasks);
  p->row_tasks = CeilDiv(p->group_rows, p->task_rows);
  p->task_keys = RoundUp(CeilDiv(a.keys, p->key_tasks), 16);
  p->key_tasks = CeilDiv(a.keys, p->task_keys);
  p->block_keys = std::min(RoundUp(CeilDiv(p->task_keys, CeilDiv(p->task_keys, most_keys)), kPanel),
                           RoundUp(a.keys, kPanel));
  // Tiles split keys and values anew for every block.
  const int64_t scores = (tiles.term_tiles == nullptr ? 16 : 64) * 1024;
  const int64_t block_tiles = std::clamp<int64_t>(scores / (p->block_keys * tile_rows), 1, 4);
  p->block_rows = std::min(p->task_rows, block_tiles * tile_rows);
}

Plan MakePlan(const AttentionArguments& a, int num_threads) {
  Plan p;
  p.group_heads = a.heads / a.kv_heads;
  p.groups = a.batch * a.kv_heads;
  p.group_rows = p.group_heads * a.queries;
  // Heads of 64 are as fast without tiles, which split what they multiply for little work; of 256
  // against 1280 keys, 1.6 times as fast with them.
  const bool large = a.head_size >= 128 && a.value_size >= 128;
  p.tiles =
      large ? &TilesFor(ComputeMode(), p.group_rows, a.keys, a.keys) : &TilesFor(CurrentIsa());
  constexpr int64_t kFewRows = 8;
  p.dot = p.group_rows <= kFewRows ? DotProductsFor(CurrentIsa()) : nullptr;
  p.pack_values = a.value_size % 16 != 0;
  PlanTasks(a, num_threads, *p.tiles, &p);
  const int64_t value_columns = PackedColumns(a.value_size);
  p.packed_keys = p.dot != nullptr ? 0 : a.head_size * p.block_keys;
  p.packed_values = p.pack_values ? p.block_keys * value_columns : 0;
  p.queries = RoundUp(p.block_rows * a.head_size, 16);
  p.scores = p.block_rows * p.block_keys;
  p.output = p.task_rows * value_columns;
  p.state = 2 * RoundUp(p.task_rows, 16);
  p.per_thread = p.packed_keys + p.packed_values + p.queries + p.scores + p.output + p.state;
  p.partial = p.key_tasks > 1 ? p.output + p.state : 0;
  return p;
}

// Everything one task works with.
class Worker {
 public:
  // The results of rows so far: weighted sums of values, largest scores, sums of weights.
  struct Rows {
    float* output;
    float* highest;
    float* sum;
  };

  Worker(const AttentionArguments& a, const Plan& plan, const AttentionFunctions& functions,
         const TileSet& tiles, float* scratch)
      : a_(a), p_(plan), f_(functions), tiles_(tiles) {
    packed_keys_ = scratch;
    packed_values_ = packed_keys_ + p_.packed_keys;
    queries_ = packed_values_ + p_.packed_values;
    scores_ = queries_ + p_.queries;
    end_ = scores_ + p_.scores;
    value_columns_ = PackedColumns(a_.value_size);
  }

  // Where a task keeps its rows if they need no merge.
  Rows OwnRows() const { return RowsAt(end_); }
  Rows RowsAt(float* at) const { return {at, at + p_.output, at + p_.output + p_.state / 2}; }

  // Rows [first, last) of a group against keys [begin, end). `packed`: the keys and values of the
  // only block of keys are in the scratch from the task before.
  void Run(int64_t group, int64_t first, int64_t last, int64_t begin, int64_t end, bool packed,
           const Rows& rows) {
    for (int64_t i = 0; i < last - first; ++i) {
      rows.highest[i] = kMinusInfinity;
      rows.sum[i] = 0;
    }
    for (int64_t key = begin; key < end; key += p_.block_keys) {
      const int64_t keys = std::min(p_.block_keys, end - key);
      if (!packed) Pack(group, key, keys);
      for (int64_t row = first; row < last; row += p_.block_rows) {
        RunBlockOfRows(group, row, std::min(p_.block_rows, last - row), key, keys, key == begin,
                       {rows.output + (row - first) * value_columns_, rows.highest + row - first,
                        rows.sum + row - first});
      }
    }
  }

  // y = the weighted sums over the sums of weights.
  void Finish(int64_t group, int64_t first, int64_t last, const Rows& rows) const {
    for (int64_t row = first; row < last; ++row) {
      const int64_t i = row - first;
      float* y = a_.y.data + Batch(group) * a_.y.batch_stride +
                 Head(group, row) * a_.y.head_stride + Query(row) * a_.y.row_stride;
      if (a_.zero_nan && !(rows.sum[i] > 0)) {  // of NaN, or of nothing but masked keys
        std::fill(y, y + a_.value_size, 0.0f);
        continue;
      }
      f_.scale_into(rows.output + i * value_columns_, 1.0f / rows.sum[i], y, a_.value_size);
    }
  }

  // Adds what other keys gave for the same rows.
  void Merge(int64_t count, const Rows& from, const Rows& to) const {
    for (int64_t i = 0; i < count; ++i) {
      const float highest = std::fmax(from.highest[i], to.highest[i]);
      const float shift = highest == kMinusInfinity ? 0 : highest;
      const float from_factor = std::exp(from.highest[i] - shift);
      const float to_factor = std::exp(to.highest[i] - shift);
      f_.scale_and_add(from.output + i * value_columns_, from_factor,
                       to.output + i * value_columns_, to_factor, a_.value_size);
      to.sum[i] = to.sum[i] * to_factor + from.sum[i] * from_factor;
      to.highest[i] = highest;
    }
  }

 private:
  int64_t Batch(int64_t group) const { return group / a_.kv_heads; }
  int64_t KeyHead(int64_t group) const { return group % a_.kv_heads; }
  int64_t Head(int64_t group, int64_t row) const {
    return KeyHead(group) * p_.group_heads + row / a_.queries;
  }
  int64_t Query(int64_t row) const { return row % a_.queries; }

  const float* RowOf(const AttentionView& view, int64_t group, int64_t row) const {
    return view.data + Batch(group) * view.batch_stride + KeyHead(group) * view.head_stride +
           row * view.row_stride;
  }

  int64_t MaskAt(const MaskStrides& strides, int64_t group, int64_t row, int64_t key) const {
    return Batch(group) * strides.batch + Head(group, row) * strides.head +
           Query(row) * strides.query + key * strides.key;
  }

  void Pack(int64_t group, int64_t key, int64_t keys) {
    if (p_.dot == nullptr) {
      tiles_.pack(RowOf(a_.k, group, key), 1, a_.k.row_stride, a_.head_size, keys, 0,
                  CeilDiv(keys, kPanel), packed_keys_);
    }
    if (p_.pack_values) {
      tiles_.pack(RowOf(a_.v, group, key), a_.v.row_stride, 1, keys, a_.value_size, 0,
                  CeilDiv(a_.value_size, kPanel), packed_values_);
    }
  }

  void RunBlockOfRows(int64_t group, int64_t row, int64_t count, int64_t key, int64_t keys,
                      bool is_first, const Rows& rows) {
    for (int64_t i = 0; i < count; ++i) {
      const float* q = a_.q.data + Batch(group) * a_.q.batch_stride +
                       Head(group, row + i) * a_.q.head_stride + Query(row + i) * a_.q.row_stride;
      f_.scale_into(q, a_.scale, queries_ + i * a_.head_size, a_.head_size);
    }
    Score(group, count, key, keys);
    for (int64_t i = 0; i < count; ++i) {
      float* scores = scores_ + i * p_.block_keys;
      if (a_.keep != nullptr) {
        f_.fill_dropped(scores, a_.keep + MaskAt(a_.keep_strides, group, row + i, key),
                        a_.keep_strides.key, a_.fill, keys);
      }
      if (a_.mask != nullptr) {
        f_.add_mask(scores, a_.mask + MaskAt(a_.mask_strides, group, row + i, key),
                    a_.mask_strides.key, keys);
      }
      const float before = rows.highest[i];
      const float sum = f_.exp_row(scores, keys, &rows.highest[i]);
      if (!is_first && rows.highest[i] != before) {
        const float factor = std::exp(before - rows.highest[i]);
        rows.sum[i] *= factor;
        float* output = rows.output + i * value_columns_;
        f_.scale_into(output, factor, output, a_.value_size);
      }
      rows.sum[i] += sum;
    }
    AddValues(group, count, key, keys, is_first, rows.output);
  }

  void Score(int64_t group, int64_t count, int64_t key, int64_t keys) {
    if (p_.dot != nullptr) {
      p_.dot({queries_, a_.head_size, count}, {RowOf(a_.k, group, key), a_.k.row_stride, keys},
             a_.head_size, scores_, p_.block_keys);
      return;
    }
    Block block;
    block.tile.a = queries_;
    block.tile.a_stride = a_.head_size;
    block.tile.depth = a_.head_size;
    block.tile.c = scores_;
    block.tile.c_stride = p_.block_keys;
    block.b = Panels::Packed(packed_keys_, a_.head_size, keys);
    RunBlock(tiles_, block, count, 0, keys);
  }

  void AddValues(int64_t group, int64_t count, int64_t key, int64_t keys, bool is_first,
                 float* output) {
    Block block;
    block.tile.a = scores_;
    block.tile.a_stride = p_.block_keys;
    block.tile.depth = keys;
    block.tile.c = output;
    block.tile.c_stride = value_columns_;
    block.tile.accumulate = !is_first;
    block.b = p_.pack_values
                  ? Panels::Packed(packed_values_, keys, a_.value_size)
                  : Panels::InPlace(RowOf(a_.v, group, key), a_.v.row_stride, a_.value_size);
    RunBlock(tiles_, block, count, 0, a_.value_size);
  }

  const AttentionArguments& a_;
  const Plan& p_;
  const AttentionFunctions& f_;
  const TileSet& tiles_;
  float* packed_keys_;
  float* packed_values_;
  float* queries_;
  float* scores_;
  float* end_;
  int64_t value_columns_;
};

void RunRowTasks(const AttentionArguments& a, const Plan& plan, const AttentionFunctions& functions,
                 const TileSet& tiles, float* scratch, ThreadPool& pool) {
  const int64_t tasks = plan.groups * plan.row_tasks;
  // Small heads share a tile: starting a task costs about a microsecond.
  const int64_t cost = plan.task_rows * a.keys * (a.head_size + a.value_size) / 32;
  const int64_t tile = std::min(TileFor(tasks, cost), CeilDiv(tasks, pool.num_threads()));
  pool.ParallelForSlots(tasks, tile, [&](int slot, int64_t begin, int64_t end) {
    Worker worker(a, plan, functions, tiles, scratch + slot * plan.per_thread);
    const Worker::Rows rows = worker.OwnRows();
    int64_t packed_group = -1;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task / plan.row_tasks;
      const int64_t first = task % plan.row_tasks * plan.task_rows;
      const int64_t last = std::min(first + plan.task_rows, plan.group_rows);
      worker.Run(group, first, last, 0, a.keys, group == packed_group, rows);
      if (a.keys <= plan.block_keys) packed_group = group;
      worker.Finish(group, first, last, rows);
    }
  });
}

void RunKeyTasks(const AttentionArguments& a, const Plan& plan, const AttentionFunctions& functions,
                 const TileSet& tiles, float* scratch, ThreadPool& pool) {
  float* partials = scratch + pool.num_threads() * plan.per_thread;
  pool.ParallelForSlots(plan.groups * plan.key_tasks, 1, [&](int slot, int64_t task, int64_t) {
    Worker worker(a, plan, functions, tiles, scratch + slot * plan.per_thread);
    const int64_t key = task % plan.key_tasks * plan.task_keys;
    worker.Run(task / plan.key_tasks, 0, plan.group_rows, key,
               std::min(key + plan.task_keys, a.keys), false,
               worker.RowsAt(partials + task * plan.partial));
  });
  const Worker worker(a, plan, functions, tiles, scratch);
  for (int64_t group = 0; group < plan.groups; ++group) {
    float* partial = partials + group * plan.key_tasks * plan.partial;
    const Worker::Rows rows = worker.RowsAt(partial);
    for (int64_t i = 1; i < plan.key_tasks; ++i) {
      worker.Merge(plan.group_rows, worker.RowsAt(partial + i * plan.partial), rows);
    }
    worker.Finish(group, 0, plan.group_rows, rows);
  }
}

}  // namespace

int64_t AttentionScratchBytes(const AttentionArguments& a, int num_threads) {
  if (a.batch * a.heads * a.queries * a.keys * a.value_size == 0) return 0;
  const Plan plan = MakePlan(a, num_threads);
  return (num_threads * plan.per_thread + plan.groups * plan.key_tasks * plan.partial) *
         static_cast<int64_t>(sizeof(float));
}

void Attention(const AttentionArguments& a, void* scratch, ThreadPool& pool) {
  if (a.batch * a.heads * a.queries * a.value_size == 0) return;
  const Isa isa = CurrentIsa();
  const AttentionFunctions& functions = *WEFT_DISPATCH_ON(isa, kAttention);
  if (a.keys == 0) {
    // The sum over nothing, as a product with an empty matrix gives.
    const float zero = 0;
    for (int64_t i = 0; i < a.batch * a.heads * a.queries; ++i) {
      float* y = a.y.data + i / (a.heads * a.queries) * a.y.batch_stride +
                 i / a.queries % a.heads * a.y.head_stride + i % a.queries * a.y.row_stride;
      std::fill(y, y + a.value_size, zero);
    }
    return;
  }
  const Plan plan = MakePlan(a, pool.num_threads());
  const TileSet& tiles = *plan.tiles;
  const auto run = plan.key_tasks > 1 ? RunKeyTasks : RunRowTasks;
  run(a, plan, functions, tiles, static_cast<float*>(scratch), pool);
}

}  // namespace weft::kernels::simd
