// An array of records that are copied bytewise. Large ones are pages of their own, which move when the
// array grows: nothing is copied, and there are never two of them. Growing invalidates references.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace weft::ir {

template <class T>
class RecordArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  RecordArray() = default;
  RecordArray(const RecordArray&) = delete;
  RecordArray& operator=(const RecordArray&) = delete;
  ~RecordArray() {
    if (IsPaged(capacity_)) {
      munmap(data_, capacity_ * sizeof(T));
    } else {
      std::free(data_);
    }
  }

  T& operator[](uint32_t i) { return data_[i]; }
  const T& operator[](uint32_t i) const { return data_[i]; }
  uint32_t size() const { return size_; }

  // Appends `count` value-initialised elements; returns the index of the first.
  uint32_t Grow(uint32_t count) {
    const uint32_t first = size_;
    if (count > capacity_ - size_) [[unlikely]]
      Reserve(size_t{size_} + count);
    size_ += count;
    for (uint32_t i = first; i < size_; ++i) new (&data_[i]) T();
    return first;
  }
  // Of the elements: the room to grow is no memory until it is touched.
  size_t bytes() const { return size_ * sizeof(T); }

 private:
  static constexpr size_t kPagedBytes = size_t{1} << 16;
  static bool IsPaged(size_t capacity) { return capacity * sizeof(T) >= kPagedBytes; }

  void Reserve(size_t least) {
    size_t capacity = size_t{capacity_} + capacity_ / 2 + 16;
    if (capacity < least) capacity = least;
    if (capacity > UINT32_MAX) capacity = UINT32_MAX;
    void* const data = capacity < least ? nullptr : Resized(capacity);
    if (!data) throw std::bad_alloc();
    data_ = static_cast<T*>(data);
    capacity_ = static_cast<uint32_t>(capacity);
  }

  void* Resized(size_t capacity) {
    const size_t bytes = capacity * sizeof(T);
    if (!IsPaged(capacity)) return std::realloc(static_cast<void*>(data_), bytes);
    if (IsPaged(capacity_)) {
      void* const moved = mremap(data_, capacity_ * sizeof(T), bytes, MREMAP_MAYMOVE);
      return moved == MAP_FAILED ? nullptr : moved;
    }
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    std::copy(data_, data_ + size_, static_cast<T*>(pages));
    std::free(data_);
    return pages;
  }

  T* data_ = nullptr;
  uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace weft::ir
