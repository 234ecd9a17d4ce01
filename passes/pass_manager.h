// PassManager: runs passes in order on a program, with verification, timing, statistics and a hook
// for printing.
//
//   PassManager pm(&context);
//   pm.AddPass(std::make_unique<DeadCodeElimination>());
//   WEFT_RETURN_IF_ERROR(pm.Run(program));
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "passes/pass.h"

namespace weft::passes {

// What happened in one pass of a run.
struct PassReport {
  std::string pass;
  bool changed = false;
  uint32_t ops_before = 0, ops_after = 0;  // the module itself not counted
  double seconds = 0;                      // verification not included
  std::vector<std::pair<std::string, uint64_t>> statistics;
  std::vector<RuleStatistics> rules;
  std::vector<SkippedRule> skipped;
};

class PassManager {
 public:
  explicit PassManager(ir::IrContext* context, int opt_level = 3)
      : context_(context), opt_level_(opt_level) {}

  void AddPass(std::unique_ptr<Pass> pass) { passes_.push_back(std::move(pass)); }
  PassContext& pass_context() { return pass_context_; }

  // Verify after each pass (the program is verified before the first one and after the last
  // anyway).
  void set_verify_each(bool on) { verify_each_ = on; }
  // Called before and after each pass; `changed` is always false before.
  using Hook =
      std::function<void(const Pass& pass, bool after, bool changed, ir::Program& program)>;
  void set_hook(Hook hook) { hook_ = std::move(hook); }
  // Asked before each pass; true ends the run with Cancelled.
  void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  // Marks of in-place execution are dropped before a pass that does not keep them.
  // Stops at the first error, which names the pass.
  absl::Status Run(ir::Program& program);
  const std::vector<PassReport>& reports() const { return reports_; }

 private:
  ir::IrContext* context_;
  int opt_level_;  // passes above it are skipped
  std::vector<std::unique_ptr<Pass>> passes_;
  PassContext pass_context_;
  bool verify_each_ = false;
  Hook hook_;
  std::function<bool()> stop_;
  std::vector<PassReport> reports_;
};

}  // namespace weft::passes
