#include "kernels/tuning/own_pool.h"

#include <chrono>
#include <ctime>
#include <thread>

#include "kernels/shared_pool.h"

namespace weft::kernels {
namespace {

constexpr std::chrono::milliseconds kPause(1);
constexpr int kMostPauses = 100;
constexpr std::clock_t kAsleep = CLOCKS_PER_SEC / 4000;  // of all threads, in a pause

}  // namespace

std::shared_ptr<ThreadPool> OwnPool(const SessionOptions& options) {
  const auto usual = options.pool ? options.pool : PoolFor(options.threads, options.oversubscribe);
  return std::make_shared<ThreadPool>(usual->num_threads());
}

void TakeTurn(ThreadPool& pool) {
  if (pool.num_threads() == 1) return;
  for (int i = 0; i < kMostPauses; ++i) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(kPause);
    if (std::clock() - before < kAsleep) break;
  }
  pool.ParallelFor(pool.num_threads(), 1, [](int64_t, int64_t) {});
}

}  // namespace weft::kernels
