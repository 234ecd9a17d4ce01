// The NCHW convolutions and pools of the onnx dialect: transposes around the NHWC kernel of the
// fused op. Layout rules (passes) let neighbours share transposes; this is for programs they have
// not seen.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/onnx/movement.h"
#include "kernels/native/native.h"
#include "kernels/window.h"

namespace weft::kernels::native {

inline const std::vector<std::string> kBodyProviders = {"native", "xnnpack"};

// The two last of Window's axes.
inline ir::Ints LastTwo(const int64_t (&values)[Window::kSpatial]) {
  return {values[1], values[2]};
}
inline ir::Ints Pads(const Window& w) {
  return {w.pad_before[1], w.pad_before[2], w.pad_after[1], w.pad_after[2]};
}

// A window over NCHW with two spatial dimensions.
template <class Attrs>
absl::StatusOr<Window> MakeWindow2d(const KernelContext& context, const Attrs& attrs,
                                    std::span<const int64_t> kernel) {
  if (context.dims(0).size() != 4) return context.Unsupported("other than two spatial dimensions");
  if (context.num_results() > 1) return context.Unsupported("a second result");
  return MakeWindow(attrs, context.dims(0), kernel, context.result_dims(0));
}

inline ir::Value ToNhwc(ir::Builder& b, ir::Value x) {
  return b.Make<ir::ops::Transpose>({x}, {.perm = ir::Ints{0, 2, 3, 1}});
}
inline ir::Value ToNchw(ir::Builder& b, ir::Value x) {
  return b.Make<ir::ops::Transpose>({x}, {.perm = ir::Ints{0, 3, 1, 2}});
}

}  // namespace weft::kernels::native
