// Owned: a pointer that deletes what it points to, for headers that every rule file includes.
// <memory> costs such a file 0.1 s and 20 MB (std::unique_ptr can be written to a stream), and
// std::unique_ptr is what an Owned turns into wherever one is wanted.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft::ir {

template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(std::nullptr_t) {}
  explicit Owned(T* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { delete object_; }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Owned& a, std::nullptr_t) { return a.object_ == nullptr; }
  T* release() { return std::exchange(object_, nullptr); }

  // To a std::unique_ptr<T>, std::shared_ptr<T> and the like.
  template <class Pointer>
  requires(std::is_class_v<Pointer>&& std::is_constructible_v<Pointer, T*>) operator Pointer() && {
    return Pointer(release());
  }

 private:
  T* object_ = nullptr;
};

}  // namespace weft::ir
