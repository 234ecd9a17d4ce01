#include "tools/onnx/import/function_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tools/onnx/import/adapters.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

std::string Describe(const FunctionKey& key) {
  const std::string text = fmt::format("function {}", Quoted(key.domain + "." + key.name));
  return key.overload.empty() ? text : fmt::format("{}, overload {}", text, Quoted(key.overload));
}

// Every operator that the nodes mention, those in subgraphs too (their nesting is bounded).
template <class Visit>
void VisitCalls(const google::protobuf::RepeatedPtrField<pb::AttributeProto>& attributes,
                Visit&& visit);
template <class Visit>
void VisitCalls(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, Visit&& visit) {
  for (const pb::NodeProto& node : nodes) {
    visit(KeyOfCall(node));
    VisitCalls(node.attribute(), visit);
  }
}
template <class Visit>
void VisitCalls(const google::protobuf::RepeatedPtrField<pb::AttributeProto>& attributes,
                Visit&& visit) {
  for (const pb::AttributeProto& attribute : attributes) {
    if (attribute.has_g()) VisitCalls(attribute.g().node(), visit);
    for (const pb::GraphProto& graph : attribute.graphs()) VisitCalls(graph.node(), visit);
  }
}

absl::Status CheckNames(std::vector<std::string> sorted) {
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i].empty() || !IsUtf8(sorted[i]))
      return ir::InvalidArgument(fmt::format("bad name {}", Quoted(sorted[i])));
    if (i > 0 && sorted[i] == sorted[i - 1])
      return ir::InvalidArgument(fmt::format("repeats the name {}", Quoted(sorted[i])));
  }
  return absl::OkStatus();
}

absl::Status CheckSignature(const pb::FunctionProto& function) {
  WEFT_RETURN_IF_ERROR(CheckNames({function.input().begin(), function.input().end()}));
  WEFT_RETURN_IF_ERROR(CheckNames({function.output().begin(), function.output().end()}));
  std::vector<std::string> attributes(function.attribute().begin(), function.attribute().end());
  for (const pb::AttributeProto& fallback : function.attribute_proto()) {
    attributes.push_back(fallback.name());
    if (!fallback.ref_attr_name().empty())
      return ir::InvalidArgument(fmt::format("the default of attribute {} refers to another one",
                                             Quoted(fallback.name())));
  }
  return CheckNames(std::move(attributes));
}

absl::StatusOr<LocalFunction> ReadFunction(const pb::FunctionProto& proto) {
  LocalFunction function{.proto = &proto, .opsets = {}};
  WEFT_RETURN_IF_ERROR(CheckSignature(proto));
  WEFT_ASSIGN_OR_RETURN(function.opsets, OpsetImports::Read(proto.opset_import()));
  return function;
}

}  // namespace

FunctionKey KeyOfCall(const pb::NodeProto& node) {
  return {std::string(NormalDomain(node.domain())), node.op_type(), node.overload()};
}

absl::Status OpsetImports::Add(const std::string& domain, int64_t version) {
  if (!IsUtf8(domain))
    return ir::InvalidArgument(fmt::format("domain {} is not UTF-8", Quoted(domain)));
  if (version < 1)
    return ir::InvalidArgument(
        fmt::format("operator set {} has version {}", Quoted(domain), version));
  const std::string_view normal = NormalDomain(domain);
  if (normal.empty() && (version < kOldestOpset || version > kOpset))
    return ir::Unsupported(
        fmt::format("opset {}; supported are {} to {}", version, kOldestOpset, kOpset));
  if (!versions_.emplace(normal, version).second)
    return ir::InvalidArgument(fmt::format("operator set {} is imported twice", Quoted(domain)));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> OpsetImports::Version(std::string_view domain) const {
  const auto it = versions_.find(NormalDomain(domain));
  if (it == versions_.end())
    return ir::InvalidArgument(fmt::format("operator set {} is not imported",
                                           Quoted(domain.empty() ? "ai.onnx" : domain)));
  return it->second;
}

absl::StatusOr<FunctionLibrary> FunctionLibrary::Read(const pb::ModelProto& model,
                                                      const ImportLimits& limits) {
  FunctionLibrary library;
  for (const pb::FunctionProto& proto : model.functions()) {
    const FunctionKey key{std::string(NormalDomain(proto.domain())), proto.name(),
                          proto.overload()};
    if (key.name.empty() || !IsUtf8(key.name) || !IsUtf8(key.domain) || !IsUtf8(key.overload))
      return ir::InvalidArgument(fmt::format("{} has a bad name", Describe(key)));
    absl::StatusOr<LocalFunction> function = ReadFunction(proto);
    if (!function.ok()) return ir::Annotate(function.status(), Describe(key));
    if (!library.functions_.emplace(key, *std::move(function)).second)
      return ir::InvalidArgument(fmt::format("{} is defined twice", Describe(key)));
  }
  std::map<FunctionKey, int> height;
  for (const auto& [key, function] : library.functions_)
    WEFT_RETURN_IF_ERROR(library.CheckCalls(key, 1, limits.max_call_depth, &height));
  return library;
}

absl::StatusOr<const LocalFunction*> FunctionLibrary::Find(const pb::NodeProto& node) const {
  if (functions_.empty() && node.overload().empty()) return nullptr;
  const FunctionKey key = KeyOfCall(node);
  const auto it = functions_.find(key);
  if (it != functions_.end()) return &it->second;
  if (key.overload.empty()) return nullptr;
  return ir::InvalidArgument(fmt::format("the model has no {}", Describe(key)));
}

// height: 0 while a function is being looked at, else the length of its longest chain of calls.
absl::Status FunctionLibrary::CheckCalls(const FunctionKey& key, int depth, int max_depth,
                                         std::map<FunctionKey, int>* height) const {
  const auto too_deep = [&] {
    return ir::InvalidArgument(
        fmt::format("{}: functions call each other deeper than {}", Describe(key), max_depth));
  };
  if (depth > max_depth) return too_deep();
  if (const auto it = height->find(key); it != height->end())
    return it->second == 0 ? ir::InvalidArgument(fmt::format("{} calls itself", Describe(key)))
                           : absl::OkStatus();
  (*height)[key] = 0;
  std::set<FunctionKey> called;
  const auto visit = [&](const FunctionKey& callee) {
    if (functions_.count(callee) > 0) called.insert(callee);
  };
  const pb::FunctionProto& proto = *functions_.at(key).proto;
  VisitCalls(proto.node(), visit);
  VisitCalls(proto.attribute_proto(), visit);
  int longest = 1;
  for (const FunctionKey& callee : called) {
    WEFT_RETURN_IF_ERROR(CheckCalls(callee, depth + 1, max_depth, height));
    longest = std::max(longest, (*height)[callee] + 1);
  }
  if (longest > max_depth) return too_deep();
  (*height)[key] = longest;
  return absl::OkStatus();
}

}  // namespace weft::onnx
