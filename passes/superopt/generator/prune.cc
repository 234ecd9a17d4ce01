#include "passes/superopt/generator/prune.h"

#include <algorithm>
#include <array>

namespace weft::passes::substitution {
namespace {

bool IsVariable(uint8_t tensor) { return tensor < kNumVariables || tensor == kNoTensor; }

// Finds names for the variables of one graph under which it becomes the other.
class Renaming {
 public:
  Renaming() { names_.fill(kNoTensor); }

  // Calls `next` under each such choice until it returns true.
  template <class F>
  bool Match(const Graph& from, const Graph& to, F&& next) {
    if (from.num_ops != to.num_ops) return false;
    if (from.num_ops == 0) {
      const auto saved = names_;
      if (Bind(from.returned[0], to.returned[0]) && Bind(from.returned[1], to.returned[1]) &&
          next())
        return true;
      names_ = saved;
      return false;
    }
    results_.fill(kNoTensor);
    return MatchOp(from, to, 0, 0, next);
  }

 private:
  bool Bind(uint8_t from, uint8_t to) {
    if (from == kNoTensor || to == kNoTensor) return from == to;
    if (from >= kNumVariables) return results_[from] == to;
    if (to >= kNumVariables) return false;
    if ((from == kNumber) != (to == kNumber)) return false;
    if (names_[from] == kNoTensor) names_[from] = to;
    return names_[from] == to;
  }

  template <class F>
  bool MatchOp(const Graph& from, const Graph& to, int i, uint32_t used, F& next) {
    if (i == from.num_ops) return next();
    const Op& op = from.ops[i];
    const auto first_from = FirstResults(from), first_to = FirstResults(to);
    for (int j = 0; j < to.num_ops; ++j) {
      const Op& other = to.ops[j];
      if ((used >> j & 1) || other.kind != op.kind) continue;
      for (const bool swapped : {false, true}) {
        if (swapped && !IsElementwise(op.kind)) continue;
        const auto names = names_;
        const auto results = results_;
        if (Bind(op.a, swapped ? other.b : other.a) && Bind(op.b, swapped ? other.a : other.b)) {
          for (int r = 0; r < NumResults(op.kind); ++r)
            results_[first_from[i] + r] = static_cast<uint8_t>(first_to[j] + r);
          if (MatchOp(from, to, i + 1, used | 1U << j, next)) return true;
        }
        names_ = names;
        results_ = results;
      }
    }
    return false;
  }

  std::array<uint8_t, kNumVariables> names_;
  std::array<uint8_t, kMaxTensors> results_ = {};
};

bool IsInstanceOf(const GraphPair& pair, const GraphPair& general) {
  const auto becomes = [&](const Graph& a, const Graph& b) {
    Renaming renaming, second;
    return renaming.Match(general.a, a, [&] {
      second = renaming;  // results are those of one graph
      return second.Match(general.b, b, [] { return true; });
    });
  };
  return becomes(pair.a, pair.b) || becomes(pair.b, pair.a);
}

std::vector<int> Kinds(const Graph& graph) {
  std::vector<int> kinds;
  for (const Op& op : graph.operators()) kinds.push_back(static_cast<int>(op.kind));
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

// Equal for a pair and the same pair turned round.
std::vector<int> Kinds(const GraphPair& pair) {
  std::vector<int> first = Kinds(pair.a), second = Kinds(pair.b);
  if (second < first) std::swap(first, second);
  first.push_back(kNumOpKinds);
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The operator that makes all outputs; null when there are several.
const Op* Producer(const Graph& graph) {
  uint32_t read = 0;
  for (const Op& op : graph.operators()) read |= 1U << op.a | 1U << op.b;
  const auto first = FirstResults(graph);
  const Op* producer = nullptr;
  for (int i = 0; i < graph.num_ops; ++i) {
    int unread = 0;
    for (int r = 0; r < NumResults(graph.ops[i].kind); ++r) unread += !(read >> (first[i] + r) & 1);
    if (unread == 0) continue;
    if (producer || unread < NumResults(graph.ops[i].kind)) return nullptr;
    producer = &graph.ops[i];
  }
  return producer;
}

}  // namespace

bool ShareSubgraph(const Graph& a, const Graph& b) {
  for (const Op& x : a.operators())
    for (const Op& y : b.operators())
      if (x == y && IsVariable(x.a) && IsVariable(x.b)) return true;
  return false;
}

bool ShareSupergraph(const Graph& a, const Graph& b) {
  const Op *x = Producer(a), *y = Producer(b);
  if (!x || !y || x->kind != y->kind) return false;
  if (IsUnary(x->kind)) return true;
  const auto same = [](uint8_t s, uint8_t t) { return s == t && IsVariable(s); };
  if (same(x->a, y->a) || same(x->b, y->b)) return true;
  return IsElementwise(x->kind) && (same(x->a, y->b) || same(x->b, y->a));
}

bool MostGeneral::Says(const GraphPair& pair) const {
  const auto alike = by_kinds_.find(Kinds(pair));
  return alike != by_kinds_.end() &&
         std::any_of(alike->second.begin(), alike->second.end(),
                     [&](const GraphPair& general) { return IsInstanceOf(pair, general); });
}

void MostGeneral::Add(const GraphPair& pair) { by_kinds_[Kinds(pair)].push_back(pair); }

}  // namespace weft::passes::substitution
