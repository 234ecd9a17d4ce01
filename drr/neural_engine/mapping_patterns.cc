// The chains of a mapping: its nodes and who reads whom.
#include <fmt/format.h>

#include <algorithm>

#include "drr/neural_engine/mapping_reader.h"

namespace weft::drr::text {

namespace {

constexpr size_t kMaxNodes = 200;

}  // namespace

bool MappingReader::Element(const Literal& at, int* index, std::vector<std::string>* types) {
  if (!at.IsSequence() || at.items.size() != 2)
    return Error(at, fmt::format("expected (index, type) but found {}", at.Describe()));
  if (!Integer(at.items[0], 0, kMaxIndex, "an index", index)) return false;
  const Literal& type = at.items[1];
  if (!type.IsSequence()) return String(type, "a type, or a list of types", &types->emplace_back());
  if (type.items.empty()) return Error(type, "the list of types is empty");
  for (const Literal& item : type.items)
    if (!String(item, "a type", &types->emplace_back())) return false;
  return true;
}

bool MappingReader::IsChains(const Literal& at, std::string_view what) {
  if (!at.IsSequence() || at.items.empty())
    return Error(at, fmt::format("'{}' must be a list of chains, not {}", what, at.Describe()));
  for (const Literal& chain : at.items)
    if (!chain.IsSequence() || chain.items.empty())
      return Error(
          chain, fmt::format("a chain must be a list of (index, type), not {}", chain.Describe()));
  return true;
}

bool MappingReader::AddNode(const Literal& at, int index, std::vector<std::string> types) {
  if (static_cast<size_t>(index) >= m_.in.size()) m_.in.resize(static_cast<size_t>(index) + 1);
  if (m_.in.size() > kMaxNodes) return Error(at, fmt::format("more than {} nodes", kMaxNodes));
  Mapping::InNode& node = m_.in[static_cast<size_t>(index)];
  if (node.types.empty()) {
    node = {at.at, std::move(types)};
  } else if (node.types != types) {
    return Error(at, fmt::format("node {} had other types before", index));
  }
  return true;
}

void MappingReader::AddEdge(int from, int to, Position at) {
  for (const Mapping::Edge& e : m_.edges)
    if (e.from == from && e.to == to) return;
  m_.edges.push_back({from, to, at});
}

bool MappingReader::ReadIn(const Literal& in) {
  if (!IsChains(in, "in")) return false;
  const bool alone = in.items.size() == 1;
  const Literal& main = in.items[0];
  std::vector<int> spine;
  for (const Literal& item : main.items) {
    int index = 0;
    std::vector<std::string> types;
    if (!Element(item, &index, &types)) return false;
    const int position = static_cast<int>(spine.size());
    if (alone && index != position) {
      mistakes_.Warning(item.at, fmt::format("the node is number {} by its place in the only "
                                             "chain, not {}",
                                             position, index));
      index = position;
    }
    if (std::find(spine.begin(), spine.end(), index) != spine.end())
      return Error(item, fmt::format("node {} is there twice", index));
    if (!AddNode(item, index, std::move(types))) return false;
    if (!spine.empty() && !m_.by_name) AddEdge(spine.back(), index, item.at);
    spine.push_back(index);
  }
  m_.tail = spine.back();
  if (m_.by_name && !alone)
    return Error(in.items[1], "with search_mode 'node_name' there is one chain, of node names");
  for (size_t i = 1; i < in.items.size(); ++i)
    if (!ReadSubChain(in.items[i], spine)) return false;
  return CheckNodes(in);
}

bool MappingReader::ReadSubChain(const Literal& chain, const std::vector<int>& spine) {
  const auto on_spine = [&](int node) {
    return std::find(spine.begin(), spine.end(), node) != spine.end();
  };
  int previous = -1;
  for (size_t i = 0; i < chain.items.size(); ++i) {
    const Literal& item = chain.items[i];
    const bool last = i + 1 == chain.items.size();
    if (i == 0 && item.IsSequence() && item.items.empty() && !last) continue;
    int index = 0;
    std::vector<std::string> types;
    if (!Element(item, &index, &types)) return false;
    const bool open_head = i == 1 && previous < 0;
    if (i == 0 && !on_spine(index))
      return Error(item, fmt::format("node {} is not in the first chain; a chain whose head is "
                                     "outside starts with ()",
                                     index));
    if (last && !on_spine(index))
      return Error(item, fmt::format("the chain must end in a node of the first one, which node "
                                     "{} is not",
                                     index));
    if (i > 0 && !last && on_spine(index))
      return Error(item, fmt::format("node {} is in the first chain already", index));
    if (last && i == 0) return Error(item, "a chain of one node joins nothing");
    if (!AddNode(item, index, std::move(types))) return false;
    if (!open_head && previous >= 0) AddEdge(previous, index, item.at);
    previous = index;
  }
  return true;
}

bool MappingReader::CheckNodes(const Literal& in) {
  for (size_t i = 0; i < m_.in.size(); ++i)
    if (m_.in[i].types.empty())
      return Error(in, fmt::format("there is no node {}, but a node {}", i, m_.in.size() - 1));
  if (!m_.by_name && m_.tail != static_cast<int>(m_.in.size()) - 1)
    return Error(in, fmt::format("the last node of the first chain must have the highest index, "
                                 "{}, not {}",
                                 m_.in.size() - 1, m_.tail));
  std::vector<int> state(m_.in.size(), 0);  // rings: 1 on the path, 2 done
  for (size_t i = 0; i < m_.in.size(); ++i)
    if (HasRing(static_cast<int>(i), &state))
      return Error(in, fmt::format("node {} reads its own result", i));
  return true;
}

bool MappingReader::HasRing(int node, std::vector<int>* state) const {
  int& mine = (*state)[static_cast<size_t>(node)];
  if (mine) return mine == 1;
  mine = 1;
  for (const Mapping::Edge& e : m_.edges)
    if (e.to == node && HasRing(e.from, state)) return true;
  mine = 2;
  return false;
}

bool MappingReader::ReadOut(const Literal& out) {
  if (!IsChains(out, "out")) return false;
  std::map<int, Mapping::OutNode> nodes;
  std::vector<int> order;
  for (const Literal& chain : out.items)
    for (size_t i = 0; i < chain.items.size(); ++i) {
      int index = 0;
      std::vector<std::string> types;
      if (!Element(chain.items[i], &index, &types)) return false;
      if (types.size() > 1) return Error(chain.items[i], "a new node has one type");
      Mapping::OutNode node;
      node.at = node.inputs_at = node.outputs_at = chain.items[i].at;
      node.type = types[0];
      node.linked = i > 0;
      if (!nodes.emplace(index, std::move(node)).second)
        return Error(chain.items[i], fmt::format("node {} is there twice", index));
      const bool in_order = static_cast<size_t>(index) == order.size();
      if (!in_order)
        return Error(chain.items[i], fmt::format("the next new node must be number {}, not {}",
                                                 order.size(), index));
      order.push_back(index);
      if (order.size() > kMaxNodes)
        return Error(chain.items[i], fmt::format("more than {} nodes", kMaxNodes));
    }
  for (int index : order) m_.out.push_back(std::move(nodes[index]));
  return true;
}

}  // namespace weft::drr::text
