#include "passes/superopt/generator/rule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "drr/rule/numeric_class.h"

namespace weft::passes::substitution {
namespace {

// Values of the source are %x1 and %0, those of the result !0.
std::string ValueText(int tensor, char sigil) {
  if (tensor < kNumVariables) return "%" + VariableName(tensor);
  return sigil + std::to_string(tensor - kNumVariables);
}

// In a source every spelling of an attribute, in a result the shortest.
std::string_view OpText(OpKind kind, bool source) {
  switch (kind) {
    case OpKind::kMatMul:
      return "onnx.MatMul";
    case OpKind::kAdd:
      return "onnx.Add";
    case OpKind::kMul:
    case OpKind::kScale:
      return "onnx.Mul";
    case OpKind::kRelu:
      return "onnx.Relu";
    case OpKind::kTranspose:
      return source ? "onnx.Transpose{perm: in(absent, array[1,0])}"
                    : "onnx.Transpose{perm: array[1,0]}";
    case OpKind::kConcat0:
      return source ? "onnx.Concat{axis: in(0, -2)}" : "onnx.Concat{axis: 0}";
    case OpKind::kConcat1:
      return source ? "onnx.Concat{axis: in(1, -1)}" : "onnx.Concat{axis: 1}";
    case OpKind::kSplit0:
      return source ? "onnx.Split{axis: in(0, -2)}" : "onnx.Split{axis: 0}";
    case OpKind::kSplit1:
      return source ? "onnx.Split{axis: in(1, -1)}" : "onnx.Split{axis: 1}";
  }
  return "";
}

std::string OpsText(const Graph& graph, char sigil) {
  std::string text;
  const auto first = FirstResults(graph);
  for (int i = 0; i < graph.num_ops; ++i) {
    const Op& op = graph.ops[i];
    std::string results = ValueText(first[i], sigil), operands = ValueText(op.a, sigil);
    if (IsSplit(op.kind)) results += ", " + ValueText(first[i] + 1, sigil);
    if (op.b != kNoTensor) operands += ", " + ValueText(op.b, sigil);
    text += fmt::format("    {} = {}({})\n", results, OpText(op.kind, sigil == '%'), operands);
  }
  return text;
}

// The variable with the shape of `tensor`, where elementwise operators alone lead from one to the
// other; "" else.
std::string ShapeLike(const Graph& graph, int tensor) {
  const auto first = FirstResults(graph);
  for (int i = graph.num_ops - 1; i >= 0; --i) {  // operands come first
    const Op& op = graph.ops[i];
    if (first[i] != tensor) continue;
    if (!IsElementwise(op.kind) && op.kind != OpKind::kRelu && op.kind != OpKind::kScale) return "";
    tensor = op.a;
  }
  return tensor < kNumVariables ? ValueText(tensor, '%') : "";
}

// What was assumed when the two were compared: matrices, and no broadcast but that of the number,
// where operands of the result are as large as values of the source. That halves are what was put
// together, and that sizes fit, the engine sees as long as it knows all sizes.
std::string RequirementsText(const Graph& source, const Graph& target) {
  std::string text;
  const uint32_t variables = source.Variables();
  for (int v = 0; v < kNumMatrices; ++v)
    if (variables >> v & 1)
      text += fmt::format(
          "  require \"{0} is a matrix\" rank_is(%{0}, 2)\n"
          "  require \"the sizes of {0} are known\" static(%{0})\n",
          VariableName(v));
  if (variables >> kNumber & 1) text += "  require \"s is one number\" one_element(%s)\n";
  const auto first = FirstResults(source);
  for (int i = 0; i < source.num_ops; ++i) {
    const Op& op = source.ops[i];
    if (IsElementwise(op.kind))
      text += fmt::format("  require \"nothing is broadcast\" same_shape({}, {})\n",
                          ValueText(op.a, '%'), ValueText(op.b, '%'));
    if (op.kind == OpKind::kScale)
      text += fmt::format("  require \"scaling keeps the type\" same_type({}, {})\n",
                          ValueText(op.a, '%'), ValueText(first[i], '%'));
  }
  for (const Op& op : target.operators()) {
    if (!IsElementwise(op.kind)) continue;
    const std::string a = ShapeLike(target, op.a), b = ShapeLike(target, op.b);
    const std::string line =
        fmt::format("  require \"nothing is broadcast\" same_shape({}, {})\n", a, b);
    if (!a.empty() && !b.empty() && a != b && text.find(line) == text.npos) text += line;
  }
  return text;
}

}  // namespace

std::string WhyNotSaid(const Graph& source) {
  // Roots are joined on values that they share.
  std::array<int, kMaxTensors> part;
  std::iota(part.begin(), part.end(), 0);
  const auto join = [&](int a, int b) {
    const int from = part[a], to = part[b];  // copies: what they refer to is replaced
    std::replace(part.begin(), part.end(), from, to);
  };
  const auto first = FirstResults(source);
  for (int i = 0; i < source.num_ops; ++i) {
    const Op& op = source.ops[i];
    join(op.a, first[i]);
    if (op.b != kNoTensor) join(op.b, first[i]);
    if (IsSplit(op.kind)) join(first[i] + 1, first[i]);
  }
  for (int i = 1; i < source.num_ops; ++i)
    if (part[first[i]] != part[first[0]]) return "its results share no value";
  return "";
}

std::string RuleText(const std::string& name, const Rewrite& rewrite, bool exact) {
  std::string text = fmt::format(
      "rule {} {{\n  algebra \"{} => {}\"\n  numerics {}\n  source {{\n{}  }}\n{}  result {{\n{}  "
      "}}\n",
      name, ToString(rewrite.source, rewrite.source_outputs),
      ToString(rewrite.target, rewrite.target_outputs),
      drr::NumericClassName(exact ? drr::NumericClass::kExact : drr::NumericClass::kReassociates),
      OpsText(rewrite.source, '%'), RequirementsText(rewrite.source, rewrite.target),
      OpsText(rewrite.target, '!'));
  for (size_t i = 0; i < rewrite.source_outputs.size(); ++i)
    text += fmt::format("  replace {} with {}\n", ValueText(rewrite.source_outputs[i], '%'),
                        ValueText(rewrite.target_outputs[i], '!'));
  return text + "}\n";
}

std::string RuleFileText(const Generated& generated, int depth) {
  std::string rules;
  size_t unsaid = 0, written = 0;
  for (size_t i = 0; i < generated.substitutions.size(); ++i) {
    const Substitution& s = generated.substitutions[i];
    const auto write = [&](const Rewrite& rewrite, const char* suffix) {
      if (!WhyNotSaid(rewrite.source).empty()) {
        ++unsaid;
        return;
      }
      ++written;
      rules += RuleText(fmt::format("substitution-{}{}", i + 1, suffix), rewrite, s.exact);
    };
    if (s.forwards) write(s.Forwards(), "");
    if (s.backwards) write(s.Backwards(), "-back");
  }
  return fmt::format(
             "// Made by `substitution-generator --depth {}`: do not edit. {} pairs of graphs over "
             "matrices\n"
             "// that compute the same, from {} graphs; {} rules, and {} more that cannot be said "
             "because\n"
             "// their results share no value.\n",
             depth, generated.substitutions.size(), generated.graphs, written, unsaid) +
         rules;
}

}  // namespace weft::passes::substitution
