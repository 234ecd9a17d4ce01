// Threads for one of several sessions that run in turns. XNNPACK has a pool run on other threads from then on
// (kernels/thread_pool.h), so what shares one is timed as what ran before it left it; and threads wait awake for a
// while, so what has its own is timed while others have its CPUs.
//
//   options.pool = OwnPool(options);
//   ...
//   TakeTurn(*session->pool());  // then run and time it
#pragma once

#include <memory>

#include "kernels/runtime/session.h"
#include "kernels/thread_pool.h"

namespace weft::kernels {

// As many threads as a session of these options has.
std::shared_ptr<ThreadPool> OwnPool(const SessionOptions& options);

// Waits until the threads of all pools of the process sleep, at most 100 ms, and wakes those of this one.
void TakeTurn(ThreadPool& pool);

}  // namespace weft::kernels
