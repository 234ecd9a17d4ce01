#include "kernels/runtime/isolate.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/dialects/onnx/control.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::kernels {
namespace {

// In the order in which they are met.
std::vector<ir::Value> CapturedValues(ir::Operation op) {
  std::vector<ir::Value> captured;
  std::unordered_map<uint32_t, bool> seen;
  for (uint32_t r = 0; r < op.num_regions(); ++r)
    ir::Walk(op.region(r), [&](ir::Operation inner) {
      for (const ir::Value v : inner.operands())
        if (v && v.ParentBlock() == op.block() && seen.emplace(v.id(), true).second)
          captured.push_back(v);
    });
  return captured;
}

void Isolate(ir::Operation op, ir::Rewriter& rewriter) {
  const std::vector<ir::Value> captured = CapturedValues(op);
  for (uint32_t r = 0; r < op.num_regions(); ++r) {
    std::unordered_map<uint32_t, ir::Value> arguments;
    for (const ir::Value v : captured)
      arguments[v.id()] = rewriter.AddArgument(op.region(r).front(), v.type());
    ir::Walk(op.region(r), [&](ir::Operation inner) {
      for (uint32_t i = 0; i < inner.num_operands(); ++i) {
        const ir::Value v = inner.operand(i);
        if (v && v.ParentBlock() == op.block()) rewriter.SetOperand(inner, i, arguments[v.id()]);
      }
    });
  }
  std::vector<ir::Value> operands = op.operands().vec();
  if (op.Is<ir::ops::Loop>() && operands.size() < ir::ops::Loop::kFirstCarried)
    operands.resize(ir::ops::Loop::kFirstCarried);
  operands.insert(operands.end(), captured.begin(), captured.end());
  rewriter.SetOperands(op, operands);
  rewriter.SetAttr(op, kCaptured, op.context()->IntAttr(static_cast<int64_t>(captured.size())));
}

}  // namespace

absl::Status IsolateRegions(ir::Program& program) {
  ir::Rewriter rewriter(&program);
  for (const ir::Operation op : program.body()) {
    if (!op.def() || ir::ops::RegionNames(op.opcode()).empty() || op.attr(kCaptured)) continue;
    if (std::string error; !op.def()->verify(op, &error))
      return ir::InvalidArgument(std::string(op.name()) + ": " + error);
    Isolate(op, rewriter);
  }
  return absl::OkStatus();
}

uint32_t NumCaptured(ir::Operation op) {
  const ir::Attribute count = op.attr(kCaptured);
  return count.Is(ir::AttrKind::kInt) ? static_cast<uint32_t>(count.AsInt()) : 0;
}

}  // namespace weft::kernels
