// The importer's parts: import_graph.cc has what concerns whole graphs, import_node.cc one node at a
// time, import_call.cc constants and calls of local functions, import_scan.cc Scan of opset 8.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/rewriter.h"
#include "tools/onnx/export/fused_functions.h"
#include "tools/onnx/import.h"
#include "tools/onnx/import/adapters.h"
#include "tools/onnx/import/function_library.h"
#include "tools/onnx/limits.h"
#include "tools/onnx/proto/proto.h"
#include "tools/onnx/proto/proto_tensor.h"
#include "tools/onnx/wire/node_order.h"

namespace weft::onnx {

// The names that are visible in a graph or a function body.
struct Scope {
  const Scope* outer = nullptr;  // null for the main graph and for function bodies
  const Nodes* nodes = nullptr;  // null for a scope that has none of its own
  absl::flat_hash_map<std::string, ir::Value> values{};
  // Outputs that are there in name only, and why: an error for who reads one.
  absl::flat_hash_map<std::string, std::string> unreadable{};
  absl::flat_hash_map<std::string, ir::Type> stated{};  // types that the graph's annotations give
  absl::flat_hash_set<std::string> overridable{};       // inputs whose initializer is a default
};

// An attribute of a node after references to attributes of the function around it were followed.
struct BoundAttribute {
  std::string name;
  const pb::AttributeProto* value;
};

// What the nodes of the main graph, or of one call of a function, have in common.
struct Frame {
  const LocalFunction* function = nullptr;  // null for the main graph
  const OpsetImports* opsets = nullptr;
  std::vector<BoundAttribute> attributes{};  // of the call
  std::string prefix{};                      // of the names of values and nodes
  int depth = 0;
};

struct Subgraph {
  std::string label;  // "body", or "branches[]" in a list
  const pb::GraphProto* graph;
};

// Names longer than this are not made longer, or dropped, where functions are inlined: a body is
// copied once per call, and memory must not grow with both.
inline constexpr size_t kMaxInlinedName = 256;
// A name in a function body, made longer by the names of the calls around it.
std::string PrefixedName(const Frame& frame, const std::string& name);

class Importer {
 public:
  Importer(ir::IrContext* context, TensorReader& tensors, const ImportOptions& options);

  absl::StatusOr<std::unique_ptr<ir::Program>> Run(const pb::ModelProto& model);

 private:
  // --- graphs ---
  // Counts nodes, and inputs of functions that are called.
  absl::Status CountNodes(size_t count);
  void SetOpsetImports(const OpsetImports& opsets);
  absl::Status Header(const pb::ModelProto& model);
  absl::Status StatedTypes(const pb::GraphProto& graph, Scope* scope);
  void ForgetSymbols(const pb::GraphProto& graph, ir::Operation op, Scope* scope);
  absl::Status Define(Scope* scope, const std::string& name, ir::Value value);
  absl::StatusOr<ir::Value> Find(const Scope& scope, const std::string& name) const;
  absl::Status Initializers(const pb::GraphProto& graph, ir::Rewriter& builder, Scope* scope);
  absl::StatusOr<std::vector<std::string>> Inputs(const pb::GraphProto& graph, ir::Block block,
                                                  ir::Rewriter& builder, Scope* scope);
  absl::StatusOr<std::vector<ir::Value>> Outputs(const pb::GraphProto& graph, const Scope& scope);
  absl::Status ImportSubgraph(const pb::GraphProto& graph, ir::Region region, const Scope& outer,
                              const Frame& frame);

  // --- nodes ---
  absl::Status ImportNodes(const Nodes& nodes, ir::Rewriter& builder, Scope* scope,
                           const Frame& frame);
  absl::Status ImportNode(const pb::NodeProto& node, ir::Rewriter& builder, Scope* scope,
                          const Frame& frame);
  absl::Status CheckNode(const pb::NodeProto& node);
  absl::StatusOr<std::vector<BoundAttribute>> Bind(const pb::NodeProto& node, const Frame& frame);
  absl::Status ImportConstant(const pb::NodeProto& node,
                              const std::vector<BoundAttribute>& attributes, ir::Rewriter& builder,
                              Scope* scope, const Frame& frame);
  absl::StatusOr<ir::Attribute> ConstantContents(const BoundAttribute& attribute);
  absl::Status ReadAttributes(const std::vector<BoundAttribute>& attributes, NodeDraft* draft,
                              std::vector<Subgraph>* subgraphs);
  absl::Status ImportKnown(const ir::OpDef& def, const pb::NodeProto& node, NodeDraft draft,
                           const std::vector<Subgraph>& subgraphs, ir::Rewriter& builder,
                           Scope* scope, const Frame& frame);
  // import_scan.cc: opset 8's.
  absl::Status ImportBatchedScan(const pb::NodeProto& node, NodeDraft draft,
                                 const std::vector<Subgraph>& subgraphs, ir::Rewriter& builder,
                                 Scope* scope, const Frame& frame);
  absl::Status ScanOneEntry(const pb::NodeProto& node, NodeDraft draft, bool has_lengths,
                            size_t scanned, const std::vector<Subgraph>& subgraphs, ir::Block block,
                            const Scope& outer, const Frame& frame);
  absl::Status ImportRegions(ir::Operation op, const std::vector<Subgraph>& subgraphs,
                             ir::Rewriter& builder, const Scope& scope, const Frame& frame);
  absl::Status ImportOpaque(const pb::NodeProto& node, NodeDraft draft,
                            const std::vector<Subgraph>& subgraphs, ir::Rewriter& builder,
                            Scope* scope, const Frame& frame);
  absl::Status ImportCall(const LocalFunction& function, const pb::NodeProto& node,
                          std::vector<ir::Value> operands, std::vector<BoundAttribute> attributes,
                          ir::Rewriter& builder, Scope* scope, const Frame& frame);
  absl::StatusOr<std::vector<ir::Value>> ResultsOfCall(const pb::NodeProto& node,
                                                       const pb::FunctionProto& function,
                                                       const Scope& body,
                                                       const std::vector<ir::Value>& operands,
                                                       ir::Rewriter& builder, const Scope& scope);
  // Why an output without a result cannot be read: `unreadable`; it is an absent operand otherwise.
  absl::Status DefineResults(const pb::NodeProto& node, const std::vector<ir::Value>& results,
                             Scope* scope, const Frame& frame, const std::string& unreadable = "");
  // What the node says beside what it computes, where that is said of this operation alone.
  void KeepNotes(const pb::NodeProto& node, ir::Operation op, const Scope& scope,
                 const Frame& frame);
  absl::StatusOr<ir::Type> ResultType(const pb::NodeProto& node, size_t i, ir::Type inferred,
                                      const Scope& scope);
  absl::StatusOr<std::vector<ir::Value>> Finish(const pb::NodeProto& node, const NodeDraft& draft,
                                                ir::Operation op, ir::Rewriter& builder,
                                                const Scope& scope);

  ir::Value MakeConstant(ir::Rewriter& builder, ir::Attribute dense);

  ir::IrContext* context_;
  TensorReader& tensors_;
  const ImportLimits& limits_;
  bool fold_default_inputs_;
  std::unique_ptr<ir::Program> program_;
  FunctionLibrary functions_;
  FusedFunctionReader fused_;
  absl::flat_hash_map<std::pair<std::string, std::string>, const ir::OpDef*> known_;
  ir::Strings node_notes_;  // kNodeNotes
  size_t num_nodes_ = 0;
  std::map<std::string, int64_t>
      opaque_opsets_;    // that nodes of unknown operators were imported by
  int graph_depth_ = 1;  // nesting of regions, through calls of functions too
};

}  // namespace weft::onnx
