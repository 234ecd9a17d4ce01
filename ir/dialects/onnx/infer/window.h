// Sizes of convolutions and pools, in any layout.
#pragma once

#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir {

// A sliding window over n spatial dimensions. Lists have n entries, pads 2 n (all begins, then all
// ends); an empty strides, dilations or pads is ones or zeros.
struct Window {
  Ints kernel, strides, dilations, pads;
  ops::AutoPad auto_pad = ops::AutoPad::kNotSet;
  bool ceil_mode = false;
  bool kernel_of_operand = false;  // not of an attribute: its sizes may not be known
  bool may_exceed = false;  // whether it may be larger than what it slides over: a pool's may
};

// A list that may be absent.
inline Ints OrEmpty(const std::optional<Ints>& list) { return list.value_or(Ints()); }

// *result is the number of window positions along each dimension of `spatial`, unknown where a size
// of the kernel is. Fails on lists of wrong length, on entries that are no positive sizes (no sizes,
// for pads), and on a window that does not fit; one that may exceed has no position then, as in ONNX
// Runtime. With ceil_mode a last window that would begin in the end padding is dropped, as PyTorch
// and ONNX Runtime do.
bool WindowDims(InferContext& c, std::span<const int64_t> spatial, Window window, Shape* result);

// Padding that is in force: `window.pads`, or what auto_pad asks for when the sizes are known.
std::optional<Ints> EffectivePads(std::span<const int64_t> spatial, const Window& window);

// Checks of a convolution: channels = w[1] * group, w[0] a multiple of group, bias [w[0]] (operand
// 2). `channels` may be unknown.
bool CheckConvChannels(InferContext& c, int64_t channels, std::span<const int64_t> w,
                       int64_t group);

}  // namespace weft::ir
