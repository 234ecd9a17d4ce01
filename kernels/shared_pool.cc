#include "kernels/shared_pool.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "kernels/available_cpus.h"

namespace weft::kernels {
namespace {

// The one pool of a process with a thread for each CPU, while a session uses it. A process that was forked
// has none of its parent's threads.
std::shared_ptr<ThreadPool> PoolOfAllCpus(int cpus) {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> last;
  static std::pair<pid_t, int> made_for;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ThreadPool> pool = last.lock();
  if (pool == nullptr || made_for != std::pair(getpid(), cpus)) {
    last = pool = std::make_shared<ThreadPool>(cpus);
    made_for = {getpid(), cpus};
  }
  return pool;
}

}  // namespace

std::shared_ptr<ThreadPool> PoolFor(int threads, bool oversubscribe) {
  // The system is asked only where the answer matters: that reads six files.
  if (threads == 1 || oversubscribe) return std::make_shared<ThreadPool>(threads);
  const int cpus = std::min(AvailableCpus(), ThreadPool::kMaxThreads);
  return threads < cpus ? std::make_shared<ThreadPool>(threads) : PoolOfAllCpus(cpus);
}

}  // namespace weft::kernels
