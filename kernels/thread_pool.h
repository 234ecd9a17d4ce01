// A fixed set of threads that runs loops in parallel.
//
//   ThreadPool pool(2);
//   pool.ParallelFor(rows, 16, [&](int64_t begin, int64_t end) { ... });  // returns when all rows
//   are done
//
// Threads that call at the same time share a pool: the loop of one of them has its threads, and each of the
// others runs its own loop alone meanwhile. Where as many callers as the pool has threads are at work
// (ThreadPool::Caller), all do: a thread that has no CPU of its own would keep a loop waiting.
//
// Threads wait awake for some milliseconds, so that a loop of a few microseconds is worth starting. Operators of XNNPACK
// need a pthreadpool; a pool that was asked for it (handle) runs its loops on that, too, which takes a microsecond or two
// more each: threads of both kinds would take each other's CPUs.
//
// Nothing is allocated by a loop. The ranges depend on `count` and `tile` only, never on the
// threads, so a body whose range results do not depend on each other gives the same numbers for
// every pool size. Bodies must not start loops. What one throws, ParallelFor throws when no body runs any more;
// of the ranges, some may not have been run then.
//
// In a process that was forked a pool has no threads: every loop runs on its caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

struct pthreadpool;

namespace weft::kernels {

class Shares;   // kernels/workers.h
class Workers;  // likewise

class ThreadPool {
 public:
  static constexpr int kMaxThreads = 256;
  // `num_threads` counts the caller; 1 or less runs every loop inline. Up to kMaxThreads, and fewer
  // where limits let no more start; for how many are worth it see kernels/available_cpus.h.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const { return num_threads_; }
  // For operators of XNNPACK to plan for; null (which it takes as "the calling thread") when num_threads()
  // is 1. Run them on Helpers.
  pthreadpool* handle();

  // While one exists, a thread is at work that starts loops, as a session is during a run.
  class Caller {
   public:
    explicit Caller(ThreadPool& pool) : pool_(pool) { ++pool_.callers_; }
    ~Caller() { --pool_.callers_; }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

   private:
    ThreadPool& pool_;
  };

  // The pool's threads, for one loop, unless they have other work, and the caller runs it alone.
  class Helpers {
   public:
    explicit Helpers(ThreadPool& pool) : pool_(pool), lock_(pool.busy_, std::defer_lock) {
      const int callers = pool.callers_.load(std::memory_order_relaxed);
      if (callers < pool.num_threads_ && !pool.IsOfParent()) lock_.try_lock();
    }
    bool has_threads() const { return lock_.owns_lock(); }
    // Null where there are none.
    pthreadpool* handle() const { return has_threads() ? pool_.MakeHandle() : nullptr; }

   private:
    ThreadPool& pool_;
    std::unique_lock<std::mutex> lock_;
  };

  // Calls body(begin, end) for consecutive ranges of at most `tile` that cover [0, count).
  template <typename Body>
  void ParallelFor(int64_t count, int64_t tile, const Body& body) {
    ParallelForSlots(count, tile, [&body](int, int64_t begin, int64_t end) { body(begin, end); });
  }

  // Calls body(slot, begin, end); two bodies that run at once have different slots in [0,
  // num_threads()), so a slot may index scratch memory.
  template <typename Body>
  void ParallelForSlots(int64_t count, int64_t tile, const Body& body) {
    tile = std::max<int64_t>(tile, 1);
    if (num_threads_ > 1 && count > tile) {
      const Helpers helpers(*this);
      if (helpers.has_threads())
        return Run(count, tile, &body,
                   [](const void* context, int slot, int64_t begin, int64_t end) {
                     (*static_cast<const Body*>(context))(slot, begin, end);
                   });
    }
    for (int64_t begin = 0; begin < count; begin += tile) {
      body(0, begin, std::min(begin + tile, count));
    }
  }

 private:
  using RangeFunction = void (*)(const void* context, int slot, int64_t begin, int64_t end);
  void Run(int64_t count, int64_t tile, const void* context, RangeFunction function);
  pthreadpool* MakeHandle();
  // Whether it was made before this process was forked, so that
  // its threads are none of this process.
  bool IsOfParent() const { return made_after_ != num_forks_.load(std::memory_order_relaxed); }

  static std::atomic<uint32_t> num_forks_;  // that this process and those before it were made by
  const uint32_t made_after_;
  int num_threads_ = 1;
  std::atomic<int> callers_ = 0;
  std::mutex busy_;  // held by whose loop has the threads, which are:
  std::unique_ptr<Workers> workers_;
  std::atomic<pthreadpool*> handle_ = nullptr;  // or these
  std::unique_ptr<Shares> shares_;
};

// A tile for loops of `count` items that cost about `item_cost` units each (a unit: one float read
// or written): large enough that starting a parallel loop (a few microseconds) pays, small enough
// to balance.
inline int64_t TileFor(int64_t count, int64_t item_cost) {
  constexpr int64_t kMinCost = 16384;
  constexpr int64_t kTiles = 64;
  const int64_t least = (kMinCost + item_cost - 1) / std::max<int64_t>(item_cost, 1);
  return std::max<int64_t>({1, least, (count + kTiles - 1) / kTiles});
}

}  // namespace weft::kernels
