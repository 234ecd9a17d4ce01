#include "tools/onnx/import/draft.h"

#include <fmt/format.h>

namespace weft::onnx {

using ir::Attribute;

Attribute NodeDraft::attribute(std::string_view name) const {
  for (const ir::NamedAttribute& a : attributes)
    if (a.name.str() == name) return a.value;
  return {};
}

void NodeDraft::SetAttribute(std::string_view name, Attribute value) {
  std::erase_if(attributes, [&](const auto& a) { return a.name.str() == name; });
  if (value) attributes.push_back({ir::Name(name), value});
}

absl::StatusOr<Attribute> TakeAttribute(NodeDraft* node, std::string_view name, ir::AttrKind kind) {
  const Attribute value = node->attribute(name);
  if (!value) return value;
  if (value.kind() != kind)
    return ir::InvalidArgument(fmt::format("attribute {} is of the wrong kind", name));
  node->SetAttribute(name, {});
  return value;
}

void SetOperand(NodeDraft* node, size_t i, ir::Value value) {
  if (node->operands.size() <= i) node->operands.resize(i + 1);
  node->operands[i] = value;
}

absl::Status IntsToOperand(ir::Builder& b, NodeDraft* node, std::string_view name, size_t i) {
  WEFT_ASSIGN_OR_RETURN(const Attribute value, TakeAttribute(node, name, ir::AttrKind::kInts));
  if (!value) return absl::OkStatus();
  if (node->operands.size() > i)
    return ir::InvalidArgument(
        fmt::format("has input {} although attribute {} stands for it", i, name));
  SetOperand(node, i, b.ConstantInts(value.AsInts()));
  return absl::OkStatus();
}

}  // namespace weft::onnx
