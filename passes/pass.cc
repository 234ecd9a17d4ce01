#include "passes/pass.h"

#include "passes/rule_registry.h"

namespace weft::passes {

std::string WhyNotEligible(std::string_view rule, drr::NumericClass numerics, bool opt_in,
                           const PassContext& run) {
  if (ContainsRule(run.disabled_rules, rule)) return "it is disabled";
  if (opt_in && !ContainsRule(run.enabled_rules, rule)) return "it is opt-in and not enabled";
  if (numerics > run.numerics)
    return "its numeric class is " + std::string(drr::NumericClassName(numerics)) +
           ", the run allows " + std::string(drr::NumericClassName(run.numerics)) + " at most";
  return "";
}

absl::StatusOr<ir::Evaluator*> EvaluatorOf(const PassContext& run) {
  if (!run.fold_constants) return nullptr;
  if (run.evaluator) return run.evaluator;
  return ir::InvalidArgument(
      "PassContext::evaluator is not set and constants cannot be folded: set it to what "
      "kernels::KernelEvaluator::Create(\"auto\") returns, or set PassContext::fold_constants to "
      "false");
}

void Pass::ResetStatistics() {
  changed_ = false;
  statistics_.clear();
  rules_.clear();
}

void Pass::Count(std::string_view what, uint64_t n) {
  for (auto& [name, count] : statistics_) {
    if (name != what) continue;
    count += n;
    return;
  }
  statistics_.emplace_back(what, n);
}

}  // namespace weft::passes
