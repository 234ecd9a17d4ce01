#include "weft/picture/repeats.h"

#include <algorithm>
#include <functional>
#include <string>

namespace weft::picture {
namespace {

constexpr size_t kManyItems = 24;       // of a level, whose operations are worth folding
constexpr uint64_t kFewestInBlock = 3;  // operations
constexpr size_t kLeastRepeats = 3;
constexpr int kMaxSearches = 64;  // of a level, each linear in its items

uint64_t Mix(uint64_t hash, uint64_t more) {
  hash ^= more + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, 64 bits
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

class RepeatFinder {
 public:
  RepeatFinder(const Graph& graph, GroupTree* tree) : graph_(graph), groups_(tree->groups) {}

  void Run() {
    // Inner ones first: groups come after what holds them. Those made here need no look.
    for (int i = static_cast<int>(groups_.size()) - 1; i >= 0; --i) FoldLevel(i);
  }

 private:
  uint64_t Hash(Item item) const {
    if (!IsGroup(item)) {
      const Node& node = graph_.nodes[item];
      return Mix(node.kind, HashOf(node.kind == Node::kOperation ? node.title : ""));
    }
    const Group& group = groups_[GroupOfItem(item)];
    uint64_t hash = Mix(1000 + group.kind, group.items.size());
    for (const Item inner : group.items) hash = Mix(hash, Hash(inner));
    return hash;
  }

  void FoldLevel(int level) {
    const std::vector<Item> items = groups_[level].items;
    std::vector<uint64_t> hashes;
    if (IsAllTwins(level)) {
      groups_[level].alike = true;
      return;
    }
    // Sequences do not go on across inputs and outputs, each of which is a thing of its own.
    for (size_t i = 0; i < items.size(); ++i)
      hashes.push_back(IsEnd(items[i]) ? Mix(2000, i) : Hash(items[i]));
    std::vector<Item> folded;
    Fold(level, items, hashes, 0, items.size(), &folded);
    groups_[level].items = std::move(folded);
  }

  bool IsAllTwins(int level) const {
    const std::vector<Item>& items = groups_[level].items;
    return level > 0 && groups_[level].kind == Group::kScope && items.size() >= kLeastRepeats &&
           std::all_of(items.begin(), items.end(),
                       [&](Item item) { return IsGroup(item) && Hash(item) == Hash(items[0]); });
  }

  bool IsEnd(Item item) const {
    return !IsGroup(item) && graph_.nodes[item].kind != Node::kOperation;
  }

  uint64_t Operations(Item item) const {
    if (!IsGroup(item)) return 1;
    uint64_t count = 0;
    for (const Item inner : groups_[GroupOfItem(item)].items) count += Operations(inner);
    return count;
  }

  bool IsWorthIt(const std::vector<Item>& items, const Repetition& found) const {
    if (found.size() == 0) return false;
    uint64_t operations = 0;
    bool has_node = false;
    for (size_t i = 0; i < found.period; ++i) {
      operations += Operations(items[found.first + i]);
      has_node = has_node || !IsGroup(items[found.first + i]);
    }
    if (operations < kFewestInBlock) return false;
    return !has_node || items.size() > kManyItems;
  }

  void Fold(int level, const std::vector<Item>& items, const std::vector<uint64_t>& hashes,
            size_t first, size_t last, std::vector<Item>* folded) {
    // A stack in place of recursion, which could be as deep as there are items.
    std::vector<std::pair<size_t, size_t>> ranges = {{first, last}};
    int searches = 0;
    while (!ranges.empty()) {
      const auto [begin, end] = ranges.back();
      ranges.pop_back();
      Repetition found;
      if (++searches <= kMaxSearches)
        found = LongestRepetition({hashes.data() + begin, end - begin});
      found.first += begin;
      if (found.size() == 0) {
        folded->insert(folded->end(), items.begin() + begin, items.begin() + end);
      } else if (found.first > begin) {
        ranges.emplace_back(found.first, end);
        ranges.emplace_back(begin, found.first);
      } else {
        ranges.emplace_back(found.first + found.size(), end);
        if (IsWorthIt(items, found)) {
          folded->push_back(AddRepeats(level, items, found));
        } else {
          folded->insert(folded->end(), items.begin() + begin,
                         items.begin() + begin + found.size());
        }
      }
    }
  }

  Item AddRepeats(int level, const std::vector<Item>& items, const Repetition& found) {
    const int repeats = static_cast<int>(groups_.size());
    groups_.push_back({.kind = Group::kRepeats, .parent = level, .alike = true});
    std::vector<Item> twins;
    for (size_t t = 0; t < found.times; ++t) {
      const size_t start = found.first + t * found.period;
      if (found.period == 1) {
        twins.push_back(items[start]);
        continue;
      }
      const int block = static_cast<int>(groups_.size());
      groups_.push_back({.kind = Group::kBlock,
                         .parent = repeats,
                         .name = "block " + std::to_string(t + 1),
                         .items = {items.begin() + start, items.begin() + start + found.period}});
      twins.push_back(ItemOfGroup(block));
    }
    const auto name = [&](Item item) { return groups_[GroupOfItem(item)].name; };
    groups_[repeats].name = name(twins.front()) + " … " + name(twins.back());
    groups_[repeats].items = std::move(twins);
    return ItemOfGroup(repeats);
  }

  const Graph& graph_;
  std::vector<Group>& groups_;
};

}  // namespace

Repetition LongestRepetition(std::span<const uint64_t> sequence, size_t max_period) {
  Repetition best;
  const size_t size = sequence.size();
  for (size_t period = 1; period <= std::min(max_period, size / kLeastRepeats); ++period) {
    size_t run = 0;  // elements before here that are equal to the one a period later
    for (size_t i = 0; i + period <= size; ++i) {
      if (i + period < size && sequence[i] == sequence[i + period]) {
        ++run;
        continue;
      }
      const Repetition found{i - run, period, run / period + 1};
      run = 0;
      if (found.times >= kLeastRepeats && found.size() > best.size()) best = found;
    }
  }
  return best;
}

void FindRepeats(const Graph& graph, GroupTree* tree) { RepeatFinder(graph, tree).Run(); }

}  // namespace weft::picture
