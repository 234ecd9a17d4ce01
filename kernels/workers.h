// Internal to kernels/thread_pool: threads that wait for loops and share them with the thread that starts one.
//
// A loop of a few microseconds is worth sharing where starting and ending it costs one cache line on its way to every
// thread, and one back. So threads spin for some milliseconds before they sleep; the loop lies in the line that they
// watch; nobody sets up for a thread what it can set up itself; and one that has not begun when all is done is not
// waited for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/isa.h"

namespace weft::kernels {

inline constexpr int64_t kCacheLine = 64;

// One thread's share of the tiles of a loop: which loop it is of, and how many of it are taken. Its owner and the threads
// that help it take tiles from the front.
struct alignas(kCacheLine) Share {
  std::atomic<uint64_t> loop_and_taken = 0;
};

// Calls function(context, slot, begin, end) for consecutive ranges of at most `tile` that cover [0, count).
struct Loop {
  int64_t count = 0;
  int64_t tile = 1;
  const void* context = nullptr;
  void (*function)(const void* context, int slot, int64_t begin, int64_t end) = nullptr;
  class Shares* shares = nullptr;
  uint32_t number = 0;  // no two loops of the same shares have the same
  int num_shares = 1;
  ComputeMode mode;  // of the thread that starts the loop

  int64_t NumTiles() const { return (count + tile - 1) / tile; }
  // Runs the tiles of the slot's own share, then those left in the others. What the function throws, its shares keep; the
  // slot takes no more tiles then.
  void RunSlot(int slot) const noexcept;
};

// The shares of `num_threads` threads, for one loop after the other.
class Shares {
 public:
  explicit Shares(int num_threads) : shares_(static_cast<size_t>(num_threads)) {}
  // Gives the loop its shares. Of the loops before, none may run.
  void Assign(Loop* loop);
  Share& operator[](int i) { return shares_[static_cast<size_t>(i)]; }

  // Of what a loop threw, on whatever threads, the first is kept; once the loop has ended its caller throws it.
  void Keep(std::exception_ptr error);
  void ThrowKept();

 private:
  std::vector<Share> shares_;
  uint32_t number_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // of
  std::exception_ptr error_;
};

class Workers {
 public:
  // Starts `wanted` threads, or as many as limits let start.
  explicit Workers(int wanted);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(threads_.size()); }
  // Runs the loop on this thread, slot 0, and on the workers, slots 1 to count(). Returns when all is done. One loop
  // at a time.
  void Run(const Loop& loop);

 private:
  // What the workers watch. A signal is a loop's number and how many shares it has, none at the end; 0 to begin with,
  // then it grows.
  struct alignas(kCacheLine) Command {
    std::atomic<uint64_t> signal = 0;
    Loop loop;
  };
  // What a worker does: twice the signal of a loop while it runs it, and one more when it has ended it or missed it.
  struct alignas(kCacheLine) Seat {
    std::atomic<uint64_t> state = 0;
  };

  void Serve(int slot);
  uint64_t WaitForSignal(uint64_t seen);
  void WakeSleepers();
  void WaitFor(Seat& seat, uint64_t signal);

  Command command_;
  std::vector<Seat> seats_;
  uint64_t num_loops_ = 0;

  std::mutex sleep_;
  std::condition_variable awake_;
  std::atomic<int> num_sleepers_ = 0;

  std::vector<std::thread> threads_;
};

}  // namespace weft::kernels
