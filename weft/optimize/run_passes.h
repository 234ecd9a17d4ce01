// Choosing passes and running them on a program, with all that they need of the runtime.
//
//   PassSelection selection = {.pipeline = "fuse"};
//   WEFT_RETURN_IF_ERROR(CheckPassSelection(selection));
//   PassRun run;
//   WEFT_RETURN_IF_ERROR(RunSelectedPasses(selection, program, &run));
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "passes/pass_manager.h"
#include "passes/precision/convert_floats.h"
#include "passes/rewrite_trace.h"
#include "passes/superopt/search.h"
#include "weft/base/notices.h"
#include "weft/base/rule_text.h"
#include "weft/optimize/rule_trust.h"

namespace weft::kernels {
class PackedWeights;
}

namespace weft {

struct PassSelection {
  std::string pipeline = "simplify";     // ignored when passes are given
  std::vector<std::string> passes = {};  // in place of the pipeline
  std::vector<std::string> enabled_rules = {}, disabled_rules = {};
  std::string numerics = "reassociates";      // see drr::FindNumericClass
  std::vector<std::string> rules_files = {};  // whose rules run before all passes,
  std::vector<RuleText> rule_texts = {};      // and those of these texts
  RuleTrust trust = {};                       // in those
  bool verify_each = false, paranoid = false;
  int64_t target_opset = 0;   // of the ONNX model that will be written; 0: none will
  bool widen_floats = false;  // begin with widen-floats, if any pass runs
  // Run convert-floats: after simplify, where the pipeline begins with it, else at the end.
  std::optional<passes::ConvertFloatsOptions> convert = {};
  std::vector<std::string> dim_ranges =
      {};  // of sampled-dynamic-reshape: see passes/targets/ascend/dim_range.h
  bool collect_statistics = false;  // of every rule, in the reports

  bool HasRules() const { return !rules_files.empty() || !rule_texts.empty(); }
};

// Every name exists, and nothing contradicts anything else. Before anything is read.
absl::Status CheckPassSelection(const PassSelection& selection);

std::vector<std::string> PassNames();
std::vector<std::string> PipelineNames();
// Registered rule names plus those loaded from rule files.
std::vector<std::string> RuleNames(const std::vector<passes::PassReport>& reports = {});

// The passes to run, by name.
std::vector<std::string> PassesOf(const PassSelection& selection);
// Which rules are eligible; nothing about folding. The selection is a checked one.
passes::PassContext PassContextOf(const PassSelection& selection);

// Judges the rules of files and texts that RunSelectedPasses would apply to `program`, as it does
// itself unless they are trusted: for those who run the passes several times.
absl::Status JudgeRulesOfFiles(const PassSelection& selection, ir::Program& program,
                               const Notices& notices);

// What goes with a run and comes from it.
struct PassRun {
  std::optional<passes::RewriteTraceOptions> trace = {};  // of single rewrites
  passes::PassManager::Hook hook = nullptr;               // called around every pass
  std::optional<passes::SearchOptions> search = {};       // of superopt
  // Asked between passes, and while rules are judged; true ends the run with Cancelled.
  std::function<bool()> stop = nullptr;
  Notices notices = {};
  kernels::PackedWeights* folded =
      nullptr;  // adopts constants that are folded; null: the context does
  std::vector<passes::PassReport> reports = {};  // filled even when a pass fails
};

// Runs the passes of a checked selection; constants are folded with the kernels of a session. After an
// error the program is what the passes until then made of it.
absl::Status RunSelectedPasses(const PassSelection& selection, ir::Program& program, PassRun* run);

}  // namespace weft
