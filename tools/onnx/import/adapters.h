// Raising nodes of older opsets to the semantics of opset 27, before anything else looks at them.
//
// adapters.cc has one table: op_type, the first opset that does not need the change, a function.
// What newer opsets only extended (more element types, optional inputs, attributes whose default is
// the old behaviour) needs no row.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/builder.h"

namespace weft::onnx {

inline constexpr int64_t kOldestOpset = 7;
inline constexpr int64_t kOpset = 27;            // of the onnx dialect; the newest that is read
inline constexpr int64_t kNewestIrVersion = 13;  // of ONNX itself, that is published

// A node on its way into the program, with its attributes in their generic form.
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

// For the default domain only. Unsupported when kOpset cannot say what the node means.
absl::Status RaiseToNewest(ir::Builder& builder, NodeDraft* node);

// Writes a window's implied settings out where the shapes tell them: kernel_shape, strides,
// dilations, and pads instead of auto_pad. Anything odd is left for inference to refuse.
void NormalizeWindow(ir::Builder& builder, NodeDraft* node);

}  // namespace weft::onnx
