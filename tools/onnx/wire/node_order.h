// The order in which the nodes of a graph can be computed. ONNX wants them listed so; some
// exporters do not care, and ONNX Runtime sorts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "tools/onnx/proto/proto.h"

namespace weft::onnx {

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;

// Indices of `nodes`, every node behind those whose outputs it reads, in subgraphs too; a list that
// is in order stays as it is. `is_known`: names that have a value before the first node, whatever
// the nodes call their outputs. InvalidArgument for a cycle. Graphs nested deeper than max_depth
// are not looked into. Linear in the size of the nodes times their nesting.
absl::StatusOr<std::vector<int>> OrderOfNodes(
    const Nodes& nodes, int max_depth, const std::function<bool(const std::string&)>& is_known);

}  // namespace weft::onnx
