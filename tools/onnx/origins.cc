#include "tools/onnx/origins.h"

#include "ir/origin/origin.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/notes.h"

namespace weft::onnx {

void RecordNodeOrigins(ir::Program& program) {
  const ir::Attribute list = program.module().attr(kNodeNotes);
  const Notes notes(list.Is(ir::AttrKind::kStrings) ? list.AsStrings() : ir::Strings());
  ir::RecordOrigins(program, [&](ir::Operation op) {
    const ir::Attribute own = op.attr(kNodeDoc);  // of an opaque operation
    return own.Is(ir::AttrKind::kString) ? own.AsString() : notes.DocOf(op);
  });
}

}  // namespace weft::onnx
