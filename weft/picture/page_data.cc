#include "weft/picture/page_data.h"

#include <cmath>

#include "ir/origin/origin.h"
#include "passes/transformation.h"
#include "passes/verify/badges.h"
#include "weft/picture/node_data.h"
#include "weft/picture/palette.h"

namespace weft::picture {
namespace {

int Pixels(float x) { return static_cast<int>(std::lround(x)); }

Json LevelData(const Group& group, const Level& level, TextTable* texts) {
  Json data = {{"p", group.parent},
               {"k", group.kind},
               {"n", texts->Of(group.name)},
               {"q", group.path},
               {"o", group.operations}};
  if (group.open) data["e"] = 1;
  if (group.alike) data["w"] = 1;
  if (group.node >= 0) data["d"] = group.node;
  Json& items = data["it"] = Json::array();
  for (size_t i = 0; i < group.items.size(); ++i) {
    const PlacedBox& box = level.layout.boxes[i];
    const BoxSize& size = level.graph.boxes[i];
    items.push_back(group.items[i]);
    for (const int number : {box.row, Pixels(box.x), Pixels(size.width), Pixels(size.height)})
      items.push_back(number);
  }
  for (const float height : level.layout.row_heights) data["rh"].push_back(Pixels(height));
  const auto add_ports = [&](const char* name, const std::vector<Port>& ports) {
    for (const Port& port : ports) {
      data[name].push_back(port.value);
      data[name].push_back(Pixels(port.x));
    }
  };
  add_ports("in", level.layout.inputs);
  add_ports("ou", level.layout.outputs);
  for (const Way& way : level.layout.ways) {
    Json line = Json::array({way.first_row});
    for (const float x : way.x) line.push_back(Pixels(x));
    data["wy"].push_back(std::move(line));
  }
  for (size_t i = 0; i < level.graph.wires.size(); ++i) {
    const Wire& wire = level.graph.wires[i];
    const RoutedWire& routed = level.layout.wires[i];
    data["wi"].push_back(wire.value);
    for (const int number : {wire.from, wire.to, routed.way, routed.up + 2 * routed.far})
      data["wi"].push_back(number);
  }
  return data;
}

class Page {
 public:
  explicit Page(const PageContents& contents) : contents_(contents), constants_(&texts_) {}

  Json Make() {
    Json page;
    const PictureInfo& info = contents_.info;
    page["model"] = info.model;
    page["pipeline"] = info.pipeline;
    page["numerics"] = info.numerics;
    page["graphs"] = {GraphData(contents_.before, contents_.lineage.before), Json()};
    const uint64_t bytes_before = constants_.bytes();
    page["graphs"][1] = GraphData(contents_.after, contents_.lineage.after);
    page["all"] = {contents_.before.graph.program->num_operations() - 1,
                   contents_.after.graph.program->num_operations() - 1};
    page["bytes"] = bytes_before;
    page["rules"] = Rules();
    page["steps"] = Steps();
    page["misses"] = Misses();
    page["outputs"] = Json::array();
    for (const OutputInfo& output : info.outputs)
      page["outputs"].push_back(
          {{"n", output.name}, {"d", output.difference}, {"v", output.verdict}});
    if (info.run) page["run"] = Run(*info.run);
    page["constants"] = constants_.constants();
    page["texts"] = texts_.texts();
    return page;
  }

 private:
  Json GraphData(const FoldedGraph& folded, const std::vector<NodeLineage>& lineage) {
    Json nodes = Json::array(), groups = Json::array();
    for (size_t i = 0; i < folded.graph.nodes.size(); ++i) {
      Json node = DescribeNode(folded.graph, folded.graph.nodes[i], &texts_, &constants_);
      node["s"] = texts_.Of(SecondLine(folded.graph.nodes[i]));
      node["g"] = folded.tree.group_of_node[i];
      if (lineage[i].label >= 0) node["l"] = lineage[i].label;
      if (lineage[i].gone_by > 0) node["x"] = lineage[i].gone_by;
      if (!lineage[i].relatives.empty()) node["m"] = lineage[i].relatives;
      if (!lineage[i].steps.empty()) node["z"] = lineage[i].steps;
      nodes.push_back(std::move(node));
    }
    for (size_t i = 0; i < folded.tree.groups.size(); ++i)
      groups.push_back(LevelData(folded.tree.groups[i], folded.levels[i], &texts_));
    return {{"nodes", std::move(nodes)}, {"groups", std::move(groups)}};
  }

  // As many as labels, with what is known of each.
  Json Rules() const {
    std::map<std::string, const drr::Rule*> of_run;
    for (const auto& rule : contents_.rules) of_run[rule->name] = rule.get();
    std::map<std::string, passes::Transformation> known;
    for (passes::Transformation& it : passes::Transformations()) known[it.name] = std::move(it);
    const std::vector<RuleColour> colours = ColoursOf(contents_.lineage);
    Json rules = Json::array();
    for (size_t i = 0; i < colours.size(); ++i) {
      const std::string& name = contents_.lineage.labels[i];
      Json entry = {{"n", name},
                    {"rank", colours[i].rank},
                    {"hue", colours[i].hue},
                    {"pale", colours[i].is_pale}};
      const auto run = of_run.find(name);
      if (run != of_run.end()) {
        entry["a"] = run->second->algebra;
        entry["c"] = std::string(drr::NumericClassName(run->second->numerics));
      }
      if (const auto it = known.find(name); it != known.end()) {
        entry["a"] = it->second.What();
        entry["c"] = std::string(drr::NumericClassName(it->second.numerics));
        entry["w"] = it->second.file + ":" + std::to_string(it->second.line);
        entry["g"] = it->second.IsPass() ? "pass" : it->second.group;
      }
      if (const std::string_view badge = passes::BadgeOf(name); !badge.empty())
        entry["b"] = std::string(badge);
      rules.push_back(std::move(entry));
    }
    return rules;
  }

  Json Steps() {
    Json steps = Json::array();
    const auto numbers = [&](const std::vector<std::string>& names) {
      Json all = Json::array();
      for (const std::string& name : names) all.push_back(texts_.Of(name));
      return all;
    };
    for (const LineageStep& step : contents_.lineage.steps)
      steps.push_back({{"l", step.label},
                       {"p", texts_.Of(step.pass)},
                       {"s", step.site},
                       {"r", numbers(step.removed)},
                       {"a", numbers(step.added)},
                       {"b", step.before},
                       {"f", step.after},
                       {"n", {step.operations_removed, step.operations_added}}});
    return steps;
  }

  Json Misses() const {
    Json misses = Json::array();
    for (const NearMiss& miss : contents_.misses)
      misses.push_back({{"n", miss.rule},
                        {"o", contents_.after.graph.NodeOf(miss.site)},
                        {"f", {miss.operations_found, miss.operations}},
                        {"w", miss.reason},
                        {"t", miss.text}});
    return misses;
  }

  Json Run(const RunInfo& run) {
    // Steps are of a copy of the program, in its order; some operations need none. What waits for the values of
    // others runs after those that stand behind it.
    Json steps = Json::array();
    const std::vector<Node>& nodes = contents_.after.graph.nodes;
    std::vector<bool> taken(nodes.size());
    size_t next = 0;
    const auto find = [&](size_t at, const RunInfo::Step& step) {
      while (at < nodes.size() && (taken[at] || !IsOf(nodes[at], step))) ++at;
      return at;
    };
    for (const RunInfo::Step& step : run.steps) {
      size_t at = find(next, step);
      if (at == nodes.size()) at = find(0, step);
      Json entry = {{"o", texts_.Of(step.op)},
                    {"k", texts_.Of(step.kernel)},
                    {"t", step.milliseconds},
                    {"m", step.arena_bytes}};
      if (at < nodes.size()) {
        entry["f"] = at;
        taken[at] = true;
        next = at + 1;
      }
      steps.push_back(std::move(entry));
    }
    return {{"steps", std::move(steps)}, {"arena", run.arena_bytes}, {"on", run.conditions}};
  }

  static bool IsOf(const Node& node, const RunInfo::Step& step) {
    return node.kind == Node::kOperation && node.holder < 0 && node.op.name() == step.op &&
           ir::DescribeOrigin(node.op) == step.location;
  }

  const PageContents& contents_;
  TextTable texts_;
  ConstantTable constants_;
};

}  // namespace

std::string PageData(const PageContents& contents) {
  const std::string text =
      Page(contents).Make().dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {  // which stand in strings only
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace weft::picture
