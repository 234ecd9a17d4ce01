#include "passes/verify/apply_once.h"

#include <algorithm>
#include <vector>

#include "drr/engine/applier.h"
#include "drr/engine/matcher.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft::passes {

std::unique_ptr<ir::Program> CloneWith(ir::Program& program, ir::Operation* op) {
  std::unique_ptr<ir::Program> copy = program.Clone();
  std::vector<ir::Operation> ops, copies;
  ir::Walk(program, [&](ir::Operation o) { ops.push_back(o); });
  ir::Walk(*copy, [&](ir::Operation o) { copies.push_back(o); });
  const auto at = std::find(ops.begin(), ops.end(), *op) - ops.begin();
  WEFT_CHECK(static_cast<size_t>(at) < copies.size(), "an operation of another program");
  *op = copies[static_cast<size_t>(at)];
  return copy;
}

std::unique_ptr<ir::Program> ApplyOnce(const drr::Rule& rule, ir::Program& program,
                                       ir::Operation site, std::string* reason) {
  if (drr::MatchContext there(&rule); reason == nullptr && !drr::Matcher(rule).Match(site, &there))
    return nullptr;  // as at most places, without a copy
  std::unique_ptr<ir::Program> copy = CloneWith(program, &site);
  drr::MatchContext match(&rule);
  drr::MatchFailure failure;
  if (!drr::Matcher(rule).Match(site, &match, &failure)) {
    if (reason) *reason = failure.reason;
    return nullptr;
  }
  ir::Rewriter rewriter(copy.get());
  return drr::Apply(match, rewriter, reason) ? std::move(copy) : nullptr;
}

bool MakesTheSame(const drr::Rule& rule, ir::Program& program, ir::Operation site,
                  ir::Program& same) {
  const std::unique_ptr<ir::Program> made = ApplyOnce(rule, program, site, nullptr);
  return made != nullptr && ir::PrintProgram(*made, {.full_weights = true}) ==
                                ir::PrintProgram(same, {.full_weights = true});
}

}  // namespace weft::passes
