#include <fmt/format.h>

#include "weft/picture/drawing.h"
#include "weft/picture/escape.h"

namespace weft::picture {
namespace {

class DotWriter {
 public:
  DotWriter(const Side& side, size_t number, const std::vector<RuleColour>& colours,
            const std::vector<std::string>& labels, std::string* out)
      : side_(side), number_(number), colours_(colours), labels_(labels), out_(*out) {}

  void Write() {
    out_ +=
        fmt::format("  subgraph cluster_{} {{\n  label=\"{}\";\n", number_, EscapeDot(side_.title));
    WriteGroup(0);
    for (const Edge& edge : side_.folded.graph.edges)
      out_ += fmt::format("  {} -> {};\n", Id(edge.from), Id(edge.to));
    out_ += "  }\n";
  }

 private:
  std::string Id(uint32_t node) const { return fmt::format("n{}_{}", number_, node); }

  void WriteGroup(int number) {
    const Group& group = side_.folded.tree.groups[number];
    if (number > 0)
      out_ += fmt::format("  subgraph cluster_{}_{} {{\n  label=\"{}\";\n", number_, number,
                          EscapeDot(group.name));
    if (group.node >= 0) WriteNode(static_cast<uint32_t>(group.node));
    for (const Item item : group.items) {
      if (IsGroup(item)) {
        WriteGroup(GroupOfItem(item));
      } else {
        WriteNode(static_cast<uint32_t>(item));
      }
    }
    if (number > 0) out_ += "  }\n";
  }

  void WriteNode(uint32_t number) {
    const Node& node = side_.folded.graph.nodes[number];
    const NodeLineage& info = side_.lineage[number];
    std::string label = EscapeDot(node.title);
    if (const std::string second = SecondLine(node); !second.empty())
      label += "\\n" + EscapeDot(second);
    out_ += fmt::format("  {} [label=\"{}\"", Id(number), label);
    if (node.kind != Node::kOperation) out_ += ", shape=oval";
    if (info.label >= 0) {
      const bool is_gone = number_ == 0 && info.relatives.empty();
      out_ += fmt::format(", fillcolor=\"{}\", color=\"{}\", tooltip=\"{}\"",
                          FillOf(colours_[info.label]), LineOf(colours_[info.label]),
                          EscapeDot(labels_[info.label]));
      if (is_gone) out_ += ", style=\"filled,rounded,dashed\"";
    }
    out_ += "];\n";
  }

  const Side& side_;
  const size_t number_;
  const std::vector<RuleColour>& colours_;
  const std::vector<std::string>& labels_;
  std::string& out_;
};

}  // namespace

std::string DrawDot(const std::vector<Side>& sides, const Lineage& lineage) {
  const std::vector<RuleColour> colours = ColoursOf(lineage);
  std::string out =
      "digraph picture {\n"
      "  graph [fontname=\"sans-serif\", color=\"#b6bfcb\", newrank=true];\n"
      "  node [fontname=\"sans-serif\", fontsize=11, shape=box, style=\"filled,rounded\",\n"
      "    fillcolor=\"#ffffff\", color=\"#9aa4b2\"];\n"
      "  edge [color=\"#98a2b0\", arrowsize=0.6];\n";
  for (size_t i = 0; i < sides.size(); ++i)
    DotWriter(sides[i], i, colours, lineage.labels, &out).Write();
  return out + "}\n";
}

}  // namespace weft::picture
