// An XNNPACK operator, the memory that it works in, and the addresses that it is given.
#pragma once

#include <xnnpack.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

namespace weft::kernels::xnnpack {

// A number that no kernel had before: a later one may lie at the address of one that is gone.
inline uint64_t NewUser() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

// Owns an operator and the memory that it works in.
class Operator {
 public:
  explicit Operator(xnn_operator_t handle) : handle_(handle) {}
  ~Operator() { xnn_delete_operator(handle_); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  xnn_operator_t handle() const { return handle_; }

  // A workspace of at least `bytes`, for all later runs.
  xnn_status Reserve(size_t bytes, size_t alignment) {
    if (alignment > kAlignment) return xnn_status_unsupported_parameter;
    if (bytes <= workspace_bytes_) return xnn_status_success;
    workspace_.reset(::operator new(bytes, std::align_val_t(kAlignment), std::nothrow));
    workspace_bytes_ = workspace_ == nullptr ? 0 : bytes;
    return workspace_ == nullptr ? xnn_status_out_of_memory : xnn_status_success;
  }
  void* workspace() const { return workspace_.get(); }

  uint64_t last_user = 0;  // the kernel that prepared it: its NewUser()
  std::mutex in_use;       // held by the kernel that runs

 private:
  static constexpr size_t kAlignment = 128;  // at least what XNNPACK asks for
  struct Free {
    void operator()(void* p) const { ::operator delete(p, std::align_val_t(kAlignment)); }
  };
  xnn_operator_t handle_;
  std::unique_ptr<void, Free> workspace_;
  size_t workspace_bytes_ = 0;
};

// What an operator reads (b: the second of two operands) and writes.
struct Addresses {
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
};

}  // namespace weft::kernels::xnnpack
