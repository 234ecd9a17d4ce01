#include "passes/superopt/generator/enumerate.h"

#include <algorithm>
#include <array>
#include <string>

#include "passes/superopt/generator/evaluate.h"

namespace weft::passes::substitution {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kRows = 2, kColumns = 4;  // of x1, x2, x3; w1, w2, w3 have kColumns of both

class Enumerator {
 public:
  Enumerator(int depth, size_t max_bytes);
  absl::StatusOr<Enumeration> Run();

 private:
  void Push(Matrix matrix);
  void Extend();
  // Of operators that do not depend on each other, the one with the smaller key comes first.
  bool InOrder(const Op& op) const;
  // -1: it is not there
  int Find(const Matrix& matrix) const;
  void Try(const Op& op);
  void AddGraph();
  // The last operator gives back variables, and all others are there for it alone.
  void AddIdentity(int first, int second, bool two);

  int depth_;
  size_t max_graphs_;
  std::array<Matrix, kMaxTensors> tensors_;
  std::array<uint64_t, kMaxTensors> fingerprints_ = {};
  uint8_t num_tensors_ = 0;
  Graph graph_;
  Enumeration result_;
};

Enumerator::Enumerator(int depth, size_t max_bytes)
    : depth_(depth), max_graphs_(max_bytes / sizeof(Enumerated)) {
  for (int v = 0; v < kNumMatrices; ++v)
    Push(RandomMatrix(v < kNumMatrices / 2 ? kRows : kColumns, kColumns, kSeed, v));
  Push(RandomMatrix(1, 1, kSeed, kNumber));
}

absl::StatusOr<Enumeration> Enumerator::Run() {
  Extend();
  if (result_.graphs.size() > max_graphs_)
    return absl::ResourceExhaustedError(
        "graphs of " + std::to_string(depth_) + " operators take more than " +
        std::to_string(max_graphs_ * sizeof(Enumerated) >> 20) + " MiB");
  std::sort(result_.graphs.begin(), result_.graphs.end());
  return std::move(result_);
}

void Enumerator::Push(Matrix matrix) {
  fingerprints_[num_tensors_] = Fingerprint(matrix);
  tensors_[num_tensors_++] = std::move(matrix);
}

void Enumerator::Extend() {
  for (int k = 0; k < kNumOpKinds; ++k) {
    const auto kind = static_cast<OpKind>(k);
    for (uint8_t a = 0; a < num_tensors_; ++a) {
      if (a == kNumber) continue;
      if (IsUnary(kind)) {
        Try({kind, a, kNoTensor});
      } else if (kind == OpKind::kScale) {
        Try({kind, a, kNumber});
      } else {
        for (uint8_t b = IsElementwise(kind) ? a + 1 : 0; b < num_tensors_; ++b)
          if (b != a && b != kNumber) Try({kind, a, b});
      }
      if (result_.graphs.size() > max_graphs_) return;
    }
  }
}

bool Enumerator::InOrder(const Op& op) const {
  if (graph_.num_ops == 0) return true;
  const Op& last = graph_.ops[graph_.num_ops - 1];
  const int from = num_tensors_ - NumResults(last.kind);
  const auto reads_last = [&](uint8_t t) { return t != kNoTensor && t >= from; };
  return reads_last(op.a) || reads_last(op.b) || op.Key() > last.Key();
}

int Enumerator::Find(const Matrix& matrix) const {
  const uint64_t* end = fingerprints_.data() + num_tensors_;
  const uint64_t* found = std::find(fingerprints_.data(), end, Fingerprint(matrix));
  return found == end ? -1 : static_cast<int>(found - fingerprints_.data());
}

void Enumerator::Try(const Op& op) {
  if (!InOrder(op)) return;
  if (IsSplit(op.kind) && tensors_[op.a].splits[op.kind == OpKind::kSplit1] == 0) return;
  Matrix first, second;
  if (!Evaluate(op, tensors_, {.seed = kSeed}, &first, &second)) return;
  const bool two = IsSplit(op.kind);
  const int known = Find(first), other = two ? Find(second) : -1;
  const Graph before = graph_;
  graph_.ops[graph_.num_ops++] = op;
  if (known >= 0 || other >= 0) {
    AddIdentity(known, other, two);
  } else if (!two || Fingerprint(first) != Fingerprint(second)) {
    const uint8_t tensors = num_tensors_;
    Push(std::move(first));
    if (two) Push(std::move(second));
    AddGraph();
    if (graph_.num_ops < depth_ && result_.graphs.size() <= max_graphs_) Extend();
    num_tensors_ = tensors;
  }
  graph_ = before;
}

void Enumerator::AddGraph() {
  std::array<uint64_t, 2 * kMaxOps> outputs;
  size_t n = 0;
  for (int output : graph_.Outputs()) outputs[n++] = fingerprints_[output];
  std::sort(outputs.begin(), outputs.begin() + n);
  uint64_t hash = n;
  for (size_t i = 0; i < n; ++i) hash = Mix(hash ^ outputs[i]);
  result_.graphs.push_back({hash, graph_.Pack()});
}

void Enumerator::AddIdentity(int first, int second, bool two) {
  const auto is_matrix = [](int t) { return t >= 0 && t < kNumMatrices; };
  if (!is_matrix(first) || (two && !is_matrix(second))) return;
  if (graph_.Outputs().size() != (two ? 2 : 1) || !graph_.ReadsVariablesInOrder()) return;
  Graph variables;
  variables.returned = {static_cast<uint8_t>(first),
                        two ? static_cast<uint8_t>(second) : kNoTensor};
  result_.identities.emplace_back(graph_, variables);
}

}  // namespace

absl::StatusOr<Enumeration> EnumerateGraphs(int depth, size_t max_bytes) {
  return Enumerator(depth, max_bytes).Run();
}

}  // namespace weft::passes::substitution
