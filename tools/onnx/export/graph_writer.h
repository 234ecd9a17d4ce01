// Blocks -> GraphProto. Weights are not put into the message: they are listed for whoever writes
// the file.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/onnx/proto/proto.h"

namespace weft::onnx {

class FusedFunctionTable;
class Notes;

// Unique ONNX names for values: the value's own name where it is free.
class ValueNames {
 public:
  // No value gets this name unless it is given it by Set.
  void Reserve(std::string_view name) { used_.emplace(name); }
  // A name that some value has: not to be made up for another one.
  void AddTaken(std::string_view name) { taken_.emplace(name); }
  void Set(ir::Value value, std::string_view name) { names_[value.id()] = name; }
  const std::string& Assign(ir::Value value, std::string_view wanted);
  std::string Fresh(std::string_view wanted);
  bool Has(ir::Value value) const { return names_.count(value.id()) > 0; }
  const std::string& Get(ir::Value value) const { return names_.at(value.id()); }

 private:
  std::unordered_map<uint32_t, std::string> names_;
  std::unordered_set<std::string> used_, taken_;
  std::unordered_map<std::string, size_t> next_suffix_;
};

class GraphWriter {
 public:
  struct Tensor {
    std::string name;
    ir::Attribute contents;
  };
  enum class Constants { kInitializers, kNodes };

  // Writes for opset `target`. `functions` makes the functions that fused ops call; null where none
  // may occur.
  GraphWriter(Constants constants, int64_t target, FusedFunctionTable* functions)
      : constants_(constants), target_(target), functions_(functions) {}

  // The initializer of an input of this name: what it is when it is left out.
  void AddDefault(std::string_view name, ir::Attribute dense) {
    tensors_.push_back({std::string(name), dense});
  }
  // What nodes and values say beside what they are, which outlives the writer. It writes those of nodes,
  // and states the type of a value that says something, so that there is where to write it.
  void set_notes(const Notes* of_nodes, const Notes* of_values) {
    node_notes_ = of_nodes;
    value_notes_ = of_values;
  }
  // Writes a top-level block with these input and output names. Its large constants, and those of
  // blocks below, end up in tensors().
  absl::Status Write(ir::Block block, const ir::Strings& inputs, const ir::Strings& outputs,
                     pb::GraphProto* graph);
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Domains of the nodes written, "" for ai.onnx.
  const std::set<std::string>& domains() const { return domains_; }

 private:
  absl::Status WriteOps(ir::Block block, pb::GraphProto* graph, bool top);
  absl::Status WriteOp(ir::Operation op, pb::GraphProto* graph, bool top);
  absl::Status WriteConstant(ir::Operation op, pb::GraphProto* graph, bool top);
  absl::Status WriteNode(ir::Operation op, pb::GraphProto* graph);
  std::string AddInts(const ir::Ints& ints, ir::IrContext& context, pb::GraphProto* graph);
  std::string AddNode(pb::NodeProto node, pb::GraphProto* graph);
  absl::Status SetOperator(ir::Operation op, pb::NodeProto* node);
  absl::Status WriteAttributes(ir::Operation op, pb::NodeProto* node);
  absl::Status WriteSubgraphs(ir::Operation op, pb::NodeProto* node);
  absl::Status WriteSubgraph(ir::Region region, pb::GraphProto* graph);
  void WriteOperands(ir::Operation op, pb::NodeProto* node);
  void WriteResults(ir::Operation op, pb::GraphProto* graph, pb::NodeProto* node);
  bool MustState(ir::Value value, ir::Type inferred) const;
  absl::StatusOr<std::string> Copy(ir::Value value, std::string_view name, pb::GraphProto* graph);
  bool IsPlainResult(ir::Value value, ir::Block block) const;

  Constants constants_;
  int64_t target_;
  FusedFunctionTable* functions_;
  const Notes* node_notes_ = nullptr;
  const Notes* value_notes_ = nullptr;
  ValueNames names_;
  ValueNames node_names_;  // ONNX Runtime refuses two nodes of one name
  std::vector<Tensor> tensors_;
  std::unordered_map<uint32_t, std::string> large_;  // names of tensors by attribute
  std::set<std::string> domains_;
};

}  // namespace weft::onnx
