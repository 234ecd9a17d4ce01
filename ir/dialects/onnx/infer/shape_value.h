// What is known at compile time of integer tensors that hold shapes: constants, and what small
// graphs (Shape, Gather, Slice, Concat, Unsqueeze, arithmetic...) compute from the dimensions of
// typed values, as numbers and as expressions. And the rules of Reshape, which onnx and pd share.
#pragma once

#include <optional>
#include <vector>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dim/dim_expr.h"

namespace weft::ir {

// One integer: a number, a dimension that is no number, or kUnknownDim, meaning any integer. An
// expression stands for whatever integer it is, which only one that is_size is known not to be < 0.
struct ShapeEntry {
  int64_t value = kUnknownDim;
  bool is_number = false;
  bool is_size = false;
  static ShapeEntry Number(int64_t n) { return {n, true, n >= 0}; }
  static ShapeEntry OfDim(int64_t dim) { return {dim, IsStaticDim(dim), dim != kUnknownDim}; }
  static ShapeEntry Of(const DimExpr& e, bool is_size = false);
  DimExpr expr() const { return is_number ? DimExpr(value) : DimExpr::OfDim(value); }
  friend bool operator==(const ShapeEntry&, const ShapeEntry&) = default;
};
using ShapeValue = std::vector<ShapeEntry>;

// The elements of an integer tensor of rank 0 or 1 in order; nullopt when not even their number is
// known. Looks back over a bounded number of ops.
std::optional<ShapeValue> EvaluateShapeValue(Value value);

// Operand i as a vector of integers, unknown entries included; nullopt when their number is
// unknown.
std::optional<ShapeValue> ShapeOperand(const InferContext& c, size_t i);
// Operand i when all entries are numbers.
std::optional<Ints> KnownInts(const InferContext& c, size_t i);

// The dims of data in shape `target`: one -1 is computed, 0 copies unless allow_zero. Fails when
// the elements do not fit; `data` may be unknown.
bool ReshapeDims(InferContext& c, const Dims& data, const ShapeValue& target, bool allow_zero,
                 Dims* result);

// A shape operand as dims; nullopt when not even the rank is known. Fails on negative entries.
bool DimsFromOperand(InferContext& c, size_t i, Dims* dims);

}  // namespace weft::ir
