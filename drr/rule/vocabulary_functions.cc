#include "drr/rule/vocabulary_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/analysis/constant.h"
#include "ir/builder.h"
#include "ir/lossless_cast.h"

namespace weft::drr::internal {

using ir::Attribute;
using ir::AttrKind;

namespace {

bool HasOneElement(const BoundTensor& t) { return t.is_static() && t.type().NumElements() == 1; }

// The axis counted from the beginning; -1 when the value has no such axis.
int64_t NormalAxis(int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? axis : -1;
}

}  // namespace

bool IsConstant(const Evaluation& e) { return e.tensor(0).is_constant(); }
bool IsConstantLike(const Evaluation& e) {
  const ir::Operation op = DefiningOp(e.tensor(0));
  return op && op.HasTrait(ir::kConstantLike);
}
bool NotConstant(const Evaluation& e) { return e.tensor(0).value() && !e.tensor(0).is_constant(); }
bool StaticShape(const Evaluation& e) { return e.tensor(0).is_static(); }
bool StaticDim(const Evaluation& e) { return ir::IsStaticDim(e.dim(0, 1)); }
bool HasRank(const Evaluation& e) { return e.tensor(0).has_rank(); }
bool RankIs(const Evaluation& e) {
  int64_t rank = 0;
  return e.Integer(1, &rank) && rank >= 0 && e.tensor(0).rank() == rank;
}
bool MinRank(const Evaluation& e) {
  int64_t least = 0;
  return e.Integer(1, &least) && e.tensor(0).has_rank() && e.tensor(0).rank() >= least;
}
bool MaxRank(const Evaluation& e) {
  int64_t most = 0;
  return e.Integer(1, &most) && e.tensor(0).has_rank() && e.tensor(0).rank() <= most;
}
bool SameRank(const Evaluation& e) {
  return e.tensor(0).has_rank() && e.tensor(0).rank() == e.tensor(1).rank();
}
bool NoHigherRank(const Evaluation& e) {
  return e.tensor(0).has_rank() && e.tensor(0).rank() <= e.tensor(1).rank();
}
bool DimIs(const Evaluation& e) {
  int64_t size = 0;
  return e.Integer(2, &size) && size >= 0 && e.dim(0, 1) == size;
}
bool MinDim(const Evaluation& e) {
  int64_t least = 0;
  const int64_t size = e.dim(0, 1);
  return e.Integer(2, &least) && ir::IsStaticDim(size) && size >= least;
}
bool MaxDim(const Evaluation& e) {
  int64_t most = 0;
  const int64_t size = e.dim(0, 1);
  return e.Integer(2, &most) && ir::IsStaticDim(size) && size <= most;
}
bool SameDim(const Evaluation& e) { return ir::SameDim(e.dim(0, 1), e.dim(2, 3)); }
bool DtypeIs(const Evaluation& e) {
  const ir::DataType dtype = e.tensor(0).dtype();
  if (dtype == ir::DataType::kNull) return false;
  for (size_t i = 1; e.has(i); ++i)
    if (e.dtype(i) == dtype) return true;
  return false;
}
bool SameDtype(const Evaluation& e) {
  const ir::DataType dtype = e.tensor(0).dtype();
  return dtype != ir::DataType::kNull && dtype == e.tensor(1).dtype();
}
bool IsFloat(const Evaluation& e) { return ir::IsFloat(e.tensor(0).dtype()); }
bool IsInteger(const Evaluation& e) { return ir::IsInteger(e.tensor(0).dtype()); }
bool SameType(const Evaluation& e) {
  return ir::ProvablySameType(e.tensor(0).type(), e.tensor(1).type());
}
bool SameShape(const Evaluation& e) {
  return ir::ProvablySameShape(e.tensor(0).type(), e.tensor(1).type());
}
bool OneElement(const Evaluation& e) { return HasOneElement(e.tensor(0)); }
bool NonEmpty(const Evaluation& e) {
  return e.tensor(0).is_static() && e.tensor(0).type().NumElements() > 0;
}
double SplatTolerance(double number) {
  const bool is_exact = static_cast<double>(static_cast<float>(number)) == number;
  return is_exact ? 0 : 1e-6 * std::abs(number);
}
bool SplatIs(const Evaluation& e) {
  const double wanted = e.number(1);
  return e.tensor(0).IsSplat(wanted, e.has(2) ? e.number(2) : SplatTolerance(wanted));
}
bool SignedZero(const Evaluation& e) {
  int64_t sign = 0;
  const auto splat = e.tensor(0).splat();
  if (!e.Integer(1, &sign) || !splat || *splat != 0) return false;
  const ir::DataType dtype = e.tensor(0).dtype();
  return ir::IsInteger(dtype) || (ir::IsFloat(dtype) && std::signbit(*splat) == (sign < 0));
}
bool IsUniform(const Evaluation& e) { return e.tensor(0).splat().has_value(); }
bool Positive(const Evaluation& e) {
  const auto splat = e.tensor(0).splat();
  return splat && *splat > 0 && HasOneElement(e.tensor(0));
}
bool NonZero(const Evaluation& e) {
  const auto splat = e.tensor(0).splat();
  return splat && *splat != 0 && HasOneElement(e.tensor(0));
}
bool NotZero(const Evaluation& e) {
  double number = 0;
  return e.Number(0, &number) && number != 0;
}
// From the smallest normal float to what 8 bits do not multiply to infinity.
bool PerTensor(const Evaluation& e) {
  const auto scale = e.tensor(0).splat(), zero = e.tensor(1).splat();
  const ir::DataType stored = e.tensor(1).dtype();
  return scale && zero && HasOneElement(e.tensor(0)) && HasOneElement(e.tensor(1)) &&
         e.tensor(0).dtype() == ir::DataType::kF32 &&
         *scale >= double{std::numeric_limits<float>::min()} && *scale <= 1e30 &&
         (stored == ir::DataType::kU8 || stored == ir::DataType::kI8);
}
bool PerChannel(const Evaluation& e) {
  return e.tensor(0).rank() == 1 && ir::SameDim(e.tensor(0).dim(0), e.dim(1, 2));
}
bool Broadcasts(const Evaluation& e) {
  const BoundTensor from = e.tensor(0), to = e.tensor(1);
  if (!from.has_rank() || to.rank() < from.rank()) return false;
  for (int64_t axis = -from.rank(); axis < 0; ++axis)
    if (from.dim(axis) != 1 && !ir::SameDim(from.dim(axis), to.dim(axis))) return false;
  return true;
}
bool LastAxes(const Evaluation& e) {
  const Attribute axes = e.variable(0);
  const int64_t rank = e.tensor(1).rank();
  if (!axes.Is(AttrKind::kInts) || axes.AsInts().empty()) return false;
  const auto count = static_cast<int64_t>(axes.AsInts().size());
  ir::Ints sorted;
  for (int64_t axis : axes.AsInts()) sorted.push_back(NormalAxis(axis, rank));
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < count; ++i)
    if (sorted[static_cast<size_t>(i)] < 0 || sorted[static_cast<size_t>(i)] != rank - count + i)
      return false;
  return true;
}
bool LastDims(const Evaluation& e) {
  const Attribute axes = e.variable(2);
  if (!axes.Is(AttrKind::kInts)) return false;
  const auto count = static_cast<int64_t>(axes.AsInts().size());
  if (e.tensor(0).rank() != count || e.tensor(1).rank() < count) return false;
  for (int64_t axis = -count; axis < 0; ++axis)
    if (!ir::SameDim(e.tensor(0).dim(axis), e.tensor(1).dim(axis))) return false;
  return true;
}
bool Inverse(const Evaluation& e) {
  const Attribute p = e.variable(0), q = e.variable(1);
  if (!p.Is(AttrKind::kInts) || !q.Is(AttrKind::kInts)) return false;
  const ir::Ints &first = p.AsInts(), &second = q.AsInts();
  const auto rank = static_cast<int64_t>(first.size());
  if (second.size() != first.size()) return false;
  for (size_t i = 0; i < second.size(); ++i)
    if (second[i] < 0 || second[i] >= rank ||
        first[static_cast<size_t>(second[i])] != static_cast<int64_t>(i))
      return false;
  return true;
}
bool SameAxis(const Evaluation& e) {
  int64_t a = 0, b = 0;
  if (!e.Integer(1, &a) || !e.Integer(2, &b)) return false;
  const int64_t rank = e.tensor(0).rank();
  return a == b ||
         (rank >= 0 && NormalAxis(a, rank) >= 0 && NormalAxis(a, rank) == NormalAxis(b, rank));
}
bool OnlyUnitDimsMove(const Evaluation& e) {
  const Attribute perm = e.variable(1);
  if (!perm.Is(AttrKind::kInts) || !e.tensor(0).has_rank()) return false;
  int64_t last = -1;
  for (int64_t axis : perm.AsInts()) {
    if (e.tensor(0).dim(axis) == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}
bool CastsCompose(const Evaluation& e) {
  return ir::CastsCompose(e.tensor(0).dtype(), e.dtype(1), e.dtype(2));
}
bool ReshapesCompose(const Evaluation& e) {
  const auto target = e.tensor(2).ints();
  if (!target) return false;
  for (size_t i = 0; i < target->size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if ((*target)[i] == 0 && !ir::SameDim(e.tensor(0).dim(axis), e.tensor(1).dim(axis)))
      return false;
  }
  return true;
}
bool AnyElement(const Evaluation& e) {
  for (size_t i = 0; e.has(i); ++i)
    if (!e.list(i).empty()) return true;
  return false;
}

Attribute SplatOf(const Evaluation& e) {
  if (e.has(1) && !e.tensor(0).value()) return e.m.context()->DoubleAttr(e.number(1));
  const auto splat = e.tensor(0).splat();
  if (!splat) return {};
  if (ir::IsInteger(e.tensor(0).dtype()))
    return e.m.context()->IntAttr(static_cast<int64_t>(*splat));
  return e.m.context()->DoubleAttr(*splat);
}
Attribute Scaled(const Evaluation& e) {
  double number = 0, product = 1;
  if (!e.Number(0, &number)) return {};
  for (size_t i = 2; e.has(i); ++i) {
    if (!e.tensor(i).value()) continue;
    const auto factor = e.tensor(i).splat();
    if (!factor) return {};
    product *= *factor;
  }
  if (e.tensor(1).value()) {
    const auto divisor = e.tensor(1).splat();
    if (!divisor) return {};
    product /= *divisor;
  }
  if (!std::isfinite(static_cast<float>(number * product))) return {};
  return e.m.context()->DoubleAttr(number * product);
}
Attribute DTypeOf(const Evaluation& e) {
  const ir::DataType dtype = e.tensor(0).dtype();
  return dtype == ir::DataType::kNull ? Attribute() : e.m.context()->DataTypeAttr(dtype);
}
Attribute DimOf(const Evaluation& e) {
  const int64_t dim = e.dim(0, 1);
  return dim >= 0 ? e.m.context()->IntAttr(dim) : Attribute();
}
Attribute IntsOf(const Evaluation& e) {
  const auto ints = e.tensor(0).ints();
  return ints ? e.m.context()->IntsAttr(*ints) : Attribute();
}
Attribute ShapeOf(const Evaluation& e) {
  if (!e.tensor(0).is_static()) return {};
  ir::Shape shape = e.tensor(0).shape();
  if (e.has(1)) {
    const int64_t more = e.tensor(1).rank() - e.tensor(0).rank();
    if (more < 0) return {};
    shape.insert(shape.begin(), static_cast<size_t>(more), 1);
  }
  return e.m.context()->IntsAttr(shape);
}
Attribute Compose(const Evaluation& e) {  // p[q]
  const Attribute p = e.variable(0), q = e.variable(1);
  if (!p.Is(AttrKind::kInts) || !q.Is(AttrKind::kInts)) return {};
  const ir::Ints& first = p.AsInts();
  ir::Ints composed;
  for (int64_t axis : q.AsInts()) {
    if (axis < 0 || axis >= static_cast<int64_t>(first.size())) return {};
    composed.push_back(first[static_cast<size_t>(axis)]);
  }
  return e.m.context()->IntsAttr(composed);
}
Attribute InverseOf(const Evaluation& e) {
  const Attribute p = e.variable(0);
  if (!p.Is(AttrKind::kInts)) return {};
  const ir::Ints& perm = p.AsInts();
  ir::Ints inverse(perm.size(), -1);
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<int64_t>(perm.size())) return {};
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  return e.m.context()->IntsAttr(inverse);
}
Attribute ElementAt(const Evaluation& e) {
  const Attribute list = e.variable(0);
  int64_t index = 0;
  if (!list.Is(AttrKind::kInts) || !e.Integer(1, &index)) return {};
  index = NormalAxis(index, static_cast<int64_t>(list.AsInts().size()));
  return index < 0 ? Attribute()
                   : e.m.context()->IntAttr(list.AsInts()[static_cast<size_t>(index)]);
}
Attribute AsBool(const Evaluation& e) {
  const Attribute integer = e.variable(0);
  if (!integer.Is(AttrKind::kInt)) return {};
  return e.m.context()->BoolAttr(integer.AsInt() != 0);
}
Attribute IsZero(const Evaluation& e) {
  const Attribute integer = e.variable(0);
  if (!integer.Is(AttrKind::kInt)) return {};
  return e.m.context()->IntAttr(integer.AsInt() == 0 ? 1 : 0);
}
Attribute StartOfLast(const Evaluation& e) {
  const Attribute axes = e.variable(0);
  if (!axes.Is(AttrKind::kInts) || axes.AsInts().empty()) return {};
  return e.m.context()->IntAttr(-static_cast<int64_t>(axes.AsInts().size()));
}
Attribute ScalarLike(const Evaluation& e) {
  const ir::DataType dtype = e.tensor(0).dtype();
  if (ir::ElementSize(dtype) == 0) return {};
  const Attribute scalar = e.m.context()->DenseAttr(e.m.context()->TensorType(dtype, {}),
                                                    ir::ElementBytes(dtype, e.number(1)));
  // A whole number that the type does not have is none.
  if (ir::IsInteger(dtype) && ir::DenseElement(scalar, 0) != e.number(1)) return {};
  return scalar;
}
Attribute ScalarOf(const Evaluation& e) {
  const BoundTensor c = e.tensor(0).value() || !e.has(1) ? e.tensor(0) : e.tensor(1);
  if (!c.splat()) return {};
  const ir::Type scalar = e.m.context()->TensorType(c.constant().dense_type().dtype(), {});
  const auto bytes = c.constant().bytes().first(static_cast<size_t>(scalar.NumBytes()));
  return e.m.context()->DenseAttr(scalar, {bytes.begin(), bytes.end()});
}
Attribute BoundsOf(const Evaluation& e) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ir::Floats bounds = {-kInfinity, kInfinity};
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (!e.tensor(i).value()) continue;
    const auto splat = e.tensor(i).splat();
    if (!splat) return {};
    bounds[i] = static_cast<float>(*splat);
  }
  return e.m.context()->FloatsAttr(bounds);
}

}  // namespace weft::drr::internal
