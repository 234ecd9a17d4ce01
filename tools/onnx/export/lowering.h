// Saying in an older opset what the program says in opset kOpset: the inverse of import/adapters.h.
//
// lowering.cc has one table per kind of change: operators that are new, attributes that are new,
// values of attributes that are new, inputs that are new.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/onnx/export.h"
#include "tools/onnx/proto/proto.h"

namespace weft::onnx {

// The opset that has an operator of the default domain first; kOldestTargetOpset for those that are
// as old.
int64_t IntroducedIn(std::string_view op_type);
// The ONNX IR version that came with the opset.
int64_t IrVersionOf(int64_t opset);

// Whether ONNX has the op, but opset `target` has not, and its reference body stands for it.
bool IsExpandedFor(ir::Operation op, int64_t target);

// What the graph may get before a node that needs it.
struct Additions {
  // Makes a constant 1-D tensor of the model and gives its name.
  std::function<std::string(const ir::Ints&)> ints;
  // Adds a node, still without output, and gives the name of the one output that it gets.
  std::function<std::string(pb::NodeProto)> node;
};

// Rewrites the node written for `op`, of the default domain, for opset `target`. Unsupported when the
// target cannot say what the node means.
absl::Status LowerNode(ir::Operation op, int64_t target, const Additions& add, pb::NodeProto* node);

// Unsupported where opset `target` has no Identity for such a value.
absl::Status CheckIdentity(ir::Value value, int64_t target);

// The first opset that has what the op's attributes and operands say, kOldestTargetOpset where all have.
int64_t OldestOpsetOf(ir::Operation op);

}  // namespace weft::onnx
