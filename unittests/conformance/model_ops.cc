#include "unittests/conformance/model_ops.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string_view>

#include "weft/base/files.h"

namespace weft::conformance {
namespace {

constexpr size_t kMaxModelBytes = size_t{1} << 30;

bool ReadVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Calls `visit` for every field of a protobuf message that has a length; stops at what is malformed.
void ForEachField(std::string_view message,
                  const std::function<void(uint64_t field, std::string_view)>& visit) {
  for (uint64_t tag = 0, length = 0; ReadVarint(&message, &tag);) {
    switch (tag & 7) {
      case 0:
        if (!ReadVarint(&message, &length)) return;
        continue;
      case 1:
        length = 8;
        break;
      case 5:
        length = 4;
        break;
      case 2:
        if (!ReadVarint(&message, &length)) return;
        break;
      default:
        return;
    }
    if (length > message.size()) return;
    if ((tag & 7) == 2) visit(tag >> 3, message.substr(0, length));
    message.remove_prefix(length);
  }
}

}  // namespace

std::vector<std::string> OpsOfModel(const std::string& path) {
  // ModelProto.graph, GraphProto.node, NodeProto.op_type and .domain of onnx.proto.
  constexpr uint64_t kGraph = 7, kNode = 1, kOpType = 4, kDomain = 7;
  const auto model = ReadText(path, kMaxModelBytes);
  if (!model.ok()) return {};
  std::set<std::string> ops, plain;
  const auto visit_node = [&](std::string_view node) {
    std::string op, domain;
    ForEachField(node, [&](uint64_t field, std::string_view text) {
      if (field == kOpType) op = text;
      if (field == kDomain && text != "ai.onnx") domain = std::string(text) + ".";
    });
    (op == "Constant" || op == "Identity" ? plain : ops).insert(domain + op);
  };
  ForEachField(*model, [&](uint64_t field, std::string_view graph) {
    if (field != kGraph) return;
    ForEachField(graph, [&](uint64_t part, std::string_view node) {
      if (part == kNode) visit_node(node);
    });
  });
  const std::set<std::string>& named = ops.empty() ? plain : ops;
  return {named.begin(), named.end()};
}

}  // namespace weft::conformance
