// The operators that a model names, without importing it.
#pragma once

#include <string>
#include <vector>

namespace weft::conformance {

// The op types of the nodes of the main graph, sorted and without doubles, "domain.OpType" for
// other domains than ONNX's; Constant and Identity only when there is nothing else. Empty for what
// is no model.
std::vector<std::string> OpsOfModel(const std::string& path);

}  // namespace weft::conformance
