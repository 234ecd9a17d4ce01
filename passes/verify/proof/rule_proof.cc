#include "passes/verify/proof/rule_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/base/thread_time.h"
#include "passes/verify/proof/rule_case.h"

namespace weft::passes {
namespace {

std::string WhyNotAttempted(const drr::Rule& rule) {
  if (!HasSolver()) return "no proofs without Z3";
  if (rule.numerics == drr::NumericClass::kApproximate) return "the rule is approximate";
  if (rule.numerics == drr::NumericClass::kChangesMeaning) return "the rule changes meaning";
  if (!rule.graph.post_hooks.empty()) return "native code runs after the rule";
  for (const drr::Constraint& constraint : rule.graph.constraints)
    if (constraint.formula.name == "computes_result")
      return "it matches by what a program computes";
  for (const drr::ResultOp& op : rule.graph.result_ops)
    for (const drr::ResultAttr& attr : op.attrs)
      if (attr.compute && attr.formula.name.empty())
        return fmt::format("{} of {} is computed by native code", attr.name.str(),
                           rule.graph.NameOf(op));
  return "";
}

// What proved cases were chosen to be.
class Coverage {
 public:
  // `can_hold` says whether the facts of the case contradict each other, in which case it is none.
  template <class CanHold>
  void Note(const Script& script, const CanHold& can_hold) {
    bool is_new = !something_;
    for (const Choice& choice : script) {
      ranks_ |= choice.what.starts_with("rank of ") || choice.what == "sizes of a shape";
      lists_ |= choice.what.starts_with("length of ");
      if (choice.what.starts_with("alternative ") || choice.what.starts_with("whether there is "))
        is_new |= !seen_.try_emplace(choice.what, choice.options).first->second[choice.chosen];
    }
    if (!is_new || !can_hold()) return;
    something_ = true;
    for (const Choice& choice : script)
      if (const auto seen = seen_.find(choice.what); seen != seen_.end())
        seen->second[choice.chosen] = true;
  }
  // "" or what no case that can be was.
  std::string Missing() const {
    if (!something_) return "no case was found in which it matches";
    for (const auto& [what, seen] : seen_)
      for (size_t i = 0; i < seen.size(); ++i)
        if (!seen[i]) return fmt::format("no case was found with {} {}", what, i);
    return "";
  }
  std::string Text(const ProofState& state) const {
    std::string text = "all sizes";
    if (ranks_) text += fmt::format(", ranks up to {}", kMaxProofRank);
    if (lists_) text += fmt::format(", lists of up to {}", kMaxProofList);
    if (state.used_reals) return text + ", over the reals";
    return text + (state.used_types ? ", each element type" : ", any element type");
  }

 private:
  bool something_ = false, ranks_ = false, lists_ = false;
  std::map<std::string, std::vector<bool>> seen_;
};

// The answers that lead to a case which could not be proved, the first of them.
std::string CaseText(const Script& script) {
  constexpr size_t kMostShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(script.size(), kMostShown); ++i)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", script[i].what, script[i].chosen);
  if (script.size() > kMostShown) text += ", ...";
  return text.empty() ? "" : " (" + text + ")";
}

constexpr size_t kMostImpossible = 1500;  // cases before the first in which the rule matches

// `prove`: whether what is to be proved holds in a case; else its outcome says why.
template <class Prove>
RuleProof ProveCases(const drr::Rule& rule, const ProofOptions& options, const RuleSlice* slice,
                     const Prove& prove) {
  RuleProof proof;
  proof.verdict = ProofVerdict::kNotProved;
  const double end = ir::ThreadSeconds() + options.seconds;
  ProofState state(options.milliseconds);
  state.over_reals = rule.numerics == drr::NumericClass::kReassociates;
  Coverage coverage;
  Script script;
  size_t tried = 0;
  do {
    const bool is_hopeless = tried == kMostImpossible && proof.cases == 0 && !options.vacuously;
    if (is_hopeless || ++tried > options.cases || ir::ThreadSeconds() > end) {
      proof.why = fmt::format("{} cases were not enough", is_hopeless ? tried : tried - 1);
      return proof;
    }
    RuleCase rule_case(rule, state, script, slice);
    const bool proved = prove(rule_case);
    Case& outcome = rule_case.outcome();
    if (!outcome.AskedAll()) outcome.Fail("cases are not the same each time");
    if (!outcome.why().empty() || (!proved && !outcome.impossible())) {
      proof.why = outcome.why() + CaseText(script);
      return proof;
    }
    proof.cases += proved;
    if (proved) coverage.Note(script, [&] { return outcome.FactsCanHold(); });
  } while (Advance(&script));
  if (!options.vacuously) proof.why = coverage.Missing();
  if (!proof.why.empty()) return proof;
  proof.verdict = ProofVerdict::kProved;
  proof.what = coverage.Text(state);
  return proof;
}

}  // namespace

RuleProof ProveRule(const drr::Rule& rule, const ProofOptions& options) {
  RuleProof proof;
  proof.why = WhyNotAttempted(rule);
  if (!proof.why.empty()) return proof;
  return ProveCases(rule, options, nullptr, [](RuleCase& rule_case) { return rule_case.Prove(); });
}

RuleProof ProveFollows(const drr::Rule& rule, const drr::Formula& constraint,
                       const ProofOptions& options) {
  RuleProof proof;
  if (!HasSolver()) proof.why = "no proofs without Z3";
  if (constraint.name.empty()) proof.why = "the constraint is native code";
  if (!proof.why.empty()) return proof;
  const auto prove = [&](const RuleSlice* slice, const ProofOptions& with) {
    return ProveCases(rule, with, slice,
                      [&](RuleCase& rule_case) { return rule_case.ProveFollows(constraint); });
  };
  if (rule.graph.HasLists() || rule.graph.HasRegions()) return prove(nullptr, options);
  constexpr size_t kMostCasesOfPart = 2000;
  ProofOptions rest = options;
  const double end = ir::ThreadSeconds() + options.seconds;
  RuleSlice slice(rule.graph, constraint);
  do {
    rest.cases = std::min(kMostCasesOfPart, options.cases);
    proof = prove(&slice, rest);
    if (proof.verdict == ProofVerdict::kProved) return proof;
    rest.seconds = end - ir::ThreadSeconds();
  } while (rest.seconds > 0 && slice.Grow());
  if (rest.seconds <= 0) return proof;
  rest.cases = options.cases;
  return prove(nullptr, rest);
}

}  // namespace weft::passes
