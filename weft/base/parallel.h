// Independent work on every CPU.
#pragma once

#include <cstddef>
#include <functional>

namespace weft {

// Calls work(i) for each i below `count`, on as many threads as this process has CPUs, this one among
// them; on fewer where no more can be started. An exception of one is thrown when all have ended.
void ForEachInParallel(size_t count, const std::function<void(size_t)>& work);

}  // namespace weft
