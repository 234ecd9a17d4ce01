// Where a node comes from (ir/origin/origin.h), as metadata_props: lists in JSON under these keys.
// What else is found under them is metadata like any other.
//
//   weft.sources  ["conv1","bn1"]        nodes of the model that was optimised
//   weft.rules    ["fold-batch-norm"]    rules and passes
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/origin/origin.h"
#include "tools/onnx/proto/notes.h"

namespace weft::onnx {

inline constexpr std::string_view kSourcesKey = "weft.sources";
inline constexpr std::string_view kRulesKey = "weft.rules";

std::string ToJson(const std::vector<ir::Name>& names);
// False for what is no list of strings; *names is as it was then.
bool FromJson(std::string_view text, std::vector<ir::Name>* names);

// Key, value, ...: the node's metadata_props without its origin.
ir::Strings OtherMetadata(const pb::NodeProto& node);
// Gives the operation the origin that the node has, if it has one.
void ReadOrigin(const pb::NodeProto& node, ir::Operation op);
// Nothing for an operation that is not rewritten. A node without a doc_string gets those of its
// sources, a line each.
void WriteOrigin(ir::Operation op, pb::NodeProto* node);

// The operation's location or, where it stands for several, their names, unless a rule has given it
// a location of its own.
std::string NodeNameOf(ir::Operation op);

}  // namespace weft::onnx
