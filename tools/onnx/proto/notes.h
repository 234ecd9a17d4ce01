// The doc_string and metadata_props of nodes, graphs and values. The module holds those of nodes and values
// as lists of strings, so that operations, and what compares them, know nothing of it: for each a key,
// the doc_string, how many pairs of key and value follow, and these.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ir/program.h"
#include "tools/onnx/proto/model.pb.h"

namespace weft::onnx {

using MetadataField = google::protobuf::RepeatedPtrField<pb::StringStringEntryProto>;

// Key, value, key, ...
ir::Strings MetadataOf(const MetadataField& props);
void AddMetadata(const ir::Strings& pairs, MetadataField* props);

// What a node's notes are kept by: the name of its first result that has one, the operator, its
// attributes and how many operands have no name. So they go to the node that still computes this value,
// by the same operator from values of the file, and not to what it was rewritten to. Empty for an
// operation without such a result.
std::string NodeKey(ir::Operation op);

// Appends what a node says, its origin apart (proto/origin_metadata.h), if it says something.
void AppendNote(const std::string& key, const pb::NodeProto& node, ir::Strings* list);
// Of the inputs, outputs and other values of a graph, by name.
ir::Strings ValueNotes(const pb::GraphProto& graph);

// Of such a list, what is said under the keys for which `is_kept`.
ir::Strings SelectNotes(const ir::Strings& list,
                        const std::function<bool(const std::string& key)>& is_kept);

class Notes {
 public:
  explicit Notes(const ir::Strings& list);  // may be of any contents
  bool empty() const { return notes_.empty(); }
  bool Has(const std::string& key) const { return notes_.contains(key); }
  void AddTo(ir::Operation op, pb::NodeProto* node) const;
  std::string DocOf(ir::Operation op) const;  // "" where there is none
  void AddToValues(pb::GraphProto* graph) const;

 private:
  struct Note {
    std::string doc;
    ir::Strings metadata;
    bool operator==(const Note&) const = default;
  };
  template <class Message>
  void Add(const std::string& key, Message* message) const;
  std::unordered_map<std::string, Note> notes_;  // an empty one: there were several
};

}  // namespace weft::onnx
