// Memory that a thread keeps for what it computes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::kernels {

enum class ScratchUse {
  kTask,    // of the task that runs on the thread
  kShared,  // what a thread gives the tasks that it starts
  kSource,  // what a task packs
};
// `bytes` of this thread, 64-byte aligned, valid until its next call for the same use. Throws std::bad_alloc.
std::byte* ThreadScratch(int64_t bytes, ScratchUse use);

}  // namespace weft::kernels
