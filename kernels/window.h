// The windows of convolutions and pools: where they lie on the input, whatever the attributes say
// it in (pads, auto_pad, defaults). Up to three spatial dimensions; missing ones are of size 1, in
// front. Used for the attributes of onnx.Conv, onnx.MaxPool and onnx.AveragePool.
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "kernels/kernel.h"

namespace weft::kernels {

struct Window {
  static constexpr int kSpatial = 3;
  int64_t in[kSpatial] = {1, 1, 1};
  int64_t out[kSpatial] = {1, 1, 1};
  int64_t kernel[kSpatial] = {1, 1, 1};
  int64_t stride[kSpatial] = {1, 1, 1};
  int64_t dilation[kSpatial] = {1, 1, 1};
  int64_t pad_before[kSpatial] = {0, 0, 0};
  int64_t pad_after[kSpatial] = {0, 0, 0};

  int64_t InSize() const { return in[0] * in[1] * in[2]; }
  int64_t OutSize() const { return out[0] * out[1] * out[2]; }
  int64_t KernelSize() const { return kernel[0] * kernel[1] * kernel[2]; }
  // The input index that kernel element k reads for result o; may lie outside [0, in).
  int64_t At(int axis, int64_t o, int64_t k) const {
    return o * stride[axis] - pad_before[axis] + k * dilation[axis];
  }
  // The results [first, last) of an axis for which kernel element k is inside the input.
  std::pair<int64_t, int64_t> Inside(int axis, int64_t k) const {
    const int64_t shift = pad_before[axis] - k * dilation[axis];  // o * stride >= shift
    const int64_t first = shift <= 0 ? 0 : (shift + stride[axis] - 1) / stride[axis];
    const int64_t room = in[axis] - 1 + shift;  // o * stride <= room
    const int64_t last = room < 0 ? 0 : room / stride[axis] + 1;
    return {std::min(first, out[axis]), std::min(std::max(first, last), out[axis])};
  }
};

namespace internal {
inline int64_t Entry(const std::optional<ir::Ints>& list, size_t i, int64_t fallback) {
  return list && i < list->size() ? (*list)[i] : fallback;
}
// Attributes of Conv and of pools differ in what is optional; AveragePool has no dilations.
template <class Attrs>
int64_t DilationOf(const Attrs& attrs, size_t i) {
  if constexpr (requires { attrs.dilations; }) return Entry(attrs.dilations, i, 1);
  return 1;
}
}  // namespace internal

// x and y are [N, C, spatial...], `kernel` has one entry per spatial dimension. InvalidArgument for
// what would read nowhere: strides, dilations or kernels below 1, negative pads.
template <class Attrs>
absl::StatusOr<Window> MakeWindow(const Attrs& attrs, std::span<const int64_t> x,
                                  std::span<const int64_t> kernel, std::span<const int64_t> y) {
  const size_t rank = x.size() - 2;
  if (x.size() < 3 || rank > Window::kSpatial || kernel.size() != rank || y.size() != x.size())
    return ir::Unsupported("shapes with other than 1 to 3 spatial dimensions");
  Window w;
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = Window::kSpatial - rank + i;
    w.in[axis] = x[i + 2];
    w.out[axis] = y[i + 2];
    w.kernel[axis] = kernel[i];
    w.stride[axis] = internal::Entry(attrs.strides, i, 1);
    w.dilation[axis] = internal::DilationOf(attrs, i);
    if (w.kernel[axis] < 1 || w.stride[axis] < 1 || w.dilation[axis] < 1)
      return ir::InvalidArgument("a kernel size, stride or dilation below 1");
    if (attrs.auto_pad == ir::ops::AutoPad::kNotSet) {
      w.pad_before[axis] = internal::Entry(attrs.pads, i, 0);
      w.pad_after[axis] = internal::Entry(attrs.pads, i + rank, 0);
    } else if (attrs.auto_pad != ir::ops::AutoPad::kValid) {
      const int64_t extent = (w.kernel[axis] - 1) * w.dilation[axis] + 1;
      const int64_t total =
          std::max<int64_t>((w.out[axis] - 1) * w.stride[axis] + extent - w.in[axis], 0);
      const bool lower = attrs.auto_pad == ir::ops::AutoPad::kSameLower;
      w.pad_before[axis] = lower ? (total + 1) / 2 : total / 2;
      w.pad_after[axis] = total - w.pad_before[axis];
    }
    if (w.pad_before[axis] < 0 || w.pad_after[axis] < 0)
      return ir::InvalidArgument("a negative pad");
  }
  return w;
}

}  // namespace weft::kernels
