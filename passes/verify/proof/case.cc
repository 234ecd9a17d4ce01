#include "passes/verify/proof/case.h"

#include <algorithm>

#include "passes/verify/proof/size_equations.h"
#include "passes/verify/proof/tensor.h"

namespace weft::passes {

bool Advance(Script* script) {
  while (!script->empty() && script->back().chosen + 1 >= script->back().options)
    script->pop_back();
  if (script->empty()) return false;
  ++script->back().chosen;
  return true;
}

TypeSet TypesThat(bool (*hold)(ir::DataType)) {
  TypeSet set = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (hold(static_cast<ir::DataType>(i))) set |= TypeBit(static_cast<ir::DataType>(i));
  return set;
}

Case::Case(ProofState& state, Script& script) : state_(state), script_(script) {}
Case::~Case() = default;

void Case::Fail(std::string why) {
  if (why_.empty()) why_ = std::move(why);
}

void Case::Refuse() {
  if (of_result_) Fail("the result may not be valid");
  impossible_ |= !of_result_;
}

size_t Case::Choose(size_t options, const std::string& what) {
  if (!open() || options == 0) {
    Refuse();
    return 0;
  }
  if (options == 1) return 0;
  if (at_ == script_.size())
    script_.push_back(
        {what, options, 0, state_.first_answer ? state_.first_answer(what, options) % options : 0});
  const Choice& choice = script_[at_++];
  if (choice.what == what && choice.options == options) return choice.Answer();
  Fail("cases are not the same each time");
  return 0;
}

void Case::Assume(Term fact) {
  if (terms().IsFalse(fact)) Refuse();
  if (!terms().IsTrue(fact)) facts_.push_back(fact);
}
bool Case::IsFact(Term fact) {
  return terms().IsTrue(fact) || std::find(facts_.begin(), facts_.end(), fact) != facts_.end();
}
void Case::Require(Term term, bool of_result) {
  if (!of_result) {
    Assume(term);
  } else if (!terms().IsTrue(term)) {
    requirements_.push_back(term);
  }
}

// Products and quotients of sizes make questions hard, and few need them.
bool Case::Proves(Term goal, const std::vector<Term>& more_facts) {
  if (terms().IsTrue(goal)) return true;
  std::vector<Term> facts = facts_;
  facts.insert(facts.end(), more_facts.begin(), more_facts.end());
  if (std::find(facts.begin(), facts.end(), goal) != facts.end()) return true;
  std::sort(facts.begin(), facts.end());
  facts.erase(std::unique(facts.begin(), facts.end()), facts.end());
  std::vector<Term> linear = facts;
  std::erase_if(linear, [&](Term fact) { return !terms()[fact].is_linear; });
  if (Ask(linear, goal)) return true;
  return linear.size() < facts.size() && Ask(facts, goal, /*has_others=*/true);
}

// Of what has none of those then.
bool Case::ProvesSimplified(const std::vector<Term>& facts, Term goal) {
  SizeEquations equations(terms(), facts);
  goal = equations.Simplified(goal);
  if (terms().IsTrue(goal)) return true;
  std::vector<Term> linear;
  for (const Term fact : facts)
    if (const Term simple = equations.Simplified(fact);
        !terms().IsTrue(simple) && terms()[simple].is_linear)
      linear.push_back(simple);
  std::sort(linear.begin(), linear.end());
  linear.erase(std::unique(linear.begin(), linear.end()), linear.end());
  return Ask(linear, goal);
}

bool Case::Ask(const std::vector<Term>& facts, Term goal, bool has_others) {
  std::vector<uint32_t> question = {goal.id};
  for (const Term fact : facts) question.push_back(fact.id);
  const auto [answer, is_new] = state_.answers.try_emplace(std::move(question), false);
  if (is_new)
    answer->second =
        (has_others && ProvesSimplified(facts, goal)) || state_.solver().Proves(facts, goal);
  return answer->second;
}

bool Case::FactsCanHold() {
  std::vector<Term> linear = facts_;
  std::erase_if(linear, [&](Term fact) { return !terms()[fact].is_linear; });
  return linear.empty() || state_.solver().CanHold(linear);
}

std::optional<std::vector<int64_t>> Case::Find(const std::vector<Term>& wishes,
                                               const std::vector<Term>& integers) {
  return state_.solver().Find(facts_, wishes, integers);
}

void Case::CheckTensors(bool of_result) {
  for (size_t i = 0, made = tensors_.size(); i < made; ++i)
    if (tensors_[i]->of_result == of_result) tensors_[i]->Check();
}

bool Case::MeetsRequirements() {
  const bool any = std::any_of(tensors_.begin(), tensors_.end(),
                               [](const auto& tensor) { return tensor->of_result; });
  if (!any) return true;
  for (const bool of_result : {false, true}) CheckTensors(of_result);
  return open() && std::all_of(requirements_.begin(), requirements_.end(),
                               [&](Term required) { return Proves(required); });
}

bool Case::HasProvedSize(const Tensor& a, Term num_elements) {
  return std::any_of(same_shapes_.begin(), same_shapes_.end(), [&](const auto& pair) {
    return pair.first == &a && pair.second->NumElements() == num_elements;
  });
}

bool Case::Same(Tensor* before, Tensor* after) {
  if (before == after || before->IsTwin(*after)) return true;
  return SameShapes(*before, *after) && SameElements(*before, *after) && open();
}

bool Case::SameShapes(Tensor& a, Tensor& b) {
  if (a.Rank() != b.Rank() || !open()) return false;
  const std::vector<Term> x = a.Dims(), y = b.Dims();
  for (size_t i = 0; i < x.size(); ++i)
    if (!Proves(terms().Equal(x[i], y[i]))) return false;
  if (a.of_result && !b.of_result) same_shapes_.emplace_back(&a, &b);
  if (b.of_result && !a.of_result) same_shapes_.emplace_back(&b, &a);
  return true;
}

// By index and by position, and inputs as functions of either.
bool Case::SameElements(Tensor& a, Tensor& b) {
  Terms& t = terms();
  std::vector<Term> index, in_range, position_in_range;
  for (size_t i = 0; i < a.Dims().size(); ++i) {
    const Term dim = a.Dims()[i];
    const Term at = t.Variable(Sort::kInt, "index" + std::to_string(i));
    index.push_back(t.IsInteger(dim, 1) ? t.Integer(0) : at);
    in_range.push_back(t.AtMost(t.Integer(0), index.back()));
    in_range.push_back(t.Less(index.back(), dim));
  }
  const Term position = t.Variable(Sort::kInt, "position");
  position_in_range = {t.AtMost(t.Integer(0), position), t.Less(position, a.NumElements())};
  std::erase_if(in_range, [&](Term fact) { return t.IsTrue(fact); });
  for (const bool ask : {false, true}) {  // the solver, when nothing is equal without
    for (const bool by_position : {false, true}) {
      by_position_ = by_position;
      const Term x = a.At(index), y = b.At(index);
      const Term p = a.AtPosition(position), q = b.AtPosition(position);
      by_position_ = false;
      if (!open()) return false;
      if (x == y || p == q) return true;
      if (ask && (SameElement(x, y, in_range) || SameElement(p, q, position_in_range))) return true;
    }
  }
  return false;
}

// Elements of inputs become variables, one for all that provably are one element; so what is left is
// about elements alone.
class Abstraction {
 public:
  Abstraction(Case& c, const std::vector<Term>& facts) : c_(c), facts_(facts) {}
  bool ok() const { return ok_; }
  const std::map<Term, TypeClass>& types() const { return types_; }

  Term Of(Term term) {
    const auto [made, is_new] = made_.try_emplace(term);
    if (!is_new) return made->second;
    const Term result = Make(term);
    return made_[term] = result;
  }

 private:
  struct Element {
    Term term, variable;
  };

  Term Make(Term term) {
    Terms& t = c_.terms();
    const TermNode node = t[term];
    if (node.sort != Sort::kElement) ok_ = false;
    if (!ok_ || node.kind == TermNode::kNumber) return term;
    const bool is_input = std::all_of(node.arguments.begin(), node.arguments.end(),
                                      [&](Term a) { return t[a].sort == Sort::kInt; });
    if (node.kind == TermNode::kVariable || (node.kind == TermNode::kApply && is_input))
      return VariableFor(term);
    std::vector<Term> arguments;
    for (size_t i = 0; i < node.arguments.size(); ++i) {
      const TermNode& argument = t[node.arguments[i]];
      const bool is_condition = node.kind == TermNode::kIf && i == 0;
      if (is_condition && argument.kind != TermNode::kVariable) ok_ = false;
      arguments.push_back(is_condition ? node.arguments[i] : Of(node.arguments[i]));
    }
    if (node.kind == TermNode::kIf) return t.If(arguments[0], arguments[1], arguments[2]);
    // The order of operands was that of their terms.
    if (c_.commutative_.count(node.name) != 0 && arguments[1] < arguments[0])
      std::swap(arguments[0], arguments[1]);
    return t.Apply(Sort::kElement, node.name, std::move(arguments));
  }

  Term VariableFor(Term term) {
    Terms& t = c_.terms();
    for (const Element& element : elements_)
      if (IsSame(element.term, term)) return element.variable;
    const Term variable = t.Variable(Sort::kElement, "e" + std::to_string(elements_.size()));
    const auto type = c_.elements_.find(t[term].name);
    // Of a type of its own where that is not known.
    types_[variable] = type == c_.elements_.end() ? c_.NewType() : type->second;
    elements_.push_back({term, variable});
    return variable;
  }

  bool IsSame(Term a, Term b) {
    Terms& t = c_.terms();
    const TermNode x = t[a], y = t[b];
    if (x.kind != y.kind || x.name != y.name || x.arguments.size() != y.arguments.size())
      return false;
    for (size_t i = 0; i < x.arguments.size(); ++i)
      if (!c_.Proves(t.Equal(x.arguments[i], y.arguments[i]), facts_)) return false;
    return true;
  }

  Case& c_;
  const std::vector<Term>& facts_;
  std::map<Term, Term> made_;
  std::vector<Element> elements_;
  std::map<Term, TypeClass> types_;
  bool ok_ = true;
};

bool Case::SameElement(Term a, Term b, const std::vector<Term>& facts) {
  if (a == b) return true;
  Abstraction abstraction(*this, facts);
  const Term x = abstraction.Of(a), y = abstraction.Of(b);
  if (!abstraction.ok()) return Proves(terms().Equal(a, b), facts);
  return x == y || SameByArithmetic(x, y, abstraction.types());
}

namespace {

// Whether all functions in a term are of these.
bool IsMadeOf(const Terms& terms, Term term, bool (*is_known)(const std::string&)) {
  const TermNode& node = terms[term];
  if (node.kind == TermNode::kApply && !is_known(node.name)) return false;
  return std::all_of(node.arguments.begin(), node.arguments.end(),
                     [&](Term argument) { return IsMadeOf(terms, argument, is_known); });
}

}  // namespace

bool Case::SameByArithmetic(Term a, Term b, const std::map<Term, TypeClass>& types) {
  if (types.empty()) return false;
  for (const auto& [variable, type] : types)
    if (!SameType(type, types.begin()->second)) return false;
  using ir::DataType;
  const bool is_logic = IsMadeOf(terms(), a, &IsLogic) && IsMadeOf(terms(), b, &IsLogic);
  if (!is_logic && !(IsMadeOf(terms(), a, &IsArithmetic) && IsMadeOf(terms(), b, &IsArithmetic)))
    return false;
  std::vector<DataType> possible;
  const TypeSet set = types_[Root(types.begin()->second)].second;
  bool is_real = false;
  for (unsigned i = 1; i < 32; ++i) {
    const auto type = static_cast<DataType>(i);
    if ((set & TypeBit(type)) == 0) continue;
    if (is_logic ? type != DataType::kBool : !ir::IsFloat(type) && !ir::IsInteger(type)) continue;
    if (!is_logic && ir::IsFloat(type) && state_.over_reals) {
      is_real = true;
    } else {
      possible.push_back(type);
    }
  }
  if (possible.empty() && !is_real) return false;
  if (is_real && !SameInType(a, b, std::nullopt)) return false;
  for (const DataType type : possible)
    if (!SameInType(a, b, type)) return false;
  (is_real ? state_.used_reals : state_.used_types) = true;
  return true;
}

bool Case::SameInType(Term a, Term b, std::optional<ir::DataType> type) {
  const auto [answer, is_new] =
      state_.element_answers.try_emplace({{a, b}, type ? static_cast<int>(*type) : 0}, false);
  if (is_new) answer->second = state_.solver().ProvesEqual(a, b, type);
  return answer->second;
}

bool Case::ReadsReals() {
  state_.used_reals |= state_.over_reals;
  return state_.over_reals;
}

TypeClass Case::NewType(TypeSet set) {
  types_.emplace_back(types_.size(), set);
  return types_.size() - 1;
}
TypeClass Case::TypeNamed(const std::string& token, TypeSet set) {
  const auto [named, is_new] = named_types_.try_emplace(token, 0);
  if (is_new) named->second = NewType(set);
  return named->second;
}
TypeClass Case::Root(TypeClass type) const {
  while (types_[type].first != type) type = types_[type].first;
  return type;
}
void Case::Unify(TypeClass a, TypeClass b) {
  a = Root(a);
  b = Root(b);
  if (a == b) return;
  types_[b].first = a;
  Restrict(a, types_[b].second);
}
void Case::Restrict(TypeClass type, TypeSet set) {
  type = Root(type);
  types_[type].second &= set;
  if (types_[type].second == 0) Refuse();
}
bool Case::SameType(TypeClass a, TypeClass b) {
  a = Root(a);
  b = Root(b);
  const TypeSet set = types_[a].second;
  const bool is_one = (set & (set - 1)) == 0;
  return a == b || (is_one && types_[b].second == set);
}
bool Case::CastsCompose(TypeClass a, TypeClass b, TypeClass c) {
  return std::any_of(casts_.begin(), casts_.end(), [&](const Casts& it) {
    return SameType(it.a, a) && SameType(it.b, b) && SameType(it.c, c);
  });
}

}  // namespace weft::passes
