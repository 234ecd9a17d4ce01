// What the constraints of a rule say of its tensors. What is not known here is left out: a proof that
// assumes less proves more.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "drr/rule/vocabulary.h"
#include "passes/verify/proof/rule_case.h"

namespace weft::passes {

using drr::ValueId;
using ir::AttrKind;
using ir::DataType;
using Argument = drr::Formula::Argument;

double NumberOf(const Argument& argument) {
  return argument.literal.Is(AttrKind::kInt) ? static_cast<double>(argument.literal.AsInt())
                                             : argument.literal.AsDouble();
}

namespace {

// Those that dtype_is names; any where one is a variable.
TypeSet TypesOf(const drr::Formula& formula) {
  TypeSet types = 0;
  for (size_t i = 1; i < formula.arguments.size(); ++i) {
    if (formula.arguments[i].kind != Argument::kLiteral) return kAnyType;
    types |= TypeBit(formula.arguments[i].literal.AsDataType());
  }
  return types;
}

// A computed attribute as a constraint says only that it can be computed.
bool IsComputed(std::string_view word) {
  const auto& words = drr::Vocabulary();
  return std::any_of(words.begin(), words.end(), [&](const drr::VocabularyEntry& entry) {
    return entry.name == word && !entry.is_constraint;
  });
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

// Inputs of one number, or of sizes of 1, are made so from the beginning.
void RuleCase::ReadInputs() {
  for (const drr::Constraint& constraint : graph_.constraints) {
    const Formula& f = constraint.formula;
    for (size_t i = 0; i < f.arguments.size() && !constraint.profitable; ++i) {
      if (f.arguments[i].kind != Argument::kValue) continue;
      Known& known = known_[graph_.Resolve(f.arguments[i].value).index()];
      if (i == 0 && IsOneOf(f.name, {"uniform", "splat_is", "signed_zero", "positive", "non_zero"}))
        known.uniform = true;
      if (f.name == "per_tensor" ||
          (i == 0 && IsOneOf(f.name, {"one_element", "positive", "non_zero"})))
        known.one_element = known.uniform = true;
      if (f.name == "only_unit_dims_move") known.unit_sizes = true;
      if (f.name == "per_tensor")
        known.types &=
            i == 0 ? TypeBit(DataType::kF32) : TypeBit(DataType::kI8) | TypeBit(DataType::kU8);
      if (f.name == "float") known.types &= TypesThat(&ir::IsFloat);
      if (f.name == "integer") known.types &= TypesThat(&ir::IsInteger);
      if (f.name == "dtype_is") known.types &= TypesOf(f);
      if (f.name == "splat_is") {
        const double number = NumberOf(f.arguments[1]);
        const bool is_exact = f.arguments.size() > 2 ? NumberOf(f.arguments[2]) == 0 : number == 0;
        if (is_exact) known.number = number;
        known.zero_has_any_sign |= number == 0;
      }
      if (f.name == "signed_zero" && f.arguments[1].kind == Argument::kLiteral)
        known.number = NumberOf(f.arguments[1]) < 0 ? -0.0 : 0.0;
    }
  }
}

bool RuleCase::IsAbsent(const Formula& formula) const {
  return std::any_of(formula.arguments.begin(), formula.arguments.end(), [&](const Argument& a) {
    return a.if_given && values_[graph_.Resolve(a.value).index()].tensor == nullptr;
  });
}

bool RuleCase::IsList(const Formula& formula, size_t i) const {
  return graph_.values[graph_.Resolve(formula.arguments[i].value)].list;
}

Tensor* RuleCase::TensorOf(const Formula& formula, size_t i) {
  Tensor* tensor = values_[graph_.Resolve(formula.arguments[i].value).index()].tensor;
  if (tensor == nullptr) c_.Refuse();  // nothing is true of what is not there
  return tensor;
}

std::optional<int64_t> RuleCase::IntegerOf(const Formula& formula, size_t i) {
  const Argument& argument = formula.arguments[i];
  const ir::Attribute value = argument.kind == Argument::kVariable
                                  ? ops_.Chosen(VariableOf(argument.variable))
                                  : argument.literal;
  if (!value.Is(AttrKind::kInt)) return std::nullopt;
  return value.AsInt();
}

const ir::Ints* RuleCase::IntsOf(const Formula& formula, size_t i) {
  if (formula.arguments[i].kind != Argument::kVariable) return nullptr;
  const ir::Attribute value = ops_.Chosen(VariableOf(formula.arguments[i].variable));
  return value.Is(AttrKind::kInts) ? &value.AsInts() : nullptr;
}

std::optional<TypeClass> RuleCase::TypeOf(const Formula& formula, size_t i) {
  const Argument& argument = formula.arguments[i];
  if (argument.kind == Argument::kVariable) return ops_.TypeOf(VariableOf(argument.variable));
  return ops_.TypeOf({.literal = argument.literal});
}

std::optional<Term> RuleCase::SizeOf(const Formula& formula, size_t v, size_t axis) {
  Tensor* tensor = TensorOf(formula, v);
  const std::optional<int64_t> given = IntegerOf(formula, axis);
  if (tensor == nullptr || !given) return std::nullopt;
  const auto rank = static_cast<int64_t>(tensor->Rank());
  const int64_t at = *given < 0 ? *given + rank : *given;
  if (at >= 0 && at < rank) return tensor->Dims()[static_cast<size_t>(at)];
  c_.Refuse();
  return std::nullopt;
}

// Constants that can be joined are of f32; one of them is a number, or both are of one shape.
void RuleCase::AssumeJoin(const Formula& formula) {
  Tensor *a = TensorOf(formula, 0), *b = TensorOf(formula, 1);
  if (a == nullptr || b == nullptr) return;
  Terms& t = c_.terms();
  for (const Tensor* tensor : {a, b}) c_.Restrict(tensor->type, TypeBit(DataType::kF32));
  if (formula.arguments.size() > 2) return;
  const size_t which = c_.Choose(3, "which constant is a number");
  if (which < 2) {
    for (const Term size : (which == 0 ? a : b)->Dims()) c_.Assume(t.Equal(size, t.Integer(1)));
    return;
  }
  if (!b->SetRank(a->Rank())) return c_.Refuse();
  for (size_t i = 0; c_.open() && i < a->Dims().size(); ++i)
    c_.Assume(t.Equal(a->Dims()[i], b->Dims()[i]));
}

void RuleCase::AssumeConstraint(const Formula& formula) {
  if (IsOneOf(formula.name, {"product", "sum", "quotient"})) return AssumeJoin(formula);
  if (IsAbsent(formula) || IsComputed(formula.name)) return;
  if (formula.name == "any_element") {
    bool any = false;
    for (const Argument& list : formula.arguments)
      any |= !values_[graph_.Resolve(list.value).index()].list.empty();
    if (!any) c_.Refuse();
    return;
  }
  for (size_t i = 0; i < formula.arguments.size(); ++i)
    if (formula.arguments[i].kind == Argument::kValue && !IsList(formula, i)) TensorOf(formula, i);
  if (c_.open()) AssumeRanks(formula);
  if (c_.open()) AssumeSizes(formula);
  if (c_.open()) AssumeTypes(formula);
  if (c_.open()) AssumeAxes(formula);
}

void RuleCase::AssumeRanks(const Formula& formula) {
  const std::string& name = formula.name;
  bool holds = true;
  if (name == "rank_is") {
    if (const auto rank = IntegerOf(formula, 1))
      holds = *rank >= 0 && TensorOf(formula, 0)->SetRank(static_cast<size_t>(*rank));
  } else if (name == "rank_at_least") {
    const auto least = IntegerOf(formula, 1);
    holds = !least || static_cast<int64_t>(TensorOf(formula, 0)->Rank()) >= *least;
  } else if (name == "rank_at_most") {
    const auto most = IntegerOf(formula, 1);
    holds = !most || static_cast<int64_t>(TensorOf(formula, 0)->Rank()) <= *most;
  } else if (IsOneOf(name, {"same_rank", "same_shape", "same_type"})) {
    holds = TensorOf(formula, 1)->SetRank(TensorOf(formula, 0)->Rank());
  } else if (IsOneOf(name, {"no_higher_rank", "broadcasts"})) {
    holds = TensorOf(formula, 0)->Rank() <= TensorOf(formula, 1)->Rank();
  } else if (name == "per_channel") {
    holds = TensorOf(formula, 0)->SetRank(1);
  }
  if (!holds) c_.Refuse();
}

void RuleCase::AssumeSizes(const Formula& formula) {
  Terms& t = c_.terms();
  const std::string& name = formula.name;
  const auto same = [&](const std::optional<Term>& a, const std::optional<Term>& b) {
    if (a && b) c_.Assume(t.Equal(*a, *b));
  };
  if (name == "dim_is" || name == "dim_at_least" || name == "dim_at_most") {
    const auto size = SizeOf(formula, 0, 1);
    const auto other = IntegerOf(formula, 2);
    if (!size || !other) return;
    if (name != "dim_at_most") c_.Assume(t.AtMost(t.Integer(*other), *size));
    if (name != "dim_at_least") c_.Assume(t.AtMost(*size, t.Integer(*other)));
  } else if (name == "same_dim") {
    same(SizeOf(formula, 0, 1), SizeOf(formula, 2, 3));
  } else if (name == "per_channel") {
    same(TensorOf(formula, 0)->Dims()[0], SizeOf(formula, 1, 2));
  } else if (name == "same_shape" || name == "same_type") {
    const std::vector<Term> a = TensorOf(formula, 0)->Dims(), b = TensorOf(formula, 1)->Dims();
    for (size_t i = 0; i < a.size(); ++i) same(a[i], b[i]);
  } else if (name == "broadcasts") {
    const std::vector<Term> a = TensorOf(formula, 0)->Dims(), b = TensorOf(formula, 1)->Dims();
    for (size_t i = 0; i < a.size(); ++i)
      c_.Assume(t.Or(t.Equal(a[i], t.Integer(1)), t.Equal(a[i], b[i + b.size() - a.size()])));
  } else if (name == "broadcast_together") {
    AssumeBroadcastTogether(formula);
  } else if (name == "one_element" && !TensorOf(formula, 0)->HasOneElement()) {
    for (const Term size : TensorOf(formula, 0)->Dims()) c_.Assume(t.Equal(size, t.Integer(1)));
  } else if (name == "non_empty") {
    for (const Term size : TensorOf(formula, 0)->Dims()) c_.Assume(t.AtMost(t.Integer(1), size));
  } else if (name == "reshapes_compose") {
    const std::vector<Term> x = TensorOf(formula, 0)->Dims(), y = TensorOf(formula, 1)->Dims(),
                            target = ops_.IntegersOf(*TensorOf(formula, 2));
    for (size_t i = 0; i < target.size(); ++i) {
      const bool both = i < x.size() && i < y.size();
      const Term copies = t.Equal(target[i], t.Integer(0));
      c_.Assume(t.Or(t.Not(copies), both ? t.Equal(x[i], y[i]) : t.Bool(false)));
    }
  }
}

// A size of the third value is that of one of the others at its place.
void RuleCase::AssumeBroadcastTogether(const Formula& formula) {
  Terms& t = c_.terms();
  const std::vector<Term> out = TensorOf(formula, 2)->Dims();
  for (size_t from_end = 1; from_end <= out.size(); ++from_end) {
    Term any = t.Bool(false);
    for (const size_t operand : {0, 1}) {
      const std::vector<Term> dims = TensorOf(formula, operand)->Dims();
      if (from_end > dims.size()) continue;
      any = t.Or(any, t.Equal(dims[dims.size() - from_end], out[out.size() - from_end]));
    }
    c_.Assume(any);
  }
}

// Of ops whose kind is known in this case.
bool RuleCase::AreMadeByOneKind(const Formula& formula) {
  const ir::OpDef* kinds[2] = {nullptr, nullptr};
  for (size_t i = 0; i < 2; ++i) {
    const drr::OpId op = graph_.values[graph_.Resolve(formula.arguments[i].value)].producer;
    if (op && made_ops_[op.index()].op) kinds[i] = made_ops_[op.index()].op->def;
  }
  return kinds[0] == nullptr || kinds[1] == nullptr || kinds[0] == kinds[1];
}

void RuleCase::AssumeTypes(const Formula& formula) {
  const std::string& name = formula.name;
  if (name == "dtype_is" && formula.arguments.size() > 2) {
    c_.Restrict(TensorOf(formula, 0)->type, TypesOf(formula));
  } else if (name == "dtype_is") {
    if (const auto type = TypeOf(formula, 1)) c_.Unify(TensorOf(formula, 0)->type, *type);
  } else if (name == "same_dtype" || name == "same_type") {
    c_.Unify(TensorOf(formula, 0)->type, TensorOf(formula, 1)->type);
  } else if (name == "float" || name == "integer") {
    c_.Restrict(TensorOf(formula, 0)->type,
                TypesThat(name == "float" ? &ir::IsFloat : &ir::IsInteger));
  } else if (name == "casts_compose") {
    const auto first = TypeOf(formula, 1), second = TypeOf(formula, 2);
    if (first && second) c_.NoteCasts(TensorOf(formula, 0)->type, *first, *second);
  }
}

// Of permutations and axes that are chosen.
void RuleCase::AssumeAxes(const Formula& formula) {
  bool holds = true;
  if (formula.name == "identity") {
    if (const ir::Ints* perm = IntsOf(formula, 0))
      for (size_t i = 0; i < perm->size(); ++i) holds &= (*perm)[i] == static_cast<int64_t>(i);
  } else if (formula.name == "inverse") {
    const ir::Ints *p = IntsOf(formula, 0), *q = IntsOf(formula, 1);
    if (p == nullptr || q == nullptr) return;
    holds = p->size() == q->size();
    for (size_t i = 0; holds && i < q->size(); ++i)
      holds = (*p)[static_cast<size_t>((*q)[i])] == static_cast<int64_t>(i);
  } else if (formula.name == "same_axis") {
    const auto a = IntegerOf(formula, 1), b = IntegerOf(formula, 2);
    if (!a || !b) return;
    const auto rank = static_cast<int64_t>(TensorOf(formula, 0)->Rank());
    holds = (*a < 0 ? *a + rank : *a) == (*b < 0 ? *b + rank : *b);
  } else if (formula.name == "same_op") {
    holds = AreMadeByOneKind(formula);
  } else if (formula.name == "swaps_last") {
    const ir::Ints* perm = IntsOf(formula, 0);
    if (perm == nullptr) return;
    ir::Ints swapped(perm->size());
    std::iota(swapped.begin(), swapped.end(), int64_t{0});
    holds = swapped.size() > 1;
    if (holds) std::swap(swapped[swapped.size() - 2], swapped.back());
    holds &= *perm == swapped;
  } else if (formula.name == "count_is") {
    const ir::Ints* list = IntsOf(formula, 0);
    const auto count = IntegerOf(formula, 1);
    holds = list == nullptr || !count || static_cast<int64_t>(list->size()) == *count;
  } else if (formula.name == "only_unit_dims_move") {
    const ir::Ints* perm = IntsOf(formula, 1);
    const std::vector<Term> dims = TensorOf(formula, 0)->Dims();
    int64_t last = -1;
    for (size_t i = 0; perm != nullptr && i < perm->size(); ++i) {
      const int64_t axis = (*perm)[i];
      if (c_.terms().IsInteger(dims[static_cast<size_t>(axis)], 1)) continue;
      holds &= axis > last;
      last = axis;
    }
  }
  if (!holds) c_.Refuse();
}

}  // namespace weft::passes
