// The sums of a convolution, whatever the numbers stand for.
#pragma once

#include <span>
#include <vector>

#include "kernels/thread_pool.h"
#include "kernels/window.h"

namespace weft::kernels::reference {

// x is [N, C, in...], w [M, C / group, kernel...], bias [M] or empty.
struct Convolution {
  std::span<const int64_t> x_dims, w_dims;
  int64_t group;
  std::vector<double> x, w, bias;
};
// [N, M, out...]
std::vector<double> Convolve(const Window& window, const Convolution& convolution,
                             ThreadPool& pool);

}  // namespace weft::kernels::reference
