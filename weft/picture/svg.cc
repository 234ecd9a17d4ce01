#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "weft/picture/drawing.h"
#include "weft/picture/escape.h"

namespace weft::picture {
namespace {

constexpr float kPad = 16, kHead = 30, kRowGap = 38, kSideGap = 60, kTop = 40;  // pixels
constexpr float kLegendRow = 22, kLegendWidth = 320;

struct Point {
  float x = 0, y = 0;
};

// One side, placed bottom up and drawn top down.
class SvgWriter {
 public:
  SvgWriter(const Side& side, bool is_before, const std::vector<RuleColour>& colours)
      : side_(side), is_before_(is_before), colours_(colours) {
    placed_.resize(side.folded.tree.groups.size());
    // Groups come after what holds them.
    for (size_t i = placed_.size(); i > 0; --i)
      if (IsShown(static_cast<int>(i - 1))) Place(static_cast<int>(i - 1));
  }

  BoxSize size() const { return placed_[0].size; }
  const std::set<int>& labels() const { return labels_; }  // that were drawn

  std::string Draw(float x, float y) {
    DrawGroup(0, x, y);
    return std::move(out_);
  }

 private:
  struct Placed {
    LevelGraph graph;
    LevelLayout layout;
    std::vector<float> tops;  // of rows
    BoxSize size;
    float left = kPad;  // of what the layout calls 0
  };

  const Group& GroupAt(int number) const { return side_.folded.tree.groups[number]; }
  bool IsShown(int group) const {
    for (; group >= 0; group = GroupAt(group).parent)
      if (!GroupAt(group).open) return false;
    return true;
  }
  bool IsOpen(Item item) const { return IsGroup(item) && GroupAt(GroupOfItem(item)).open; }

  void Place(int number) {
    const Group& group = GroupAt(number);
    Placed& placed = placed_[number];
    placed.graph = side_.folded.levels[number].graph;
    for (size_t i = 0; i < group.items.size(); ++i)
      if (IsOpen(group.items[i])) placed.graph.boxes[i] = placed_[GroupOfItem(group.items[i])].size;
    placed.layout = LayOut(placed.graph);
    float y = number == 0 ? kPad : kHead + (placed.layout.inputs.empty() ? kPad : 0);
    for (const float height : placed.layout.row_heights) {
      placed.tops.push_back(y);
      y += height + (height > 0 ? kRowGap : kRowGap / 2);
    }
    float right = kPad + 8.6F * static_cast<float>(group.name.size());
    for (size_t i = 0; i < placed.layout.boxes.size(); ++i)
      right =
          std::max(right, placed.left + placed.layout.boxes[i].x + placed.graph.boxes[i].width / 2);
    for (const Way& way : placed.layout.ways)
      for (const float x : way.x) right = std::max(right, placed.left + x);
    for (const auto* ports : {&placed.layout.inputs, &placed.layout.outputs})
      for (const Port& port : *ports) right = std::max(right, placed.left + port.x);
    placed.size = {right + kPad,
                   y - (placed.layout.outputs.empty() ? kRowGap - kPad : kRowGap / 2)};
  }

  void DrawGroup(int number, float x, float y) {
    const Group& group = GroupAt(number);
    const Placed& placed = placed_[number];
    if (number > 0) {
      Rectangle({x, y}, placed.size, 10, "#5a6982", "#b6bfcb", " fill-opacity=\"0.07\"");
      Text({x + 10, y + 19}, group.name, "t h", "start");
    }
    DrawWires(number, x, y);
    for (size_t i = 0; i < group.items.size(); ++i) {
      const Point at = CornerOf(number, static_cast<int>(i), x, y);
      const Item item = group.items[i];
      if (IsOpen(item)) {
        DrawGroup(GroupOfItem(item), at.x, at.y);
      } else if (IsGroup(item)) {
        DrawClosed(GroupAt(GroupOfItem(item)), at, placed.graph.boxes[i]);
      } else {
        DrawNode(static_cast<uint32_t>(item), at, placed.graph.boxes[i]);
      }
    }
  }

  Point CornerOf(int number, int box, float x, float y) const {
    const Placed& placed = placed_[number];
    const PlacedBox& place = placed.layout.boxes[box];
    const BoxSize& size = placed.graph.boxes[box];
    const float spare = placed.layout.row_heights[place.row] - size.height;
    return {x + placed.left + place.x - size.width / 2, y + placed.tops[place.row] + spare / 2};
  }

  // Where a wire of the value meets a box, or the rim of the level.
  Point EndOf(int number, int box, uint32_t value, bool is_upper, float x, float y) const {
    const Placed& placed = placed_[number];
    if (box == Wire::kOutside) {
      const auto& ports = is_upper ? placed.layout.inputs : placed.layout.outputs;
      const float at = XOf(ports, value).value_or(0);
      return {x + placed.left + at, is_upper ? y + kHead : y + placed.size.height};
    }
    const Point corner = CornerOf(number, box, x, y);
    const BoxSize& size = placed.graph.boxes[box];
    Point end{corner.x + size.width / 2, is_upper ? corner.y + size.height : corner.y};
    const Item item = GroupAt(number).items[box];
    if (!IsOpen(item)) return end;
    const Placed& inner = placed_[GroupOfItem(item)];
    const auto port = XOf(is_upper ? inner.layout.outputs : inner.layout.inputs, value);
    if (port) end.x = corner.x + inner.left + *port;
    return end;
  }

  static std::optional<float> XOf(const std::vector<Port>& ports, uint32_t value) {
    for (const Port& port : ports)
      if (port.value == value) return port.x;
    return std::nullopt;
  }

  int RowOf(const Placed& placed, int box, bool is_upper) const {
    if (box != Wire::kOutside) return placed.layout.boxes[box].row;
    return is_upper ? 0 : static_cast<int>(placed.tops.size()) - 1;
  }

  void DrawWires(int number, float x, float y) {
    const Placed& placed = placed_[number];
    for (size_t i = 0; i < placed.graph.wires.size(); ++i) {
      const Wire& wire = placed.graph.wires[i];
      const RoutedWire& routed = placed.layout.wires[i];
      if (routed.far || (wire.from == wire.to && wire.from != Wire::kOutside)) continue;
      const int upper = routed.up ? wire.to : wire.from, lower = routed.up ? wire.from : wire.to;
      std::vector<Point> points = {EndOf(number, upper, wire.value, true, x, y)};
      const auto add_row = [&](int row, float at) {
        points.push_back({at, y + placed.tops[row]});
        points.push_back({at, y + placed.tops[row] + placed.layout.row_heights[row]});
      };
      const int first = RowOf(placed, upper, true), last = RowOf(placed, lower, false);
      points.push_back({points[0].x, y + placed.tops[first] + placed.layout.row_heights[first]});
      if (routed.way >= 0) {
        const Way& way = placed.layout.ways[routed.way];
        for (int row = way.first_row; row < last; ++row)
          add_row(row, x + placed.left + way.x[row - way.first_row]);
      }
      const Point end = EndOf(number, lower, wire.value, false, x, y);
      points.push_back({end.x, y + placed.tops[last]});
      points.push_back(end);
      Curve(points, routed.up);
    }
  }

  void Curve(const std::vector<Point>& points, bool is_dashed) {
    out_ += fmt::format("<path class=\"w{}\" d=\"M{:.0f} {:.0f}", is_dashed ? " d" : "",
                        points[0].x, points[0].y);
    for (size_t i = 1; i < points.size(); ++i) {
      const Point a = points[i - 1], b = points[i];
      if (b.y <= a.y && i + 1 < points.size()) continue;  // nothing in this row
      if (std::abs(a.x - b.x) < 1) {
        out_ += fmt::format("L{:.0f} {:.0f}", b.x, b.y);
      } else {
        const float middle = (a.y + b.y) / 2;
        out_ += fmt::format("C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}", a.x, middle, b.x, middle,
                            b.x, b.y);
      }
    }
    out_ += "\"/>\n";
  }

  void DrawNode(uint32_t number, Point at, const BoxSize& size) {
    const Node& node = side_.folded.graph.nodes[number];
    const NodeLineage& info = side_.lineage[number];
    std::string fill = "#ffffff", line = "#9aa4b2";
    if (info.label >= 0) {
      fill = FillOf(colours_[info.label]);
      line = LineOf(colours_[info.label]);
      labels_.insert(info.label);
    }
    const bool is_gone = is_before_ && info.label >= 0 && info.relatives.empty();
    Rectangle(at, size, node.kind == Node::kOperation ? 6 : size.height / 2, fill, line,
              is_gone ? " stroke-dasharray=\"4 3\"" : "");
    const float middle = at.x + size.width / 2;
    const size_t fits = static_cast<size_t>(size.width / 7.5F);
    const std::string second = SecondLine(node);
    Text({middle, at.y + (second.empty() ? size.height / 2 + 5 : 18)}, Shorten(node.title, fits),
         is_gone ? "t b g" : "t b", "middle");
    if (!second.empty()) Text({middle, at.y + 33}, Shorten(second, fits), "t s", "middle");
  }

  void DrawClosed(const Group& group, Point at, const BoxSize& size) {
    for (const float by : {4.0F, 0.0F})
      Rectangle({at.x + by, at.y + by}, {size.width - 4, size.height - 4}, 6, "#ffffff", "#9aa4b2",
                "");
    const float middle = at.x + size.width / 2;
    Text({middle, at.y + 18}, Shorten(group.name, static_cast<size_t>(size.width / 7.5F)), "t b",
         "middle");
    Text({middle, at.y + 34}, fmt::format("{} operations", group.operations), "t s", "middle");
  }

  void Rectangle(Point at, BoxSize size, float radius, std::string_view fill, std::string_view line,
                 std::string_view more) {
    out_ += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"{:.0f}\" "
        "fill=\"{}\" stroke=\"{}\"{}/>\n",
        at.x, at.y, size.width, size.height, radius, fill, line, more);
  }

  void Text(Point at, std::string_view text, std::string_view style, std::string_view anchor) {
    out_ +=
        fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n",
                    style, at.x, at.y, anchor, EscapeXml(text));
  }

  const Side& side_;
  const bool is_before_;
  const std::vector<RuleColour>& colours_;
  std::vector<Placed> placed_;  // by group
  std::set<int> labels_;
  std::string out_;
};

constexpr std::string_view kStyle =
    "<style>.t{font-family:system-ui,\"DejaVu Sans\",sans-serif;font-size:13px;fill:#1d2430}"
    ".b{font-weight:600}.s{font-size:11px;fill:#5b6675}.h{font-weight:600;font-size:12px;fill:#"
    "5b6675}"
    ".g{text-decoration:line-through}.w{fill:none;stroke:#98a2b0;stroke-width:1.2}"
    ".d{stroke-dasharray:5 4}</style>\n";

std::string Legend(const std::set<int>& labels, const std::vector<RuleColour>& colours,
                   const std::vector<std::string>& names, float x) {
  std::vector<int> order(labels.begin(), labels.end());
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return colours[a].rank < colours[b].rank; });
  std::string out;
  float y = kTop;
  for (const int label : order) {
    out += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"14\" height=\"14\" rx=\"4\" fill=\"{}\" "
        "stroke=\"{}\"/>\n<text class=\"t\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
        x, y, FillOf(colours[label]), LineOf(colours[label]), x + 22, y + 12,
        EscapeXml(names[label]));
    y += kLegendRow;
  }
  return out;
}

}  // namespace

std::string DrawSvg(const std::vector<Side>& sides, const Lineage& lineage) {
  const std::vector<RuleColour> colours = ColoursOf(lineage);
  std::string body;
  std::set<int> labels;
  float x = kPad, height = 0;
  for (size_t i = 0; i < sides.size(); ++i) {
    SvgWriter writer(sides[i], i == 0, colours);
    body += fmt::format("<text class=\"t b\" x=\"{:.0f}\" y=\"24\">{}</text>\n", x + kPad,
                        EscapeXml(sides[i].title));
    const BoxSize size = writer.size();
    body += writer.Draw(x, kTop);
    labels.insert(writer.labels().begin(), writer.labels().end());
    x += size.width + kSideGap;
    height = std::max(height, size.height);
  }
  body += Legend(labels, colours, lineage.labels, x);
  height = std::max(height, kLegendRow * static_cast<float>(labels.size())) + kTop + kPad;
  const float width = x + (labels.empty() ? 0 : kLegendWidth);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}<rect width=\"100%\" height=\"100%\" "
             "fill=\"#f6f7f9\"/>\n",
             width, height, kStyle) +
         body + "</svg>\n";
}

}  // namespace weft::picture
