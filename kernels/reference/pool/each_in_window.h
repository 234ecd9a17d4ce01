// The loops of pools.
#pragma once

#include "kernels/window.h"

namespace weft::kernels::reference {

// Calls body(o, i) for every result o of one channel and every input i inside its window; begin(o)
// before and end(o) after those of one o.
template <class Begin, class Body, class End>
void ForEachInWindow(const Window& w, const Begin& begin, const Body& body, const End& end) {
  int64_t o = 0;
  for (int64_t o0 = 0; o0 < w.out[0]; ++o0)
    for (int64_t o1 = 0; o1 < w.out[1]; ++o1)
      for (int64_t o2 = 0; o2 < w.out[2]; ++o2, ++o) {
        begin(o0, o1, o2);
        for (int64_t k = 0; k < w.KernelSize(); ++k) {
          const int64_t i0 = w.At(0, o0, k / w.kernel[2] / w.kernel[1]);
          const int64_t i1 = w.At(1, o1, k / w.kernel[2] % w.kernel[1]);
          const int64_t i2 = w.At(2, o2, k % w.kernel[2]);
          if (i0 < 0 || i0 >= w.in[0] || i1 < 0 || i1 >= w.in[1] || i2 < 0 || i2 >= w.in[2])
            continue;
          body((i0 * w.in[1] + i1) * w.in[2] + i2);
        }
        end(o);
      }
}

}  // namespace weft::kernels::reference
