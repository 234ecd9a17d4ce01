// An array of records that are copied bytewise. It grows by realloc, which moves large arrays without
// copying them, so that growing hardly ever holds two of them. Growing invalidates references.
#pragma once

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
  ~RecordArray() { std::free(data_); }

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
  void Reserve(size_t least) {
    size_t capacity = capacity_ + capacity_ / 2 + 16;
    if (capacity < least) capacity = least;
    if (capacity > UINT32_MAX) capacity = UINT32_MAX;
    void* data =
        capacity < least ? nullptr : std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (!data) throw std::bad_alloc();
    data_ = static_cast<T*>(data);
    capacity_ = static_cast<uint32_t>(capacity);
  }

  T* data_ = nullptr;
  uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace weft::ir
