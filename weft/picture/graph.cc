#include "weft/picture/graph.h"

#include <algorithm>

#include "ir/origin/origin.h"
#include "ir/text/printer.h"

namespace weft::picture {
namespace {

using ir::Block;
using ir::Operation;
using ir::Value;

// "MatMul" of "onnx.MatMul"; names of other dialects are whole.
std::string Title(std::string_view name) {
  constexpr std::string_view kUsual = "onnx.";
  return std::string(name.starts_with(kUsual) ? name.substr(kUsual.size()) : name);
}

// Names of the module's inputs or outputs.
std::string NameAt(ir::Program& program, const char* names, uint32_t i) {
  const ir::Attribute attr = program.module().attr(names);
  if (!attr.Is(ir::AttrKind::kStrings) || i >= attr.AsStrings().size()) return "";
  return attr.AsStrings()[i];
}

std::string PlaceOf(Operation op) {
  if (!op.location().empty()) return std::string(op.location().str());
  const ir::Origin origin = ir::OriginOf(op);
  const std::string_view source = origin.sources.empty() ? "" : origin.sources[0].str();
  return source.starts_with('%') ? "" : std::string(source);
}

class GraphMaker {
 public:
  explicit GraphMaker(ir::Program& program) { graph_.program = &program; }

  Graph Make() {
    std::vector<Level> levels = {{graph_.program->body(), -1, 0}};
    while (!levels.empty()) {
      const Level level = levels.back();
      levels.pop_back();
      AddBlock(level, &levels);
    }
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) AddEdges(i);
    std::sort(graph_.edges.begin(), graph_.edges.end());
    graph_.edges.erase(std::unique(graph_.edges.begin(), graph_.edges.end()), graph_.edges.end());
    return std::move(graph_);
  }

 private:
  struct Level {
    Block block;
    int holder, region;
  };

  void AddBlock(const Level& level, std::vector<Level>* inner) {
    const bool is_body = level.holder < 0;
    const auto add = [&](Node node) {
      node.holder = level.holder;
      node.region = level.region;
      graph_.nodes.push_back(std::move(node));
      return static_cast<uint32_t>(graph_.nodes.size() - 1);
    };
    for (uint32_t i = 0; i < level.block.num_arguments(); ++i) {
      const Value value = level.block.argument(i);
      std::string name(value.name());
      if (is_body && !NameAt(*graph_.program, "input_names", i).empty())
        name = NameAt(*graph_.program, "input_names", i);
      if (name.empty()) name = "input " + std::to_string(i);
      graph_.node_of_argument[value.id()] =
          add({.kind = Node::kInput, .value = value, .title = std::move(name)});
    }
    for (const Operation op : level.block) {
      if (op.HasTrait(ir::kConstantLike)) continue;
      if (op.HasTrait(ir::kTerminator)) {
        AddOutputs(op, is_body, add);
        continue;
      }
      const uint32_t node = add({.op = op, .title = Title(op.name()), .place = PlaceOf(op)});
      graph_.node_of_op[op.id()] = node;
      for (uint32_t i = 0; i < op.num_regions(); ++i)
        for (const Block block : op.region(i).blocks())
          inner->push_back({block, static_cast<int>(node), static_cast<int>(i)});
    }
  }

  template <class Add>
  void AddOutputs(Operation end, bool is_body, const Add& add) {
    for (uint32_t i = 0; i < end.num_operands(); ++i) {
      const Value value = end.operand(i);
      std::string name = is_body ? NameAt(*graph_.program, "output_names", i) : "";
      if (name.empty()) name = "output " + std::to_string(i);
      add({.kind = Node::kOutput, .op = end, .value = value, .title = std::move(name)});
    }
  }

  void AddEdges(uint32_t to) {
    const Node& node = graph_.nodes[to];
    const auto add = [&](Value value) {
      const int from = value ? graph_.NodeOf(value) : -1;
      if (from >= 0) graph_.edges.push_back({static_cast<uint32_t>(from), to});
    };
    if (node.kind == Node::kOutput) add(node.value);
    if (node.kind != Node::kOperation) return;
    for (const Value operand : node.op.operands()) add(operand);
  }

  Graph graph_;
};

}  // namespace

int Graph::NodeOf(Operation op) const {
  const auto it = node_of_op.find(op.id());
  return it == node_of_op.end() ? -1 : static_cast<int>(it->second);
}

int Graph::NodeOf(Value value) const {
  if (!value.IsBlockArgument()) return NodeOf(value.DefiningOp());
  const auto it = node_of_argument.find(value.id());
  return it == node_of_argument.end() ? -1 : static_cast<int>(it->second);
}

Graph MakeGraph(ir::Program& program) { return GraphMaker(program).Make(); }

}  // namespace weft::picture
