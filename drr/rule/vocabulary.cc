#include "drr/rule/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drr/rule/convert_attr.h"
#include "drr/rule/evaluation.h"
#include "drr/rule/vocabulary_functions.h"
#include "ir/base/suggest.h"

namespace weft::drr {

using internal::Evaluation;
using internal::FormulaArguments;
using ir::Attribute;
using ir::AttrKind;

namespace {

using Holds = ir::Function<bool(const MatchContext&)>;
using Compute = ir::Function<Attribute(const MatchContext&)>;

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

struct Entry {
  VocabularyEntry entry;
  Holds (*bind)(const FormulaArguments&) = nullptr;
  Compute (*bind_attribute)(const FormulaArguments&) = nullptr;
};

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
  using namespace internal;  // NOLINT(google-build-using-namespace): vocabulary_functions.h
  return {
      Constrain<IsConstant>("constant", "IsConstant", "v", "{0} is a constant",
                            "its contents are known"),
      Constrain<IsConstantLike>("constant_like", "IsConstantLike", "v", "{0} is a constant",
                                "its defining op has the trait constant_like: its contents are "
                                "known before run time, though perhaps not here"),
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
      Constrain<DtypeIs>("dtype_is", "DType", "vt", "{0} is {1}", "it has this element type"),
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
      Constrain<SplatIs>("splat_is", "IsSplat", "vn?n", "{0} is {1} everywhere",
                         "a constant, every element this number (to 1e-6 of it, or to the third "
                         "argument)"),
      Constrain<SignedZero>("signed_zero", "SignedZero", "vi", "{0} is a zero of sign {1}",
                            "a constant, every element a zero of this sign (1 or -1), which it has "
                            "in floats only: a zero of integers has either"),
      Constrain<IsUniform>("uniform", "IsUniform", "v", "{0} is one number everywhere",
                           "a constant, all elements equal"),
      Constrain<Positive>("positive", "Positive", "v", "{0} is a positive constant",
                          "a constant of one positive element"),
      Constrain<NonZero>("non_zero", "NonZero", "v", "{0} is one constant, not 0",
                         "a constant of one element that is not 0"),
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
      Constrain<LastAxes>("last_axes", "LastAxes", "av", "{0} are the last axes of {1}",
                          "the axes, in any order, are the last ones of the value", kRankOnly),
      Constrain<LastDims>("last_dims", "LastDims", "vva",
                          "{0} has the shape of the last axes of {1}",
                          "it has as many axes as are listed, each of the size that the last axes "
                          "of the second value have",
                          kSameSymbol),
      Constrain<IsIdentity>("identity", "IsIdentity", "a", "{0} moves no axis",
                            "the permutation moves nothing"),
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
      Constrain<OnlyUser>("only_user", "OnlyUser", "vv", "nothing but {1} uses {0}",
                          "every user of the first value is the defining op of the second"),
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
  using namespace internal;  // NOLINT(google-build-using-namespace): vocabulary_functions.h
  return {
      Computed<SplatOf>("splat", "SplatOf", "v", "the one number of a constant"),
      Computed<DimOf>("dim", "DimOf", "vi", "the size of an axis", kNumbersOnly),
      Computed<IntsOf>("ints", "IntsOf", "v", "the integers of a constant"),
      Computed<ShapeOf>("shape", "ShapeOf", "v", "its shape", kNumbersOnly),
      Computed<AttributeOf>("attribute", "", "vs", "an attribute of its defining op"),
      Computed<Compose>("compose", "Compose", "aa", "the first permutation, then the second"),
      Computed<ElementAt>("element", "ElementAt", "ai",
                          "an element of a list; a negative index counts from its end"),
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
      {{kFromBody, "", "", false, "", "what makes the result compute what the match does", ""},
       nullptr,
       nullptr},
  };
}

const std::vector<Entry>& Entries() {
  static const auto* entries = [] {
    auto* list = new std::vector<Entry>(ConstraintEntries());
    for (const Entry& e : AttributeEntries()) list->push_back(e);
    return list;
  }();
  return *entries;
}

const Entry* FindEntry(std::string_view name) {
  for (const Entry& e : Entries())
    if (e.entry.name == name) return &e;
  return nullptr;
}

bool Fits(const PatternGraph& graph, const Formula::Argument& a, char letter) {
  using Argument = Formula::Argument;
  const bool literal = a.kind == Argument::kLiteral && a.literal;
  const bool variable = a.kind == Argument::kVariable;
  const bool list = a.kind == Argument::kValue && graph.values[graph.Resolve(a.value)].list;
  switch (letter) {
    case 'v':
      return a.kind == Argument::kValue && !list;
    case 'L':
      return list;
    case 'a':
      return variable;
    case 'i':
      return variable || (literal && a.literal.Is(AttrKind::kInt));
    case 'n':
      return literal && (a.literal.Is(AttrKind::kInt) || a.literal.Is(AttrKind::kFloat) ||
                         a.literal.Is(AttrKind::kDouble));
    case 's':
      return literal && a.literal.Is(AttrKind::kString);
    case 't':
      return variable || (literal && a.literal.Is(AttrKind::kDataType));
    default:
      return literal;
  }
}

std::string CountText(size_t least, size_t most) {
  if (least == most) return fmt::format("{} argument{}", least, least == 1 ? "" : "s");
  return fmt::format("{} to {} arguments", least, most);
}

}  // namespace

namespace internal {

FormulaArguments::FormulaArguments(const Formula& formula) {
  for (const Formula::Argument& a : formula.arguments) {
    FormulaArgument& argument = list[size];
    if (a.if_given) if_given = static_cast<uint8_t>(if_given | 1u << size);
    ++size;
    if (a.kind != Formula::Argument::kLiteral) {
      argument.value = a.value;
      argument.variable = a.variable;
      continue;
    }
    argument.literal = a.literal;
    if (a.literal.Is(AttrKind::kInt)) {
      argument.integer = a.literal.AsInt();
      argument.number = static_cast<double>(argument.integer);
    } else if (a.literal.Is(AttrKind::kFloat) || a.literal.Is(AttrKind::kDouble)) {
      argument.number = a.literal.AsDouble();
    }
  }
}

}  // namespace internal

const std::vector<VocabularyEntry>& Vocabulary() {
  static const auto* list = [] {
    auto* entries = new std::vector<VocabularyEntry>;
    for (const Entry& e : Entries()) entries->push_back(e.entry);
    return entries;
  }();
  return *list;
}

std::string_view ParameterName(char letter) {
  switch (letter) {
    case 'v':
      return "value";
    case 'L':
      return "list of values";
    case 'a':
      return "attribute variable";
    case 'i':
      return "integer";
    case 'n':
      return "number";
    case 's':
      return "string";
    case 't':
      return "element type";
    default:
      return "literal";
  }
}

std::string CheckFormula(const PatternGraph& graph, const Formula& formula, bool is_constraint) {
  const Entry* entry = FindEntry(formula.name);
  const std::string_view what = is_constraint ? "constraint" : "computed attribute";
  if (!entry || entry->entry.is_constraint != is_constraint) {
    std::vector<std::string_view> names;
    for (const Entry& e : Entries())
      if (e.entry.is_constraint == is_constraint) names.push_back(e.entry.name);
    return fmt::format("unknown {} '{}'{}", what, formula.name,
                       ir::DidYouMean(formula.name, names));
  }
  std::string letters(entry->entry.arguments);
  const size_t optional = letters.find('?');
  std::erase(letters, '?');
  const size_t least = optional == std::string::npos ? letters.size() : optional;
  if (formula.arguments.size() < least || formula.arguments.size() > letters.size())
    return fmt::format("{} '{}' takes {} but has {}", what, formula.name,
                       CountText(least, letters.size()), formula.arguments.size());
  for (size_t i = 0; i < formula.arguments.size(); ++i)
    if (!Fits(graph, formula.arguments[i], letters[i]))
      return fmt::format(
          "argument {} of '{}' must be {} {}", i + 1, formula.name,
          std::string_view("aeio").find(ParameterName(letters[i])[0]) == std::string_view::npos
              ? "a"
              : "an",
          ParameterName(letters[i]));
  return "";
}

namespace {

// The value that a reason is about: without skips, and of an Either the first of its alternatives.
const SourceValue& Underlying(const PatternGraph& graph, ValueId* value) {
  *value = graph.Resolve(*value);
  while (graph.values[*value].name.empty() && graph.values[*value].through)
    *value = graph.Resolve(graph.values[*value].through);
  return graph.values[*value];
}

std::string_view ShortName(const SourceOp& op) {
  const std::string_view name = op.Name();
  return name.substr(name.find('.') + 1);
}

std::string Text(const PatternGraph& graph, const Formula::Argument& a) {
  switch (a.kind) {
    case Formula::Argument::kValue: {
      ValueId named = a.value;  // "the constant" of an alternative needs no "if given"
      const bool says_if = a.if_given && !Underlying(graph, &named).name.empty();
      return NameInReason(graph, a.value) + (says_if ? ", if given," : "");
    }
    case Formula::Argument::kVariable:
      return graph.attrs[a.variable].name;
    case Formula::Argument::kLiteral:
      break;
  }
  if (a.literal.Is(AttrKind::kFloat) || a.literal.Is(AttrKind::kDouble))
    return fmt::format("{:.9g}", a.literal.AsDouble());
  if (a.literal.Is(AttrKind::kInt)) return fmt::format("{}", a.literal.AsInt());
  if (a.literal.Is(AttrKind::kDataType))
    return std::string(ir::DataTypeName(a.literal.AsDataType()));
  return a.literal.Is(AttrKind::kString) ? a.literal.AsString() : std::string("the literal");
}

}  // namespace

std::string NameInReason(const PatternGraph& graph, ValueId value) {
  const SourceValue& v = Underlying(graph, &value);
  if (!v.name.empty()) return v.name;
  const auto is_replaced = [&](ValueId id) {
    return std::any_of(graph.replacements.begin(), graph.replacements.end(),
                       [&](const auto& r) { return graph.Resolve(r.source) == graph.Resolve(id); });
  };
  if (is_replaced(value)) return "the result";
  if (v.producer) {
    const std::string_view name = ShortName(graph.ops[v.producer]);
    const auto alike = std::count_if(graph.ops.begin(), graph.ops.end(), [&](const SourceOp& op) {
      return ShortName(op) == name &&
             std::none_of(op.results.begin(), op.results.end(), is_replaced);
    });
    if (alike == 1) return fmt::format("the {}", name);
    return fmt::format("the {} of line {}", name, v.loc.line);
  }
  if (v.either.empty()) return "the constant";
  return fmt::format("the value of line {}", v.loc.line);
}

std::string ReasonOf(const PatternGraph& graph, const Formula& formula) {
  const Entry* entry = FindEntry(formula.name);
  std::array<std::string, kMaxArguments> words;
  for (size_t i = 0; i < formula.arguments.size(); ++i)
    words[i] = Text(graph, formula.arguments[i]);
  return fmt::format(fmt::runtime(entry->entry.reason), words[0], words[1], words[2], words[3]);
}

Constraint MakeConstraint(Formula formula, std::string reason, SourceLoc loc) {
  Constraint constraint;
  constraint.reason = std::move(reason);
  constraint.holds = FindEntry(formula.name)->bind(FormulaArguments(formula));
  constraint.loc = loc;
  constraint.formula = std::move(formula);
  return constraint;
}

ResultAttr MakeComputedAttr(ir::Name name, AttrKind kind, Formula formula, ResultOpId result_op) {
  ResultAttr attr;
  attr.name = name;
  if (formula.name == kFromBody) {
    attr.compute = [name, result_op](const MatchContext& m) {
      return internal::AttributeFromBody(m, name, result_op);
    };
  } else {
    attr.compute = [compute = FindEntry(formula.name)->bind_attribute(FormulaArguments(formula)),
                    kind](const MatchContext& m) {
      return ConvertAttr(*m.context(), compute(m), kind);
    };
  }
  attr.formula = std::move(formula);
  return attr;
}

Formula::Argument ValueArgument(ValueId value) {
  return {Formula::Argument::kValue, value, {}, false, {}};
}
Formula::Argument VariableArgument(AttrId variable) {
  return {Formula::Argument::kVariable, {}, variable, false, {}};
}
Formula::Argument LiteralArgument(Attribute literal) {
  return {Formula::Argument::kLiteral, {}, {}, false, literal};
}

}  // namespace weft::drr
