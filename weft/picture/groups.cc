#include "weft/picture/groups.h"

#include <algorithm>
#include <functional>
#include <map>

#include "weft/picture/repeats.h"

namespace weft::picture {
namespace {

constexpr uint32_t kFewestOperations = 3;  // of a group: fewer are seen as they are
constexpr size_t kMaxScopes = 32;

class Grouping {
 public:
  explicit Grouping(const Graph& graph) : graph_(graph) {}

  GroupTree Run() {
    tree_.groups.push_back({.name = "model", .open = true});
    AddNodes();
    Simplify();
    FindRepeats(graph_, &tree_);
    Finish();
    OpenFirst();
    return std::move(tree_);
  }

 private:
  int AddGroup(Group group) {
    const int number = static_cast<int>(tree_.groups.size());
    tree_.groups[group.parent].items.push_back(ItemOfGroup(number));
    tree_.groups.push_back(std::move(group));
    return number;
  }

  void AddNodes() {
    has_inner_.assign(graph_.nodes.size(), false);
    for (const Node& node : graph_.nodes)
      if (node.holder >= 0) has_inner_[node.holder] = true;
    FindReaders();
    std::vector<uint32_t> borrowers;
    for (uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      if (&PlaceOf(i) == &graph_.nodes[i].place) {
        AddNode(i);
      } else {
        borrowers.push_back(i);
      }
    }
    // Last, so that groups are in the order of what they have of their own.
    for (const uint32_t node : borrowers) AddNode(node);
  }

  void AddNode(uint32_t number) {
    const Node& node = graph_.nodes[number];
    int group = HolderOf(node);
    if (node.kind == Node::kOperation)
      for (const std::string& scope : ScopesOf(PlaceOf(number))) group = Inner(group, scope);
    if (has_inner_[number]) {
      holders_[static_cast<int>(number)] = AddGroup({.kind = Group::kHolder,
                                                     .parent = group,
                                                     .node = static_cast<int>(number),
                                                     .name = node.title});
    } else {
      tree_.groups[group].items.push_back(static_cast<Item>(number));
    }
  }

  // What a nameless operation computes from constants alone belongs to its first reader.
  const std::string& PlaceOf(uint32_t number) const {
    const Node& node = graph_.nodes[number];
    const int reader = first_reader_[number];
    if (reads_[number] || reader < 0 || has_inner_[number] || !ScopesOf(node.place).empty())
      return node.place;
    const bool is_near =
        graph_.nodes[reader].holder == node.holder && graph_.nodes[reader].region == node.region;
    return is_near ? graph_.nodes[reader].place : node.place;
  }

  void FindReaders() {
    first_reader_.assign(graph_.nodes.size(), -1);
    reads_.assign(graph_.nodes.size(), false);
    for (const Edge& edge : graph_.edges) {
      reads_[edge.to] = true;
      if (first_reader_[edge.from] < 0) first_reader_[edge.from] = static_cast<int>(edge.to);
    }
  }

  // The whole, or the group of the region that holds the node.
  int HolderOf(const Node& node) {
    if (node.holder < 0) return 0;
    const int holder = holders_.at(node.holder);
    if (graph_.nodes[node.holder].op.num_regions() < 2) return holder;
    const auto [it, is_new] = regions_.try_emplace({node.holder, node.region}, 0);
    if (is_new)
      it->second = AddGroup({.kind = Group::kRegion,
                             .parent = holder,
                             .name = "region " + std::to_string(node.region + 1)});
    return it->second;
  }

  int Inner(int group, const std::string& scope) {
    const auto [it, is_new] = scopes_.try_emplace({group, scope}, 0);
    if (is_new) it->second = AddGroup({.parent = group, .name = scope});
    return it->second;
  }

  uint32_t Count(int group) const {
    uint32_t count = 0;
    for (const Item item : tree_.groups[group].items)
      count +=
          IsGroup(item) ? Count(GroupOfItem(item)) : graph_.nodes[item].kind == Node::kOperation;
    return count + (tree_.groups[group].kind == Group::kHolder ? 1 : 0);
  }

  // Scopes of few operations are no groups; one that holds nothing but another is one with it.
  // Groups come after what holds them, so that going backwards sees inner ones first.
  void Simplify() {
    for (int i = static_cast<int>(tree_.groups.size()) - 1; i > 0; --i) {
      Group& group = tree_.groups[i];
      if (group.kind != Group::kScope) continue;
      if (Count(i) < kFewestOperations) {
        Dissolve(i);
      } else if (group.items.size() == 1 && IsGroup(group.items[0]) &&
                 tree_.groups[GroupOfItem(group.items[0])].kind == Group::kScope) {
        const int only = GroupOfItem(group.items[0]);
        group.name += "/" + tree_.groups[only].name;
        group.items = std::move(tree_.groups[only].items);
        tree_.groups[only].items.clear();
      }
    }
  }

  void Dissolve(int i) {
    std::vector<Item>& items = tree_.groups[tree_.groups[i].parent].items;
    const auto at = std::find(items.begin(), items.end(), ItemOfGroup(i));
    const std::vector<Item> inner = std::move(tree_.groups[i].items);
    tree_.groups[i].items.clear();
    items.insert(items.erase(at), inner.begin(), inner.end());
  }

  // Numbers the groups that are left from the whole on, and fills in what follows from the tree.
  void Finish() {
    GroupTree done;
    done.group_of_node.assign(graph_.nodes.size(), 0);
    std::vector<int> left = {0};       // old numbers, by new number
    std::map<std::string, int> paths;  // how many have it
    done.groups.push_back(tree_.groups[0]);
    for (size_t i = 0; i < left.size(); ++i) {
      Group group = tree_.groups[left[i]];
      group.parent = done.groups[i].parent;
      group.operations = Count(left[i]);
      group.path = done.groups[i].path;
      if (group.kind == Group::kHolder) done.group_of_node[group.node] = group.parent;
      // Repetitions may be found in one graph and not in the other.
      const bool counts = group.kind != Group::kRepeats;
      const std::string around = counts ? group.path : done.groups[group.parent].path;
      for (Item& item : group.items) {
        if (!IsGroup(item)) {
          done.group_of_node[item] = static_cast<int>(i);
          continue;
        }
        Group inner{.parent = static_cast<int>(i)};
        inner.path = around + "/" + tree_.groups[GroupOfItem(item)].name;
        if (const int same = paths[inner.path]++; same > 0)
          inner.path += "#" + std::to_string(same);
        left.push_back(GroupOfItem(item));
        item = ItemOfGroup(static_cast<int>(done.groups.size()));
        done.groups.push_back(std::move(inner));
      }
      done.groups[i] = std::move(group);
    }
    tree_ = std::move(done);
  }

  // Breadth first, of alike siblings the first only, as long as there is room.
  void OpenFirst() {
    size_t boxes = 0;
    for (Group& group : tree_.groups) {
      const bool is_whole = group.parent < 0;
      const Group* parent = is_whole ? nullptr : &tree_.groups[group.parent];
      const bool is_twin =
          !is_whole && parent->alike && &tree_.groups[GroupOfItem(parent->items[0])] != &group;
      group.open =
          is_whole || (parent->open && !is_twin && boxes + group.items.size() <= kFirstBoxes);
      if (group.open && !is_whole) boxes += group.items.size();
    }
  }

  const Graph& graph_;
  GroupTree tree_;
  std::vector<bool> has_inner_, reads_;         // by node
  std::vector<int> first_reader_;               // by node
  std::map<int, int> holders_;                  // groups, by node
  std::map<std::pair<int, int>, int> regions_;  // groups, by node and region
  std::map<std::pair<int, std::string>, int> scopes_;
};

}  // namespace

std::vector<std::string> ScopesOf(std::string_view place) {
  std::vector<std::string> scopes;
  // "dir/file.ir:3:4" says where it was read.
  const size_t colon = place.rfind(':');
  if (colon != std::string_view::npos && colon + 1 < place.size() &&
      place.find_first_not_of("0123456789", colon + 1) == std::string_view::npos)
    return scopes;
  for (size_t start = 0; scopes.size() < kMaxScopes;) {
    const size_t slash = place.find('/', start);
    if (slash == std::string_view::npos) break;
    if (slash > start) scopes.emplace_back(place.substr(start, slash - start));
    start = slash + 1;
  }
  return scopes;
}

GroupTree GroupNodes(const Graph& graph) { return Grouping(graph).Run(); }

}  // namespace weft::picture
