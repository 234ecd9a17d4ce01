#include "passes/verify/proof/rule_model.h"

#include <algorithm>

#include "ir/base/thread_time.h"
#include "passes/verify/proof/rule_case.h"

namespace weft::passes {

void RuleCase::Break(const Formula& constraint) {
  Breach breach;
  breach_ = &breach;
  SayConstraint(constraint);
  breach_ = nullptr;
  if (!c_.open() || breach.is_made) return;
  Terms& t = c_.terms();
  Term any = t.Bool(false);
  for (const Term way : breach.ways) any = t.Or(any, way);
  c_.Assume(any);
}

void RuleCase::BreakSameType(TypeClass a, TypeClass b) {
  if (c_.SameType(a, b) || c_.Choose(2, "whether types differ") == 0) return;
  for (unsigned i = 1; i < 32; ++i) {
    const TypeSet type = TypeBit(static_cast<ir::DataType>(i));
    const TypeSet others = c_.PossibleTypes(b) & ~type;
    if ((c_.PossibleTypes(a) & type) == 0 || others == 0) continue;
    c_.Restrict(a, type);
    c_.Restrict(b, others);
    breach_->is_made = true;
    return;
  }
}

// Of values that no op makes, and in place of one with an op left out, which may be of any shape.
std::map<size_t, RuleCase::Read> RuleCase::ReadValues() {
  std::map<size_t, Read> read;
  for (const drr::ValueId id : graph_.values.ids()) {
    const drr::SourceValue& v = graph_.values[id];
    const Bound& bound = values_[id.index()];
    if (!(graph_.Resolve(id) == id) || !bound.is_made || v.producer || !v.either.empty()) continue;
    Tensor* tensor = bound.list.empty() ? bound.tensor : bound.list[0];
    if (tensor == nullptr) continue;
    Read& of = read[v.through ? graph_.Resolve(v.through).index() : id.index()];
    of.dims = tensor->Dims();
    if (const auto list = ops_.lists().find(tensor); list != ops_.lists().end())
      of.list = list->second;
  }
  return read;
}

// Sizes that are asked for, and that none is 1, where much is the same that should not be: either first.
std::vector<Term> RuleCase::Wishes(const std::map<size_t, Read>& read,
                                   const ModelOptions& options) {
  Terms& t = c_.terms();
  std::vector<Term> wanted, large, plain;
  for (const auto& [value, of] : read) {
    for (size_t i = 0; i < of.dims.size(); ++i)
      wanted.push_back(t.Equal(of.dims[i], t.Integer(options.size(value, i, of.dims.size()))));
    for (const Term integer : of.list) plain.push_back(t.AtMost(t.Integer(1), integer));
  }
  for (const Bound& bound : values_)
    if (bound.tensor != nullptr && !bound.tensor->HasOneElement())
      for (const Term size : bound.tensor->Dims()) large.push_back(t.AtMost(t.Integer(2), size));
  std::erase_if(large, [&](Term wish) { return t.IsTrue(wish) || t.IsFalse(wish); });
  for (std::vector<Term>* list : {&wanted, &large})
    for (size_t i = list->size(); i > 1; --i) std::swap((*list)[i - 1], (*list)[options.below(i)]);
  std::vector<Term>&first = options.below(2) == 0 ? wanted : large,
  &then = &first == &wanted ? large : wanted;
  for (const std::vector<Term>* list : {&then, &plain})
    first.insert(first.end(), list->begin(), list->end());
  return std::move(first);
}

std::optional<RuleModel> RuleCase::FindModel(const ModelOptions& options) {
  constexpr int64_t kMostSize = 12;
  ops_.FollowShapesOnly();
  ops_.ChooseNumbers();
  if (!MakeSource()) return std::nullopt;
  AssumeResultIsValid();
  c_.CheckTensors(false);
  if (options.broken != nullptr && c_.open()) Break(*options.broken);
  if (!c_.open()) return std::nullopt;
  Terms& t = c_.terms();
  const std::map<size_t, Read> read = ReadValues();
  std::vector<Term> integers;
  for (const auto& [value, of] : read) {
    for (const Term size : of.dims) {
      c_.Assume(t.AtMost(size, t.Integer(kMostSize)));
      if (!options.with_empty) c_.Assume(t.AtMost(t.Integer(1), size));
    }
    integers.insert(integers.end(), of.dims.begin(), of.dims.end());
    integers.insert(integers.end(), of.list.begin(), of.list.end());
  }
  const auto found = c_.open() ? c_.Find(Wishes(read, options), integers) : std::nullopt;
  if (!found) return std::nullopt;
  return ModelOf(read, *found);
}

// `integers`: of what was read, in that order.
RuleModel RuleCase::ModelOf(const std::map<size_t, Read>& read, std::span<const int64_t> integers) {
  RuleModel model;
  model.choices = choices_;
  model.alternatives = alternatives_;
  for (const drr::ValueId id : graph_.values.ids())
    if (const Bound& bound = values_[id.index()];
        bound.is_made && bound.tensor == nullptr && bound.list.empty())
      model.values[id.index()].is_absent = true;
  const auto take = [&](size_t count) {
    ir::Ints taken(integers.begin(), integers.begin() + static_cast<std::ptrdiff_t>(count));
    integers = integers.subspan(count);
    return taken;
  };
  for (const auto& [value, of] : read) {
    const Bound& bound = values_[value];
    const Tensor& tensor = *(bound.list.empty() ? bound.tensor : bound.list[0]);
    ModelledValue& modelled = model.values[value];
    const ir::Ints sizes = take(of.dims.size()), list = take(of.list.size());
    modelled.shape.assign(sizes.begin(), sizes.end());
    if (!list.empty()) modelled.list = list;
    modelled.type_class = c_.Root(tensor.type);
    modelled.types = c_.PossibleTypes(tensor.type);
    modelled.number = tensor.uniform_number;
    if (tensor.whole_number) modelled.number = static_cast<double>(*tensor.whole_number);
  }
  for (size_t i = 0; i < made_ops_.size(); ++i)
    if (made_ops_[i].op)
      for (const auto& [name, attr] : made_ops_[i].op->attrs)
        if (const ir::Attribute chosen = ops_.Chosen(attr)) model.fields[{i, name}] = chosen;
  for (const auto& variable : variables_)
    model.variables.push_back(variable ? ops_.Chosen(*variable) : ir::Attribute());
  return model;
}

std::optional<RuleModel> FindModel(const drr::Rule& rule, const ModelOptions& options,
                                   ProofState* state) {
  if (!HasSolver()) return std::nullopt;
  state->first_answer = options.answer;
  Script script;
  size_t open = 0;
  for (size_t i = 0; i < options.cases && open < options.questions; ++i) {
    if (ir::ThreadSeconds() > options.until) return std::nullopt;
    RuleCase rule_case(rule, *state, script);
    if (auto model = rule_case.FindModel(options)) return model;
    open += rule_case.outcome().open();
    if (!Advance(&script)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace weft::passes
