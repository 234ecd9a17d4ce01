// --max-rewrites and --print-rewrites: the rewrites of a run, one by one (passes/rewrite_trace.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "passes/rewrite_trace.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

struct RewriteFlags {
  std::optional<uint64_t> most = {};  // after which the run ends
  std::string print = {};             // line, diff, or empty: none
  // For a program that follows the rewrites itself; see RewriteTraceOptions.
  decltype(passes::RewriteTraceOptions::on_rewrite) on_rewrite = nullptr;
  decltype(passes::RewriteTraceOptions::before_rewrite) before_rewrite = nullptr;
};

// Both, on one line of the help.
void AddRewriteFlags(CLI::App& app, RewriteFlags* flags);
absl::Status CheckRewriteFlags(const RewriteFlags& flags);

// What follows the rewrites of a run as the flags want it, printing on stderr; nullopt: nobody does.
std::optional<passes::RewriteTraceOptions> TraceOptionsOf(const RewriteFlags& flags);

}  // namespace weft::tools
