// What reference bodies are written with: constants of the type of an operand, and shapes of which some
// dimensions are known at run time only.
#pragma once

#include <span>
#include <vector>

#include "ir/builder.h"

namespace weft::ir::ops {

inline Value OperandOrNull(std::span<const Value> operands, size_t i) {
  return i < operands.size() ? operands[i] : Value();
}

// kNull when it is not known.
inline DataType ElementTypeOf(Value x) {
  return x.type().IsTensor() ? x.type().dtype() : DataType::kNull;
}

// A scalar of the element type of x, which is known.
Value ScalarLike(Builder& b, Value x, double value);
// x times a scalar; x itself for 1.
Value Scaled(Builder& b, Value x, double factor);
// x itself when it has that element type.
Value CastTo(Builder& b, Value x, DataType dtype);
// x, which has one element, without dimensions.
Value AsScalar(Builder& b, Value x);

// --- shapes: tensors of one dimension, of type i64 --------------------------------

// Of one element: the size of dimension i of x, whose rank is known. A constant where it is one.
Value DimOf(Builder& b, Value x, size_t i);
// Their entries in one, a constant when they all are.
Value JoinDims(Builder& b, const std::vector<Value>& dims);
Value ReshapeTo(Builder& b, Value x, const std::vector<Value>& dims);
// Without allowzero, which came with opset 14: for sizes that are computed and not 0.
Value ReshapeToNonEmpty(Builder& b, Value x, const std::vector<Value>& dims);
// y, which has as many elements, in the shape of x.
Value ReshapeLike(Builder& b, Value y, Value x);
// 0, 1, ... in as many elements as `size` (of one element) says.
Value CountTo(Builder& b, Value size);
// From `start` to `end`, of one element each, of dimension `axis`.
Value SliceOf(Builder& b, Value x, Value start, Value end, int64_t axis);
Value SliceOf(Builder& b, Value x, int64_t start, int64_t end, int64_t axis);
Value UnsqueezeAt(Builder& b, Value x, const Ints& axes);

}  // namespace weft::ir::ops
