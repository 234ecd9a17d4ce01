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
  for (const ir::Operation op : found) Lower(rewriter, op);
  return absl::OkStatus();
}

void LowerToBodies::Lower(ir::Rewriter& rewriter, ir::Operation op) {
  const ir::Operation before = op.prev();
  rewriter.SetInsertionPoint(op);
  rewriter.set_location(op.location());
  const auto body = ir::BuildReferenceBody(rewriter, op, op.operands().vec());
  if (body.size() == op.num_results()) {
    rewriter.Replace(op, body);
    Count("ops lowered");
    MarkChanged();
    return;
  }
  while (op.prev() != before) rewriter.Erase(op.prev());  // of a body that came to nothing
}

}  // namespace weft::passes
