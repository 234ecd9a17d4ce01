// What the ops on quantised numbers (ir/dialects/onnx/quantize.h) share. Each number comes as three
// operands: the integers, u8 or i8; the f32 scale; the zero point, which has the type of the
// integers. The result has the type of y_zero_point. `clamp` is empty, or the lowest and the highest
// integer of the result.
#pragma once

#include <span>

#include "ir/builder.h"
#include "ir/dialects/onnx/infer/quantized.h"

namespace weft::ir::fused {

// Fails unless operands i, i + 1 and i + 2 may be a quantised number with one scale and zero point,
// or, with `channels`, with one per channel; their number is stored where it was not known.
bool CheckQuantized(InferContext& c, size_t i, int64_t* channels = nullptr);
// The same for the scale and zero point of a result, operands i and i + 1.
bool CheckQuantization(InferContext& c, size_t i);
// Bounds of a result of the zero point's type, or none.
bool CheckClamp(InferContext& c, size_t zero_point, const Ints& clamp);

// The number that operands i, i + 1 and i + 2 stand for.
Value Dequantized(Builder& b, std::span<const Value> operands, size_t i);
// y by the scale and zero point in operands i and i + 1, between the bounds.
Value QuantizedLike(Builder& b, Value y, std::span<const Value> operands, size_t i,
                    const Ints& clamp);
// An integer tensor between the bounds.
Value BuildClamp(Builder& b, Value y, const Ints& clamp);

}  // namespace weft::ir::fused
