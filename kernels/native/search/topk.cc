// The largest or smallest elements along an axis, in order: exactly those of the reference kernel, NaN above all
// numbers, of equal elements those of the lowest index.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "ir/dialects/ascend.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/search/best.h"
#include "kernels/native/search/element_types.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

constexpr int64_t kMaxColumns = simd::kBestColumns;

// Of which simd::BestOfColumns knows.
template <class T>
constexpr bool kHasLanes = std::is_same_v<T, float> || std::is_same_v<T, int32_t>;

// Where the work is cut, and the memory that it takes. Results do not depend on it.
struct Cut {
  int64_t columns = 1;    // of an inner axis, that a task looks at together
  bool by_lanes = false;  // by simd::BestOfColumns
  int64_t pieces = 1;     // of a row, whose best are joined
  int64_t room = 0;       // candidates of a column or piece
  bool takes_all = false;
};

template <class T>
Cut CutOf(const AxisView& view, int64_t k, int num_threads) {
  using Key = simd::KeyOf<T>;
  constexpr int64_t kMaxCandidates = 1 << 16, kLeastPiece = 1 << 17;
  Cut cut;
  if (kHasLanes<T> && view.inner >= 4 && k <= simd::kMostOfColumns) {
    cut.by_lanes = true;
    cut.columns = std::min(simd::kBestColumns, view.inner);
    return cut;
  }
  cut.takes_all = Best<Key>::TakesAll(k, view.extent);
  cut.room = Best<Key>::Room(k, view.extent);
  cut.columns =
      std::clamp<int64_t>(kMaxCandidates / cut.room, 1, std::min(kMaxColumns, view.inner));
  const bool has_few_rows = view.outer * view.inner < 2 * num_threads;
  if (has_few_rows && num_threads > 1 && !cut.takes_all)
    cut.pieces = std::clamp<int64_t>(view.extent / std::max(kLeastPiece, 8 * k), 1, 64);
  if (cut.pieces > 1) cut.columns = 1;
  return cut;
}

template <class T, class Index>
class TopKKernel final : public Kernel {
 public:
  TopKKernel(std::string_view op, const AxisView& view, int64_t k, bool largest, int num_threads)
      : op_(op),
        view_(view),
        k_(k),
        largest_(largest),
        cut_(CutOf<T>(view, k, num_threads)),
        groups_((view.inner + cut_.columns - 1) / cut_.columns),
        slots_(view.outer * groups_ == 1 ? 1 : num_threads) {}
  std::string_view name() const override { return "top k"; }

  size_t scratch_bytes() const override {
    if (cut_.pieces > 1) return static_cast<size_t>(cut_.pieces * cut_.room) * sizeof(Item);
    return static_cast<size_t>(slots_ * SlotCandidates()) * sizeof(Item);
  }

  absl::Status Run(const KernelArgs& args) override {
    const int64_t k = *args.input<Index>(1);
    if (k != k_)
      return ir::InvalidArgument(std::string(op_) + ": k is " + std::to_string(k) +
                                 ", which is not what the result has");
    if (cut_.pieces > 1) {
      for (int64_t row = 0; row < view_.outer * view_.inner; ++row) RunInPieces(args, row);
      return absl::OkStatus();
    }
    const int64_t tasks = view_.outer * groups_;
    args.pool->ParallelForSlots(
        tasks, TileFor(tasks, 4 * view_.extent * cut_.columns),
        [&](int slot, int64_t begin, int64_t end) {
          Item* room = reinterpret_cast<Item*>(args.scratch) + slot * SlotCandidates();
          for (int64_t task = begin; task < end; ++task)
            RunColumns(args, task / groups_, task % groups_ * cut_.columns, room);
        });
    return absl::OkStatus();
  }

 private:
  using Key = simd::KeyOf<T>;
  using Item = Candidate<Key>;
  static constexpr int64_t kBlock = Best<Key>::kBlock;

  int64_t SlotCandidates() const {
    return cut_.room * cut_.columns + (cut_.takes_all ? cut_.room : 0);
  }
  // Where element 0 of a row lies, in x or, with extent k, in the results.
  int64_t RowStart(int64_t row, int64_t extent) const {
    return row / view_.inner * extent * view_.inner + row % view_.inner;
  }

  void RunColumns(const KernelArgs& args, int64_t outer, int64_t first, Item* room) const {
    const int64_t columns = std::min(cut_.columns, view_.inner - first);
    const T* const x = args.input<T>(0) + RowStart(outer * view_.inner + first, view_.extent);
    if constexpr (kHasLanes<T>) {
      if (cut_.by_lanes) {
        int32_t indices[kMaxColumns * simd::kMostOfColumns];
        simd::BestOfColumns(x, view_.inner, view_.extent, columns, !largest_, k_, indices);
        for (int64_t c = 0; c < columns; ++c)
          Write(args, outer * view_.inner + first + c,
                [&](int64_t i) { return indices[i * kMaxColumns + c]; });
        return;
      }
    }
    Item* const other = cut_.takes_all ? room + cut_.columns * cut_.room : nullptr;
    std::optional<Best<Key>> best[kMaxColumns];
    for (int64_t c = 0; c < columns; ++c)
      best[c].emplace(k_, view_.extent, room + c * cut_.room, other);
    Key keys[kMaxColumns * kBlock];
    for (int64_t i = 0; i < view_.extent; i += kBlock) {
      const int64_t count = std::min(kBlock, view_.extent - i);
      simd::OrderedKeys(x + i * view_.inner, view_.inner, count, columns, !largest_, keys, kBlock);
      for (int64_t c = 0; c < columns; ++c) best[c]->Add(keys + c * kBlock, count, i);
    }
    for (int64_t c = 0; c < columns; ++c)
      WriteSorted(args, outer * view_.inner + first + c, best[c]->Sorted());
  }

  void RunInPieces(const KernelArgs& args, int64_t row) const {
    Item* const all = reinterpret_cast<Item*>(args.scratch);
    const T* const x = args.input<T>(0) + RowStart(row, view_.extent);
    args.pool->ParallelFor(cut_.pieces, 1, [&](int64_t piece, int64_t) {
      const int64_t first = view_.extent * piece / cut_.pieces;
      const int64_t last = view_.extent * (piece + 1) / cut_.pieces;
      Best<Key> best(k_, view_.extent, all + piece * cut_.room);
      Key keys[kBlock];
      for (int64_t i = first; i < last; i += kBlock) {
        const int64_t count = std::min(kBlock, last - i);
        simd::OrderedKeys(x + i * view_.inner, view_.inner, count, 1, !largest_, keys, kBlock);
        best.Add(keys, count, i);
      }
      best.Sorted();
    });
    for (int64_t piece = 1; piece < cut_.pieces; ++piece)
      std::copy_n(all + piece * cut_.room, k_, all + piece * k_);
    const std::span<Item> best(all, static_cast<size_t>(cut_.pieces * k_));
    SortBest<Key>(best, k_);
    WriteSorted(args, row, best);
  }

  void WriteSorted(const KernelArgs& args, int64_t row, std::span<const Item> best) const {
    Write(args, row, [&](int64_t i) { return best[static_cast<size_t>(i)].index(); });
  }
  // index_of(i): the index of the best but i.
  template <class IndexOf>
  void Write(const KernelArgs& args, int64_t row, const IndexOf& index_of) const {
    const T* const x = args.input<T>(0) + RowStart(row, view_.extent);
    T* const values = args.output<T>(0) + RowStart(row, k_);
    Index* const indices = args.output<Index>(1) + RowStart(row, k_);
    for (int64_t i = 0; i < k_; ++i) {
      const int64_t index = index_of(i);
      values[i * view_.inner] = x[index * view_.inner];
      indices[i * view_.inner] = static_cast<Index>(index);
    }
  }

  const std::string_view op_;
  const AxisView view_;
  const int64_t k_;
  const bool largest_;
  const Cut cut_;
  const int64_t groups_;  // of columns
  const int slots_;
};

template <class O, class Index, ir::DataType kIndex>
Made MakeTopK(const KernelContext& context) {
  const auto attrs = context.attrs_of<O>();
  const ir::DataType dtype = context.input_type(0).dtype();
  if (context.num_results() != 2 || context.result_type(0).dtype() != dtype ||
      context.result_type(1).dtype() != kIndex || context.input_type(1).dtype() != kIndex ||
      context.input_type(1).NumElements() != 1)
    return context.Unsupported("these element types");
  const std::span<const int64_t> x = context.dims(0), values = context.result_dims(0);
  const int64_t axis = ir::NormalAxis(attrs.axis, x.size());
  if (axis < 0 || axis >= static_cast<int64_t>(x.size()) || values.size() != x.size())
    return context.Unsupported("an axis that x does not have");
  const AxisView view(x, axis), result(values, axis);
  const int64_t k = result.extent;
  ir::Shape expected(x.begin(), x.end());
  expected[static_cast<size_t>(axis)] = k;
  const auto is_expected = [&](std::span<const int64_t> dims) {
    return std::equal(dims.begin(), dims.end(), expected.begin(), expected.end());
  };
  if (!is_expected(values) || !is_expected(context.result_dims(1)) || k < 1 || k > view.extent)
    return context.Unsupported("results that are no part of x");
  if (view.extent > std::numeric_limits<int32_t>::max())
    return context.Unsupported("an axis of more than 2^31 elements");
  std::unique_ptr<Kernel> kernel;
  VisitOrdered(dtype, [&](auto tag) {
    kernel = std::make_unique<TopKKernel<decltype(tag), Index>>(
        O::kInfo.name, view, k, attrs.largest != 0, context.pool().num_threads());
  });
  if (kernel == nullptr) return context.Unsupported("these element types");
  return kernel;
}
const RegisterKernel<ops::TopK> kTopK("native", &MakeTopK<ops::TopK, int64_t, ir::DataType::kI64>);
const RegisterKernel<ir::ascend::TopK> kAscendTopK(
    "native", &MakeTopK<ir::ascend::TopK, int32_t, ir::DataType::kI32>);

}  // namespace
}  // namespace weft::kernels::native
