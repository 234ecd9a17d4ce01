#include "passes/superopt/generator/verify.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "passes/superopt/generator/evaluate.h"

namespace weft::passes::substitution {
namespace {

constexpr int kSizes[] = {1, 2, 3, 4, 2, 1, 6};
constexpr int kMaxTries = 3000;

// Which sizes of variables must be equal for the source to fit. What depends on sums and halves is
// left open: such shapes are tried.
class SizeClasses {
 public:
  explicit SizeClasses(const Graph& source) {
    std::iota(parents_.begin(), parents_.end(), 0);
    std::array<Sizes, kMaxTensors> tensors = {};
    for (int v = 0; v < kNumMatrices; ++v) tensors[v] = {2 * v, 2 * v + 1};
    int next = kNumVariables;
    for (const Op& op : source.operators()) {
      tensors[next++] = Infer(op, tensors);
      if (IsSplit(op.kind)) {
        tensors[next] = tensors[next - 1];
        ++next;
      }
    }
  }

  int Find(int size) const {
    while (parents_[size] != size) size = parents_[size];
    return size;
  }

 private:
  using Sizes = std::array<int, 2>;  // kOpen: not that of a variable
  static constexpr int kOpen = -1;

  void Unite(int a, int b) {
    if (a != kOpen && b != kOpen) parents_[Find(a)] = Find(b);
  }

  Sizes Infer(const Op& op, const std::array<Sizes, kMaxTensors>& tensors) {
    const Sizes a = tensors[op.a];
    const Sizes b = op.b == kNoTensor ? Sizes{kOpen, kOpen} : tensors[op.b];
    switch (op.kind) {
      case OpKind::kMatMul:
        Unite(a[1], b[0]);
        return {a[0], b[1]};
      case OpKind::kAdd:
      case OpKind::kMul:
        Unite(a[0], b[0]);
        Unite(a[1], b[1]);
        return {a[0] == kOpen ? b[0] : a[0], a[1] == kOpen ? b[1] : a[1]};
      case OpKind::kTranspose:
        return {a[1], a[0]};
      case OpKind::kConcat0:
        Unite(a[1], b[1]);
        return {kOpen, a[1] == kOpen ? b[1] : a[1]};
      case OpKind::kConcat1:
        Unite(a[0], b[0]);
        return {a[0] == kOpen ? b[0] : a[0], kOpen};
      case OpKind::kSplit0:
        return {kOpen, a[1]};
      case OpKind::kSplit1:
        return {a[0], kOpen};
      default:
        return a;
    }
  }

  std::array<int, 2 * kNumMatrices> parents_ = {};
};

using Variables = std::array<Matrix, kNumVariables>;

Variables Draw(const std::array<int, 2 * kNumMatrices>& sizes, uint64_t seed) {
  Variables variables;
  for (int v = 0; v < kNumMatrices; ++v)
    variables[v] = RandomMatrix(sizes[2 * v], sizes[2 * v + 1], seed, v);
  variables[kNumber] = RandomMatrix(1, 1, seed, kNumber);
  return variables;
}

bool HasProducts(const Graph& graph) {
  return std::any_of(graph.operators().begin(), graph.operators().end(),
                     [](const Op& op) { return op.kind == OpKind::kMatMul; });
}

// Whether the two compute the same; false in *fits when the rewrite does not apply to these shapes.
bool Agree(const Rewrite& r, const Variables& variables, EvaluateOptions options, bool* fits) {
  const auto source = EvaluateGraph(r.source, r.source_outputs, variables, options);
  options.broadcast = true;
  const auto target = EvaluateGraph(r.target, r.target_outputs, variables, options);
  *fits = !source.empty() && source.size() == target.size();
  for (size_t i = 0; *fits && i < source.size(); ++i) *fits = source[i].SameShape(target[i]);
  return source == target;
}

}  // namespace

Verdict Verify(const Rewrite& rewrite, int assignments) {
  const SizeClasses classes(rewrite.source);
  std::mt19937_64 random(1);
  Verdict verdict;
  if (HasProducts(rewrite.source) || HasProducts(rewrite.target)) verdict.exact = false;
  for (int i = 0; i < kMaxTries && verdict.applied < assignments && verdict.right; ++i) {
    std::array<int, 2 *kNumMatrices> drawn = {}, sizes = {};
    for (int& size : drawn) size = kSizes[random() % std::size(kSizes)];
    for (int j = 0; j < 2 * kNumMatrices; ++j) sizes[j] = drawn[classes.Find(j)];
    bool fits = true;
    for (uint64_t seed = 1; fits && seed <= 2; ++seed) {
      const Variables variables = Draw(sizes, random());
      verdict.right &= Agree(rewrite, variables, {.seed = seed}, &fits) || !fits;
      if (fits && verdict.exact)
        verdict.exact = Agree(rewrite, variables, {.seed = seed, .uninterpreted = true}, &fits);
    }
    verdict.applied += fits;
  }
  return verdict;
}

}  // namespace weft::passes::substitution
