// The words of the vocabulary in C++ (ir-opt --list-constraints prints what each means):
//
//   src.Require(IsConstant(w), Rank(w, 2), DType(x, kF32), PerChannel(IfGiven(b), out, -1));
//   src.Profitable(MinDim(x, 3, 20000));
//   res.Op<ops::Transpose>({.perm = Compose(p, q)})(x)
//
// Reasons are generated ("w has rank 2"), each constraint knows its line, and a rule that uses only
// these prints as text.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "drr/cpp/phrase.h"

namespace weft::drr {

#define WEFT_HERE SourceLoc loc = SourceLoc::Here()

// --- constants -------------------------------------------------------------------
Condition IsConstant(ValueArg x, WEFT_HERE);
Condition IsConstantLike(ValueArg x, WEFT_HERE);
Condition NotConstant(ValueArg x, WEFT_HERE);             // not known to be one
Condition IsSplat(ValueArg x, double number, WEFT_HERE);  // if f32 has it, else to 1e-6 of it
Condition IsSplat(ValueArg x, double number, double tolerance, WEFT_HERE);
Condition SignedZero(ValueArg x, IntArg sign, WEFT_HERE);  // 1 or -1
Condition RangeEnd(ValueArg x, IntArg sign, WEFT_HERE);    // -1 or 1: the least or greatest number
Condition SameNumber(ValueArg x, ValueArg y, WEFT_HERE);
Condition NoGreater(ValueArg x, ValueArg than, WEFT_HERE);
Condition IsUniform(ValueArg x, WEFT_HERE);
Condition Positive(ValueArg x, WEFT_HERE);
Condition NonZero(ValueArg x, WEFT_HERE);
Condition NotZero(NumberArg number, WEFT_HERE);                       // of an attribute
Condition PerTensor(ValueArg scale, ValueArg zero_point, WEFT_HERE);  // a quantisation

// --- types -----------------------------------------------------------------------
Condition DType(ValueArg x, DTypeArg type, WEFT_HERE);
Condition DType(ValueArg x, DTypeArg type, DTypeArg or_type, WEFT_HERE);
Condition DType(ValueArg x, DTypeArg type, DTypeArg or_type, DTypeArg or_other, WEFT_HERE);
Condition SameDType(ValueArg x, ValueArg y, WEFT_HERE);
Condition IsFloat(ValueArg x, WEFT_HERE);
Condition IsInteger(ValueArg x, WEFT_HERE);
Condition SameType(ValueArg x, ValueArg y, WEFT_HERE);
Condition CastsCompose(ValueArg x, DTypeArg through, DTypeArg to, WEFT_HERE);

// --- shapes ----------------------------------------------------------------------
Condition SameShape(ValueArg x, ValueArg y, WEFT_HERE);
Condition StaticShape(ValueArg x, WEFT_HERE);
Condition StaticDim(ValueArg x, IntArg axis, WEFT_HERE);
Condition ReshapesCompose(ValueArg x, ValueArg reshaped, ValueArg target, WEFT_HERE);
Condition NonEmpty(ValueArg x, WEFT_HERE);
Condition OneElement(ValueArg x, WEFT_HERE);
Condition HasRank(ValueArg x, WEFT_HERE);
Condition Rank(ValueArg x, IntArg rank, WEFT_HERE);
Condition MinRank(ValueArg x, IntArg rank, WEFT_HERE);
Condition MaxRank(ValueArg x, IntArg rank, WEFT_HERE);
Condition SameRank(ValueArg x, ValueArg y, WEFT_HERE);
Condition NoHigherRank(ValueArg x, ValueArg than, WEFT_HERE);
Condition Dim(ValueArg x, IntArg axis, IntArg size, WEFT_HERE);
Condition MinDim(ValueArg x, IntArg axis, IntArg size, WEFT_HERE);
Condition MaxDim(ValueArg x, IntArg axis, IntArg size, WEFT_HERE);
Condition SameDim(ValueArg x, IntArg axis, ValueArg y, IntArg axis_of_y, WEFT_HERE);
Condition PerChannel(ValueArg x, ValueArg of, IntArg axis, WEFT_HERE);
Condition Broadcasts(ValueArg x, ValueArg to, WEFT_HERE);
Condition BroadcastTogether(ValueArg x, ValueArg y, ValueArg to, WEFT_HERE);
Condition VariesAlong(ValueArg x, ValueArg of, IntArg axis, WEFT_HERE);
Condition VariesAlong(ValueArg x, ValueArg of, IntArg axis, Attr<Ints> before, WEFT_HERE);
Condition CoversFrom(ValueArg x, ValueArg of, IntArg axis, WEFT_HERE);

// --- axes and permutations ---------------------------------------------------------
Condition LastAxes(Attr<Ints> axes, ValueArg x, WEFT_HERE);
Condition LastDims(ValueArg x, ValueArg of, Attr<Ints> axes, WEFT_HERE);
Condition SameAxis(ValueArg x, IntArg a, IntArg b, WEFT_HERE);
Condition IsIdentity(ListArg list, WEFT_HERE);
Condition SwapsLast(Attr<Ints> perm, WEFT_HERE);
Condition ListIs(ListArg list, std::initializer_list<int64_t> integers, WEFT_HERE);
Condition CountIs(ListArg list, IntArg count, WEFT_HERE);
Condition SameAxes(ListArg axes, ValueArg of, ListArg others, ValueArg of_others, WEFT_HERE);
Condition Inverse(Attr<Ints> p, Attr<Ints> q, WEFT_HERE);
Condition OnlyUnitDimsMove(ValueArg x, Attr<Ints> perm, WEFT_HERE);

// --- ops and uses ------------------------------------------------------------------
Condition SameOp(ValueArg x, ValueArg y, WEFT_HERE);
Condition OnlyUser(ValueArg x, ValueArg user, WEFT_HERE);
Condition NotResult(ValueArg x, WEFT_HERE);  // of its block, as outputs of a program are
Condition NotUsedBy(ValueArg x, std::string_view op, WEFT_HERE);  // by no op of that name
template <class O>
Condition NotUsedBy(ValueArg x, WEFT_HERE) {
  return NotUsedBy(x, O::kInfo.name, loc);
}
Condition WindowsReach(ValueArg pooled, WEFT_HERE);  // each window holds an element
Condition MadeBy(TensorList xs, std::string_view op,
                 WEFT_HERE);  // each of them by an op of that name
template <class O>
Condition MadeBy(TensorList xs, WEFT_HERE) {
  return MadeBy(xs, O::kInfo.name, loc);
}
Condition AnyElement(std::initializer_list<TensorList> lists, WEFT_HERE);

// --- computed attributes -------------------------------------------------------------
Expression<double> SplatOf(Tensor x, WEFT_HERE);
Expression<double> SplatOf(Tensor x, double if_absent, WEFT_HERE);
// number * factors / divisor, as far as they are given; at most three factors.
Expression<double> Scaled(NumberArg number, std::initializer_list<Tensor> factors, Tensor divisor,
                          WEFT_HERE);
Expression<ir::DataType> DTypeOf(Tensor x, WEFT_HERE);
Expression<int64_t> DimOf(Tensor x, IntArg axis, WEFT_HERE);
Expression<Ints> IntsOf(Tensor x, WEFT_HERE);
Expression<Ints> ShapeOf(Tensor x, WEFT_HERE);
Expression<Ints> ShapeOf(Tensor x, Tensor rank_of, WEFT_HERE);  // with 1 in front
Expression<Ints> SizesIn(Tensor shape, WEFT_HERE);
Expression<Ints> SizesIn(Tensor shape, Tensor reshaped, WEFT_HERE);  // as the target of a Reshape
Expression<Ints> ExpandSizesIn(Tensor shape, Tensor expanded, WEFT_HERE);  // of an Expand
Expression<std::string> OpName(Tensor x, WEFT_HERE);                       // Relu
Expression<std::string> SnakeOpName(Tensor x, WEFT_HERE);                  // hard_sigmoid
Expression<Floats> FloatAttributes(Tensor x, WEFT_HERE);  // nothing where others are no defaults
Expression<Ints> ReversedAxes(Tensor x, WEFT_HERE);
Expression<Ints> JoinAxes(ListArg axes, Tensor of, ListArg then, Tensor of_then, WEFT_HERE);
// Of reductions, which keep the axes or do not.
Expression<Ints> JoinAxes(ListArg axes, Tensor of, ListArg then, Tensor of_then,
                          Attr<int64_t> keepdims, WEFT_HERE);
Expression<Ints> ListAlong(Tensor x, IntArg axis, WEFT_HERE);  // as the target of a Reshape
Expression<Ints> JoinedPads(Tensor of, Tensor pads, Tensor axes, WEFT_HERE);
Expression<Ints> JoinedPoolPads(Tensor of, Tensor pads, Tensor axes, WEFT_HERE);  // < the window
// Likewise, where no window holds padding alone.
Expression<Ints> JoinedFilledPoolPads(Tensor of, Tensor pads, Tensor axes, WEFT_HERE);
Expression<Ints> Compose(Attr<Ints> p, Attr<Ints> q, WEFT_HERE);  // p[q]
Expression<Ints> InverseOf(Attr<Ints> p, WEFT_HERE);
Expression<int64_t> ElementAt(Attr<Ints> list, IntArg index, WEFT_HERE);
Expression<int64_t> IsZero(Attr<int64_t> integer, WEFT_HERE);  // 1 or 0
Expression<bool> AsBool(Attr<int64_t> integer, WEFT_HERE);
Expression<int64_t> StartOfLast(Attr<Ints> axes, WEFT_HERE);
Expression<ir::Attribute> ScalarLike(Tensor x, double number, WEFT_HERE);
Expression<ir::Attribute> ScalarOf(Tensor x, WEFT_HERE);
Expression<ir::Attribute> ScalarOf(Tensor x, Tensor or_y, WEFT_HERE);  // the one that is there
Expression<Floats> BoundsOf(Tensor low, Tensor high, WEFT_HERE);       // of a Clip
Expression<Ints> IntegerBounds(Tensor of, Tensor low, Tensor high, WEFT_HERE);
// Without x the least (-1) or the greatest (1) integer.
Expression<ir::Attribute> QuantizedNumber(Tensor x, Tensor scale, Tensor zero_point, IntArg end,
                                          WEFT_HERE);
Expression<ir::Attribute> ZeroPoint(Tensor x, Tensor y, Tensor scale, WEFT_HERE);
Expression<ir::Attribute> Converted(Tensor made, std::string_view attribute, DTypeArg to,
                                    WEFT_HERE);

// --- computed constants of f32 -------------------------------------------------------
Expression<ir::Attribute> Ones(Tensor x, Attr<Ints> last_axes, WEFT_HERE);
Expression<ir::Attribute> Ones(Tensor x, Attr<Ints> last_axes, Tensor unless, WEFT_HERE);
Expression<ir::Attribute> Product(Tensor a, Tensor b, WEFT_HERE);
Expression<ir::Attribute> Product(Tensor a, Tensor b, IntArg axis, WEFT_HERE);  // b by place
Expression<ir::Attribute> Sum(Tensor a, Tensor b, WEFT_HERE);
Expression<ir::Attribute> Quotient(Tensor a, Tensor b, WEFT_HERE);
Expression<ir::Attribute> BiasProduct(Tensor bias, Tensor by, Tensor weights, WEFT_HERE);
Expression<ir::Attribute> BiasSum(Tensor bias, Tensor with, Tensor weights, WEFT_HERE);

#undef WEFT_HERE

}  // namespace weft::drr
