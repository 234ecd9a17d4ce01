#include "passes/verify/apply_once.h"

#include <vector>

#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "ir/analysis/verifier.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::passes {

std::unique_ptr<ir::Program> ApplyOnce(const drr::Rule& rule, ir::Program& program,
                                       ir::Operation site, std::string* reason) {
  std::unique_ptr<ir::Program> copy = program.Clone();
  std::vector<ir::Operation> ops, copies;
  ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
  ir::Walk(*copy, [&](ir::Operation op) { copies.push_back(op); });
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!(ops[i] == site)) continue;
    drr::MatchContext match(&rule);
    drr::MatchFailure failure;
    if (!drr::Matcher(rule).Match(copies[i], &match, &failure)) {
      if (reason) *reason = failure.reason;
      return nullptr;
    }
    ir::Rewriter rewriter(copy.get());
    if (!drr::Apply(match, rewriter, reason)) return nullptr;
    if (const absl::Status status = ir::Verify(*copy); !status.ok()) {
      if (reason) *reason = ir::Message(status);
      return nullptr;
    }
    return copy;
  }
  if (reason) *reason = "the site is not in the program";
  return nullptr;
}

}  // namespace weft::passes
