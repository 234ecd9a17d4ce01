#include "tools/onnx/import/function_library.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

#include "tools/onnx/import/adapters.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using Key = std::pair<std::string, std::string>;

constexpr int kDefaultAttributesField = 11;  // FunctionProto.attribute_proto

std::string Describe(const Key& key) {
  return fmt::format("function {}", Quoted(key.first + "." + key.second));
}

// Every operator that the nodes mention, those in subgraphs too (their nesting is bounded).
template <class Visit>
void VisitCalls(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes, Visit&& visit) {
  for (const pb::NodeProto& node : nodes) {
    visit(Key(NormalDomain(node.domain()), node.op_type()));
    for (const pb::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) VisitCalls(attribute.g().node(), visit);
      for (const pb::GraphProto& graph : attribute.graphs()) VisitCalls(graph.node(), visit);
    }
  }
}

absl::StatusOr<std::vector<pb::AttributeProto>> ReadDefaults(const pb::FunctionProto& function) {
  std::vector<pb::AttributeProto> defaults;
  const auto& unknown = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() != kDefaultAttributesField ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    defaults.emplace_back();
    if (!defaults.back().ParseFromString(field.length_delimited()))
      return ir::InvalidArgument("a default attribute is malformed");
  }
  return defaults;
}

absl::Status CheckNames(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::vector<std::string> sorted(names.begin(), names.end());
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
  WEFT_RETURN_IF_ERROR(CheckNames(function.input()));
  WEFT_RETURN_IF_ERROR(CheckNames(function.output()));
  return CheckNames(function.attribute());
}

absl::StatusOr<LocalFunction> ReadFunction(const pb::FunctionProto& proto) {
  LocalFunction function{.proto = &proto, .opsets = {}, .defaults = {}};
  WEFT_RETURN_IF_ERROR(CheckSignature(proto));
  WEFT_ASSIGN_OR_RETURN(function.opsets, OpsetImports::Read(proto.opset_import()));
  WEFT_ASSIGN_OR_RETURN(function.defaults, ReadDefaults(proto));
  return function;
}

}  // namespace

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
    const Key key(NormalDomain(proto.domain()), proto.name());
    if (proto.name().empty() || !IsUtf8(proto.name()) || !IsUtf8(proto.domain()))
      return ir::InvalidArgument(fmt::format("{} has a bad name", Describe(key)));
    absl::StatusOr<LocalFunction> function = ReadFunction(proto);
    if (!function.ok()) return ir::Annotate(function.status(), Describe(key));
    if (!library.functions_.emplace(key, *std::move(function)).second)
      return ir::InvalidArgument(fmt::format("{} is defined twice", Describe(key)));
  }
  std::map<Key, int> height;
  for (const auto& [key, function] : library.functions_)
    WEFT_RETURN_IF_ERROR(library.CheckCalls(key, 1, limits.max_call_depth, &height));
  return library;
}

const LocalFunction* FunctionLibrary::Find(std::string_view domain, std::string_view name) const {
  if (functions_.empty()) return nullptr;
  const auto it = functions_.find(Key(NormalDomain(domain), name));
  return it == functions_.end() ? nullptr : &it->second;
}

// height: 0 while a function is being looked at, else the length of its longest chain of calls.
absl::Status FunctionLibrary::CheckCalls(const Key& key, int depth, int max_depth,
                                         std::map<Key, int>* height) const {
  const auto too_deep = [&] {
    return ir::InvalidArgument(
        fmt::format("{}: functions call each other deeper than {}", Describe(key), max_depth));
  };
  if (depth > max_depth) return too_deep();
  if (const auto it = height->find(key); it != height->end())
    return it->second == 0 ? ir::InvalidArgument(fmt::format("{} calls itself", Describe(key)))
                           : absl::OkStatus();
  (*height)[key] = 0;
  std::map<Key, int> called;
  VisitCalls(functions_.at(key).proto->node(), [&](const Key& callee) {
    if (functions_.count(callee) > 0) called.emplace(callee, 0);
  });
  int longest = 1;
  for (const auto& [callee, unused] : called) {
    WEFT_RETURN_IF_ERROR(CheckCalls(callee, depth + 1, max_depth, height));
    longest = std::max(longest, (*height)[callee] + 1);
  }
  if (longest > max_depth) return too_deep();
  (*height)[key] = longest;
  return absl::OkStatus();
}

}  // namespace weft::onnx
