#include "weft/base/disposing_mutex.h"

#include <utility>

namespace weft {

void DisposingMutex::lock() {
  std::unique_lock lock(mutex_);
  unlocked_.wait(lock, [this] { return !is_locked_; });
  is_locked_ = true;
}

void DisposingMutex::unlock() {
  for (;;) {
    // Destroyed without `mutex_`: it may dispose of more.
    std::vector<std::shared_ptr<void>> unused;
    const std::lock_guard lock(mutex_);
    if (unused_.empty()) {
      is_locked_ = false;
      unlocked_.notify_one();
      return;
    }
    unused.swap(unused_);
  }
}

void DisposingMutex::Dispose(std::shared_ptr<void> unused) {
  {
    const std::lock_guard lock(mutex_);
    unused_.push_back(std::move(unused));
    if (is_locked_) return;
    is_locked_ = true;
  }
  unlock();
}

}  // namespace weft
