#include "tools/onnx/proto/origin_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

using ir::Name;
using nlohmann::json;

// False where the node has no such list.
bool FindList(const pb::NodeProto& node, std::string_view key, std::vector<Name>* names) {
  for (const auto& entry : node.metadata_props())
    if (entry.key() == key && FromJson(entry.value(), names)) return true;
  return false;
}

void SetEntry(std::string_view key, const std::vector<Name>& names, pb::NodeProto* node) {
  auto* props = node->mutable_metadata_props();
  for (int i = props->size(); i-- > 0;)
    if (props->Get(i).key() == key) props->DeleteSubrange(i, 1);
  if (names.empty()) return;
  auto* entry = props->Add();
  entry->set_key(std::string(key));
  entry->set_value(ToJson(names));
}

// Of one of the sources, or of several as NodeNameOf() makes it.
bool IsNameOf(const ir::Origin& origin, std::string_view name) {
  const auto begins = [&](Name source) {
    const std::string_view text = source.str();
    return name == text || (name.starts_with(text) && name[text.size()] == '+');
  };
  return name.empty() || std::any_of(origin.sources.begin(), origin.sources.end(), begins);
}

}  // namespace

std::string ToJson(const std::vector<Name>& names) {
  json list = json::array();
  for (const Name name : names) list.push_back(std::string(name.str()));
  return list.dump(-1, ' ', false, json::error_handler_t::replace);  // what is not UTF-8
}

bool FromJson(std::string_view text, std::vector<Name>* names) {
  const json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto is_string = [](const json& element) { return element.is_string(); };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_string)) return false;
  names->clear();
  for (const json& element : list) names->emplace_back(element.get_ref<const std::string&>());
  return true;
}

ir::Strings OtherMetadata(const pb::NodeProto& node) {
  ir::Strings pairs;
  std::vector<Name> names;
  for (const auto& entry : node.metadata_props()) {
    const bool is_ours = entry.key() == kSourcesKey || entry.key() == kRulesKey;
    if (is_ours && FromJson(entry.value(), &names)) continue;
    pairs.push_back(entry.key());
    pairs.push_back(entry.value());
  }
  return pairs;
}

void ReadOrigin(const pb::NodeProto& node, ir::Operation op) {
  ir::Origin origin;
  FindList(node, kSourcesKey, &origin.sources);
  FindList(node, kRulesKey, &origin.rules);
  ir::SetOrigin(op, origin);
}

void WriteOrigin(ir::Operation op, pb::NodeProto* node) {
  if (!ir::IsRewritten(op)) return;
  const ir::Origin origin = ir::OriginOf(op);
  SetEntry(kSourcesKey, origin.sources, node);
  SetEntry(kRulesKey, origin.rules, node);
  if (!node->doc_string().empty()) return;
  std::string doc;
  for (const Name name : origin.docs) doc.append(doc.empty() ? "" : "\n").append(name.str());
  if (!doc.empty()) node->set_doc_string(doc);
}

std::string NodeNameOf(ir::Operation op) {
  std::string name(op.location().str());
  if (!ir::IsRewritten(op)) return name;
  const ir::Origin origin = ir::OriginOf(op);
  if (origin.sources.size() < 2 || !IsNameOf(origin, name)) return name;
  std::string joined = ir::JoinedSources(origin);
  return IsUtf8(joined) ? joined : name;
}

}  // namespace weft::onnx
