// What the words of the vocabulary mean: one function each, which drr/rule/vocabulary_table.cc
// names. Those about lists of integers are in vocabulary_lists.cc, about ops in vocabulary_ops.cc,
// those that compute constants in vocabulary_constants.cc.
#pragma once

#include "drr/rule/evaluation.h"

namespace weft::drr::internal {

// Constraints: true only when proved.
bool IsConstant(const Evaluation& e);
bool IsConstantLike(const Evaluation& e);
bool NotConstant(const Evaluation& e);
bool StaticShape(const Evaluation& e);
bool StaticDim(const Evaluation& e);
bool HasRank(const Evaluation& e);
bool RankIs(const Evaluation& e);
bool MinRank(const Evaluation& e);
bool MaxRank(const Evaluation& e);
bool SameRank(const Evaluation& e);
bool NoHigherRank(const Evaluation& e);
bool DimIs(const Evaluation& e);
bool MinDim(const Evaluation& e);
bool MaxDim(const Evaluation& e);
bool SameDim(const Evaluation& e);
bool DtypeIs(const Evaluation& e);
bool SameDtype(const Evaluation& e);
bool IsFloat(const Evaluation& e);
bool IsInteger(const Evaluation& e);
bool SameType(const Evaluation& e);
bool SameShape(const Evaluation& e);
bool OneElement(const Evaluation& e);
bool NonEmpty(const Evaluation& e);
// By how much a number may differ from that of splat_is where no tolerance is given: 0 where f32 has
// the number, else 1e-6 of it.
double SplatTolerance(double number);
bool SplatIs(const Evaluation& e);
bool RangeEnd(const Evaluation& e);
bool SameNumber(const Evaluation& e);
bool NoGreater(const Evaluation& e);
bool SignedZero(const Evaluation& e);
bool IsUniform(const Evaluation& e);
bool Positive(const Evaluation& e);
bool NonZero(const Evaluation& e);
bool NotZero(const Evaluation& e);
bool PerTensor(const Evaluation& e);
bool PerChannel(const Evaluation& e);
bool Broadcasts(const Evaluation& e);
bool BroadcastTogether(const Evaluation& e);
bool VariesAlong(const Evaluation& e);
bool CoversFrom(const Evaluation& e);
bool LastAxes(const Evaluation& e);
bool LastDims(const Evaluation& e);
bool IsIdentity(const Evaluation& e);
bool SwapsLast(const Evaluation& e);
bool ListIs(const Evaluation& e);
bool CountIs(const Evaluation& e);
bool SameAxes(const Evaluation& e);
bool Inverse(const Evaluation& e);
bool SameAxis(const Evaluation& e);
bool OnlyUnitDimsMove(const Evaluation& e);
bool CastsCompose(const Evaluation& e);
bool ReshapesCompose(const Evaluation& e);
bool OnlyUser(const Evaluation& e);
bool NotResult(const Evaluation& e);
bool NotUsedBy(const Evaluation& e);
bool SameOp(const Evaluation& e);
bool AnyElement(const Evaluation& e);
bool IsNamed(const Evaluation& e);
bool AttributeIs(const Evaluation& e);
bool WindowsReach(const Evaluation& e);
bool MadeBy(const Evaluation& e);

// Attributes: null when the match does not have it.
ir::Attribute SplatOf(const Evaluation& e);
ir::Attribute Scaled(const Evaluation& e);
ir::Attribute DTypeOf(const Evaluation& e);
ir::Attribute DimOf(const Evaluation& e);
ir::Attribute IntsOf(const Evaluation& e);
ir::Attribute ShapeOf(const Evaluation& e);
ir::Attribute SizesIn(const Evaluation& e);
ir::Attribute AttributeOf(const Evaluation& e);
ir::Attribute OpName(const Evaluation& e);
ir::Attribute SnakeOpName(const Evaluation& e);
ir::Attribute FloatAttributes(const Evaluation& e);
ir::Attribute ListAlong(const Evaluation& e);
ir::Attribute Compose(const Evaluation& e);
ir::Attribute InverseOf(const Evaluation& e);
ir::Attribute ElementAt(const Evaluation& e);
ir::Attribute ReversedAxes(const Evaluation& e);
ir::Attribute JoinAxes(const Evaluation& e);
ir::Attribute JoinedPads(const Evaluation& e);
ir::Attribute IsZero(const Evaluation& e);
ir::Attribute AsBool(const Evaluation& e);
ir::Attribute StartOfLast(const Evaluation& e);
ir::Attribute ScalarLike(const Evaluation& e);
ir::Attribute ScalarOf(const Evaluation& e);
ir::Attribute BoundsOf(const Evaluation& e);
ir::Attribute IntegerBounds(const Evaluation& e);
ir::Attribute QuantizedNumber(const Evaluation& e);
ir::Attribute ZeroPoint(const Evaluation& e);
ir::Attribute Converted(const Evaluation& e);
ir::Attribute Ones(const Evaluation& e);
ir::Attribute Product(const Evaluation& e);
ir::Attribute Sum(const Evaluation& e);
ir::Attribute Quotient(const Evaluation& e);
ir::Attribute BiasProduct(const Evaluation& e);
ir::Attribute BiasSum(const Evaluation& e);

// Null where nothing makes the value.
ir::Operation DefiningOp(const BoundTensor& t);
// With its default where the op does not have it written out; null where it has no such attribute.
ir::Attribute AttributeNamed(const Evaluation& e, ir::Operation op, std::string_view name);

// Not a word: whether what a pooling op reads has, without this padding (as of a Pad of spatial dimensions; none:
// {}), at least as many elements in each dimension as a step within a window passes, so that no window whose pads
// are smaller than it misses them all.
bool StepsStayInside(const Evaluation& e, ir::Operation pool, const ir::Ints& padding);

}  // namespace weft::drr::internal
