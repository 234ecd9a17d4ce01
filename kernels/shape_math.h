// Shapes and strides for kernels: at most kMaxRank numbers on the stack, and the loop nests made of
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

namespace weft::kernels {

inline constexpr int kMaxRank = 8;

// Up to kMaxRank extents or strides (in elements). Converts to and from spans.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> dims) : Dims(std::span(dims.begin(), dims.size())) {}
  // `dims` must not be longer than kMaxRank.
  explicit Dims(std::span<const int64_t> dims) : size_(static_cast<int>(dims.size())) {
    std::copy(dims.begin(), dims.end(), dims_);
  }
  Dims(int size, int64_t value) : size_(size) { std::fill(dims_, dims_ + size, value); }

  int size() const { return size_; }
  int64_t& operator[](int i) { return dims_[i]; }
  int64_t operator[](int i) const { return dims_[i]; }
  const int64_t* begin() const { return dims_; }
  const int64_t* end() const { return dims_ + size_; }
  void push_back(int64_t value) { dims_[size_++] = value; }
  operator std::span<const int64_t>() const { return {dims_, static_cast<size_t>(size_)}; }

 private:
  int64_t dims_[kMaxRank] = {};
  int size_ = 0;
};

inline int64_t NumElements(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  return n;
}

inline Dims RowMajorStrides(std::span<const int64_t> shape) {
  Dims strides(static_cast<int>(shape.size()), 1);
  for (int i = strides.size() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

// Strides that read a row-major `shape` as the `to` it broadcasts to (numpy's rule; `shape` must be
// broadcastable).
inline Dims BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> to) {
  Dims strides(static_cast<int>(to.size()), 0);
  const int missing = static_cast<int>(to.size() - shape.size());
  int64_t stride = 1;
  for (int i = strides.size() - 1; i >= missing; --i) {
    if (shape[i - missing] != 1) strides[i] = stride;
    stride *= shape[i - missing];
  }
  return strides;
}

// How the elements of a tensor lie that is a part of a wider one: rows of `row` elements, one every `stride`. row 0:
// dense.
struct RowSpacing {
  int64_t row = 0, stride = 0;
};

// The strides of a tensor that has elements and lies so; nullopt where a row ends within an axis, or for more than
// kMaxRank axes.
inline std::optional<Dims> SpacedStrides(std::span<const int64_t> shape,
                                         const RowSpacing& spacing) {
  if (shape.size() > kMaxRank) return std::nullopt;
  Dims strides = RowMajorStrides(shape);
  if (spacing.row == 0) return strides;
  for (int i = 0; i < strides.size(); ++i) {
    if (strides[i] >= spacing.row)
      strides[i] = strides[i] / spacing.row * spacing.stride;
    else if (spacing.row % (strides[i] * shape[static_cast<size_t>(i)]) != 0)
      return std::nullopt;
  }
  return strides;
}

// The other way: the rows that such strides walk; nullopt where those are not at equal distances.
inline std::optional<RowSpacing> SpacingOf(std::span<const int64_t> shape,
                                           std::span<const int64_t> strides) {
  size_t axes = shape.size();
  RowSpacing spacing = {.row = 1, .stride = 1};
  const auto walks = [&](int64_t stride) {
    return axes > 0 && (shape[axes - 1] == 1 || strides[axes - 1] == stride);
  };
  while (walks(spacing.row)) spacing.row *= shape[--axes];
  if (axes == 0) return RowSpacing{.row = spacing.row, .stride = spacing.row};
  spacing.stride = strides[axes - 1];
  for (int64_t rows = 1; walks(rows * spacing.stride);) rows *= shape[--axes];
  if (axes > 0 || spacing.stride < spacing.row) return std::nullopt;
  return spacing;
}

// Nested loops over `kOperands` arrays: extents, and a stride of every operand per loop.
template <int kOperands>
struct LoopNest {
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides[kOperands][kMaxRank];

  void Add(int64_t extent, const int64_t (&stride)[kOperands]) {
    extents[rank] = extent;
    for (int o = 0; o < kOperands; ++o) strides[o][rank] = stride[o];
    ++rank;
  }

  // Drops loops of one turn and joins loops that walk every operand as one would. Leaves at least
  // one loop.
  void Coalesce() {
    int last = -1;
    for (int i = 0; i < rank; ++i) {
      if (extents[i] == 1) continue;
      if (last >= 0 && Continues(last, i)) {
        extents[last] *= extents[i];
      } else {
        extents[++last] = extents[i];
      }
      for (int o = 0; o < kOperands; ++o) strides[o][last] = strides[o][i];
    }
    rank = last + 1;
    if (rank == 0) {
      rank = 1;
      extents[0] = 1;
      for (int o = 0; o < kOperands; ++o) strides[o][0] = 1;
    }
  }

  // Where each operand stands at iteration `index` of the loops [0, loops).
  void OffsetsAt(int64_t index, int loops, int64_t (&offsets)[kOperands]) const {
    for (int o = 0; o < kOperands; ++o) offsets[o] = 0;
    for (int i = loops - 1; i >= 0; --i) {
      const int64_t at = index % extents[i];
      index /= extents[i];
      for (int o = 0; o < kOperands; ++o) offsets[o] += at * strides[o][i];
    }
  }

  // Calls row(offsets, n) for each piece of the innermost loop in the iterations [begin, end) of all
  // loops; the offsets are in elements of each operand. Coalesce() first.
  template <typename Row>
  void ForEachRow(int64_t begin, int64_t end, const Row& row) const {
    const int outer = rank - 1;
    const int64_t inner = extents[outer];
    while (begin < end) {
      const int64_t at = begin % inner;
      const int64_t n = std::min(inner - at, end - begin);
      int64_t offsets[kOperands];
      OffsetsAt(begin / inner, outer, offsets);
      for (int o = 0; o < kOperands; ++o) offsets[o] += at * strides[o][outer];
      row(offsets, n);
      begin += n;
    }
  }

 private:
  bool Continues(int outer, int inner) const {
    for (int o = 0; o < kOperands; ++o) {
      if (strides[o][outer] != strides[o][inner] * extents[inner]) return false;
    }
    return true;
  }
};

}  // namespace weft::kernels
