#include "tools/onnx/part_notes.h"

#include <string>
#include <unordered_set>

#include "ir/context.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/notes.h"

namespace weft::onnx {
namespace {

using Keys = std::unordered_set<std::string>;

Keys NodeKeysOf(ir::Program& program) {
  Keys keys;
  for (const ir::Operation op : program.body())
    if (!op.HasTrait(ir::kConstantLike)) keys.insert(NodeKey(op));  // those have no notes
  return keys;
}

Keys ValueNamesOf(ir::Program& program) {
  Keys names;
  const auto module = program.module().attrs_of<ir::ModuleOp>();
  for (const auto& list : {module.input_names, module.output_names})
    if (list) names.insert(list->begin(), list->end());
  for (const ir::Value input : program.body().arguments()) names.insert(std::string(input.name()));
  for (const ir::Operation op : program.body())
    for (const ir::Value result : op.results()) names.insert(std::string(result.name()));
  return names;
}

void KeepNotesOf(const Keys& keys, const char* attribute, ir::Program& program) {
  const ir::Strings all = program.module().attr(attribute).AsStrings();
  const ir::Strings kept =
      SelectNotes(all, [&](const std::string& key) { return keys.contains(key); });
  if (kept.size() == all.size()) return;
  ir::Rewriter rewriter(&program);
  rewriter.SetAttrs(program.module(),
                    program.context()->Without(program.module().attrs(), ir::Name(attribute)));
  if (!kept.empty())
    rewriter.SetAttr(program.module(), attribute, program.context()->StringsAttr(kept));
}

}  // namespace

void DropNotesOfOthers(ir::Program& part) {
  const auto has = [&](const char* attribute) {
    return part.module().attr(attribute).Is(ir::AttrKind::kStrings);
  };
  if (has(kNodeNotes)) KeepNotesOf(NodeKeysOf(part), kNodeNotes, part);
  if (has(kValueNotes)) KeepNotesOf(ValueNamesOf(part), kValueNotes, part);
}

}  // namespace weft::onnx
