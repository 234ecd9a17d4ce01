#include "tools/onnx/proto/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "ir/text/printer.h"
#include "tools/onnx/proto/names.h"
#include "tools/onnx/proto/origin_metadata.h"

namespace weft::onnx {
namespace {

// FNV-1a, the same on every run.
uint64_t Hash(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

void Append(const std::string& key, const std::string& doc, ir::Strings metadata,
            ir::Strings* list) {
  if (key.empty() || (doc.empty() && metadata.empty())) return;
  list->push_back(key);
  list->push_back(doc);
  list->push_back(std::to_string(metadata.size() / 2));
  for (std::string& text : metadata) list->push_back(std::move(text));
}

// Of the one that begins with its key at i.
size_t EndOfNote(const ir::Strings& list, size_t i) {
  const std::string& count = list[i + 2];
  size_t pairs = 0;
  std::from_chars(count.data(), count.data() + count.size(), pairs);
  return i + 3 + 2 * std::min(pairs, (list.size() - i - 3) / 2);
}

}  // namespace

ir::Strings MetadataOf(const MetadataField& props) {
  ir::Strings pairs;
  for (const auto& entry : props) {
    pairs.push_back(entry.key());
    pairs.push_back(entry.value());
  }
  return pairs;
}

void AddMetadata(const ir::Strings& pairs, MetadataField* props) {
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    auto* entry = props->Add();
    entry->set_key(pairs[i]);
    entry->set_value(pairs[i + 1]);
  }
}

std::string NodeKey(ir::Operation op) {
  std::string_view name;
  for (const ir::Value result : op.results())
    if (name.empty()) name = result.name();
  if (name.empty()) return {};
  uint64_t hash = 0xcbf29ce484222325;
  for (const ir::NamedAttribute& entry : op.attrs()) {
    if (entry.name.str().starts_with(kReservedPrefix)) continue;
    hash = Hash(Hash(hash, entry.name.str()), ir::PrintAttribute(entry.value));
  }
  size_t nameless = 0;
  for (const ir::Value operand : op.operands()) nameless += operand && operand.name().empty();
  return fmt::format("{} {} {:016x} {}", name, op.name(), hash, nameless);
}

void AppendNote(const std::string& key, const pb::NodeProto& node, ir::Strings* list) {
  Append(key, node.doc_string(), OtherMetadata(node), list);
}

ir::Strings ValueNotes(const pb::GraphProto& graph) {
  ir::Strings list;
  for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()})
    for (const pb::ValueInfoProto& value : *values)
      Append(value.name(), value.doc_string(), MetadataOf(value.metadata_props()), &list);
  return list;
}

ir::Strings SelectNotes(const ir::Strings& list,
                        const std::function<bool(const std::string& key)>& is_kept) {
  ir::Strings kept;
  for (size_t i = 0; i + 2 < list.size();) {
    const size_t end = EndOfNote(list, i);
    if (is_kept(list[i])) kept.insert(kept.end(), list.data() + i, list.data() + end);
    i = end;
  }
  return kept;
}

Notes::Notes(const ir::Strings& list) {
  for (size_t i = 0; i + 2 < list.size();) {
    const size_t begin = i + 3, end = EndOfNote(list, i);
    const Note note{list[i + 1], {list.data() + begin, list.data() + end}};
    const auto [it, is_new] = notes_.try_emplace(list[i], note);
    if (!is_new && !(it->second == note)) it->second = {};
    i = end;
  }
}

template <class Message>
void Notes::Add(const std::string& key, Message* message) const {
  const auto it = notes_.find(key);
  if (it == notes_.end()) return;
  if (!it->second.doc.empty()) message->set_doc_string(it->second.doc);
  AddMetadata(it->second.metadata, message->mutable_metadata_props());
}

void Notes::AddTo(ir::Operation op, pb::NodeProto* node) const {
  if (!empty()) Add(NodeKey(op), node);
}

std::string Notes::DocOf(ir::Operation op) const {
  const auto it = empty() ? notes_.end() : notes_.find(NodeKey(op));
  return it == notes_.end() ? std::string() : it->second.doc;
}

void Notes::AddToValues(pb::GraphProto* graph) const {
  if (empty()) return;
  for (auto* values :
       {graph->mutable_input(), graph->mutable_output(), graph->mutable_value_info()})
    for (pb::ValueInfoProto& value : *values) Add(value.name(), &value);
}

}  // namespace weft::onnx
