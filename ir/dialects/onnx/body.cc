#include "ir/dialects/onnx/body.h"

#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/creation.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/indexing.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"

namespace weft::ir::ops {
namespace {

// The entries of several, which are constants.
std::optional<Ints> KnownDims(const std::vector<Value>& dims) {
  Ints all;
  for (Value dim : dims) {
    const auto ints = ConstantInts(dim);
    if (!ints) return std::nullopt;
    all.insert(all.end(), ints->begin(), ints->end());
  }
  return all;
}

// Whether `dim` is the size of dimension i of x: then a 0 that copies says the same as one that does not.
bool IsDimOf(Value dim, Value x, size_t i) {
  const Operation gather = dim.DefiningOp();
  if (!gather || !gather.Is<Gather>()) return false;
  const Operation shape = gather.operand(0).DefiningOp();
  const auto at = ConstantInts(gather.operand(1));
  if (!shape || !shape.Is<Shape>() || !at || at->size() != 1 || at->front() < 0) return false;
  const Value of = shape.operand(0);
  const auto j = static_cast<size_t>(at->front());
  if (of == x) return j == i;
  if (!of.type().HasRank() || j >= of.type().rank() || i >= x.type().rank()) return false;
  return IsSymbolicDim(of.type().dim(j)) && of.type().dim(j) == x.type().dim(i);
}

bool HasMinusOne(Value dims) {
  const auto ints = ConstantInts(dims);
  return ints && std::count(ints->begin(), ints->end(), -1) > 0;
}

// Whether a target for x may have a 0 that means an empty result, and not what x has at that place.
bool MaySayZero(Value x, const std::vector<Value>& dims) {
  size_t i = 0;
  for (Value dim : dims) {
    const auto ints = ConstantInts(dim);
    if (ints ? std::count(ints->begin(), ints->end(), 0) > 0 : !IsDimOf(dim, x, i)) return true;
    i += ints ? ints->size() : 1;
  }
  return false;
}

}  // namespace

Value ScalarLike(Builder& b, Value x, double value) {
  return b.ConstantScalar(x.type().dtype(), value);
}

Value Scaled(Builder& b, Value x, double factor) {
  return factor == 1 ? x : b.Make<Mul>({x, ScalarLike(b, x, factor)});
}

Value CastTo(Builder& b, Value x, DataType dtype) {
  return ElementTypeOf(x) == dtype ? x : b.Make<Cast>({x}, {.to = dtype});
}

Value AsScalar(Builder& b, Value x) {
  constexpr int64_t kExact = int64_t{1} << 53;  // of doubles
  const auto known = ConstantInts(x);
  if (known && known->size() == 1 && known->front() < kExact && known->front() > -kExact)
    return b.ConstantScalar(x.type().dtype(), static_cast<double>(known->front()));
  return b.Make<Reshape>({x, b.ConstantInts(Ints())});
}

Value DimOf(Builder& b, Value x, size_t i) {
  const int64_t dim = x.type().dim(i);
  if (IsStaticDim(dim)) return b.ConstantInts({dim});
  return b.Make<Gather>({b.Make<Shape>({x}), b.ConstantInts({static_cast<int64_t>(i)})});
}

Value JoinDims(Builder& b, const std::vector<Value>& dims) {
  if (const auto known = KnownDims(dims)) return b.ConstantInts(*known);
  return b.Make<Concat>(dims, {.axis = 0});
}

Value ReshapeTo(Builder& b, Value x, const std::vector<Value>& dims) {
  const bool derives = std::any_of(dims.begin(), dims.end(), HasMinusOne);
  const int64_t allowzero = !derives && MaySayZero(x, dims);
  return b.Make<Reshape>({x, JoinDims(b, dims)}, {.allowzero = allowzero});
}

Value ReshapeToNonEmpty(Builder& b, Value x, const std::vector<Value>& dims) {
  return b.Make<Reshape>({x, JoinDims(b, dims)});
}

Value ReshapeLike(Builder& b, Value y, Value x) {
  if (x.type().IsStatic()) return ReshapeTo(b, y, {b.ConstantInts(x.type().dims())});
  return b.Make<Reshape>({y, b.Make<Shape>({x})});
}

Value CountTo(Builder& b, Value size) {
  const Value limit = AsScalar(b, size);
  const auto scalar = [&](double value) { return b.ConstantScalar(DataType::kI64, value); };
  return b.Make<Range>({scalar(0), limit, scalar(1)});
}

Value SliceOf(Builder& b, Value x, Value start, Value end, int64_t axis) {
  return b.Make<Slice>({x, start, end, b.ConstantInts({axis})});
}

Value SliceOf(Builder& b, Value x, int64_t start, int64_t end, int64_t axis) {
  const Value first = b.ConstantInts({start});
  return SliceOf(b, x, first, b.ConstantInts({end}), axis);
}

Value UnsqueezeAt(Builder& b, Value x, const Ints& axes) {
  return b.Make<Unsqueeze>({x, b.ConstantInts(axes)});
}

}  // namespace weft::ir::ops
