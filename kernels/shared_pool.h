// Which threads a session runs on that is given none.
#pragma once

#include <memory>

#include "kernels/thread_pool.h"

namespace weft::kernels {

// A pool of `threads`, the calling thread among them, no more than the CPUs that the process may use unless it is to
// `oversubscribe`. Where they take all CPUs it is the one that all such sessions of the process share.
std::shared_ptr<ThreadPool> PoolFor(int threads, bool oversubscribe);

}  // namespace weft::kernels
