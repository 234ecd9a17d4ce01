#include "passes/superopt/generator/graph.h"

namespace weft::passes::substitution {
namespace {

constexpr int kBitsPerOp = 12, kBitsOfCount = 4;

std::string TensorString(const Graph& graph, int tensor, bool nested) {
  if (tensor < kNumVariables) return VariableName(tensor);
  int op = 0, first = kNumVariables;
  while (tensor >= first + NumResults(graph.ops[op].kind))
    first += NumResults(graph.ops[op++].kind);
  const Op& o = graph.ops[op];
  const auto operand = [&](uint8_t t, bool in) { return TensorString(graph, t, in); };
  const auto infix = [&](const char* sign) {
    const std::string text = operand(o.a, true) + sign + operand(o.b, true);
    return nested ? "(" + text + ")" : text;
  };
  switch (o.kind) {
    case OpKind::kMatMul:
      return infix(" @ ");
    case OpKind::kAdd:
      return infix(" + ");
    case OpKind::kMul:
    case OpKind::kScale:
      return infix(" * ");
    case OpKind::kRelu:
      return "relu(" + operand(o.a, false) + ")";
    case OpKind::kTranspose:
      return "transpose(" + operand(o.a, false) + ")";
    case OpKind::kConcat0:
    case OpKind::kConcat1:
      return std::string("concat") + (o.kind == OpKind::kConcat0 ? "0(" : "1(") +
             operand(o.a, false) + ", " + operand(o.b, false) + ")";
    case OpKind::kSplit0:
    case OpKind::kSplit1:
      return std::string("split") + (o.kind == OpKind::kSplit0 ? "0(" : "1(") +
             operand(o.a, false) + ")[" + (tensor == first ? "0]" : "1]");
  }
  return "";
}

}  // namespace

int Graph::num_tensors() const {
  int n = kNumVariables;
  for (const Op& op : operators()) n += NumResults(op.kind);
  return n;
}

std::vector<int> Graph::Outputs() const {
  std::vector<int> outputs;
  if (num_ops == 0) {
    for (uint8_t variable : returned)
      if (variable != kNoTensor) outputs.push_back(variable);
    return outputs;
  }
  uint32_t read = 0;
  for (const Op& op : operators()) read |= 1U << op.a | 1U << op.b;
  for (int t = kNumVariables; t < num_tensors(); ++t)
    if (!(read >> t & 1)) outputs.push_back(t);
  return outputs;
}

uint32_t Graph::Variables() const {
  uint32_t read = 0;
  for (const Op& op : operators()) read |= 1U << op.a | 1U << op.b;
  for (uint8_t variable : returned) read |= 1U << variable;
  return read & ((1U << kNumVariables) - 1);
}

bool Graph::ReadsVariablesInOrder() const {
  uint32_t seen = 0;
  for (const Op& op : operators()) {
    for (uint8_t t : {op.a, op.b}) {
      if (t >= kNumMatrices) continue;
      const bool first_of_kind = t == 0 || t == kNumMatrices / 2;
      if (!first_of_kind && !(seen >> (t - 1) & 1)) return false;
      seen |= 1U << t;
    }
  }
  return true;
}

uint64_t Graph::Pack() const {
  uint64_t packed = num_ops;
  for (int i = 0; i < num_ops; ++i)
    packed |= static_cast<uint64_t>(ops[i].Key()) << (kBitsOfCount + kBitsPerOp * i);
  return packed;
}

Graph Graph::Unpack(uint64_t packed) {
  Graph graph;
  graph.num_ops = packed & ((1U << kBitsOfCount) - 1);
  for (int i = 0; i < graph.num_ops; ++i) {
    const uint64_t key = packed >> (kBitsOfCount + kBitsPerOp * i);
    graph.ops[i] = {static_cast<OpKind>(key >> 8 & 15), static_cast<uint8_t>(key >> 4 & 15),
                    static_cast<uint8_t>(key & 15)};
  }
  return graph;
}

std::array<int, kMaxOps> FirstResults(const Graph& graph) {
  std::array<int, kMaxOps> first = {};
  int next = kNumVariables;
  for (int i = 0; i < graph.num_ops; ++i) {
    first[i] = next;
    next += NumResults(graph.ops[i].kind);
  }
  return first;
}

std::string VariableName(int variable) {
  if (variable == kNumber) return "s";
  constexpr int kEach = kNumMatrices / 2;
  return (variable < kEach ? "x" : "w") + std::to_string(variable % kEach + 1);
}

std::string ToString(const Graph& graph, std::span<const int> outputs) {
  std::string text;
  for (int output : outputs)
    text += (text.empty() ? "" : ", ") + TensorString(graph, output, false);
  return text;
}

}  // namespace weft::passes::substitution
