// Loops over one tensor, or over two that are broadcast.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/reference/reference.h"

namespace weft::kernels::reference {

// y[i] = f(x[i]) for numbers of one type: in double for floats, exact for integers. `f` is generic.
template <class F>
absl::Status MapNumbers(const KernelArgs& args, const F& f) {
  VisitNumber(args.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, T>;
    const std::span<T> in = args.inputs[0].values<T>(), out = args.outputs[0].values<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = T(f(static_cast<Wide>(in[i])));
  });
  return absl::OkStatus();
}

// Calls body(i, offset of a, offset of b) for every element i of y.
template <class Body>
void Broadcast(const TensorView& a, const TensorView& b, const TensorView& y, const Body& body) {
  int64_t i = 0;
  for (Odometer<2> at(y.dims, {BroadcastStrides(a.dims, y.dims), BroadcastStrides(b.dims, y.dims)});
       !at.done(); at.Next())
    body(i++, at.offset[0], at.offset[1]);
}

// The kernel of an op that is a function of each float: &Map<ops::Exp, &std::exp>.
template <class O, double (*kFunction)(double)>
absl::Status Map(const AttrsOf<O>&, const KernelArgs& args) {
  MapFloats(args.inputs[0], args.outputs[0], kFunction);
  return absl::OkStatus();
}

}  // namespace weft::kernels::reference
