#include "weft/picture/levels.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace weft::picture {
namespace {

constexpr float kTitleAdvance = 8.6F, kSecondAdvance = 7.0F, kMargin = 26;  // pixels, by sight
constexpr float kLeastWidth = 84, kMostWidth = 260, kNodeHeight = 42, kGroupHeight = 54;

// Characters, not bytes, of UTF-8.
size_t Length(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

class Folding {
 public:
  explicit Folding(FoldedGraph* folded) : graph_(folded->graph), tree_(folded->tree) {
    folded->levels.resize(tree_.groups.size());
    wires_.resize(tree_.groups.size());
    FindPlaces();
    for (const Edge& edge : graph_.edges) AddEdge(edge);
    for (size_t i = 0; i < folded->levels.size(); ++i) {
      Level& level = folded->levels[i];
      for (const Item item : tree_.groups[i].items) level.graph.boxes.push_back(Size(item));
      for (const auto& [value, from, to] : wires_[i])
        level.graph.wires.push_back({value, from, to});
      level.layout = LayOut(level.graph);
    }
  }

 private:
  struct Place {
    int group = 0, index = 0;  // of the item in the group
  };

  void FindPlaces() {
    place_of_node_.resize(graph_.nodes.size());
    place_of_group_.resize(tree_.groups.size());
    for (size_t i = 0; i < tree_.groups.size(); ++i) {
      const std::vector<Item>& items = tree_.groups[i].items;
      for (size_t k = 0; k < items.size(); ++k) {
        const Place place{static_cast<int>(i), static_cast<int>(k)};
        if (!IsGroup(items[k])) {
          place_of_node_[items[k]] = place;
          continue;
        }
        const int group = GroupOfItem(items[k]);
        place_of_group_[group] = place;
        if (tree_.groups[group].kind == Group::kHolder)
          place_of_node_[tree_.groups[group].node] = place;
      }
    }
  }

  BoxSize Size(Item item) const {
    if (!IsGroup(item)) return SizeOf(graph_.nodes[item].title, SecondLine(graph_.nodes[item]));
    const Group& group = tree_.groups[GroupOfItem(item)];
    const std::string second = std::to_string(group.operations) + " operations";
    BoxSize size = SizeOf("+ " + group.name, second);
    size.height = kGroupHeight;
    return size;
  }

  // From the place in, to the whole out.
  std::vector<Place> PlacesAround(Place place) const {
    std::vector<Place> places = {place};
    while (places.back().group > 0) places.push_back(place_of_group_[places.back().group]);
    return places;
  }

  void AddEdge(const Edge& edge) {
    std::vector<Place> from = PlacesAround(place_of_node_[edge.from]);
    std::vector<Place> to = PlacesAround(place_of_node_[edge.to]);
    while (from.size() > 1 && to.size() > 1 &&
           from[from.size() - 2].group == to[to.size() - 2].group) {
      from.pop_back();
      to.pop_back();
    }
    // Both end in the innermost group that holds both.
    if (from.back().index != to.back().index)
      AddWire(from.back().group, edge.from, from.back().index, to.back().index);
    for (size_t i = 0; i + 1 < from.size(); ++i)
      AddWire(from[i].group, edge.from, from[i].index, Wire::kOutside);
    for (size_t i = 0; i + 1 < to.size(); ++i)
      AddWire(to[i].group, edge.from, Wire::kOutside, to[i].index);
  }

  void AddWire(int group, uint32_t value, int from, int to) {
    wires_[group].emplace(value, from, to);
  }

  const Graph& graph_;
  const GroupTree& tree_;
  std::vector<Place> place_of_node_, place_of_group_;
  std::vector<std::set<std::tuple<uint32_t, int, int>>> wires_;  // by group
};

}  // namespace

std::string SecondLine(const Node& node) {
  const bool has_result = node.kind == Node::kOperation && node.op.num_results() > 0;
  const ir::Type type = node.value   ? node.value.type()
                        : has_result ? node.op.result(0).type()
                                     : ir::Type();
  if (!type) return "";
  if (!type.HasRank()) return type.IsTensor() ? std::string(ir::DataTypeName(type.dtype())) : "";
  if (type.rank() == 0) return std::string(ir::DataTypeName(type.dtype()));
  std::string text;
  for (const int64_t dim : type.dims()) {
    if (!text.empty()) text += "×";
    if (ir::IsStaticDim(dim)) text += std::to_string(dim);
    if (ir::IsSymbolicDim(dim)) text += ir::SymbolName(dim);
    if (dim == ir::kUnknownDim) text += "?";
  }
  return text;
}

BoxSize SizeOf(std::string_view title, std::string_view second_line) {
  const float width = std::max(kTitleAdvance * static_cast<float>(Length(title)),
                               kSecondAdvance * static_cast<float>(Length(second_line)));
  return {std::clamp(width + kMargin, kLeastWidth, kMostWidth), kNodeHeight};
}

FoldedGraph Fold(Graph graph) {
  FoldedGraph folded;
  folded.graph = std::move(graph);
  folded.tree = GroupNodes(folded.graph);
  const Folding lay_out(&folded);
  return folded;
}

}  // namespace weft::picture
