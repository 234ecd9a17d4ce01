// superopt: searches for a cheaper program with the substitutions of
// passes/superopt/substitutions.weft and the rules of canonicalize, each tried alone at every
// operation (passes/superopt/search.h). Seed: ai_system_graph_optimization.md, 5.2.6 random
// subgraph substitution.
//
// The result is never more expensive than the program given, with what constant folding leaves of
// both. A program with a type that is not static, or with an operation whose cost is not known, is
// left alone, and the run's SearchOptions::warn is called with the reason.
#include <algorithm>
#include <functional>
#include <utility>

#include "drr/rule_file.h"
#include "ir/analysis/constant.h"
#include "ir/analysis/verifier.h"
#include "ir/clone.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/rule_registry.h"
#include "passes/superopt/search.h"
#include "passes/superopt/substitutions.h"

namespace weft::passes {
namespace {

// "" or what is not static.
std::string WhyNotStatic(ir::Program& program) {
  std::string why;
  const auto check = [&](ir::Value v, const std::string& whose) {
    if (why.empty() && v && !v.type().IsStatic())
      why = ir::ValueName(v) + whose + " has the type " + v.type().ToString() +
            ", and costs are known for static shapes only";
  };
  ir::Walk(program, [&](ir::Operation op) {
    for (const ir::Value v : op.results()) check(v, " of " + std::string(op.name()));
    for (const ir::Value v : op.operands())
      if (v && v.IsBlockArgument()) check(v, ", which " + std::string(op.name()) + " reads,");
  });
  return why;
}

// Split(x, [n, n]) => Split(x), the form that substitutions know. No rule, because an operation of
// any number of results is none that a rule in C++ can make.
void DropEqualLengths(ir::Program& program) {
  ir::Rewriter rewriter(&program);
  ir::Walk(program, [&](ir::Operation op) {
    if (!op.Is<ir::ops::Split>() || !op.HasOperand(1)) return;
    const auto lengths = ir::ConstantInts(op.operand(1));
    if (!lengths || lengths->size() != op.num_results() ||
        std::adjacent_find(lengths->begin(), lengths->end(), std::not_equal_to<>()) !=
            lengths->end())
      return;
    rewriter.SetOperands(op, {op.operand(0)});
  });
}

class Superopt : public Pass {
 public:
  Superopt();
  absl::Status Initialize(ir::IrContext& context, const PassContext& run) override;
  absl::Status Run(ir::Program& program) override;

 private:
  absl::Status AddSubstitutions(ir::IrContext& context, drr::RewritePatternSet* set);
  bool IsEligible(std::string_view rule, drr::NumericClass numerics, bool opt_in);
  absl::Status Decline(const std::string& why);
  bool Folds() const { return run_.evaluator != nullptr; }
  absl::Status Improve(ir::Program& program);
  // What the search took for free is not, where folding leaves it.
  absl::StatusOr<double> CostWhenFolded(const ir::Program& program);
  // The operations of the best program in place of the ones there are. Its steps would not do: the
  // order in which a value's users are tried is another one in a copy.
  void Adopt(SearchResult& found, ir::Program& program);

  PassContext run_;
  SearchOptions options_;
  drr::FrozenRewritePatternSet patterns_;
};

Superopt::Superopt()
    : Pass("superopt", "searches for a cheaper program, by cost",
           {.seed = "ai-system",
            .numerics = drr::NumericClass::kReassociates,
            .honours_numerics = true}) {}

absl::Status Superopt::Initialize(ir::IrContext& context, const PassContext& run) {
  run_ = run;
  run_.trace = nullptr;  // of what a search tries, only its result is a rewrite
  WEFT_ASSIGN_OR_RETURN(run_.evaluator, EvaluatorOf(run));
  if (const auto* given = run.options.Get<SearchOptions>()) options_ = *given;
  skipped_.clear();
  drr::RewritePatternSet set(&context);
  WEFT_RETURN_IF_ERROR(AddSubstitutions(context, &set));
  for (const RegisteredRule& rule : RegisteredRules())
    if (rule.group == "canonicalize" && IsEligible(rule.name, rule.numerics, rule.opt_in))
      set.Add(rule.build(&context));
  patterns_ = drr::FrozenRewritePatternSet(std::move(set));
  return patterns_.status();
}

absl::Status Superopt::Run(ir::Program& program) {
  if (const std::string why = WhyNotStatic(program); !why.empty()) return Decline(why);
  AnalyticCostModel analytic;
  if (!options_.cost) options_.cost = &analytic;
  absl::Status status = Improve(program);
  if (options_.cost == &analytic) options_.cost = nullptr;
  return status;
}

absl::Status Superopt::AddSubstitutions(ir::IrContext& context, drr::RewritePatternSet* set) {
  if (!context.FindOp(ir::ops::MatMul::kInfo.name)) return absl::OkStatus();
  drr::text::RuleFile file =
      drr::text::ReadRules(substitution::RulesText(), "substitutions.weft", &context);
  if (!file.errors.empty()) return ir::Internal(file.errors[0]);
  for (std::unique_ptr<drr::Rule>& rule : file.rules) {
    if (!IsEligible(rule->name, rule->numerics, false)) continue;
    drr::BuildResult built;
    built.rule = ir::Owned<drr::Rule>(rule.release());
    set->Add(std::move(built));
  }
  return absl::OkStatus();
}

bool Superopt::IsEligible(std::string_view rule, drr::NumericClass numerics, bool opt_in) {
  std::string why = WhyNotEligible(rule, numerics, opt_in, run_);
  if (why.empty()) return true;
  skipped_.push_back({std::string(rule), std::move(why)});
  return false;
}

absl::Status Superopt::Decline(const std::string& why) {
  Count("programs left alone");
  if (options_.warn) options_.warn("the program stays as it is: " + why);
  return absl::OkStatus();
}

absl::Status Superopt::Improve(ir::Program& program) {
  const std::unique_ptr<ir::Program> start = program.Clone();
  DropEqualLengths(*start);
  absl::StatusOr<SearchResult> found = SearchPrograms(*start, patterns_, options_, Folds());
  if (!found.ok()) return Decline(std::string(ir::Message(found.status())));
  Count("programs expanded", found->progress.expanded);
  Count("candidates", found->progress.candidates);
  if (found->steps.empty()) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(ir::Verify(*found->program));
  const absl::StatusOr<double> before = CostWhenFolded(program);
  const absl::StatusOr<double> after = CostWhenFolded(*found->program);
  for (const auto& cost : {before, after})
    if (!cost.ok()) return Decline(std::string(ir::Message(cost.status())));
  if (!(*after < *before * (1 - options_.least_gain))) return absl::OkStatus();
  const std::string unit = std::string(options_.cost->name()) + " nanoseconds ";
  Count(unit + "before", static_cast<uint64_t>(*before * 1e9));
  Count(unit + "after", static_cast<uint64_t>(*after * 1e9));
  Adopt(*found, program);
  return absl::OkStatus();
}

absl::StatusOr<double> Superopt::CostWhenFolded(const ir::Program& program) {
  const std::unique_ptr<ir::Program> copy = program.Clone();
  for (const char* name : {"constant-folding", "dead-code-elimination"}) {
    const std::unique_ptr<Pass> pass = MakePass(name);
    WEFT_RETURN_IF_ERROR(pass->Initialize(*copy->context(), run_));
    WEFT_RETURN_IF_ERROR(pass->Run(*copy));
  }
  return ProgramCost(*copy, *options_.cost, /*folds=*/false);
}

void Superopt::Adopt(SearchResult& found, ir::Program& program) {
  std::vector<ir::Operation> old;
  for (const ir::Operation op : program.body()) old.push_back(op);
  ir::Rewriter rewriter(&program);
  for (auto op = old.rbegin(); op != old.rend(); ++op) rewriter.Erase(*op);
  ir::Builder builder(&program);
  builder.SetInsertionPointToEnd(program.body());
  ir::ValueMap map;
  for (uint32_t i = 0; i < program.body().num_arguments(); ++i)
    map.Set(found.program->body().argument(i), program.body().argument(i));
  for (const ir::Operation op : found.program->body()) ir::CloneOperation(builder, op, map);
  std::vector<uint64_t> applied(patterns_.rules().size(), 0);
  for (const SearchStep step : found.steps) ++applied[step.rule];
  for (size_t i = 0; i < applied.size(); ++i) {
    if (applied[i] == 0) continue;
    RuleStatistics statistics{.rule = patterns_.rules()[i]->name};
    statistics.tried = statistics.matched = statistics.applied = applied[i];
    rules_.push_back(std::move(statistics));
  }
  MarkChanged();
}
WEFT_REGISTER_PASS(Superopt);

}  // namespace
}  // namespace weft::passes
