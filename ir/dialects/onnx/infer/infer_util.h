// Helpers of Infer functions. Operands may have any type, and dimensions come from untrusted
// models: sizes are checked for overflow, and what is not known stays unknown.
//
// A dimension is a number, a symbol or kUnknownDim; Dims is std::nullopt when the rank is unknown.
// Helpers that return bool return false after c.Fail().
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/infer.h"

namespace weft::ir {

using Dims = std::optional<Shape>;

inline constexpr size_t kMaxRank = 64;  // of a result

// --- operands -------------------------------------------------------------------

// Fails unless every operand that is given is a tensor or of unknown (opaque) type.
bool CheckTensors(InferContext& c);
// Name of operand i for messages: its OperandDef's, with a number if variadic.
std::string OperandName(const InferContext& c, size_t i);
// kNull when unknown.
DataType DtypeOf(const InferContext& c, size_t i);
Dims DimsOf(const InferContext& c, size_t i);
// Fails when operands have different known element types; else *dtype is the first known one.
bool SameDtype(InferContext& c, std::span<const size_t> operands, DataType* dtype);
inline bool SameDtype(InferContext& c, std::initializer_list<size_t> operands, DataType* dtype) {
  return SameDtype(c, std::span<const size_t>(operands.begin(), operands.size()), dtype);
}
// Fails when operand i has a known element type that is not `expected`.
bool CheckDtype(InferContext& c, size_t i, DataType expected);
// Fails when operand i has a known element type that is neither i32 nor i64, which count elements.
bool CheckIndex(InferContext& c, size_t i);
// Fails when operand i has a known element type that is no integer or float / no float.
bool CheckNumber(InferContext& c, size_t i);
bool CheckFloat(InferContext& c, size_t i);
// Fails when operand i has a known rank below `min` or above `max`.
bool CheckRank(InferContext& c, size_t i, size_t min, size_t max);
inline bool CheckRank(InferContext& c, size_t i, size_t rank) {
  return CheckRank(c, i, rank, rank);
}
// Fails when operand i is known to have another rank than 1, or than `size` elements.
bool CheckVector(InferContext& c, size_t i, int64_t size, std::string_view what);
// Fails when operand i is known to have another number of elements than one.
bool CheckScalar(InferContext& c, size_t i);
// Any integers, e.g. [0,-1]; ToString is for dims only.
std::string IntsText(std::span<const int64_t> ints);
// Fails when operand i has a known shape that contradicts `dims`; where c.must_prove(), also when it
// is not provably `dims`.
bool CheckShape(InferContext& c, size_t i, std::span<const int64_t> dims);
// Fails when operand i has a known shape that does not broadcast to `dims` itself; where
// c.must_prove(), also when that is not proved, given that the two broadcast at all.
bool CheckBroadcastsTo(InferContext& c, size_t i, std::span<const int64_t> dims);
// Number of elements of a vector operand, or -1.
int64_t VectorLength(const InferContext& c, size_t i);

// --- results --------------------------------------------------------------------

// Whether a tensor of these dims has few enough elements that its bytes can be counted, whatever its
// element type.
bool IsCountable(std::span<const int64_t> dims);
// Sets result i; nothing is set when dtype is kNull. Fails when the rank or the size is out of
// bounds.
bool SetTensor(InferContext& c, size_t i, DataType dtype, const Dims& dims);
bool SetSameAs(InferContext& c, size_t result, size_t operand);

// --- arithmetic on dimensions -----------------------------------------------------

// Overflow gives nullopt.
std::optional<int64_t> CheckedAdd(int64_t a, int64_t b);
std::optional<int64_t> CheckedMul(int64_t a, int64_t b);
// Product of dimensions, an expression where some are symbols; kUnknownDim when one is not known;
// nullopt when the numbers among them overflow.
std::optional<int64_t> ProductOf(std::span<const int64_t> dims);
// The same for the sum.
std::optional<int64_t> SumOf(std::span<const int64_t> dims);
// What both say about one dimension; nullopt when they contradict each other.
std::optional<int64_t> MergeDim(int64_t a, int64_t b);
// The same, but where c.must_prove() nullopt unless they are provably one.
std::optional<int64_t> MergeDim(const InferContext& c, int64_t a, int64_t b);
// numpy broadcasting of one dimension; nullopt when it is impossible.
std::optional<int64_t> BroadcastDim(int64_t a, int64_t b);
std::optional<Shape> BroadcastShape(std::span<const int64_t> a, std::span<const int64_t> b);
// Folds all operands listed; on an impossible pair fails naming both.
bool Broadcast(InferContext& c, std::span<const size_t> operands, Dims* dims);
inline bool Broadcast(InferContext& c, std::initializer_list<size_t> operands, Dims* dims) {
  return Broadcast(c, std::span<const size_t>(operands.begin(), operands.size()), dims);
}

// The result of x . y as numpy.matmul, for operands of rank 1 or more; fails when x's columns are
// not y's rows. `x` and `y` are the operands' names in messages.
bool MatMulDims(InferContext& c, Shape x, Shape y, Dims* dims);

// dims[perm[i]]; fails when perm is no permutation of the dimensions.
bool PermuteDims(InferContext& c, const Shape& dims, std::span<const int64_t> perm, Dims* result);
// Sets result 0 to tensors of `types` joined along axis; fails when they do not fit.
bool ConcatTensors(InferContext& c, std::span<const Type> types, int64_t axis);

// *axis becomes 0..rank-1; fails when it is outside -rank..rank-1.
bool NormalizeAxis(InferContext& c, int64_t* axis, size_t rank, std::string_view what = "axis");
// The same for a list, which then is sorted; a repeated axis fails.
bool NormalizeAxes(InferContext& c, Ints* axes, size_t rank);

// *dims becomes what is left of it when it is reduced over `axes`: none for all axes, nullopt for
// axes that are not known. Reduced dimensions stay as 1 when `keep`. Fails on a wrong axis.
bool ReduceDims(InferContext& c, std::optional<Ints> axes, bool keep, Dims* dims);

}  // namespace weft::ir
