// A node on its way into the program, and what adapters do with one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/builder.h"
#include "ir/op_def.h"

namespace weft::onnx {

inline constexpr int64_t kOpset = 27;  // of the onnx dialect; the newest that is read

// With its attributes in their generic form.
struct NodeDraft {
  std::string domain;  // "" is ai.onnx
  std::string op_type;
  int64_t version = kOpset;  // of the domain's operator set that the node was written for
  std::vector<ir::Value> operands;
  std::vector<ir::NamedAttribute> attributes;
  size_t num_results = 1;    // up to the last output that has a name
  std::string unreadable{};  // why the outputs after num_results cannot be read
  // Computes what the node's first output really is from the raised op's first result.
  std::function<absl::StatusOr<ir::Value>(ir::Builder&, ir::Value)> finish{};

  ir::Attribute attribute(std::string_view name) const;
  void SetAttribute(std::string_view name, ir::Attribute value);  // null removes it
};

// The attribute, which the draft then has no longer; null when it is not given.
absl::StatusOr<ir::Attribute> TakeAttribute(NodeDraft* node, std::string_view name,
                                            ir::AttrKind kind);

void SetOperand(NodeDraft* node, size_t i, ir::Value value);

// A list of ints becomes the 1-D i64 operand number i.
absl::Status IntsToOperand(ir::Builder& b, NodeDraft* node, std::string_view name, size_t i);

// Builder::Make for operands that come from outside: a mistake is an error and not an abort.
template <class O>
absl::StatusOr<ir::Value> TryMake(ir::Builder& b, const std::vector<ir::Value>& operands,
                                  const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  ir::OperationState state{.opcode = ir::kOpcodeOf<O>,
                           .operands = operands,
                           .attrs = ir::MakeAttrs<O>(*b.context(), attrs)};
  ir::Operation op;
  std::string error;
  if (!b.TryCreate(std::move(state), 1, &op, &error)) return ir::InvalidArgument(error);
  return op.result();
}

}  // namespace weft::onnx
