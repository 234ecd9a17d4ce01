#include "drr/cpp/constraints.h"

namespace weft::drr {

using internal::Phrase;
using internal::PhraseArgument;

namespace {

PhraseArgument Arg(Tensor t) { return ValueArg(t); }
PhraseArgument Arg(const PhraseArgument& a) { return a; }
PhraseArgument Arg(std::string_view text) {
  return {.kind = PhraseArgument::kString, .value = {}, .variable = {}, .text = text};
}
PhraseArgument Arg(const Ints& integers) {
  return {.kind = PhraseArgument::kInts, .value = {}, .variable = {}, .integers = integers};
}
PhraseArgument Arg(double number) { return {PhraseArgument::kNumber, false, {}, {}, 0, number}; }
template <class T>
PhraseArgument Arg(Attr<T> a) {
  return {PhraseArgument::kVariable, false, {}, a.id()};
}

template <class... Args>
Phrase Say(std::string_view word, SourceLoc loc, const Args&... args) {
  static_assert(sizeof...(args) <= kMaxArguments);
  return {word, {Arg(args)...}, sizeof...(args), loc};
}

// As further arguments, as far as there is room.
template <class T>
void AddValues(std::initializer_list<T> values, Phrase* phrase) {
  for (const T& value : values)
    if (phrase->size < kMaxArguments)
      phrase->arguments[phrase->size++] = {PhraseArgument::kValue, false, value.id()};
}

}  // namespace

Condition IsConstant(ValueArg x, SourceLoc loc) { return {Say("constant", loc, x)}; }
Condition IsConstantLike(ValueArg x, SourceLoc loc) { return {Say("constant_like", loc, x)}; }
Condition NotConstant(ValueArg x, SourceLoc loc) { return {Say("not_constant", loc, x)}; }
Condition IsSplat(ValueArg x, double number, SourceLoc loc) {
  return {Say("splat_is", loc, x, number)};
}
Condition IsSplat(ValueArg x, double number, double tolerance, SourceLoc loc) {
  return {Say("splat_is", loc, x, number, tolerance)};
}
Condition SignedZero(ValueArg x, IntArg sign, SourceLoc loc) {
  return {Say("signed_zero", loc, x, sign)};
}
Condition RangeEnd(ValueArg x, IntArg sign, SourceLoc loc) {
  return {Say("range_end", loc, x, sign)};
}
Condition SameNumber(ValueArg x, ValueArg y, SourceLoc loc) {
  return {Say("same_number", loc, x, y)};
}
Condition NoGreater(ValueArg x, ValueArg than, SourceLoc loc) {
  return {Say("no_greater", loc, x, than)};
}
Condition IsUniform(ValueArg x, SourceLoc loc) { return {Say("uniform", loc, x)}; }
Condition Positive(ValueArg x, SourceLoc loc) { return {Say("positive", loc, x)}; }
Condition NonZero(ValueArg x, SourceLoc loc) { return {Say("non_zero", loc, x)}; }
Condition NotZero(NumberArg number, SourceLoc loc) { return {Say("not_zero", loc, number)}; }
Condition PerTensor(ValueArg scale, ValueArg zero_point, SourceLoc loc) {
  return {Say("per_tensor", loc, scale, zero_point)};
}
Condition DType(ValueArg x, DTypeArg type, SourceLoc loc) {
  return {Say("dtype_is", loc, x, type)};
}
Condition DType(ValueArg x, DTypeArg type, DTypeArg or_type, SourceLoc loc) {
  return {Say("dtype_is", loc, x, type, or_type)};
}
Condition DType(ValueArg x, DTypeArg type, DTypeArg or_type, DTypeArg or_other, SourceLoc loc) {
  return {Say("dtype_is", loc, x, type, or_type, or_other)};
}
Condition SameDType(ValueArg x, ValueArg y, SourceLoc loc) {
  return {Say("same_dtype", loc, x, y)};
}
Condition IsFloat(ValueArg x, SourceLoc loc) { return {Say("float", loc, x)}; }
Condition IsInteger(ValueArg x, SourceLoc loc) { return {Say("integer", loc, x)}; }
Condition SameType(ValueArg x, ValueArg y, SourceLoc loc) { return {Say("same_type", loc, x, y)}; }
Condition CastsCompose(ValueArg x, DTypeArg through, DTypeArg to, SourceLoc loc) {
  return {Say("casts_compose", loc, x, through, to)};
}
Condition SameShape(ValueArg x, ValueArg y, SourceLoc loc) {
  return {Say("same_shape", loc, x, y)};
}
Condition StaticShape(ValueArg x, SourceLoc loc) { return {Say("static", loc, x)}; }
Condition StaticDim(ValueArg x, IntArg axis, SourceLoc loc) {
  return {Say("static_dim", loc, x, axis)};
}
Condition ReshapesCompose(ValueArg x, ValueArg reshaped, ValueArg target, SourceLoc loc) {
  return {Say("reshapes_compose", loc, x, reshaped, target)};
}
Condition NonEmpty(ValueArg x, SourceLoc loc) { return {Say("non_empty", loc, x)}; }
Condition OneElement(ValueArg x, SourceLoc loc) { return {Say("one_element", loc, x)}; }
Condition HasRank(ValueArg x, SourceLoc loc) { return {Say("ranked", loc, x)}; }
Condition Rank(ValueArg x, IntArg rank, SourceLoc loc) { return {Say("rank_is", loc, x, rank)}; }
Condition MinRank(ValueArg x, IntArg rank, SourceLoc loc) {
  return {Say("rank_at_least", loc, x, rank)};
}
Condition MaxRank(ValueArg x, IntArg rank, SourceLoc loc) {
  return {Say("rank_at_most", loc, x, rank)};
}
Condition SameRank(ValueArg x, ValueArg y, SourceLoc loc) { return {Say("same_rank", loc, x, y)}; }
Condition NoHigherRank(ValueArg x, ValueArg than, SourceLoc loc) {
  return {Say("no_higher_rank", loc, x, than)};
}
Condition Dim(ValueArg x, IntArg axis, IntArg size, SourceLoc loc) {
  return {Say("dim_is", loc, x, axis, size)};
}
Condition MinDim(ValueArg x, IntArg axis, IntArg size, SourceLoc loc) {
  return {Say("dim_at_least", loc, x, axis, size)};
}
Condition MaxDim(ValueArg x, IntArg axis, IntArg size, SourceLoc loc) {
  return {Say("dim_at_most", loc, x, axis, size)};
}
Condition SameDim(ValueArg x, IntArg axis, ValueArg y, IntArg axis_of_y, SourceLoc loc) {
  return {Say("same_dim", loc, x, axis, y, axis_of_y)};
}
Condition PerChannel(ValueArg x, ValueArg of, IntArg axis, SourceLoc loc) {
  return {Say("per_channel", loc, x, of, axis)};
}
Condition Broadcasts(ValueArg x, ValueArg to, SourceLoc loc) {
  return {Say("broadcasts", loc, x, to)};
}
Condition BroadcastTogether(ValueArg x, ValueArg y, ValueArg to, SourceLoc loc) {
  return {Say("broadcast_together", loc, x, y, to)};
}
Condition VariesAlong(ValueArg x, ValueArg of, IntArg axis, SourceLoc loc) {
  return {Say("varies_along", loc, x, of, axis)};
}
Condition VariesAlong(ValueArg x, ValueArg of, IntArg axis, Attr<Ints> before, SourceLoc loc) {
  return {Say("varies_along", loc, x, of, axis, before)};
}
Condition CoversFrom(ValueArg x, ValueArg of, IntArg axis, SourceLoc loc) {
  return {Say("covers_from", loc, x, of, axis)};
}
Condition LastAxes(Attr<Ints> axes, ValueArg x, SourceLoc loc) {
  return {Say("last_axes", loc, axes, x)};
}
Condition LastDims(ValueArg x, ValueArg of, Attr<Ints> axes, SourceLoc loc) {
  return {Say("last_dims", loc, x, of, axes)};
}
Condition SameAxis(ValueArg x, IntArg a, IntArg b, SourceLoc loc) {
  return {Say("same_axis", loc, x, a, b)};
}
Condition IsIdentity(ListArg list, SourceLoc loc) { return {Say("identity", loc, list)}; }
Condition SwapsLast(Attr<Ints> perm, SourceLoc loc) { return {Say("swaps_last", loc, perm)}; }
Condition ListIs(ListArg list, std::initializer_list<int64_t> integers, SourceLoc loc) {
  return {Say("list_is", loc, list, Ints(integers))};
}
Condition CountIs(ListArg list, IntArg count, SourceLoc loc) {
  return {Say("count_is", loc, list, count)};
}
Condition SameAxes(ListArg axes, ValueArg of, ListArg others, ValueArg of_others, SourceLoc loc) {
  return {Say("same_axes", loc, axes, of, others, of_others)};
}
Condition Inverse(Attr<Ints> p, Attr<Ints> q, SourceLoc loc) { return {Say("inverse", loc, p, q)}; }
Condition OnlyUnitDimsMove(ValueArg x, Attr<Ints> perm, SourceLoc loc) {
  return {Say("only_unit_dims_move", loc, x, perm)};
}
Condition SameOp(ValueArg x, ValueArg y, SourceLoc loc) { return {Say("same_op", loc, x, y)}; }
Condition OnlyUser(ValueArg x, ValueArg user, SourceLoc loc) {
  return {Say("only_user", loc, x, user)};
}
Condition NotResult(ValueArg x, SourceLoc loc) { return {Say("not_result", loc, x)}; }
Condition NotUsedBy(ValueArg x, std::string_view op, SourceLoc loc) {
  return {Say("not_used_by", loc, x, op)};
}
Expression<double> SplatOf(Tensor x, SourceLoc loc) { return {Say("splat", loc, x)}; }
Expression<double> SplatOf(Tensor x, double if_absent, SourceLoc loc) {
  return {Say("splat", loc, x, if_absent)};
}
Expression<double> Scaled(NumberArg number, std::initializer_list<Tensor> factors, Tensor divisor,
                          SourceLoc loc) {
  Phrase phrase = Say("scaled", loc, number, divisor);
  AddValues(factors, &phrase);
  return {phrase};
}
Expression<ir::DataType> DTypeOf(Tensor x, SourceLoc loc) { return {Say("dtype", loc, x)}; }
Expression<int64_t> DimOf(Tensor x, IntArg axis, SourceLoc loc) {
  return {Say("dim", loc, x, axis)};
}
Expression<Ints> IntsOf(Tensor x, SourceLoc loc) { return {Say("ints", loc, x)}; }
Expression<Ints> ShapeOf(Tensor x, SourceLoc loc) { return {Say("shape", loc, x)}; }
Expression<Ints> ShapeOf(Tensor x, Tensor rank_of, SourceLoc loc) {
  return {Say("shape", loc, x, rank_of)};
}
Expression<Ints> SizesIn(Tensor shape, SourceLoc loc) { return {Say("sizes", loc, shape)}; }
Expression<Ints> SizesIn(Tensor shape, Tensor reshaped, SourceLoc loc) {
  return {Say("sizes", loc, shape, reshaped)};
}
Expression<Ints> ExpandSizesIn(Tensor shape, Tensor expanded, SourceLoc loc) {
  return {Say("sizes", loc, shape, expanded, IntArg(1))};
}
Expression<std::string> OpName(Tensor x, SourceLoc loc) { return {Say("op_name", loc, x)}; }
Expression<std::string> SnakeOpName(Tensor x, SourceLoc loc) {
  return {Say("snake_op_name", loc, x)};
}
Expression<Floats> FloatAttributes(Tensor x, SourceLoc loc) {
  return {Say("float_attributes", loc, x)};
}
Expression<Ints> ReversedAxes(Tensor x, SourceLoc loc) { return {Say("reversed_axes", loc, x)}; }
Expression<Ints> JoinAxes(ListArg axes, Tensor of, ListArg then, Tensor of_then, SourceLoc loc) {
  return {Say("join_axes", loc, axes, of, then, of_then)};
}
Expression<Ints> JoinAxes(ListArg axes, Tensor of, ListArg then, Tensor of_then,
                          Attr<int64_t> keepdims, SourceLoc loc) {
  return {Say("join_axes", loc, axes, of, then, of_then, keepdims)};
}
Expression<Ints> ListAlong(Tensor x, IntArg axis, SourceLoc loc) {
  return {Say("list_along", loc, x, axis)};
}
Expression<Ints> JoinedPads(Tensor of, Tensor pads, Tensor axes, SourceLoc loc) {
  return {Say("joined_pads", loc, of, pads, axes)};
}
Expression<Ints> JoinedPoolPads(Tensor of, Tensor pads, Tensor axes, SourceLoc loc) {
  return {Say("joined_pads", loc, of, pads, axes, IntArg(1))};
}
Expression<Ints> JoinedFilledPoolPads(Tensor of, Tensor pads, Tensor axes, SourceLoc loc) {
  return {Say("joined_pads", loc, of, pads, axes, IntArg(2))};
}
Expression<Ints> Compose(Attr<Ints> p, Attr<Ints> q, SourceLoc loc) {
  return {Say("compose", loc, p, q)};
}
Expression<Ints> InverseOf(Attr<Ints> p, SourceLoc loc) { return {Say("inverse_of", loc, p)}; }
Expression<int64_t> ElementAt(Attr<Ints> list, IntArg index, SourceLoc loc) {
  return {Say("element", loc, list, index)};
}
Expression<int64_t> IsZero(Attr<int64_t> integer, SourceLoc loc) {
  return {Say("is_zero", loc, integer)};
}
Expression<bool> AsBool(Attr<int64_t> integer, SourceLoc loc) {
  return {Say("bool", loc, integer)};
}
Expression<int64_t> StartOfLast(Attr<Ints> axes, SourceLoc loc) {
  return {Say("start_of_last", loc, axes)};
}
Expression<ir::Attribute> ScalarLike(Tensor x, double number, SourceLoc loc) {
  return {Say("scalar", loc, x, number)};
}
Expression<ir::Attribute> ScalarOf(Tensor x, SourceLoc loc) { return {Say("scalar_of", loc, x)}; }
Expression<ir::Attribute> ScalarOf(Tensor x, Tensor or_y, SourceLoc loc) {
  return {Say("scalar_of", loc, x, or_y)};
}
Expression<Floats> BoundsOf(Tensor low, Tensor high, SourceLoc loc) {
  return {Say("bounds", loc, low, high)};
}
Expression<Ints> IntegerBounds(Tensor of, Tensor low, Tensor high, SourceLoc loc) {
  return {Say("integer_bounds", loc, of, low, high)};
}
Expression<ir::Attribute> QuantizedNumber(Tensor x, Tensor scale, Tensor zero_point, IntArg end,
                                          SourceLoc loc) {
  return {Say("quantized_number", loc, x, scale, zero_point, end)};
}
Expression<ir::Attribute> ZeroPoint(Tensor x, Tensor y, Tensor scale, SourceLoc loc) {
  return {Say("zero_point", loc, x, y, scale)};
}
Expression<ir::Attribute> Converted(Tensor made, std::string_view attribute, DTypeArg to,
                                    SourceLoc loc) {
  return {Say("converted", loc, made, attribute, to)};
}
Expression<ir::Attribute> Ones(Tensor x, Attr<Ints> last_axes, SourceLoc loc) {
  return {Say("ones", loc, x, last_axes)};
}
Expression<ir::Attribute> Ones(Tensor x, Attr<Ints> last_axes, Tensor unless, SourceLoc loc) {
  return {Say("ones", loc, x, last_axes, unless)};
}
Expression<ir::Attribute> Product(Tensor a, Tensor b, SourceLoc loc) {
  return {Say("product", loc, a, b)};
}
Expression<ir::Attribute> Product(Tensor a, Tensor b, IntArg axis, SourceLoc loc) {
  return {Say("product", loc, a, b, axis)};
}
Expression<ir::Attribute> Sum(Tensor a, Tensor b, SourceLoc loc) { return {Say("sum", loc, a, b)}; }
Expression<ir::Attribute> Quotient(Tensor a, Tensor b, SourceLoc loc) {
  return {Say("quotient", loc, a, b)};
}
Expression<ir::Attribute> BiasProduct(Tensor bias, Tensor by, Tensor weights, SourceLoc loc) {
  return {Say("bias_product", loc, bias, by, weights)};
}
Expression<ir::Attribute> BiasSum(Tensor bias, Tensor with, Tensor weights, SourceLoc loc) {
  return {Say("bias_sum", loc, bias, with, weights)};
}

Condition WindowsReach(ValueArg pooled, SourceLoc loc) {
  return {Say("windows_reach", loc, pooled)};
}
Condition MadeBy(TensorList xs, std::string_view op, SourceLoc loc) {
  Phrase phrase = Say("made_by", loc);
  AddValues({xs}, &phrase);
  phrase.arguments[phrase.size++] = Arg(op);
  return {phrase};
}
Condition AnyElement(std::initializer_list<TensorList> lists, SourceLoc loc) {
  Phrase phrase = Say("any_element", loc);
  AddValues(lists, &phrase);
  return {phrase};
}

namespace internal {

Formula MakeFormula(PatternGraph* graph, const Phrase& phrase, bool is_constraint) {
  Formula formula;
  formula.name = phrase.word;
  ir::IrContext& context = *graph->context();
  for (size_t i = 0; i < phrase.size; ++i) {
    const PhraseArgument& a = phrase.arguments[i];
    Formula::Argument& argument = formula.arguments.emplace_back();
    switch (a.kind) {
      case PhraseArgument::kValue:
        argument = ValueArgument(a.value);
        argument.if_given = a.if_given;
        break;
      case PhraseArgument::kVariable:
        argument = VariableArgument(a.variable);
        break;
      case PhraseArgument::kInt:
        argument = LiteralArgument(context.IntAttr(a.integer));
        break;
      case PhraseArgument::kNumber:
        argument = LiteralArgument(context.DoubleAttr(a.number));
        break;
      case PhraseArgument::kString:
        argument = LiteralArgument(context.StringAttr(a.text));
        break;
      case PhraseArgument::kInts:
        argument = LiteralArgument(context.IntsAttr(a.integers));
        break;
      case PhraseArgument::kType:
        argument = LiteralArgument(context.DataTypeAttr(static_cast<ir::DataType>(a.integer)));
        break;
    }
  }
  const std::string wrong = CheckFormula(*graph, formula, is_constraint);
  if (wrong.empty()) return formula;
  graph->Error(phrase.loc, wrong);
  return {};
}

}  // namespace internal
}  // namespace weft::drr
