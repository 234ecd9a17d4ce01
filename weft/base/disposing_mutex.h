// A mutex under which things are destroyed without waiting for it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace weft {

class DisposingMutex {
 public:
  void lock();
  // First destroys what was given to Dispose() meanwhile.
  void unlock();
  // Destroys `unused` under the mutex: now, or, where somebody holds it, when that one unlocks it. So the caller may
  // be a callback of the one who holds it.
  void Dispose(std::shared_ptr<void> unused);

 private:
  std::mutex mutex_;  // of what follows
  std::condition_variable unlocked_;
  bool is_locked_ = false;
  std::vector<std::shared_ptr<void>> unused_;
};

}  // namespace weft
