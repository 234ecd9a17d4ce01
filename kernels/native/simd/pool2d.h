// Max and average pools of NHWC images. The image is read in place; what a window has outside it
// does not count.
#pragma once

#include "kernels/native/simd/window_axis.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

enum class PoolOp {
  kMax,  // of the elements that are no NaN; NaN where there are only such, -inf where there are none
  kMean,  // NaN where there are none
};

struct Pool2dArguments {
  PoolOp op = PoolOp::kMax;
  int64_t batch = 0, channels = 0;
  WindowAxis rows = {}, columns = {};
  // kMean divides by what a window has inside the image. With this, by what it has inside the padded
  // one, which ends `pad` elements before and this many behind.
  bool count_padding = false;
  int64_t pad_bottom = 0, pad_right = 0;
  const float* x = nullptr;  // [batch, rows.in, columns.in, channels]
  float* y = nullptr;        // [batch, rows.out, columns.out, channels]
};
void Pool2d(const Pool2dArguments& arguments, ThreadPool& pool);

}  // namespace weft::kernels::simd
