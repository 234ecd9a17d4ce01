// PatternGraph::Check: every mistake in a rule is found when it is built.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "drr/pattern.h"

namespace weft::drr {

class PatternChecker {
 public:
  explicit PatternChecker(PatternGraph* graph) : g_(*graph) {}

  void Run() {
    if (!CheckCalls()) return;  // results of ops that were never applied would only confuse
    CollectReads();
    CheckSourceValues();
    FindRoots();
    if (g_.roots_.empty() && g_.root_value_ < 0) {
      g_.Error({}, "the source pattern has no op");
      return;
    }
    CountVariants();
    CheckResults();
    OrderResults();
  }

 private:
  using Kind = ResultOperand::Kind;

  std::string_view OpName(const SourceOp& op) const { return op.alternatives[0].def->name(); }

  void Unused(SourceLoc loc, const std::string& what) {
    g_.lenient ? g_.Warning(loc, what) : g_.Error(loc, what);
  }

  bool CheckCalls() {
    const size_t errors = g_.errors_.size();
    for (const SourceOp& op : g_.ops)
      if (!op.called)
        g_.Error(op.loc, fmt::format("{} is declared but never applied to operands", OpName(op)));
    for (const ResultOp& op : g_.result_ops)
      if (!op.called)
        g_.Error(op.loc, fmt::format("result op {} is declared but never applied to operands",
                                     g_.DefOf(op).name()));
    return g_.errors_.size() == errors;
  }

  void CollectReads() {
    for (const SourceOp& op : g_.ops)
      for (int v : op.operands)
        if (v != kAbsent) read_.insert(g_.Resolve(v));
    for (const SourceValue& v : g_.values)
      for (int alternative : v.either) read_.insert(g_.Resolve(alternative));
    for (const Replacement& r : g_.replacements) replaced_.insert(g_.Resolve(r.source));
  }

  void CheckSourceValues() {
    for (size_t i = 0; i < g_.values.size(); ++i) {
      const SourceValue& v = g_.values[i];
      if (v.alias < 0 && v.producer < 0 && v.either.empty() && !read_.count(static_cast<int>(i)))
        Unused(v.loc, fmt::format("tensor {} is not an operand of any source op",
                                  g_.Describe(static_cast<int>(i))));
    }
    for (const AttrVariable& a : g_.attrs)
      if (!a.bound)
        g_.Error(a.loc, fmt::format("attribute variable '{}' is bound by no source op", a.name));
  }

  // Ops none of whose results another source op reads; matching starts at the first of them, or at
  // an Either() that is replaced.
  void FindRoots() {
    for (size_t i = 0; i < g_.ops.size(); ++i) {
      const SourceOp& op = g_.ops[i];
      bool read = false;
      int replaced = -1;
      for (int v : op.results) {
        read |= read_.count(g_.Resolve(v)) > 0;
        if (replaced_.count(g_.Resolve(v))) replaced = g_.Resolve(v);
      }
      if (read) continue;
      g_.roots_.push_back(static_cast<int>(i));
      if (replaced < 0) {
        g_.Error(op.loc, fmt::format("{} ends the source pattern but the result does not replace "
                                     "it; add res.Tensor(out) = ...",
                                     OpName(op)));
      } else if (g_.root_value_ < 0) {
        g_.root_value_ = replaced;
      }
    }
    for (int v : replaced_)
      if (!g_.values[v].either.empty() && !read_.count(v)) g_.root_value_ = v;
    if (g_.root_value_ < 0 || g_.values[g_.root_value_].either.empty()) return;
    for (int v : g_.values[g_.root_value_].either)
      if (g_.values[g_.Resolve(v)].producer < 0 && g_.values[g_.Resolve(v)].either.empty())
        g_.Error(g_.values[g_.root_value_].loc,
                 fmt::format("{} is replaced but no source op makes it", g_.Describe(v)));
  }

  // Of an Either(), or of an optional operand that the rule says how to make.
  size_t NumChoices(int v) const {
    const SourceValue& x = g_.values[v];
    return !x.either.empty() ? x.either.size() : x.optional && x.producer >= 0 ? 2 : 1;
  }

  void Reach(int v, uint64_t choice, std::set<int>* seen) const {
    v = g_.Resolve(v);
    if (!seen->insert(v).second) return;
    const SourceValue& x = g_.values[v];
    if (const size_t choices = NumChoices(v); choices > 1) {
      uint64_t c = choice;
      for (size_t i = 0; choices_[i] != v; ++i) c /= NumChoices(choices_[i]);
      c %= choices;
      if (!x.either.empty()) {
        Reach(x.either[c], choice, seen);
      } else if (c == 1) {
        seen->erase(v);  // absent, and so is what makes it
        return;
      }
    }
    if (x.producer < 0) return;
    for (int r : g_.ops[x.producer].results) seen->insert(g_.Resolve(r));
    for (int operand : g_.ops[x.producer].operands)
      if (operand != kAbsent) Reach(operand, choice, seen);
  }

  // In how many of the variants that Either() and Optional() make is each value bound?
  void CountVariants() {
    for (int i = 0; i < static_cast<int>(g_.values.size()); ++i)
      if (g_.values[i].alias < 0 && NumChoices(i) > 1 && variants_ <= 4096) {
        choices_.push_back(i);
        variants_ *= NumChoices(i);
      }
    if (variants_ > 4096) {
      g_.Error({}, "Either() and Optional() make more than 4096 variants");
      variants_ = 0;
    }
    bound_in_.assign(g_.values.size(), 0);
    for (uint64_t choice = 0; choice < variants_; ++choice) {
      std::set<int> seen;
      for (int root : g_.roots_)
        for (int v : g_.ops[root].results) Reach(v, choice, &seen);
      if (g_.root_value_ >= 0) Reach(g_.root_value_, choice, &seen);
      for (int v : seen) ++bound_in_[v];
    }
  }

  void CheckUse(const ResultOperand& in, std::string_view what, SourceLoc loc, bool optional) {
    if (in.kind == Kind::kNone && !optional)
      g_.Error(loc, fmt::format("{} is required but None() is passed", what));
    if (in.kind == Kind::kResult) live_.insert(in.id);
    if (in.kind != Kind::kSource) return;
    const int v = g_.Resolve(in.id);
    if (bound_in_[v] == 0) {
      g_.Error(loc, fmt::format("{} uses {}, which the source pattern never binds", what,
                                g_.Describe(v)));
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

  void CheckResults() {
    for (const ResultOp& op : g_.result_ops) {
      const auto& defs = g_.DefOf(op).info->operands;
      for (size_t i = 0; i < op.operands.size(); ++i) {
        const ir::OperandDef& def = defs[std::min(i, defs.size() - 1)];
        CheckUse(op.operands[i], fmt::format("operand '{}' of {}", def.name, g_.DefOf(op).name()),
                 op.loc, def.arity == ir::Arity::kOptional);
      }
    }
    std::set<int> sources;
    for (const Replacement& r : g_.replacements) {
      const int v = g_.Resolve(r.source);
      CheckUse(r.with, fmt::format("the replacement of {}", g_.Describe(v)), r.loc, false);
      if (g_.values[v].producer < 0 && v != g_.root_value_)
        g_.Error(r.loc, fmt::format("{} is replaced but no source op makes it", g_.Describe(v)));
      if (!sources.insert(v).second)
        g_.Error(r.loc, fmt::format("{} is replaced twice", g_.Describe(v)));
    }
    for (const ResultOp& op : g_.result_ops) {
      const bool used = std::any_of(op.results.begin(), op.results.end(),
                                    [&](int v) { return live_.count(v) > 0; });
      if (!used)
        Unused(op.loc,
               fmt::format("no result of {} is used by the result pattern", g_.DefOf(op).name()));
    }
  }

  void OrderResults() {
    std::vector<int> maker(g_.num_result_values, -1);
    for (size_t i = 0; i < g_.result_ops.size(); ++i)
      for (int v : g_.result_ops[i].results) maker[v] = static_cast<int>(i);
    std::vector<bool> done(g_.result_ops.size(), false);
    std::function<void(const ResultOperand&)> visit = [&](const ResultOperand& in) {
      if (in.kind != Kind::kResult || done[maker[in.id]]) return;
      const int op = maker[in.id];
      done[op] = true;
      for (const ResultOperand& operand : g_.result_ops[op].operands) visit(operand);
      g_.result_order_.push_back(op);
    };
    for (const Replacement& r : g_.replacements) visit(r.with);
  }

  PatternGraph& g_;
  std::set<int> read_, replaced_, live_;
  std::vector<int> choices_;
  uint64_t variants_ = 1;
  std::vector<uint64_t> bound_in_;
};

std::vector<std::string> PatternGraph::Check() {
  PatternChecker(this).Run();
  return errors_;
}

}  // namespace weft::drr
