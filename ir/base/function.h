// Function: holds anything that can be called with these arguments and copied, as std::function
// does; for headers that every rule file includes, which <functional> would make 12 MB larger.
//
//   Function<int(int)> twice = [](int x) { return 2 * x; };
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace weft::ir {

template <class Signature>
class Function;

template <class R, class... Args>
class Function<R(Args...)> {
 public:
  Function() = default;
  Function(std::nullptr_t) {}
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, Function> &&
           std::is_invocable_r_v<R, const std::decay_t<F>&, Args...>) Function(F&& f)
      : callable_(new std::decay_t<F>(std::forward<F>(f))), ops_(&kOpsOf<std::decay_t<F>>) {}
  Function(const Function& other)
      : callable_(other.callable_ ? other.ops_->copy(other.callable_) : nullptr),
        ops_(other.ops_) {}
  Function(Function&& other) noexcept
      : callable_(std::exchange(other.callable_, nullptr)), ops_(other.ops_) {}
  Function& operator=(Function other) noexcept {
    std::swap(callable_, other.callable_);
    std::swap(ops_, other.ops_);
    return *this;
  }
  ~Function() {
    if (callable_) ops_->destroy(callable_);
  }

  explicit operator bool() const { return callable_ != nullptr; }
  R operator()(Args... args) const { return ops_->call(callable_, std::forward<Args>(args)...); }

 private:
  struct Ops {
    R (*call)(const void*, Args&&...);
    void* (*copy)(const void*);
    void (*destroy)(void*);
  };
  template <class F>
  static constexpr Ops kOpsOf = {
      [](const void* f, Args&&... args) -> R {
        return static_cast<R>((*static_cast<const F*>(f))(std::forward<Args>(args)...));
      },
      [](const void* f) -> void* { return new F(*static_cast<const F*>(f)); },
      [](void* f) { delete static_cast<F*>(f); }};

  void* callable_ = nullptr;
  const Ops* ops_ = nullptr;
};

}  // namespace weft::ir
