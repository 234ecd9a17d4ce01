#include "drr/rule/vocabulary_table.h"

#include "drr/rule/vocabulary_functions.h"

namespace weft::drr::internal {

using ir::Attribute;

namespace {

// One instance per word, so that a constraint is one indirect call, as a function of C++ is.
template <bool (*kHolds)(const Evaluation&)>
Holds BindConstraint(const FormulaArguments& arguments) {
  if (arguments.if_given) {
    return [arguments](const MatchContext& m) {
      const Evaluation e(m, arguments);
      return e.IsAbsent() || kHolds(e);
    };
  }
  return [arguments](const MatchContext& m) { return kHolds(Evaluation(m, arguments)); };
}
template <Attribute (*kCompute)(const Evaluation&)>
Compute BindAttribute(const FormulaArguments& arguments) {
  return [arguments](const MatchContext& m) { return kCompute(Evaluation(m, arguments)); };
}

template <bool (*kHolds)(const Evaluation&)>
Entry Constrain(std::string_view name, std::string_view cpp, std::string_view arguments,
                std::string_view reason, std::string_view doc, std::string_view symbolic = "") {
  return {{name, cpp, arguments, true, reason, doc, symbolic}, &BindConstraint<kHolds>, nullptr};
}
template <Attribute (*kCompute)(const Evaluation&)>
Entry Computed(std::string_view name, std::string_view cpp, std::string_view arguments,
               std::string_view doc, std::string_view symbolic = "") {
  return {{name, cpp, arguments, false, "", doc, symbolic}, nullptr, &BindAttribute<kCompute>};
}

constexpr std::string_view kNumbersOnly = "nothing: the sizes must be numbers";
constexpr std::string_view kSameSymbol = "the same symbol is the same size; an unknown size none";
constexpr std::string_view kRankOnly = "the rank, whatever the sizes";

std::vector<Entry> ConstraintEntries() {
  return {
      Constrain<IsConstant>("constant", "IsConstant", "v", "{0} is a constant",
                            "its contents are known"),
      Constrain<IsConstantLike>("constant_like", "IsConstantLike", "v", "{0} is a constant",
                                "its defining op has the trait constant_like: its contents are "
                                "known before run time, though perhaps not here"),
      Constrain<NotConstant>("not_constant", "NotConstant", "v", "{0} is no constant",
                             "its contents are not known"),
      Constrain<StaticShape>("static", "StaticShape", "v", "every size of {0} is known",
                             "every size of its shape is a number", kNumbersOnly),
      Constrain<StaticDim>("static_dim", "StaticDim", "vi", "the size of axis {1} of {0} is known",
                           "the size of the axis is a number", kNumbersOnly),
      Constrain<HasRank>("ranked", "HasRank", "v", "the rank of {0} is known", "its rank is known",
                         kRankOnly),
      Constrain<RankIs>("rank_is", "Rank", "vi", "{0} has rank {1}", "it has this rank", kRankOnly),
      Constrain<MinRank>("rank_at_least", "MinRank", "vi", "{0} has rank {1} or more",
                         "it has this rank or a higher one", kRankOnly),
      Constrain<MaxRank>("rank_at_most", "MaxRank", "vi", "{0} has rank {1} or less",
                         "it has this rank or a lower one", kRankOnly),
      Constrain<SameRank>("same_rank", "SameRank", "vv", "{0} and {1} have equal rank",
                          "both ranks are known and equal", kRankOnly),
      Constrain<NoHigherRank>("no_higher_rank", "NoHigherRank", "vv",
                              "{0} has no higher rank than {1}",
                              "both ranks are known, the first is not the higher", kRankOnly),
      Constrain<DimIs>("dim_is", "Dim", "vii", "axis {1} of {0} has size {2}",
                       "this axis (negative: from the end) has this size", kNumbersOnly),
      Constrain<MinDim>("dim_at_least", "MinDim", "vii", "axis {1} of {0} has size {2} or more",
                        "this axis has this size or a larger one", kNumbersOnly),
      Constrain<MaxDim>("dim_at_most", "MaxDim", "vii", "axis {1} of {0} has size {2} or less",
                        "this axis has a known size, this one at most", kNumbersOnly),
      Constrain<SameDim>("same_dim", "SameDim", "vivi",
                         "axis {1} of {0} and axis {3} of {2} have one size",
                         "the two axes have one size", kSameSymbol),
      Constrain<DtypeIs>("dtype_is", "DType", "vt?tt", "{0} is {1}",
                         "it has this element type, or one of these"),
      Constrain<SameDtype>("same_dtype", "SameDType", "vv", "{0} and {1} have one element type",
                           "both element types are known and equal"),
      Constrain<IsFloat>("float", "IsFloat", "v", "{0} has a float type", "it has a float type"),
      Constrain<IsInteger>("integer", "IsInteger", "v", "{0} has an integer type",
                           "it has an integer type, signed or not, which bool is not"),
      Constrain<SameType>("same_type", "SameType", "vv", "{0} has the type of {1}",
                          "element types and shapes are known and equal", kSameSymbol),
      Constrain<SameShape>("same_shape", "SameShape", "vv", "{0} has the shape of {1}",
                           "shapes are known and equal", kSameSymbol),
      Constrain<OneElement>("one_element", "OneElement", "v", "{0} has one element",
                            "it has one element", kNumbersOnly),
      Constrain<NonEmpty>("non_empty", "NonEmpty", "v", "every size of {0} is known, and none is 0",
                          "every size is known, and none is 0", kNumbersOnly),
      Constrain<SplatIs>(
          "splat_is", "IsSplat", "vn?n", "{0} is {1} everywhere",
          "a constant, every element this number (where f32 does not have it, to 1e-6 "
          "of it; or to the third argument)"),
      Constrain<RangeEnd>("range_end", "RangeEnd", "vi",
                          "{0} is the last number of its element type towards sign {1}",
                          "a constant, every element the least (-1) or the greatest (1) integer "
                          "that the element type has, of 32 bits at most"),
      Constrain<SameNumber>("same_number", "SameNumber", "vv", "{0} and {1} are one number",
                            "constants, all elements of both equal"),
      Constrain<NoGreater>("no_greater", "NoGreater", "vv", "{0} is not greater than {1}",
                           "constants, each one number everywhere, in this order or equal"),
      Constrain<SignedZero>("signed_zero", "SignedZero", "vi", "{0} is a zero of sign {1}",
                            "a constant, every element a zero of this sign (1 or -1), which it has "
                            "in floats only: a zero of integers has either"),
      Constrain<IsUniform>("uniform", "IsUniform", "v", "{0} is one number everywhere",
                           "a constant, all elements equal"),
      Constrain<Positive>("positive", "Positive", "v", "{0} is a positive constant",
                          "a constant of one positive element"),
      Constrain<NonZero>("non_zero", "NonZero", "v", "{0} is one constant, not 0",
                         "a constant of one element that is not 0"),
      Constrain<NotZero>("not_zero", "NotZero", "N", "{0} is not 0", "a number, as attributes are"),
      Constrain<PerTensor>(
          "per_tensor", "PerTensor", "vv",
          "{0} and {1} are one positive scale and one zero point of 8 bits",
          "constants of one element: a positive f32, neither tiny nor huge, and an "
          "i8 or u8"),
      Constrain<PerChannel>("per_channel", "PerChannel", "vvi",
                            "{0} has one element for each index of axis {2} of {1}",
                            "it has rank 1 and the size of that axis", kSameSymbol),
      Constrain<Broadcasts>("broadcasts", "Broadcasts", "vv", "{0} broadcasts to {1}",
                            "an elementwise op of both has the shape of the second", kSameSymbol),
      Constrain<BroadcastTogether>("broadcast_together", "BroadcastTogether", "vvv",
                                   "{0} and {1} broadcast to the shape of {2}",
                                   "the third has the shape that an elementwise op of the first "
                                   "two has, whose sizes it bounds",
                                   kSameSymbol),
      Constrain<VariesAlong>("varies_along", "VariesAlong", "vvi?a",
                             "{0} varies along axis {2} of {1} at most",
                             "broadcast to the second, it has the size of this axis there, or 1, "
                             "and 1 everywhere else; the axis is counted before the permutation, "
                             "if one is given, whose result the second is",
                             kSameSymbol),
      Constrain<CoversFrom>("covers_from", "CoversFrom", "vvi",
                            "{0} has the shape of {1} from axis {2} on",
                            "where it is known to broadcast to that: as many axes, none of which "
                            "is broadcast",
                            "the same symbol is the same size; a number that is not 1 can be no "
                            "other"),
      Constrain<LastAxes>("last_axes", "LastAxes", "av", "{0} are the last axes of {1}",
                          "the axes, in any order, are the last ones of the value", kRankOnly),
      Constrain<LastDims>("last_dims", "LastDims", "vva",
                          "{0} has the shape of the last axes of {1}",
                          "it has as many axes as are listed, each of the size that the last axes "
                          "of the second value have",
                          kSameSymbol),
      Constrain<IsIdentity>("identity", "IsIdentity", "A", "{0} moves no axis",
                            "the list, a permutation or constant indices, is 0, 1, 2 and so on"),
      Constrain<SwapsLast>("swaps_last", "SwapsLast", "a", "{0} exchanges the last two axes",
                           "the permutation exchanges the last two axes and moves no other"),
      Constrain<ListIs>("list_is", "ListIs", "Al", "{0} is {1}", "the list has these integers"),
      Constrain<CountIs>("count_is", "CountIs", "Ai", "{0} has {1} entries",
                         "the list is of this length"),
      Constrain<SameAxes>("same_axes", "SameAxes", "AvAv",
                          "{0} of {1} and {2} of {3} are the same axes",
                          "lists of axes, in any order and each of a value from whose end "
                          "negative ones are counted, are the same and not empty",
                          kRankOnly),
      Constrain<Inverse>("inverse", "Inverse", "aa", "{1} undoes {0}",
                         "one permutation after the other moves nothing"),
      Constrain<SameAxis>("same_axis", "SameAxis", "vii", "axes {1} and {2} of {0} are one",
                          "two axes of the value, negative ones counted from its end, are one",
                          kRankOnly),
      Constrain<OnlyUnitDimsMove>("only_unit_dims_move", "OnlyUnitDimsMove", "va",
                                  "{1} moves only sizes of 1",
                                  "the permutation keeps the order of the axes of the value whose "
                                  "size is not known to be 1",
                                  "a symbol may be 1, and is taken not to be"),
      Constrain<CastsCompose>("casts_compose", "CastsCompose", "vtt",
                              "casting {0} straight to {2} gives the same",
                              "casting it to the first type and then to the second is casting it "
                              "to the second"),
      Constrain<ReshapesCompose>("reshapes_compose", "ReshapesCompose", "vvv",
                                 "reshaping {0} straight to {2} gives the same",
                                 "the integers of the third value are known, and where one is 0, "
                                 "which copies a size, the first two have one size",
                                 kSameSymbol),
      Constrain<OnlyUser>("only_user", "OnlyUser", "vv", "nothing but {1} uses {0}, and once",
                          "the one use of the first value is by the defining op of the second"),
      Constrain<NotResult>("not_result", "NotResult", "v", "{0} is not returned",
                           "no result of the program, or of the block that it is in"),
      Constrain<NotUsedBy>("not_used_by", "NotUsedBy", "vs", "{1} does not use {0}",
                           "none of its users has this name"),
      Constrain<SameOp>("same_op", "SameOp", "vv", "{0} and {1} are made by one operator",
                        "the defining ops of both are of one kind, whatever their attributes"),
      Constrain<WindowsReach>("windows_reach", "WindowsReach", "v",
                              "each window of {0} holds an element",
                              "of the op that makes it: every pad is written out and smaller than "
                              "the window, places are rounded down, and what it reads is known to "
                              "have elements, no fewer than a step within the window passes"),
      Constrain<MadeBy>("made_by", "MadeBy", "Ls", "each of {0} is made by {1}",
                        "every value of the list has a defining op of this name"),
      Constrain<AnyElement>("any_element", "AnyElement", "L?LL", "there is another operand",
                            "one of the lists is not empty"),
      Constrain<IsNamed>("named", "", "vs", "{0} is named {1}",
                         "its defining op has this name (location)"),
      Constrain<AttributeIs>("attribute_is", "", "vsl", "attribute {1} of {0} is {2}",
                             "an attribute of its defining op is this"),
      Constrain<ComputesResult>(kComputesResult, "", "", "the match computes what the result does",
                                "the match computes what the result does"),
  };
}

std::vector<Entry> AttributeEntries() {
  return {
      Computed<SplatOf>("splat", "SplatOf", "v?n",
                        "the one number of a constant; the second where that is absent"),
      Computed<Scaled>(
          "scaled", "Scaled", "Nv?vvv",
          "a number, or that of a variable, else 1, times the one number of each "
          "constant but the first, and divided by that, as far as these are given; finite"),
      Computed<DTypeOf>("dtype", "DTypeOf", "v", "its element type"),
      Computed<DimOf>("dim", "DimOf", "vi", "the size of an axis", kNumbersOnly),
      Computed<IntsOf>("ints", "IntsOf", "v", "the integers of a constant"),
      Computed<ShapeOf>("shape", "ShapeOf", "v?v",
                        "its shape; with 1 in front for each axis that the second value has more",
                        kNumbersOnly),
      Computed<SizesIn>("sizes", "SizesIn", "v?vi",
                        "the integers of a constant, or what follows for them from the types of "
                        "the tensors whose sizes they are; as the target of a Reshape of the "
                        "second value: 0 for a size of that at its place, and -1 for one other; "
                        "with 1 at last of an Expand: 1 for a size of that at its place",
                        kSameSymbol),
      Computed<AttributeOf>("attribute", "", "vs", "an attribute of its defining op"),
      Computed<OpName>("op_name", "OpName", "v",
                       "the name of its defining op, without the dialect"),
      Computed<SnakeOpName>("snake_op_name", "SnakeOpName", "v",
                            "the same in snake_case: hard_sigmoid of a HardSigmoid"),
      Computed<FloatAttributes>("float_attributes", "FloatAttributes", "v",
                                "the attributes of its defining op that are a float, in their "
                                "order, where no other is written out but with its default"),
      Computed<Compose>("compose", "Compose", "aa", "the first permutation, then the second"),
      Computed<InverseOf>("inverse_of", "InverseOf", "a",
                          "the permutation that undoes the permutation"),
      Computed<ElementAt>("element", "ElementAt", "ai",
                          "an element of a list; a negative index counts from its end"),
      Computed<ReversedAxes>("reversed_axes", "ReversedAxes", "v",
                             "the permutation that reverses the order of its axes", kRankOnly),
      Computed<JoinAxes>("join_axes", "JoinAxes", "AvAv?i",
                         "axes of the second value, and those that the third lists, of the fourth, "
                         "which has the axes that the first leaves over; or, where a fifth is "
                         "given and not 0, all axes of the second. With a fifth no list is empty",
                         kRankOnly),
      Computed<ListAlong>("list_along", "ListAlong", "vi",
                          "the target of a Reshape that lays a list along this axis of the value: "
                          "-1, and 1 for each axis behind it",
                          kRankOnly),
      Computed<JoinedPads>("joined_pads", "JoinedPads", "vvv?i",
                           "the pads of the op that makes the first value and those of a Pad in "
                           "front of it, constants like its axes, which may be absent: of "
                           "spatial dimensions, not negative; with 1 at last less than the "
                           "window; with 2 also no window that holds padding alone",
                           "the rank, whatever the sizes; with 2 at last the sizes, too"),
      Computed<IsZero>("is_zero", "IsZero", "a", "1 where an integer is 0, and else 0"),
      Computed<AsBool>("bool", "AsBool", "a", "whether an integer is not 0"),
      Computed<StartOfLast>("start_of_last", "StartOfLast", "a",
                            "the first of the last axes, as many as the list has, from the end"),
      Computed<ScalarLike>("scalar", "ScalarLike", "vn",
                           "a constant of rank 0 with the element type of the value"),
      Computed<ScalarOf>("scalar_of", "ScalarOf", "v?v",
                         "a constant of rank 0 with the one number of a constant, the first of "
                         "these that is there"),
      Computed<BoundsOf>(
          "bounds", "BoundsOf", "vv",
          "the numbers of two constants, of the operands min and max of a Clip: where "
          "one is absent minus infinity, or infinity"),
      Computed<IntegerBounds>(
          "integer_bounds", "IntegerBounds", "vvv",
          "those of two constants that bound the integers of the first value; where one is "
          "absent, that of its element type, of 32 bits at most"),
      Computed<QuantizedNumber>(
          "quantized_number", "QuantizedNumber", "vvvi",
          "what QuantizeLinear makes of the one number of a constant with a scale "
          "and a zero point, of rank 0; where that is absent the least (-1) or the "
          "greatest (1) integer of the type of the zero point"),
      Computed<ZeroPoint>("zero_point", "ZeroPoint", "vvv",
                          "0 of the type of 8 bits that one of two values has, in the shape of the "
                          "third, a scale of one element"),
      Computed<Converted>("converted", "Converted", "vst",
                          "a constant of one element that is an attribute of its defining op, 0 "
                          "where that is not written out, in an element type that has the number"),
      Computed<Ones>("ones", "Ones", "va?v",
                     "f32 ones of the last axes of the value, as many as the list has; the third, "
                     "a constant, where that is given",
                     kNumbersOnly),
      Computed<Product>("product", "Product", "vv?i",
                        "the product of f32 constants, one of them a number or both of one "
                        "shape; with an axis of the first: the second has a number for each "
                        "place of it, or one"),
      Computed<Sum>("sum", "Sum", "vv?i", "the sum of f32 constants, likewise"),
      Computed<Quotient>("quotient", "Quotient", "vv",
                         "the first of two f32 constants divided by the second, one of them a "
                         "number or both of one shape"),
      Computed<BiasProduct>("bias_product", "BiasProduct", "vvv",
                            "of f32 constants a bias, 0 where it is absent, times one number, or "
                            "one for each place of axis 0 of the weights, which are last"),
      Computed<BiasSum>("bias_sum", "BiasSum", "vvv", "their sum, likewise"),
      {{kFromBody, "", "", false, "", "what makes the result compute what the match does", ""},
       nullptr,
       nullptr},
  };
}

}  // namespace

const std::vector<Entry>& Entries() {
  static const auto* entries = [] {
    auto* list = new std::vector<Entry>(ConstraintEntries());
    for (const Entry& e : AttributeEntries()) list->push_back(e);
    return list;
  }();
  return *entries;
}

}  // namespace weft::drr::internal
