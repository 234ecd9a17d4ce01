#include "passes/lower_to_bodies.h"

#include <vector>

#include "ir/analysis/reference_body.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::passes {

absl::Status LowerToBodies::Run(ir::Program& program) {
  std::vector<ir::Operation> found;
  ir::Walk(program, [&](ir::Operation op) {
    if (ir::HasReferenceBody(op) && Lowers(op)) found.push_back(op);
  });
  ir::Rewriter rewriter(&program);
  for (const ir::Operation op : found) {
    if (!ir::ReplaceByReferenceBody(rewriter, op)) continue;
    Count("ops lowered");
    MarkChanged();
  }
  return absl::OkStatus();
}

}  // namespace weft::passes
