#include "weft/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/available_cpus.h"

namespace weft {

void ForEachInParallel(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr first;  // of any thread
  const auto run = [&] {
    try {
      for (size_t k = next++; k < count; k = next++) work(k);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (size_t i = 1; i < std::min(count, static_cast<size_t>(kernels::AvailableCpus())); ++i)
      threads.emplace_back(run);
  } catch (const std::system_error&) {  // fewer will do
  }
  run();
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace weft
