#include "kernels/thread_pool.h"

#include <pthread.h>
#include <pthreadpool.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "kernels/isa.h"

namespace weft::kernels {
namespace {

// One thread's share of a loop. Its owner and the threads that help it take tiles from the front.
struct alignas(64) Share {
  std::atomic<int64_t> next;
  int64_t end;
};

struct Loop {
  Share* shares;
  int num_shares;
  int64_t count;
  int64_t tile;
  const void* context;
  void (*function)(const void*, int, int64_t, int64_t);
  ComputeMode mode;  // of the thread that starts the loop
};

// Runs the tiles of the slot's own share, then those left in the others.
void RunSlot(void* argument, size_t slot) {
  const Loop& loop = *static_cast<const Loop*>(argument);
  const ScopedComputeMode mode(loop.mode);
  for (int i = 0; i < loop.num_shares; ++i) {
    Share& share = loop.shares[(slot + i) % loop.num_shares];
    for (;;) {
      const int64_t tile = share.next.fetch_add(1, std::memory_order_relaxed);
      if (tile >= share.end) break;
      const int64_t begin = tile * loop.tile;
      loop.function(loop.context, static_cast<int>(slot), begin,
                    std::min(begin + loop.tile, loop.count));
    }
  }
}

void* WaitFor(void* gate) {
  const std::lock_guard<std::mutex> passed(*static_cast<std::mutex*>(gate));
  return nullptr;
}

// How many of `wanted` threads exist when no more can be started, where memory or processes are
// limited; the caller counts. pthreadpool_create waits for ever for a thread that could not start.
int StartableThreads(int wanted) {
  std::mutex gate;
  std::vector<pthread_t> started;
  started.reserve(static_cast<size_t>(wanted));
  {
    const std::lock_guard<std::mutex> closed(gate);  // all of them at once
    pthread_t thread;
    while (static_cast<int>(started.size()) + 1 < wanted &&
           pthread_create(&thread, nullptr, WaitFor, &gate) == 0)
      started.push_back(thread);
  }
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  return static_cast<int>(started.size()) + 1;
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) {
  if (num_threads <= 1) return;
  num_threads = StartableThreads(std::min(num_threads, kMaxThreads));
  if (num_threads <= 1) return;
  pool_ = pthreadpool_create(static_cast<size_t>(num_threads));
  if (pool_ != nullptr) num_threads_ = static_cast<int>(pthreadpool_get_threads_count(pool_));
}

ThreadPool::~ThreadPool() {
  if (pool_ != nullptr) pthreadpool_destroy(pool_);
}

void ThreadPool::Run(int64_t count, int64_t tile, const void* context, RangeFunction function) {
  const int64_t tiles = (count + tile - 1) / tile;
  const int num_shares = static_cast<int>(std::min<int64_t>(num_threads_, tiles));
  Share shares[kMaxThreads];
  for (int i = 0; i < num_shares; ++i) {
    shares[i].next.store(tiles * i / num_shares, std::memory_order_relaxed);
    shares[i].end = tiles * (i + 1) / num_shares;
  }
  Loop loop{shares, num_shares, count, tile, context, function, {}};
  // pthreadpool starts thread i at index i, so a thread meets the same rows in one loop after the
  // other.
  pthreadpool_parallelize_1d(pool_, RunSlot, &loop, static_cast<size_t>(num_shares), 0);
}

}  // namespace weft::kernels
