#include "kernels/workers.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace weft::kernels {
namespace {

// Some milliseconds: a pause takes 10 to 40 ns.
constexpr int64_t kSpinsBeforeSleep = 1 << 18;
// From here on who is waited for may have no CPU of its own.
constexpr int64_t kSpinsBeforeYield = 1 << 12, kSpinsBetweenYields = 1 << 6;

void Pause(int64_t spins) {
  if (spins >= kSpinsBeforeYield && spins % kSpinsBetweenYields == 0) {
    std::this_thread::yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr int kSlotBits = 16;  // of a signal
uint64_t SignalOf(uint64_t number, int num_shares) {
  return number << kSlotBits | static_cast<uint64_t>(num_shares);
}
int SharesOf(uint64_t signal) { return static_cast<int>(signal & ((1 << kSlotBits) - 1)); }

// Of what a share holds: the number of a loop and, in the low bits, how many of its tiles are taken.
constexpr int kTakenBits = 40;
constexpr uint64_t kMostTaken = (uint64_t{1} << kTakenBits) - 1;
constexpr uint32_t kMostLoops = (uint32_t{1} << (64 - kTakenBits)) - 1;

// The next tile of a share of `size`, or none: -1.
int64_t Take(Share& share, uint64_t loop, int64_t size) {
  uint64_t before = share.loop_and_taken.load(std::memory_order_relaxed);
  for (;;) {
    const auto taken =
        before >> kTakenBits == loop ? static_cast<int64_t>(before & kMostTaken) : int64_t{0};
    if (taken >= size) return -1;
    const uint64_t after = loop << kTakenBits | static_cast<uint64_t>(taken + 1);
    if (share.loop_and_taken.compare_exchange_weak(before, after, std::memory_order_relaxed))
      return taken;
  }
}

}  // namespace

void Loop::RunSlot(int slot) const noexcept {
  const ScopedComputeMode scope(mode);
  const int64_t tiles = NumTiles();
  try {
    for (int i = 0; i < num_shares; ++i) {
      const int share = (slot + i) % num_shares;
      const int64_t first = tiles * share / num_shares, end = tiles * (share + 1) / num_shares;
      for (int64_t taken; (taken = Take((*shares)[share], number, end - first)) >= 0;) {
        const int64_t begin = (first + taken) * tile;
        function(context, slot, begin, std::min(begin + tile, count));
      }
    }
  } catch (...) {
    shares->Keep(std::current_exception());
  }
}

void Shares::Assign(Loop* loop) {
  if (number_ == kMostLoops) {  // what those left must not be taken for the next ones'
    for (Share& share : shares_) share.loop_and_taken = 0;
    number_ = 0;
  }
  ++number_;
  loop->shares = this;
  loop->number = number_;
}

void Shares::Keep(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (error_ == nullptr) error_ = std::move(error);
  failed_.store(true, std::memory_order_relaxed);
}

void Shares::ThrowKept() {
  if (!failed_.load(std::memory_order_relaxed)) [[likely]]
    return;
  failed_.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(error_, nullptr));
}

static_assert(sizeof(std::atomic<uint64_t>) + sizeof(Loop) <= kCacheLine);

Workers::Workers(int wanted) : seats_(static_cast<size_t>(wanted) + 1) {
  threads_.reserve(static_cast<size_t>(wanted));
  try {
    for (int slot = 1; slot <= wanted; ++slot) threads_.emplace_back([this, slot] { Serve(slot); });
  } catch (const std::system_error&) {  // no more can be started
  }
}

Workers::~Workers() {
  command_.signal.store(SignalOf(++num_loops_, 0), std::memory_order_seq_cst);
  WakeSleepers();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::Run(const Loop& loop) {
  const uint64_t signal = SignalOf(++num_loops_, loop.num_shares);
  command_.loop = loop;
  command_.signal.store(signal, std::memory_order_release);
  if (num_sleepers_.load(std::memory_order_relaxed) > 0) WakeSleepers();
  loop.RunSlot(0);
  // Who fell asleep while the signal was on its way; by now it has arrived, and waiting for that costs nothing.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (num_sleepers_.load(std::memory_order_relaxed) > 0) WakeSleepers();
  for (int slot = 1; slot < loop.num_shares; ++slot) WaitFor(seats_[slot], signal);
}

// Returns when the worker has ended the loop, or will not begin it any more: then all tiles are taken.
void Workers::WaitFor(Seat& seat, uint64_t signal) {
  const uint64_t running = 2 * signal, ended = running + 1;
  uint64_t state = seat.state.load(std::memory_order_acquire);
  for (int64_t spins = 0; state != ended; ++spins) {
    if (state != running) {
      if (seat.state.compare_exchange_strong(state, ended, std::memory_order_acquire)) return;
      continue;
    }
    Pause(spins);
    state = seat.state.load(std::memory_order_acquire);
  }
}

void Workers::Serve(int slot) {
  Seat& seat = seats_[static_cast<size_t>(slot)];
  for (uint64_t seen = 0;;) {
    seen = WaitForSignal(seen);
    if (SharesOf(seen) == 0) return;
    if (slot >= SharesOf(seen)) continue;
    const uint64_t running = 2 * seen;
    uint64_t state = seat.state.load(std::memory_order_relaxed);
    // The loop may be over, and the next one be written where it was.
    if (state >= running ||
        !seat.state.compare_exchange_strong(state, running, std::memory_order_acquire))
      continue;
    command_.loop.RunSlot(slot);
    seat.state.store(running + 1, std::memory_order_release);
  }
}

uint64_t Workers::WaitForSignal(uint64_t seen) {
  for (int64_t spins = 0; spins < kSpinsBeforeSleep; ++spins) {
    const uint64_t signal = command_.signal.load(std::memory_order_acquire);
    if (signal != seen) return signal;
    Pause(spins);
  }
  std::unique_lock lock(sleep_);
  num_sleepers_.fetch_add(1, std::memory_order_seq_cst);
  uint64_t signal = 0;
  awake_.wait(lock, [&] {
    signal = command_.signal.load(std::memory_order_seq_cst);
    return signal != seen;
  });
  num_sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return signal;
}

// Who has looked at the signal before it came is asleep by the time that the lock is free.
void Workers::WakeSleepers() {
  const std::lock_guard lock(sleep_);
  awake_.notify_all();
}

}  // namespace weft::kernels
