// What the result of a rule computes: attributes and constants.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "passes/verify/proof/rule_case.h"

namespace weft::passes {

using ir::AttrKind;
using ir::DataType;
using Argument = drr::Formula::Argument;

std::optional<ProofAttr> RuleCase::Computed(const Formula& formula, ir::AttrKind kind) {
  if (kind == AttrKind::kDense || kind == AttrKind::kInts) {
    if (auto constant = ComputedConstant(formula)) return constant;
  }
  const bool of_variable =
      !formula.arguments.empty() && formula.arguments[0].kind == Argument::kVariable;
  if (formula.name == "compose") {
    const ir::Ints *p = IntsOf(formula, 0), *q = IntsOf(formula, 1);
    if (p == nullptr || q == nullptr) return std::nullopt;
    ir::Ints composed;
    for (const int64_t axis : *q) {
      if (static_cast<size_t>(axis) >= p->size()) return std::nullopt;
      composed.push_back((*p)[static_cast<size_t>(axis)]);
    }
    return ProofAttr{.literal = graph_.context()->IntsAttr(composed)};
  }
  if (formula.name == "inverse_of") {
    const ir::Ints* p = IntsOf(formula, 0);
    if (p == nullptr) return std::nullopt;
    ir::Ints inverse(p->size());
    for (size_t i = 0; i < p->size(); ++i)
      inverse[static_cast<size_t>((*p)[i])] = static_cast<int64_t>(i);
    return ProofAttr{.literal = graph_.context()->IntsAttr(inverse)};
  }
  if (formula.name == "element") {
    const ir::Ints* list = IntsOf(formula, 0);
    const auto index = IntegerOf(formula, 1);
    if (list == nullptr || !index) return std::nullopt;
    const auto size = static_cast<int64_t>(list->size());
    const int64_t at = *index < 0 ? *index + size : *index;
    if (at < 0 || at >= size) return std::nullopt;
    return ProofAttr{.literal = graph_.context()->IntAttr((*list)[static_cast<size_t>(at)])};
  }
  if (formula.name == "bool" && of_variable) {
    if (const auto integer = IntegerOf(formula, 0))
      return ProofAttr{.literal = graph_.context()->BoolAttr(*integer != 0)};
    return std::nullopt;
  }
  if (formula.name == "is_zero" && of_variable) {
    if (const auto integer = IntegerOf(formula, 0))
      return ProofAttr{.literal = graph_.context()->IntAttr(*integer == 0 ? 1 : 0)};
    return std::nullopt;
  }
  if (formula.name == "reversed_axes") {
    Tensor* of = values_[graph_.Resolve(formula.arguments[0].value).index()].tensor;
    if (of == nullptr) return std::nullopt;
    ir::Ints reversed(of->Rank());
    std::iota(reversed.rbegin(), reversed.rend(), int64_t{0});
    return ProofAttr{.literal = graph_.context()->IntsAttr(reversed)};
  }
  if (formula.name == "op_name" || formula.name == "snake_op_name" ||
      formula.name == "float_attributes") {
    const ProofOp* op = OpThatMakes(formula, 0);
    if (op == nullptr) return std::nullopt;
    return ProofAttr{.of_op = op};
  }
  if (formula.name == "bounds") return ComputedBounds(formula);
  if (formula.name == "scaled") return ComputedScale(formula);
  if (formula.name == "dtype") {
    const Tensor* of = values_[graph_.Resolve(formula.arguments[0].value).index()].tensor;
    if (of == nullptr) return std::nullopt;
    return ProofAttr{
        .token = fmt::format("type of {}", of->id), .element_type = of->type, .is_type = true};
  }
  if (formula.name != "splat") return std::nullopt;
  Tensor* from = values_[graph_.Resolve(formula.arguments[0].value).index()].tensor;
  if (from == nullptr && formula.arguments.size() > 1) {
    if (kind != AttrKind::kFloat) return std::nullopt;
    const auto number = static_cast<float>(NumberOf(formula.arguments[1]));
    return ProofAttr{.literal = graph_.context()->FloatAttr(number)};
  }
  if (kind == AttrKind::kFloat && from != nullptr && from->Uniform() && c_.ReadsReals())
    return ProofAttr{.elements = {from->Uniform()}};
  return ProofAttr{
      .token = fmt::format("the number of {}", graph_.Resolve(formula.arguments[0].value).index())};
}

// They are kept as f32, so those of f32 are themselves; a bound that is not given is infinite.
std::optional<ProofAttr> RuleCase::ComputedBounds(const Formula& formula) {
  ProofAttr bounds;
  for (size_t i = 0; i < 2; ++i) {
    Tensor* bound = values_[graph_.Resolve(formula.arguments[i].value).index()].tensor;
    bounds.elements.push_back(c_.terms().Number(i == 0 ? -INFINITY : INFINITY));
    if (bound == nullptr) continue;
    if (!bound->Uniform() || c_.PossibleTypes(bound->type) != TypeBit(DataType::kF32))
      return std::nullopt;
    bounds.elements.back() = bound->Uniform();
  }
  return bounds;
}

// A number, 1 where the variable is none, times and divided by the numbers that are there.
std::optional<ProofAttr> RuleCase::ComputedScale(const Formula& formula) {
  if (!c_.ReadsReals()) return std::nullopt;
  Terms& t = c_.terms();
  Term scale = t.Number(1);
  for (size_t i = 0; i < formula.arguments.size(); ++i) {
    const Argument& argument = formula.arguments[i];
    if (argument.kind == Argument::kLiteral) {
      scale = t.Number(NumberOf(argument));
    } else if (argument.kind == Argument::kVariable) {
      const std::optional<ProofAttr>& given = variables_[argument.variable.index()];
      if (!given) continue;
      const ir::Attribute value = ops_.Chosen(*given);
      if (value && !value.Is(AttrKind::kFloat)) return std::nullopt;
      scale =
          value ? t.Number(value.AsFloat()) : t.Variable(Sort::kElement, "number " + given->token);
    } else if (argument.kind == Argument::kValue) {
      Tensor* number = values_[graph_.Resolve(argument.value).index()].tensor;
      if (number == nullptr) continue;
      if (!number->Uniform()) return std::nullopt;
      scale = t.Apply(Sort::kElement, i == 1 ? "onnx.Div" : "onnx.Mul", {scale, number->Uniform()});
    }
  }
  return ProofAttr{.elements = {scale}};
}

// Of two constants; with an axis where the second is one number, or has them along its last axis.
std::optional<ProofAttr> RuleCase::ComputedJoin(const Formula& formula, std::string_view op) {
  Tensor *a = TensorOf(formula, 0), *b = TensorOf(formula, 1);
  if (a == nullptr || b == nullptr) return std::nullopt;
  if (formula.arguments.size() > 2 && b->HasOneElement() && b->Uniform()) {
    b = ops_.NumberLike(*a, b->Uniform());
  } else if (formula.arguments.size() > 2 && b->HasOneSize()) {
    b = ops_.NumberLike(*a, b->At(std::vector<Term>(b->Rank(), c_.terms().Integer(0))));
  } else if (formula.arguments.size() > 2) {
    const auto axis = IntegerOf(formula, 2);
    const auto rank = static_cast<int64_t>(a->Rank());
    const int64_t at = axis && *axis < 0 ? *axis + rank : axis.value_or(rank);
    if (at < 0 || at >= rank || !VariesAlongLast(*b)) return std::nullopt;
    Terms& t = c_.terms();
    const Term count = b->NumElements(), one = t.Integer(1);
    const Term places = a->Dims()[static_cast<size_t>(at)];
    // Else it is not computed, and nothing is rewritten.
    if (!t.IsInteger(count, 1)) c_.Assume(t.Or(t.Equal(count, one), t.Equal(count, places)));
    std::vector<Term> column(static_cast<size_t>(rank - at), one);
    column[0] = count;
    b = c_.Make<Reshaped>(*b, column);
  }
  Tensor* joined = ops_.Call(op, {a, b});
  if (joined == nullptr) return std::nullopt;
  return ProofAttr{.tensor = joined};
}

std::optional<ProofAttr> RuleCase::ComputedConstant(const Formula& formula) {
  const auto tensor = [&](size_t i) -> Tensor* {
    if (formula.arguments.size() <= i) return nullptr;
    return values_[graph_.Resolve(formula.arguments[i].value).index()].tensor;
  };
  if (formula.name == "shape") {
    if (tensor(0) == nullptr) return std::nullopt;
    std::vector<Term> dims = tensor(0)->Dims();
    if (formula.arguments.size() > 1) {
      if (tensor(1) == nullptr || tensor(1)->Rank() < dims.size()) return std::nullopt;
      dims.insert(dims.begin(), tensor(1)->Rank() - dims.size(), c_.terms().Integer(1));
    }
    return ProofAttr{.integers = std::move(dims)};
  }
  if (formula.name == "ints" || (formula.name == "sizes" && formula.arguments.size() == 1)) {
    if (tensor(0) == nullptr) return std::nullopt;
    return ProofAttr{.integers = ops_.IntegersOf(*tensor(0))};
  }
  if (formula.name == "product") return ComputedJoin(formula, "onnx.Mul");
  if (formula.name == "sum") return ComputedJoin(formula, "onnx.Add");
  if (formula.name == "quotient") return ComputedJoin(formula, "onnx.Div");
  if (formula.name == "scalar" && tensor(0) != nullptr)
    return ProofAttr{.element = c_.terms().Number(NumberOf(formula.arguments[1])),
                     .element_type = tensor(0)->type};
  if (formula.name == "scalar_of") {
    Tensor* from = tensor(0) != nullptr ? tensor(0) : tensor(1);
    if (from == nullptr || !from->Uniform()) return std::nullopt;
    return ProofAttr{.element = from->Uniform(), .element_type = from->type};
  }
  return std::nullopt;
}

}  // namespace weft::passes
