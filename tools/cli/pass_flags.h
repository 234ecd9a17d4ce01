// The flags by which a user says which passes run, and running them.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "passes/pass_manager.h"
#include "tools/cli/cli_fwd.h"
#include "tools/cli/rewrite_flags.h"
#include "tools/cli/search_flags.h"
#include "weft/optimize/run_passes.h"

namespace weft::tools {

struct PassFlags : PassSelection {
  explicit PassFlags(const std::string& default_pipeline = "simplify",
                     const std::string& program_name = "ir-opt")
      : program(program_name) {
    pipeline = default_pipeline;
  }

  bool pipeline_given = false;            // by the user
  std::string print_before, print_after;  // a pass, all, or (after) change
  std::string stats;                      // table, all, json, or empty: none
  bool timing = false;
  std::vector<std::string> fail_if;  // see rule_bound.h
  RewriteFlags rewrites;
  std::string program;  // that warns on stderr
  SearchFlags search;   // of superopt
};

// --pipeline alone; the default is what `flags` holds.
void AddPipelineFlag(CLI::App& app, PassFlags* flags);
// All the others but those below. Call it after AddPipelineFlag.
void AddPassFlags(CLI::App& app, PassFlags* flags);
// --rules-file, --trust-rules and --require-judged, on a line.
void AddRulesFileFlag(CLI::App& app, PassFlags* flags);
// --dim-range, on the line of the option added before it.
void AddDimRangeFlag(CLI::App& app, PassFlags* flags);
// All of them but --pipeline, without a line in the help.
void AddOtherPassFlags(CLI::App& app, PassFlags* flags);

// Every name exists, and no two flags contradict each other. Before anything is read.
absl::Status CheckPassFlags(const PassFlags& flags);

// The rules that flags may name before anything is read; none when a file has more of them.
std::vector<std::string> RuleNamesOf(const PassFlags& flags);

// Judges the rules of files that RunPasses would apply to `program`, as it does itself unless they are
// trusted: for those who run the passes several times.
absl::Status JudgeRulesOfFiles(const PassFlags& flags, ir::Program& program);

// Runs the passes on `program`; constants are folded with the kernels of a session. What the flags
// want printed goes to stderr. `reports` (may be null) is filled even when a pass fails; `hook` is
// called around every pass. --fail-if is for the caller (CheckRuleBounds).
absl::Status RunPasses(const PassFlags& flags, ir::Program& program,
                       std::vector<passes::PassReport>* reports = nullptr,
                       passes::PassManager::Hook hook = nullptr);

}  // namespace weft::tools
