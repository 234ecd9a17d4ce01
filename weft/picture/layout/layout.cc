#include "weft/picture/layout/layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "weft/picture/layout/layered_graph.h"

namespace weft::picture {
namespace {

// A graph with wires that stay in few rows needs fewer points than this, however large it is.
constexpr size_t kPointsPerBox = 6, kFreePoints = 4000;

// From its upper end down to all of its lower ones.
struct Strand {
  uint32_t upper = 0;
  int first_row = 0, last_row = 0;  // of the points
  std::vector<uint32_t> points;
  bool far = false;
};

class Layout {
 public:
  explicit Layout(const LevelGraph& graph) : graph_(graph) {}

  LevelLayout Run() {
    turned_ = TurnedWires(graph_);
    AddBoxes();
    AddPorts();
    AddStrands();
    AddLinks();
    FillRows();
    OrderRows(&layered_);
    PlaceVertices(&layered_);
    return Result();
  }

 private:
  uint32_t Upper(size_t wire) const {
    const Wire& w = graph_.wires[wire];
    if (turned_[wire]) return static_cast<uint32_t>(w.to);
    return w.from == Wire::kOutside ? inputs_.at(w.value) : static_cast<uint32_t>(w.from);
  }
  uint32_t Lower(size_t wire) const {
    const Wire& w = graph_.wires[wire];
    if (turned_[wire]) return static_cast<uint32_t>(w.from);
    return w.to == Wire::kOutside ? outputs_.at(w.value) : static_cast<uint32_t>(w.to);
  }
  int Row(uint32_t vertex) const { return layered_.vertices[vertex].row; }
  // What goes from a box to itself is not drawn.
  bool IsDrawn(size_t wire) const {
    const Wire& w = graph_.wires[wire];
    return w.from != w.to || w.from == Wire::kOutside;
  }

  void AddBoxes() {
    const std::vector<int> rows = AssignRows(graph_, turned_);
    for (const Wire& wire : graph_.wires) {
      has_inputs_ = has_inputs_ || wire.from == Wire::kOutside;
      has_outputs_ = has_outputs_ || wire.to == Wire::kOutside;
    }
    const int shift = has_inputs_ ? 1 : 0;
    num_rows_ = shift;
    for (size_t i = 0; i < rows.size(); ++i) {
      layered_.Add({rows[i] + shift, graph_.boxes[i].width});
      num_rows_ = std::max(num_rows_, rows[i] + shift + 1);
    }
    if (has_outputs_) ++num_rows_;
  }

  void AddPorts() {
    for (const Wire& wire : graph_.wires) {
      if (wire.from == Wire::kOutside && !inputs_.contains(wire.value))
        inputs_[wire.value] = layered_.Add({0, kWayWidth, true});
      if (wire.to == Wire::kOutside && !outputs_.contains(wire.value))
        outputs_[wire.value] = layered_.Add({num_rows_ - 1, kWayWidth, true});
    }
  }

  void AddStrands() {
    std::map<std::tuple<uint32_t, uint32_t, bool>, size_t> known;
    strand_of_.assign(graph_.wires.size(), 0);
    for (size_t i = 0; i < graph_.wires.size(); ++i) {
      if (!IsDrawn(i)) continue;
      const uint32_t upper = Upper(i);
      const auto [it, is_new] =
          known.try_emplace({graph_.wires[i].value, upper, turned_[i]}, strands_.size());
      if (is_new) strands_.push_back({upper, Row(upper) + 1, Row(upper)});
      strand_of_[i] = it->second;
      Strand& strand = strands_[it->second];
      strand.last_row = std::max(strand.last_row, Row(Lower(i)) - 1);
    }
    LeaveOutLongest();
    for (Strand& strand : strands_)
      for (int row = strand.first_row; row <= strand.last_row && !strand.far; ++row)
        strand.points.push_back(layered_.Add({row, kWayWidth, true}));
  }

  void LeaveOutLongest() {
    size_t points = 0;
    std::vector<uint32_t> by_length;
    const auto length = [&](uint32_t i) {
      const int rows = strands_[i].last_row - strands_[i].first_row + 1;
      return static_cast<size_t>(rows);
    };
    for (uint32_t i = 0; i < strands_.size(); ++i) {
      points += length(i);
      by_length.push_back(i);
    }
    std::stable_sort(by_length.begin(), by_length.end(),
                     [&](uint32_t a, uint32_t b) { return length(a) > length(b); });
    for (const uint32_t i : by_length) {
      if (points <= kFreePoints + kPointsPerBox * graph_.boxes.size()) return;
      strands_[i].far = true;
      points -= length(i);
    }
  }

  void AddLinks() {
    for (const Strand& strand : strands_)
      for (size_t i = 0; i < strand.points.size(); ++i)
        layered_.Link(i == 0 ? strand.upper : strand.points[i - 1], strand.points[i]);
    for (size_t i = 0; i < graph_.wires.size(); ++i) {
      if (!IsDrawn(i)) continue;
      const Strand& strand = strands_[strand_of_[i]];
      const int steps = Row(Lower(i)) - strand.first_row;
      if (strand.far && steps > 0) continue;
      layered_.Link(steps == 0 ? strand.upper : strand.points[static_cast<size_t>(steps) - 1],
                    Lower(i));
    }
  }

  void FillRows() {
    layered_.rows.resize(static_cast<size_t>(num_rows_));
    for (uint32_t i = 0; i < layered_.vertices.size(); ++i)
      layered_.rows[static_cast<size_t>(Row(i))].push_back(i);
  }

  // Whole pixels.
  float X(uint32_t vertex) const { return std::round(layered_.vertices[vertex].x - left_); }

  LevelLayout Result() {
    left_ = 0;
    bool first = true;
    for (const auto& vertex : layered_.vertices) {
      const float left = vertex.x - vertex.width / 2;
      left_ = first ? left : std::min(left_, left);
      first = false;
    }
    LevelLayout result;
    result.row_heights.resize(layered_.rows.size());
    for (uint32_t i = 0; i < graph_.boxes.size(); ++i) {
      result.boxes.push_back({Row(i), X(i)});
      float& height = result.row_heights[static_cast<size_t>(Row(i))];
      height = std::max(height, graph_.boxes[i].height);
    }
    for (const auto& [value, vertex] : inputs_) result.inputs.push_back({value, X(vertex)});
    for (const auto& [value, vertex] : outputs_) result.outputs.push_back({value, X(vertex)});
    AddWires(&result);
    return result;
  }

  void AddWires(LevelLayout* result) const {
    std::vector<int> ways(strands_.size(), -1);
    for (size_t i = 0; i < strands_.size(); ++i) {
      if (strands_[i].points.empty()) continue;
      ways[i] = static_cast<int>(result->ways.size());
      Way way{strands_[i].first_row, {}};
      for (const uint32_t point : strands_[i].points) way.x.push_back(X(point));
      result->ways.push_back(std::move(way));
    }
    for (size_t i = 0; i < graph_.wires.size(); ++i) {
      RoutedWire wire{-1, turned_[i], false};
      if (IsDrawn(i) && Row(Lower(i)) > Row(Upper(i)) + 1) {
        wire.way = ways[strand_of_[i]];
        wire.far = strands_[strand_of_[i]].far;
      }
      result->wires.push_back(wire);
    }
  }

  const LevelGraph& graph_;
  std::vector<bool> turned_;  // by wire
  LayeredGraph layered_;      // its first vertices are the boxes
  bool has_inputs_ = false, has_outputs_ = false;
  int num_rows_ = 0;
  std::map<uint32_t, uint32_t> inputs_, outputs_;  // vertices of ports, by value
  std::vector<Strand> strands_;
  std::vector<size_t> strand_of_;  // by wire
  float left_ = 0;
};

}  // namespace

LevelLayout LayOut(const LevelGraph& graph) { return Layout(graph).Run(); }

}  // namespace weft::picture
