// An array that grows by fixed chunks which never move: pointers and references to elements stay
// valid, and growing never holds two copies. Access costs one extra load over std::vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::ir {

template <class T, unsigned kLog2Chunk = 10>
class ChunkedArray {
 public:
  ChunkedArray() = default;
  ChunkedArray(const ChunkedArray&) = delete;
  ChunkedArray& operator=(const ChunkedArray&) = delete;
  ~ChunkedArray() {
    for (T* chunk : chunks_) delete[] chunk;
  }

  T& operator[](uint32_t i) { return chunks_[i >> kLog2Chunk][i & kMask]; }
  const T& operator[](uint32_t i) const { return chunks_[i >> kLog2Chunk][i & kMask]; }
  uint32_t size() const { return size_; }

  // Appends `count` value-initialised elements with consecutive indices; returns the first index.
  uint32_t Grow(uint32_t count) {
    const uint32_t first = size_;
    size_ += count;
    while ((chunks_.size() << kLog2Chunk) < size_) chunks_.push_back(new T[kChunk]());
    return first;
  }
  size_t bytes() const { return chunks_.size() * kChunk * sizeof(T); }

 private:
  static constexpr uint32_t kChunk = 1u << kLog2Chunk;
  static constexpr uint32_t kMask = kChunk - 1;
  std::vector<T*> chunks_;
  uint32_t size_ = 0;
};

}  // namespace weft::ir
