#include "passes/pass_manager.h"

#include <chrono>

#include "ir/analysis/inplace.h"
#include "ir/analysis/verifier.h"
#include "ir/origin/origin.h"
#include "passes/built_rules.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

drr::NumericClass NeededNumerics(const Pass& pass) {
  return pass.traits().honours_numerics ? drr::NumericClass::kExact : pass.traits().numerics;
}

absl::Status RunOne(Pass& pass, ir::Program& program) {
  const ir::OriginScope scope(program, pass.name());
  return pass.Run(program);
}

}  // namespace

absl::Status PassManager::Run(ir::Program& program) {
  reports_.clear();
  WEFT_RETURN_IF_ERROR(ir::Annotate(ir::Verify(program), "before the first pass"));
  pass_context_.built_rules = std::make_shared<BuiltRules>();
  for (const auto& pass : passes_)
    WEFT_RETURN_IF_ERROR(
        ir::Annotate(pass->Initialize(*context_, pass_context_), "pass " + pass->name()));
  bool may_have_marks = true;
  for (const auto& pass : passes_) {
    if (pass->traits().opt_level > opt_level_ || !pass->CanApplyOn(program.module())) continue;
    if (std::string why =
            WhyNotEligible(pass->name(), NeededNumerics(*pass), /*opt_in=*/false, pass_context_);
        !why.empty()) {
      const uint32_t ops = program.num_operations() - 1;
      reports_.push_back({.pass = pass->name(),
                          .ops_before = ops,
                          .ops_after = ops,
                          .statistics = {},
                          .rules = {},
                          .skipped = {{pass->name(), std::move(why)}}});
      continue;
    }
    if (may_have_marks && !pass->KeepsInplaceMarks()) ir::DropInplaceMarks(program);
    may_have_marks = pass->KeepsInplaceMarks();
    RewriteTrace* const trace = pass_context_.trace;
    if (trace && trace->AtLimit()) break;
    if (stop_ && stop_()) return absl::CancelledError("the run was stopped before " + pass->name());
    if (hook_) hook_(*pass, false, false, program);
    if (trace) trace->BeginPass(pass->name(), program);
    pass->ResetStatistics();
    PassReport report{.pass = pass->name(),
                      .ops_before = program.num_operations() - 1,
                      .statistics = {},
                      .rules = {},
                      .skipped = pass->skipped_rules()};
    const auto start = std::chrono::steady_clock::now();
    const absl::Status status = RunOne(*pass, program);
    if (trace && status.ok()) trace->EndPass(pass->changed(), program);
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.changed = pass->changed();
    report.ops_after = program.num_operations() - 1;
    report.statistics = pass->statistics();
    report.rules = pass->rule_statistics();
    reports_.push_back(std::move(report));
    WEFT_RETURN_IF_ERROR(ir::Annotate(status, "pass " + pass->name()));
    if (hook_) hook_(*pass, true, pass->changed(), program);
    if (verify_each_)
      WEFT_RETURN_IF_ERROR(ir::Annotate(ir::Verify(program), "after pass " + pass->name()));
  }
  return ir::Annotate(ir::Verify(program), "after the last pass");
}

}  // namespace weft::passes
