#include "passes/verify/mutation/mistakes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ir/context.h"

namespace weft::passes {
namespace {

using drr::Formula;
using ir::Attribute;
using ir::AttrKind;

constexpr size_t kMostOthers = 2;  // of each thing

// Each with the same operands and without attributes, or with the same.
constexpr std::array<std::string_view, 6> kArithmetic = {"onnx.Add", "onnx.Sub", "onnx.Mul",
                                                         "onnx.Div", "onnx.Min", "onnx.Max"};
constexpr std::array<std::string_view, 9> kFunctions = {"onnx.Relu", "onnx.Tanh", "onnx.Sigmoid",
                                                        "onnx.Erf",  "onnx.Exp",  "onnx.Sqrt",
                                                        "onnx.Abs",  "onnx.Neg",  "onnx.Log"};
constexpr std::array<std::string_view, 5> kSums = {
    "onnx.ReduceMean", "onnx.ReduceSum", "onnx.ReduceMax", "onnx.ReduceL1", "onnx.ReduceSumSquare"};
constexpr std::array<std::string_view, 3> kLogic = {"onnx.And", "onnx.Or", "onnx.Xor"};
constexpr std::array<std::string_view, 4> kOrder = {"onnx.Less", "onnx.GreaterOrEqual",
                                                    "onnx.Greater", "onnx.LessOrEqual"};
constexpr std::array<std::string_view, 2> kSoftmax = {"onnx.Softmax", "onnx.LogSoftmax"};

template <size_t kSize>
bool AddOthers(const ir::IrContext& context, const std::array<std::string_view, kSize>& ops,
               std::string_view name, std::vector<const ir::OpDef*>* others) {
  const auto at = static_cast<size_t>(std::find(ops.begin(), ops.end(), name) - ops.begin());
  if (at == kSize) return false;
  for (size_t i = 1; i < kSize && others->size() < kMostOthers; ++i)
    if (const ir::OpDef* def = context.FindOp(ops[(at + i) % kSize])) others->push_back(def);
  return true;
}

// Another whole number; 0 and 1 are often all that there are.
int64_t OtherInteger(int64_t value) { return value == 0 || value == 1 ? 1 - value : value + 1; }
// Of a whole number a whole one: it may be an axis.
double OtherNumber(double value) {
  if (value == 0 || value == 1) return 1 - value;
  return value == std::trunc(value) ? value + 1 : value * 1.5 + 0.25;
}

std::vector<Attribute> OtherLists(ir::IrContext& context, const ir::Ints& list) {
  std::vector<Attribute> others;
  const auto add = [&](const ir::Ints& other) {
    const Attribute attr = context.IntsAttr(other);
    if (other != list && std::find(others.begin(), others.end(), attr) == others.end())
      others.push_back(attr);
  };
  if (list.size() == 1) add({OtherInteger(list[0])});
  if (list.size() < 2) return others;
  ir::Ints rotated = list, swapped = list;
  std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  add(rotated);
  add(swapped);
  return others;
}

Attribute OtherLiteral(ir::IrContext& context, Attribute literal) {
  switch (literal.kind()) {
    case AttrKind::kInt:
      return context.IntAttr(OtherInteger(literal.AsInt()));
    case AttrKind::kFloat:
      return context.FloatAttr(static_cast<float>(OtherNumber(literal.AsDouble())));
    case AttrKind::kDouble:
      return context.DoubleAttr(OtherNumber(literal.AsDouble()));
    default:
      return {};
  }
}

// Of a word that takes few numbers one of those. Pads as large as a window, which joined_pads refuses with
// 1, are right here: only others refuse them.
Attribute OtherArgument(ir::IrContext& context, std::string_view word, Attribute literal) {
  if (word == "signed_zero") return context.IntAttr(-literal.AsInt());
  if (word == "joined_pads") return literal.AsInt() == 2 ? context.IntAttr(1) : Attribute();
  return OtherLiteral(context, literal);
}

double NumberOf(Attribute literal) {
  return literal.Is(AttrKind::kInt) ? static_cast<double>(literal.AsInt()) : literal.AsDouble();
}

bool IsAboutOrder(std::string_view word) {
  return word == "broadcasts" || word == "no_higher_rank" || word == "last_dims" ||
         word == "per_channel";
}
bool IsAboutNumbers(std::string_view word) {
  return word == "splat_is" || word == "signed_zero" || word == "per_channel" ||
         word == "same_dim" || word == "same_axis";
}

}  // namespace

std::vector<Attribute> OtherValues(ir::IrContext& context, Attribute value,
                                   const ir::FieldDef* field) {
  std::vector<Attribute> others;
  switch (value.kind()) {
    case AttrKind::kBool:
      return {context.BoolAttr(!value.AsBool())};
    case AttrKind::kInts:
      return OtherLists(context, value.AsInts());
    case AttrKind::kString:
      if (field != nullptr)
        for (const std::string_view other : field->enumerators)
          if (other != value.AsString() && others.size() < kMostOthers)
            others.push_back(context.StringAttr(other));
      return others;
    default:
      if (const Attribute other = OtherLiteral(context, value); other && !(other == value))
        others.push_back(other);
      return others;
  }
}

std::vector<const ir::OpDef*> OtherOps(const ir::IrContext& context, const ir::OpDef& def) {
  std::vector<const ir::OpDef*> others;
  const std::string_view name = def.name();
  (void)(AddOthers(context, kArithmetic, name, &others) ||
         AddOthers(context, kFunctions, name, &others) ||
         AddOthers(context, kSums, name, &others) || AddOthers(context, kLogic, name, &others) ||
         AddOthers(context, kOrder, name, &others) || AddOthers(context, kSoftmax, name, &others));
  return others;
}

std::vector<Formula> OtherFormulas(ir::IrContext& context, const Formula& formula,
                                   bool is_constraint) {
  std::vector<Formula> others;
  const auto& arguments = formula.arguments;
  if (arguments.size() >= 2 && (!is_constraint || IsAboutOrder(formula.name)) &&
      arguments[0].kind == arguments[1].kind && arguments[0].kind != Formula::Argument::kLiteral &&
      !(arguments[0].value == arguments[1].value &&
        arguments[0].variable == arguments[1].variable)) {
    others.push_back(formula);
    std::swap(others.back().arguments[0], others.back().arguments[1]);
  }
  if (is_constraint && !IsAboutNumbers(formula.name)) return others;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != Formula::Argument::kLiteral) continue;
    const Attribute literal = arguments[i].literal;
    const Attribute other = OtherArgument(context, formula.name, literal);
    if (!other || other == literal) continue;
    const bool is_tolerance = formula.name == "splat_is" && i == 2;
    if (is_tolerance && std::isinf(NumberOf(arguments[1].literal))) continue;  // of no number
    others.push_back(formula);
    others.back().arguments[i].literal = other;
  }
  return others;
}

bool AreEqual(const drr::PatternGraph& graph, const Formula& a, const Formula& b) {
  const auto same = [&](const Formula::Argument& x, const Formula::Argument& y) {
    if (x.kind != y.kind || x.if_given != y.if_given) return false;
    if (x.kind == Formula::Argument::kValue)
      return graph.Resolve(x.value) == graph.Resolve(y.value);
    return x.kind == Formula::Argument::kVariable ? x.variable == y.variable
                                                  : x.literal == y.literal;
  };
  return a.name == b.name && std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(),
                                        b.arguments.end(), same);
}

}  // namespace weft::passes
