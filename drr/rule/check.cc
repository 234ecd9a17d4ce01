// PatternGraph::Check: every mistake in a rule is found when it is built.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "drr/rule/pattern_graph.h"
#include "drr/rule/vocabulary.h"

namespace weft::drr {

class PatternChecker {
 public:
  explicit PatternChecker(PatternGraph* graph) : g_(*graph) {}
  void Run();

 private:
  using Kind = ResultOperand::Kind;
  // Of two wordings the one for the language that the rule is written in.
  std::string_view Say(std::string_view cpp, std::string_view text) const {
    return g_.spelling == Spelling::kCpp ? cpp : text;
  }
  void Unused(SourceLoc loc, const std::string& what) {
    g_.lenient ? g_.Warning(loc, what) : g_.Error(loc, what);
  }
  void CheckCalls();
  void Read(ValueId v) {
    if (v) read_.insert(g_.Resolve(v));
  }
  void CollectReads();
  bool IsList(ValueId v) const { return v && g_.values[g_.Resolve(v)].list; }
  void CheckSourceOps();
  // Of a value that every match has, "if it is given" says nothing. Words of the vocabulary get a
  // reason where the rule gives none.
  void FinishConstraints();
  bool IsMade(ValueId v) const;
  void CheckSourceValues();
  // Bindings, of which a second one compares, and copies to the result.
  size_t TimesRead(AttrId variable) const;
  // Which may read any handle.
  bool HasFunctions() const;
  // Ops none of whose results another source op reads; matching starts at the first of them, or at
  // an Either() that is replaced.
  void FindRoots();
  void NotReplaced(const SourceOp& op);
  // Of an Either(), or of an optional operand that the rule says how to make.
  size_t NumChoices(ValueId v) const;
  using Flags = IdVector<SourceValue, char>;  // of each value
  void Reach(ValueId v, uint64_t choice, Flags* seen) const;
  // In how many of the variants that Either() and Optional() make is each value bound?
  void CountVariants();
  // Can a match that has bound `bound` go on to the ops below `op`? As Matcher::FindJoin.
  bool Joins(OpId op, const Flags& bound, std::set<OpId>* tried) const;
  // Every secondary root must be reachable from the first over values that both use.
  void CheckJoins();
  // What is said of an Either() or a value with skipped ops holds for its defining op; Recompute()
  // holds for everything below.
  void SpreadEscapes();
  void SpreadEscape(ValueId value, Escape escape);
  void CheckUse(const ResultOperand& in, std::string_view what, SourceLoc loc, bool optional);
  void CheckOperands(const ResultOp& op);
  void CheckResults();
  void OrderResults();

  PatternGraph& g_;
  std::set<ValueId> read_, replaced_;
  std::set<ResultValueId> live_;
  std::vector<ValueId> choices_;
  uint64_t variants_ = 1;
  IdVector<SourceValue, uint64_t> bound_in_;
};

void PatternChecker::Run() {
  CheckCalls();
  CollectReads();
  CheckSourceOps();
  CheckSourceValues();
  FindRoots();
  if (!g_.root_value_) {
    if (g_.ops.empty())
      g_.Error(g_.loc, fmt::format("the source {} has no op", Say("pattern", "block")));
    if (g_.replacements.empty()) g_.Error(g_.loc, "the result replaces nothing");
    if (g_.errors_.empty()) g_.Error(g_.loc, "no source op makes what is replaced");
    return;
  }
  CountVariants();
  if (variants_ == 0) return;  // too many to say more
  FinishConstraints();
  CheckJoins();
  CheckResults();
  OrderResults();
  SpreadEscapes();
}

void PatternChecker::CheckCalls() {
  for (const SourceOp& op : g_.ops)
    if (!op.called)
      g_.Error(op.loc, fmt::format("{} is declared but never applied to operands", op.Name()));
  for (const ResultOp& op : g_.result_ops)
    if (!op.called)
      g_.Error(op.loc, fmt::format("result op {} is declared but never applied to operands",
                                   g_.NameOf(op)));
  for (const ResultOp& op : g_.result_ops)
    if (op.def && op.def->info->num_regions != 0)
      g_.Error(op.loc, fmt::format("{} has regions, which rules do not make", g_.NameOf(op)));
}

void PatternChecker::CollectReads() {
  for (const SourceOp& op : g_.ops) {
    for (ValueId v : op.operands) Read(v);
    for (const RegionPattern& region : op.regions)
      for (ValueId v : region.returned) Read(v);
    g_.has_lists_ |= op.times != Times::kOnce;
    g_.has_regions_ |= !op.regions.empty();
  }
  for (const SourceValue& v : g_.values) {
    for (ValueId alternative : v.either) Read(alternative);
    for (ValueId pattern : v.nots) Read(pattern);
    if (v.through) Read(v.through);
    g_.has_lists_ |= v.list;
    g_.has_regions_ |= v.outside;
  }
  for (const Replacement& r : g_.replacements) replaced_.insert(g_.Resolve(r.source));
}

void PatternChecker::CheckSourceOps() {
  for (const SourceOp& op : g_.ops) {
    if (std::count_if(op.operands.begin(), op.operands.end(),
                      [&](ValueId v) { return IsList(v); }) > 2)
      g_.Error(op.loc, fmt::format("{} reads more than two lists", op.Name()));
    if (op.times == Times::kChain && (op.min_times < 0 || op.max_times < op.min_times))
      g_.Error(op.loc, fmt::format("{} repeats at least {} and at most {} times", op.Name(),
                                   op.min_times, op.max_times));
    for (const RegionPattern& region : op.regions)
      if (std::any_of(region.returned.begin(), region.returned.end(),
                      [&](ValueId v) { return IsList(v); }))
        g_.Error(region.loc, "what a region returns is named one by one");
  }
}

void PatternChecker::FinishConstraints() {
  const auto always = [&](Formula::Argument& a) {
    const bool bound = a.if_given && bound_in_[g_.Resolve(a.value)] == variants_ &&
                       !g_.values[g_.Resolve(a.value)].optional;
    if (bound) a.if_given = false;
    return bound;
  };
  for (Constraint& c : g_.constraints) {
    bool changed = false;
    for (Formula::Argument& a : c.formula.arguments) changed |= always(a);
    if (changed) {
      const bool profitable = c.profitable;
      c = MakeConstraint(std::move(c.formula), std::move(c.reason), c.loc);
      c.profitable = profitable;
    }
    if (!c.reason.empty()) continue;
    if (!c.formula.name.empty()) {
      c.reason = ReasonOf(g_, c.formula);
    } else if (!g_.lenient) {
      g_.Error(c.loc, "a constraint has no reason: say what must hold");
    }
  }
}

bool PatternChecker::IsMade(ValueId v) const {
  const SourceValue& x = g_.values[g_.Resolve(v)];
  if (x.either.empty()) return static_cast<bool>(x.producer);
  return std::all_of(x.either.begin(), x.either.end(), [&](ValueId e) { return IsMade(e); });
}

void PatternChecker::CheckSourceValues() {
  for (ValueId id : g_.values.ids()) {
    const SourceValue& v = g_.values[id];
    for (ValueId pattern : v.nots)
      if (!IsMade(pattern) || g_.values[g_.Resolve(pattern)].list)
        g_.Error(v.loc, fmt::format("{} {}, which no source op makes", Say("Not() of", "not"),
                                    g_.Describe(pattern)));
    const bool leaf = v.either.empty() && !v.through;
    if (!v.alias && !v.producer && !read_.count(id) && (leaf || !replaced_.count(id)))
      Unused(v.loc,
             g_.spelling == Spelling::kCpp
                 ? fmt::format("tensor {} is not an operand of any source op", g_.Describe(id))
                 : fmt::format("no op of the source block makes or reads {}", g_.Describe(id)));
  }
  for (AttrId id : g_.attrs.ids()) {
    const AttrVariable& a = g_.attrs[id];
    const std::string name =
        a.label.empty() ? fmt::format("attribute variable '{}'", a.name) : a.label;
    if (!a.bound) {
      g_.Error(a.loc, fmt::format("{} is bound by no source op", name));
    } else if (TimesRead(id) < 2 && !HasFunctions()) {
      Unused(a.loc, fmt::format("nothing reads {}; say {} where the attribute does not matter",
                                name, Say("Any()", "any")));
    }
  }
}

size_t PatternChecker::TimesRead(AttrId variable) const {
  size_t n = 0;
  for (const SourceOp& op : g_.ops)
    for (const Alternative& alternative : op.alternatives)
      for (const AttrPattern& a : alternative.attrs) n += a.variable == variable;
  for (const ResultOp& op : g_.result_ops)
    for (const ResultAttr& a : op.attrs) n += a.variable == variable;
  return n;
}

bool PatternChecker::HasFunctions() const {
  if (!g_.constraints.empty() || !g_.post_hooks.empty()) return true;
  for (const ResultOp& op : g_.result_ops)
    for (const ResultAttr& a : op.attrs)
      if (a.compute) return true;
  return false;
}

void PatternChecker::FindRoots() {
  for (OpId id : g_.ops.ids()) {
    const SourceOp& op = g_.ops[id];
    bool read = false;
    ValueId replaced;
    for (ValueId v : op.results) {
      read |= read_.count(g_.Resolve(v)) > 0;
      if (replaced_.count(g_.Resolve(v))) replaced = g_.Resolve(v);
    }
    if (read || !op.called) continue;
    g_.roots_.push_back(id);
    if (!replaced) {
      NotReplaced(op);
    } else if (!g_.root_value_) {
      g_.root_value_ = replaced;
    }
  }
  for (ValueId v : replaced_) {
    const OpId producer = g_.values[v].producer;
    if (!producer) continue;
    if (g_.ops[producer].times == Times::kEach)
      g_.Error(g_.ops[producer].loc, "a list of results cannot be replaced");
    if (g_.ops[producer].times == Times::kChain && g_.ops[producer].min_times < 1)
      g_.Error(g_.ops[producer].loc, "a replaced chain must have at least one op");
  }
  for (ValueId v : replaced_)
    if (!g_.values[v].either.empty() && !read_.count(v)) g_.root_value_ = v;
  if (!g_.root_value_ || g_.values[g_.root_value_].either.empty()) return;
  for (ValueId v : g_.values[g_.root_value_].either)
    if (!g_.values[g_.Resolve(v)].producer && g_.values[g_.Resolve(v)].either.empty())
      g_.Error(g_.values[g_.root_value_].loc,
               fmt::format("{} is replaced but no source op makes it", g_.Describe(v)));
}

void PatternChecker::NotReplaced(const SourceOp& op) {
  switch (g_.spelling) {
    case Spelling::kCpp:
      return g_.Error(op.loc, fmt::format("{} ends the source pattern but the result does not "
                                          "replace it; add res.Tensor(out) = ...",
                                          op.Name()));
    case Spelling::kText: {
      const std::string out = op.results.empty() ? "%out" : g_.Describe(op.results[0]);
      return g_.Error(op.loc, fmt::format("{} ends the source block but nothing replaces {}; add "
                                          "'replace {} with ...'",
                                          op.Name(), out, out));
    }
    case Spelling::kMappingDict:
      return g_.Error(op.loc, fmt::format("no node of 'in' reads {}, and none of 'out' gives "
                                          "what it gave; see 'output_tensors'",
                                          op.Name()));
  }
}

size_t PatternChecker::NumChoices(ValueId v) const {
  const SourceValue& x = g_.values[v];
  return !x.either.empty() ? x.either.size() : x.optional && x.producer ? 2 : 1;
}

void PatternChecker::Reach(ValueId v, uint64_t choice, Flags* seen) const {
  v = g_.Resolve(v);
  if ((*seen)[v]) return;
  (*seen)[v] = true;
  const SourceValue& x = g_.values[v];
  if (const size_t choices = NumChoices(v); choices > 1) {
    uint64_t c = choice;
    for (size_t i = 0; choices_[i] != v; ++i) c /= NumChoices(choices_[i]);
    c %= choices;
    if (!x.either.empty()) {
      Reach(x.either[c], choice, seen);
    } else if (c == 1) {
      (*seen)[v] = false;  // absent, and so is its defining op
      return;
    }
  }
  if (x.through) Reach(x.through, choice, seen);
  if (!x.producer) return;
  const SourceOp& op = g_.ops[x.producer];
  for (ValueId r : op.results) (*seen)[g_.Resolve(r)] = true;
  for (ValueId operand : op.operands)
    if (operand) Reach(operand, choice, seen);
  for (const RegionPattern& region : op.regions)
    for (ValueId v : region.returned)
      if (v) Reach(v, choice, seen);
}

void PatternChecker::CountVariants() {
  for (ValueId v : g_.values.ids())
    if (!g_.values[v].alias && NumChoices(v) > 1 && variants_ <= 4096) {
      choices_.push_back(v);
      variants_ *= NumChoices(v);
    }
  if (variants_ > 4096) {
    g_.Error(g_.loc, fmt::format("{} make more than 4096 variants",
                                 Say("Either() and Optional()", "either(...) and optional")));
    variants_ = 0;
  }
  bound_in_ = {g_.values.size(), 0};
  Flags seen(g_.values.size());
  for (uint64_t choice = 0; choice < variants_; ++choice) {
    seen.Fill(false);
    for (OpId root : g_.roots_)
      for (ValueId v : g_.ops[root].results) Reach(v, choice, &seen);
    if (g_.root_value_) Reach(g_.root_value_, choice, &seen);
    for (const ValueId v : seen.ids()) bound_in_[v] += seen[v];
  }
}

bool PatternChecker::Joins(OpId op, const Flags& bound, std::set<OpId>* tried) const {
  if (g_.ops[op].times != Times::kOnce || !tried->insert(op).second) return false;
  for (ValueId operand : g_.ops[op].operands) {
    if (!operand) continue;
    const SourceValue& v = g_.values[g_.Resolve(operand)];
    if (!v.list && bound[g_.Resolve(operand)]) return true;
    if (v.producer && !v.optional && Joins(v.producer, bound, tried)) return true;
  }
  return false;
}

void PatternChecker::CheckJoins() {
  Flags bound(g_.values.size());
  Reach(g_.root_value_, 0, &bound);
  std::vector<OpId> open;
  for (OpId root : g_.roots_)
    if (!g_.ops[root].results.empty() && !bound[g_.Resolve(g_.ops[root].results[0])])
      open.push_back(root);
  for (bool changed = true; changed;) {
    changed = false;
    for (OpId& root : open) {
      std::set<OpId> tried;
      if (!root || !Joins(root, bound, &tried)) continue;
      Reach(g_.ops[root].results[0], 0, &bound);
      root = OpId();
      changed = true;
    }
  }
  for (OpId root : open)
    if (root)
      g_.Error(g_.ops[root].loc, fmt::format("{} shares no value with the rest of the {}",
                                             g_.ops[root].Name(), Say("pattern", "source block")));
}

void PatternChecker::SpreadEscapes() {
  for (ValueId v : g_.values.ids())
    if (g_.values[v].escape != Escape::kForbid) SpreadEscape(v, g_.values[v].escape);
}

void PatternChecker::SpreadEscape(ValueId value, Escape escape) {
  SourceValue& v = g_.values[g_.Resolve(value)];
  if (v.escape < escape) v.escape = escape;
  for (ValueId alternative : v.either) SpreadEscape(alternative, escape);
  if (v.through) SpreadEscape(v.through, escape);
  if (escape != Escape::kRecompute || !v.producer) return;
  for (ValueId operand : g_.ops[v.producer].operands)
    if (operand) SpreadEscape(operand, escape);
}

void PatternChecker::CheckUse(const ResultOperand& in, std::string_view what, SourceLoc loc,
                              bool optional) {
  if (in.kind == Kind::kNone && !optional)
    g_.Error(loc, fmt::format("{} is required but {} is passed", what, Say("None()", "none")));
  if (in.kind == Kind::kResult) live_.insert(in.result);
  if (in.kind != Kind::kSource) return;
  const ValueId v = g_.Resolve(in.source);
  if (bound_in_[v] == 0) {
    g_.Error(loc, fmt::format("{} uses {}, which the source {} never binds", what, g_.Describe(v),
                              Say("pattern", "block")));
  } else if (optional) {
    return;
  } else if (bound_in_[v] < variants_) {
    g_.Error(loc,
             fmt::format("{} is required, but {} is unbound in {} of {} variants of the pattern",
                         what, g_.Describe(v), variants_ - bound_in_[v], variants_));
  } else if (g_.values[v].optional) {
    g_.Error(loc, fmt::format("{} is required, but {} is optional", what, g_.Describe(v)));
  }
}

void PatternChecker::CheckOperands(const ResultOp& op) {
  const ir::OpDef* def = g_.DefOf(op);
  const bool chain = op.like && g_.ops[op.like].times == Times::kChain;
  if (chain && op.operands.size() != 1)
    g_.Error(op.loc, fmt::format("{} a chain takes one operand, not {}", Say("Like() of", "like"),
                                 op.operands.size()));
  if (op.like && g_.ops[op.like].times == Times::kEach)
    g_.Error(op.loc,
             fmt::format("{} takes one op, not one for each of a list", Say("Like()", "like")));
  if (op.attrs_of && g_.ops[op.attrs_of].times == Times::kEach)
    g_.Error(op.loc, fmt::format("{} takes one op, not one for each of a list",
                                 Say("AttrsOf()", "attrs of")));
  if (op.each && !op.operands[0].list)
    g_.Error(op.loc,
             fmt::format("{} {} takes a list first", Say("Each() of", "each"), g_.NameOf(op)));
  for (size_t i = 0; i < op.operands.size(); ++i) {
    ir::OperandDef operand("x", ir::Arity::kOne);
    if (def && !chain && def->info->operands.size() > 0)
      operand = def->info->operands[std::min(i, def->info->operands.size() - 1)];
    const std::string what = fmt::format("operand '{}' of {}", operand.name, g_.NameOf(op));
    CheckUse(op.operands[i], what, op.loc, operand.arity == ir::Arity::kOptional);
    const bool takes_list = (op.each && i == 0) || (def == nullptr && !chain) ||
                            (!op.each && operand.arity == ir::Arity::kVariadic);
    if (op.operands[i].list && !takes_list)
      g_.Error(op.loc, fmt::format("{} is one value but a list is passed", what));
  }
}

void PatternChecker::CheckResults() {
  for (const ResultOp& op : g_.result_ops) CheckOperands(op);
  std::set<ValueId> sources;
  for (const Replacement& r : g_.replacements) {
    const ValueId v = g_.Resolve(r.source);
    CheckUse(r.with, fmt::format("the replacement of {}", g_.Describe(v)), r.loc, false);
    if (r.with.list || g_.values[v].list)
      g_.Error(r.loc, fmt::format("{} is replaced by a list, or is one", g_.Describe(v)));
    if (!g_.values[v].producer && v != g_.root_value_)
      g_.Error(r.loc, fmt::format("{} is replaced but no source op makes it", g_.Describe(v)));
    if (!sources.insert(v).second)
      g_.Error(r.loc, fmt::format("{} is replaced twice", g_.Describe(v)));
  }
  for (const ResultOp& op : g_.result_ops) {
    if (!op.called) continue;
    const bool used = std::any_of(op.results.begin(), op.results.end(),
                                  [&](ResultValueId v) { return live_.count(v) > 0; });
    if (!used)
      Unused(op.loc, fmt::format("no result of {} is used by the result {}", g_.NameOf(op),
                                 Say("pattern", "block")));
  }
}

void PatternChecker::OrderResults() {
  IdVector<ResultValue, ResultOpId> defining_op(g_.num_result_values);
  for (ResultOpId op : g_.result_ops.ids())
    for (ResultValueId v : g_.result_ops[op].results) defining_op[v] = op;
  IdVector<ResultOp, bool> done(g_.result_ops.size());
  std::function<void(const ResultOperand&)> visit = [&](const ResultOperand& in) {
    if (in.kind != Kind::kResult || done[defining_op[in.result]]) return;
    const ResultOpId op = defining_op[in.result];
    done[op] = true;
    for (const ResultOperand& operand : g_.result_ops[op].operands) visit(operand);
    g_.result_order_.push_back(op);
  };
  for (const Replacement& r : g_.replacements) visit(r.with);
}

std::vector<std::string> PatternGraph::Check() {
  PatternChecker(this).Run();
  return errors_;
}

}  // namespace weft::drr
