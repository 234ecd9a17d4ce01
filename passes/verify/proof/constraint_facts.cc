// What the constraints of a rule say of its tensors. What is not known here is left out: a proof that
// assumes less proves more.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "drr/rule/vocabulary.h"
#include "drr/rule/vocabulary_functions.h"
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

// Those that dtype_is names; any where one is a variable, of which nothing follows.
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

// Only the last size may be another one than 1: that of the second value.
bool IsAlongLast(const drr::Formula& f) {
  return f.name == "varies_along" && f.arguments.size() == 3 &&
         f.arguments[2].kind == Argument::kLiteral && f.arguments[2].literal.AsInt() == -1;
}

// Words of which all that they say is said below, so that a constraint follows where that does. What only
// asks how much is known holds of every run.
bool IsFollowed(std::string_view word) {
  return IsOneOf(
      word, {"static",     "static_dim", "ranked",       "rank_is",        "rank_at_least",
             "dim_is",     "same_dim",   "dim_at_least", "no_higher_rank", "rank_at_most",
             "same_rank",  "dtype_is",   "dim_at_most",  "broadcasts",     "broadcast_together",
             "same_dtype", "same_type",  "same_shape",   "one_element",    "per_channel",
             "non_empty",  "float",      "integer",      "identity",       "inverse",
             "same_axis",  "swaps_last", "count_is",     "splat_is",       "list_is"});
}

}  // namespace

// Inputs of one number, of a rank, or of sizes of 1, are made so from the beginning.
void RuleCase::ReadInputs() {
  for (const drr::SourceOp& op : graph_.ops) {
    if (op.alternatives.size() != 1 || !RankOfOperand(op.alternatives[0].def->name(), 0)) continue;
    if (!op.results[0] || !ValuesAlwaysThere(graph_)[graph_.Resolve(op.results[0])]) continue;
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (const auto rank = RankOfOperand(op.alternatives[0].def->name(), i);
          rank && op.operands[i])
        known_[graph_.Resolve(op.operands[i]).index()].rank = rank;
  }
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
      if (f.name == "rank_is" && f.arguments[1].kind == Argument::kLiteral) {
        const int64_t rank = f.arguments[1].literal.AsInt();
        if (rank >= 0 && rank <= static_cast<int64_t>(kMaxProofRank))
          known.rank = static_cast<size_t>(rank);
      }
      if (f.name == "only_unit_dims_move") known.unit_sizes = true;
      if (i == 0 && IsAlongLast(f)) known.only_last = true;
      if (f.name == "per_tensor")
        known.types &=
            i == 0 ? TypeBit(DataType::kF32) : TypeBit(DataType::kI8) | TypeBit(DataType::kU8);
      if (f.name == "float") known.types &= TypesThat(&ir::IsFloat);
      if (f.name == "integer") known.types &= TypesThat(&ir::IsInteger);
      if (f.name == "dtype_is") known.types &= TypesOf(f);
      if (f.name == "splat_is") {
        const double number = NumberOf(f.arguments[1]);
        const double tolerance = f.arguments.size() > 2 ? NumberOf(f.arguments[2])
                                                        : drr::internal::SplatTolerance(number);
        if (tolerance == 0) known.number = number;
        if (number == std::trunc(number) && tolerance < 0.5)
          known.whole_number = static_cast<int64_t>(number);
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
  if (tensor == nullptr) Say(false);  // nothing is true of what is not there
  return tensor;
}

std::optional<int64_t> RuleCase::IntegerOf(const Formula& formula, size_t i) {
  const Argument& argument = formula.arguments[i];
  const ir::Attribute value = argument.kind == Argument::kVariable
                                  ? ops_.Chosen(VariableOf(argument.variable))
                                  : argument.literal;
  if (value.Is(AttrKind::kInt)) return value.AsInt();
  SayUnknown();
  return std::nullopt;
}

const ir::Ints* RuleCase::IntsOf(const Formula& formula, size_t i) {
  if (formula.arguments[i].kind == Argument::kVariable) {
    const ir::Attribute value = ops_.Chosen(VariableOf(formula.arguments[i].variable));
    if (value.Is(AttrKind::kInts)) return &value.AsInts();
  }
  SayUnknown();
  return nullptr;
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
  Say(false);
  return std::nullopt;
}

// Constants that can be joined are of f32; one of them is a number, or both are of one shape.
void RuleCase::SayJoin(const Formula& formula) {
  if (goal_ != nullptr || breach_ != nullptr) return SayUnknown();
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

void RuleCase::SayConstraint(const Formula& formula) {
  if (IsOneOf(formula.name, {"product", "sum", "quotient"})) return SayJoin(formula);
  if (IsAbsent(formula)) return;
  if (formula.name == "any_element") {
    bool any = false;
    for (const Argument& list : formula.arguments)
      any |= !values_[graph_.Resolve(list.value).index()].list.empty();
    return Say(any);
  }
  if (!IsFollowed(formula.name)) SayUnknown();
  if (IsComputed(formula.name)) return;
  for (size_t i = 0; i < formula.arguments.size(); ++i)
    if (formula.arguments[i].kind == Argument::kValue && !IsList(formula, i) &&
        TensorOf(formula, i) == nullptr)
      return;
  for (const auto say :
       {&RuleCase::SayRanks, &RuleCase::SaySizes, &RuleCase::SayTypes, &RuleCase::SayAxes})
    if (c_.open() && (goal_ == nullptr || *goal_) && (breach_ == nullptr || !breach_->is_made))
      (this->*say)(formula);
}

const ProofOp* RuleCase::OpThatMakes(const Formula& formula, size_t i) const {
  const drr::OpId producer = graph_.values[graph_.Resolve(formula.arguments[i].value)].producer;
  if (!producer || !made_ops_[producer.index()].op) return nullptr;
  return &*made_ops_[producer.index()].op;
}

bool RuleCase::HasOnlyNumbers(drr::OpId id) const {
  return std::any_of(
      graph_.constraints.begin(), graph_.constraints.end(), [&](const drr::Constraint& constraint) {
        const Formula& formula = constraint.formula;
        return formula.name == "float_attributes" &&
               graph_.values[graph_.Resolve(formula.arguments[0].value)].producer == id;
      });
}

void RuleCase::SayRanks(const Formula& formula) {
  const std::string& name = formula.name;
  if (name == "rank_is") {
    if (const auto rank = IntegerOf(formula, 1))
      Say(*rank >= 0 && HasRank(*TensorOf(formula, 0), static_cast<size_t>(*rank)));
  } else if (name == "rank_at_least") {
    if (const auto least = IntegerOf(formula, 1))
      Say(static_cast<int64_t>(TensorOf(formula, 0)->Rank()) >= *least);
  } else if (name == "rank_at_most") {
    if (const auto most = IntegerOf(formula, 1))
      Say(static_cast<int64_t>(TensorOf(formula, 0)->Rank()) <= *most);
  } else if (IsOneOf(name, {"same_rank", "same_shape", "same_type"})) {
    Say(HasRank(*TensorOf(formula, 1), TensorOf(formula, 0)->Rank()));
  } else if (IsOneOf(name, {"no_higher_rank", "broadcasts"})) {
    Say(TensorOf(formula, 0)->Rank() <= TensorOf(formula, 1)->Rank());
  } else if (name == "per_channel") {
    Say(HasRank(*TensorOf(formula, 0), 1));
  }
}

void RuleCase::SaySizes(const Formula& formula) {
  Terms& t = c_.terms();
  const std::string& name = formula.name;
  if (name == "dim_is" || name == "dim_at_least" || name == "dim_at_most") {
    const auto size = SizeOf(formula, 0, 1);
    const auto other = IntegerOf(formula, 2);
    if (!size || !other) return;
    if (name != "dim_at_most") Say(t.AtMost(t.Integer(*other), *size));
    if (name != "dim_at_least") Say(t.AtMost(*size, t.Integer(*other)));
  } else if (name == "static_dim") {
    SizeOf(formula, 0, 1);
  } else if (name == "same_dim") {
    SaySame(SizeOf(formula, 0, 1), SizeOf(formula, 2, 3));
  } else if (name == "per_channel") {
    SaySame(TensorOf(formula, 0)->Dims()[0], SizeOf(formula, 1, 2));
  } else if (name == "same_shape" || name == "same_type") {
    const std::vector<Term> a = TensorOf(formula, 0)->Dims(), b = TensorOf(formula, 1)->Dims();
    for (size_t i = 0; i < a.size(); ++i) SaySame(a[i], b[i]);
  } else if (name == "broadcasts") {
    const std::vector<Term> a = TensorOf(formula, 0)->Dims(), b = TensorOf(formula, 1)->Dims();
    for (size_t i = 0; i < a.size(); ++i)
      Say(t.Or(t.Equal(a[i], t.Integer(1)), t.Equal(a[i], b[i + b.size() - a.size()])));
  } else if (IsAlongLast(formula) && goal_ == nullptr && breach_ == nullptr) {
    const std::vector<Term> a = TensorOf(formula, 0)->Dims(), b = TensorOf(formula, 1)->Dims();
    if (a.size() > b.size()) return Say(false);
    if (!a.empty() && !t.IsInteger(a.back(), 1)) Say(t.Equal(a.back(), b.back()));
  } else if (name == "broadcast_together") {
    SayBroadcastTogether(formula);
  } else if (name == "one_element" && !TensorOf(formula, 0)->HasOneElement()) {
    for (const Term size : TensorOf(formula, 0)->Dims()) Say(t.Equal(size, t.Integer(1)));
  } else if (name == "non_empty") {
    for (const Term size : TensorOf(formula, 0)->Dims()) Say(t.AtMost(t.Integer(1), size));
  } else if (name == "reshapes_compose") {
    const std::vector<Term> x = TensorOf(formula, 0)->Dims(), y = TensorOf(formula, 1)->Dims(),
                            target = ops_.IntegersOf(*TensorOf(formula, 2));
    for (size_t i = 0; i < target.size(); ++i) {
      const bool both = i < x.size() && i < y.size();
      const Term copies = t.Equal(target[i], t.Integer(0));
      Say(t.Or(t.Not(copies), both ? t.Equal(x[i], y[i]) : t.Bool(false)));
    }
  }
}

// A size of the third value is that of one of the others at its place.
void RuleCase::SayBroadcastTogether(const Formula& formula) {
  Terms& t = c_.terms();
  const std::vector<Term> out = TensorOf(formula, 2)->Dims();
  for (size_t from_end = 1; from_end <= out.size(); ++from_end) {
    Term any = t.Bool(false);
    for (const size_t operand : {0, 1}) {
      const std::vector<Term> dims = TensorOf(formula, operand)->Dims();
      if (from_end > dims.size()) continue;
      any = t.Or(any, t.Equal(dims[dims.size() - from_end], out[out.size() - from_end]));
    }
    Say(any);
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

void RuleCase::SayTypes(const Formula& formula) {
  const std::string& name = formula.name;
  if (name == "splat_is") return SayNumber(formula);
  if (name == "dtype_is" && formula.arguments.size() > 2) {
    const TypeSet types = TypesOf(formula);
    if (types == kAnyType) SayUnknown();
    SayTypeIs(TensorOf(formula, 0)->type, types);
  } else if (name == "dtype_is") {
    const auto type = TypeOf(formula, 1);
    if (!type) return SayUnknown();
    SaySameType(TensorOf(formula, 0)->type, *type);
  } else if (name == "same_dtype" || name == "same_type") {
    SaySameType(TensorOf(formula, 0)->type, TensorOf(formula, 1)->type);
  } else if (name == "float" || name == "integer") {
    SayTypeIs(TensorOf(formula, 0)->type,
              TypesThat(name == "float" ? &ir::IsFloat : &ir::IsInteger));
  } else if (name == "casts_compose") {
    const auto first = TypeOf(formula, 1), second = TypeOf(formula, 2);
    if (first && second) c_.NoteCasts(TensorOf(formula, 0)->type, *first, *second);
  }
}

// Of whole numbers none other is near; of others nothing is said but what ReadInputs() does.
void RuleCase::SayNumber(const Formula& formula) {
  const Tensor* tensor = TensorOf(formula, 0);
  if (breach_ != nullptr && tensor != nullptr) {
    const bool is_it = tensor->whole_number &&
                       static_cast<double>(*tensor->whole_number) == NumberOf(formula.arguments[1]);
    return Say(is_it);
  }
  if (goal_ == nullptr || tensor == nullptr) return;
  const bool is_whole = (c_.PossibleTypes(tensor->type) & ~TypesThat(&ir::IsInteger)) == 0;
  Say(is_whole && tensor->whole_number &&
      static_cast<double>(*tensor->whole_number) == NumberOf(formula.arguments[1]));
}

namespace {

bool KeepsOrderOfRest(const ir::Ints& perm, const std::vector<bool>& moves_freely) {
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (moves_freely[static_cast<size_t>(axis)]) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

bool RuleCase::HasChosenUnitSizes(const Formula& formula) const {
  const auto number = std::count_if(graph_.constraints.begin(), graph_.constraints.end(),
                                    [&](const drr::Constraint& other) {
                                      return other.formula.name == formula.name &&
                                             graph_.Resolve(other.formula.arguments[0].value) ==
                                                 graph_.Resolve(formula.arguments[0].value);
                                    });
  const auto* leaf =
      dynamic_cast<const Leaf*>(values_[graph_.Resolve(formula.arguments[0].value).index()].tensor);
  return number == 1 && leaf != nullptr && leaf->unit_sizes && !leaf->one_element &&
         !leaf->only_last;
}

bool RuleCase::IsOfAxes(const Formula& formula) {
  return IsOneOf(formula.name, {"identity", "inverse", "same_axis", "swaps_last", "list_is",
                                "count_is", "only_unit_dims_move"});
}

// Of permutations and axes that are chosen.
void RuleCase::SayAxes(const Formula& formula) {
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
  } else if (formula.name == "list_is") {
    const ir::Ints* list = IntsOf(formula, 0);
    if (list == nullptr) return SayUnknown();
    holds = *list == formula.arguments[1].literal.AsInts();
  } else if (formula.name == "count_is") {
    const ir::Ints* list = IntsOf(formula, 0);
    const auto count = IntegerOf(formula, 1);
    holds = list == nullptr || !count || static_cast<int64_t>(list->size()) == *count;
  } else if (formula.name == "only_unit_dims_move") {
    const ir::Ints* perm = IntsOf(formula, 1);
    if (perm == nullptr) return;
    std::vector<bool> moves_freely;
    for (const Term dim : TensorOf(formula, 0)->Dims())
      moves_freely.push_back(c_.terms().IsInteger(dim, 1));
    holds = KeepsOrderOfRest(*perm, moves_freely);
    // A size that need not be 1 is in the case where it may be anything.
    const bool are_chosen = HasChosenUnitSizes(formula);
    for (size_t i = 0; are_chosen && holds && i < perm->size(); ++i) {
      if (!moves_freely[i]) continue;
      moves_freely[i] = false;
      holds = !KeepsOrderOfRest(*perm, moves_freely);
      moves_freely[i] = true;
    }
  }
  Say(holds);
}

}  // namespace weft::passes
