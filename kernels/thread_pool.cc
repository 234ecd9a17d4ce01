#include "kernels/thread_pool.h"

#include <pthread.h>
#include <pthreadpool.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "kernels/workers.h"

namespace weft::kernels {
namespace {

void RunSlot(void* loop, size_t slot) {
  static_cast<const Loop*>(loop)->RunSlot(static_cast<int>(slot));
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

std::atomic<uint32_t> ThreadPool::num_forks_ = 0;

ThreadPool::ThreadPool(int num_threads) : made_after_(num_forks_) {
  if (num_threads <= 1) return;
  [[maybe_unused]] static const int counts = pthread_atfork(nullptr, nullptr, [] { ++num_forks_; });
  workers_ = std::make_unique<Workers>(std::min(num_threads, kMaxThreads) - 1);
  num_threads_ = workers_->count() + 1;
  shares_ = std::make_unique<Shares>(num_threads_);
}

// Threads of the parent cannot be ended, and waiting for them would not end.
ThreadPool::~ThreadPool() {
  if (IsOfParent()) {
    static_cast<void>(workers_.release());
    return;
  }
  if (pthreadpool* const pool = handle_.load()) pthreadpool_destroy(pool);
}

pthreadpool* ThreadPool::handle() {
  pthreadpool* const pool = handle_.load(std::memory_order_acquire);
  if (pool != nullptr || IsOfParent()) return pool;
  const std::lock_guard lock(busy_);
  return MakeHandle();
}

// Under busy_, so that no loop runs on the workers.
pthreadpool* ThreadPool::MakeHandle() {
  if (num_threads_ == 1) return nullptr;
  pthreadpool* pool = handle_.load(std::memory_order_relaxed);
  if (pool != nullptr) return pool;
  workers_.reset();
  const int startable = StartableThreads(num_threads_);
  if (startable > 1) pool = pthreadpool_create(static_cast<size_t>(startable));
  if (pool == nullptr) workers_ = std::make_unique<Workers>(num_threads_ - 1);
  handle_.store(pool, std::memory_order_release);
  return pool;
}

void ThreadPool::Run(int64_t count, int64_t tile, const void* context, RangeFunction function) {
  Loop loop;
  loop.count = count;
  loop.tile = tile;
  loop.context = context;
  loop.function = function;
  loop.num_shares = static_cast<int>(std::min<int64_t>(num_threads_, loop.NumTiles()));
  shares_->Assign(&loop);
  // Thread i begins with share i, so a thread meets the same rows in one loop after the other.
  if (pthreadpool* const pool = handle_.load(std::memory_order_relaxed)) {
    pthreadpool_parallelize_1d(pool, RunSlot, &loop, static_cast<size_t>(loop.num_shares), 0);
  } else {
    workers_->Run(loop);
  }
  shares_->ThrowKept();
}

}  // namespace weft::kernels
