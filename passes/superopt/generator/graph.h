// Small graphs over matrices, between which substitutions are looked for: their operators, their
// tensors, and how they are written.
//
// Tensors are numbered: first the variables (three of one shape, three square ones, one number), then
// the results of the operators in order, of which a split has two. A graph's outputs are the results
// that none of its operators reads; one without operators gives back variables.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::passes::substitution {

enum class OpKind : uint8_t {
  kMatMul,
  kAdd,
  kMul,
  kRelu,
  kTranspose,
  kConcat0,
  kConcat1,
  kSplit0,  // into halves
  kSplit1,
  kScale,  // by the number
};
inline constexpr int kNumOpKinds = 10;
inline constexpr int kNumMatrices = 6;  // x1 x2 x3 of one shape, w1 w2 w3 square
inline constexpr int kNumber = 6;
inline constexpr int kNumVariables = 7;
inline constexpr int kMaxOps = 4;
inline constexpr int kMaxTensors = kNumVariables + 2 * kMaxOps;
inline constexpr uint8_t kNoTensor = 15;

inline bool IsSplit(OpKind kind) { return kind == OpKind::kSplit0 || kind == OpKind::kSplit1; }
inline bool IsConcat(OpKind kind) { return kind == OpKind::kConcat0 || kind == OpKind::kConcat1; }
// Addition and multiplication of equal shapes.
inline bool IsElementwise(OpKind kind) { return kind == OpKind::kAdd || kind == OpKind::kMul; }
inline bool IsUnary(OpKind kind) {
  return kind == OpKind::kRelu || kind == OpKind::kTranspose || IsSplit(kind);
}
inline int NumResults(OpKind kind) { return IsSplit(kind) ? 2 : 1; }

struct Op {
  OpKind kind = OpKind::kMatMul;
  uint8_t a = kNoTensor, b = kNoTensor;
  uint16_t Key() const { return static_cast<uint16_t>(static_cast<int>(kind) << 8 | a << 4 | b); }
  friend bool operator==(const Op& x, const Op& y) { return x.Key() == y.Key(); }
};

struct Graph {
  std::array<Op, kMaxOps> ops;
  uint8_t num_ops = 0;
  std::array<uint8_t, 2> returned = {kNoTensor, kNoTensor};  // without operators: these variables

  std::span<const Op> operators() const { return {ops.data(), num_ops}; }
  int num_tensors() const;
  std::vector<int> Outputs() const;
  uint32_t Variables() const;  // bit set of those that are read or returned
  // Whether x1 is read before x2, and so on: of all graphs that differ by names, one has this.
  bool ReadsVariablesInOrder() const;
  uint64_t Pack() const;  // equal graphs alone are equal; with operators only
  static Graph Unpack(uint64_t packed);
};

// In `operators` order: the number of the first result of each.
std::array<int, kMaxOps> FirstResults(const Graph& graph);

std::string VariableName(int variable);  // "x1"
// "concat0(x1 @ w1, x2 @ w1)", the outputs one after the other.
std::string ToString(const Graph& graph, std::span<const int> outputs);

}  // namespace weft::passes::substitution
