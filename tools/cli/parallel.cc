#include "tools/cli/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "kernels/available_cpus.h"

namespace weft::tools {

void ForEachInParallel(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(count, static_cast<size_t>(kernels::AvailableCpus())); ++i)
    threads.emplace_back([&] {
      for (size_t k = next++; k < count; k = next++) work(k);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace weft::tools
