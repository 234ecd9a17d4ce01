#include "tools/onnx/wire/node_order.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <numeric>
#include <string_view>

#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

class Sorter {
 public:
  Sorter(const Nodes& nodes, int max_depth,
         const std::function<bool(const std::string&)>& is_known);
  absl::StatusOr<std::vector<int>> Run();

 private:
  using Visitor = std::function<void(std::string_view)>;
  enum class State : char { kUnseen, kOpen, kDone };
  struct Visit {
    int node;
    std::vector<int> before;  // nodes that must come before it
    size_t next = 0;          // of them
  };
  bool IsInOrder();
  // Names that the node reads from the graph it stands in, in its subgraphs too.
  void VisitReads(const pb::NodeProto& node, int depth, const Visitor& visit);
  void VisitReads(const pb::GraphProto& graph, int depth, const Visitor& visit);
  Visit Open(int node);
  // Without recursion: a chain may be as long as the graph.
  absl::Status Append(int node, std::vector<int>* order);
  std::string NameOf(int node) const;

  const Nodes& nodes_;
  const int max_depth_;
  absl::flat_hash_map<std::string_view, int> defined_by_;
  std::vector<State> state_;
};

Sorter::Sorter(const Nodes& nodes, int max_depth,
               const std::function<bool(const std::string&)>& is_known)
    : nodes_(nodes), max_depth_(max_depth) {
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& name : nodes[i].output())
      if (!name.empty() && !is_known(name)) defined_by_.try_emplace(name, i);
}

absl::StatusOr<std::vector<int>> Sorter::Run() {
  std::vector<int> order(static_cast<size_t>(nodes_.size()));
  std::iota(order.begin(), order.end(), 0);
  if (IsInOrder()) return order;
  order.clear();
  state_.assign(static_cast<size_t>(nodes_.size()), State::kUnseen);
  for (int i = 0; i < nodes_.size(); ++i) WEFT_RETURN_IF_ERROR(Append(i, &order));
  return order;
}

bool Sorter::IsInOrder() {
  for (int i = 0; i < nodes_.size(); ++i) {
    bool in_order = true;
    VisitReads(nodes_[i], 0, [&](std::string_view name) {
      const auto it = defined_by_.find(name);
      in_order = in_order && (it == defined_by_.end() || it->second < i);
    });
    if (!in_order) return false;
  }
  return true;
}

void Sorter::VisitReads(const pb::NodeProto& node, int depth, const Visitor& visit) {
  for (const std::string& name : node.input()) visit(name);
  if (depth == max_depth_) return;
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) VisitReads(attribute.g(), depth + 1, visit);
    for (const pb::GraphProto& graph : attribute.graphs()) VisitReads(graph, depth + 1, visit);
  }
}

void Sorter::VisitReads(const pb::GraphProto& graph, int depth, const Visitor& visit) {
  absl::flat_hash_set<std::string_view> own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& tensor : graph.initializer()) own.insert(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) own.insert(sparse.values().name());
  for (const pb::NodeProto& node : graph.node())
    own.insert(node.output().begin(), node.output().end());
  const Visitor outside = [&](std::string_view name) {
    if (!own.contains(name)) visit(name);
  };
  for (const pb::NodeProto& node : graph.node()) VisitReads(node, depth, outside);
  for (const auto& output : graph.output()) outside(output.name());
}

Sorter::Visit Sorter::Open(int node) {
  state_[static_cast<size_t>(node)] = State::kOpen;
  Visit visit{node, {}};
  VisitReads(nodes_[node], 0, [&](std::string_view name) {
    if (const auto it = defined_by_.find(name); it != defined_by_.end())
      visit.before.push_back(it->second);
  });
  return visit;
}

absl::Status Sorter::Append(int node, std::vector<int>* order) {
  if (state_[static_cast<size_t>(node)] == State::kDone) return absl::OkStatus();
  std::vector<Visit> stack;
  stack.push_back(Open(node));
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next == top.before.size()) {
      state_[static_cast<size_t>(top.node)] = State::kDone;
      order->push_back(top.node);
      stack.pop_back();
      continue;
    }
    const int before = top.before[top.next++];
    const State state = state_[static_cast<size_t>(before)];
    if (state == State::kOpen)
      return ir::InvalidArgument(
          fmt::format("{} is computed from itself: the nodes are in a cycle", NameOf(before)));
    if (state == State::kUnseen) stack.push_back(Open(before));
  }
  return absl::OkStatus();
}

std::string Sorter::NameOf(int node) const {
  for (const std::string& name : nodes_[node].output())
    if (!name.empty()) return Quoted(name);
  return Quoted(nodes_[node].name());
}

}  // namespace

absl::StatusOr<std::vector<int>> OrderOfNodes(
    const Nodes& nodes, int max_depth, const std::function<bool(const std::string&)>& is_known) {
  return Sorter(nodes, max_depth, is_known).Run();
}

}  // namespace weft::onnx
