#include "passes/lower_to_bodies.h"

#include <vector>

#include "ir/analysis/reference_body.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::passes {

absl::Status LowerToBodies::Run(ir::Program& program) {
  ir::Rewriter rewriter(&program);
  // Again where a body held such ops: a group of elementwise ones may.
  for (bool found_more = true; found_more;) {
    found_more = false;
    std::vector<ir::Operation> found;
    ir::Walk(program, [&](ir::Operation op) {
      if (ir::HasReferenceBody(op) && Lowers(op)) found.push_back(op);
    });
    for (const ir::Operation op : found) {
      if (!op.IsAlive() || !ir::ReplaceByReferenceBody(rewriter, op)) continue;
      found_more = true;
      Count("ops lowered");
      MarkChanged();
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::passes
