#include "weft/picture/node_data.h"

#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/origin/origin.h"
#include "ir/text/printer.h"
#include "weft/picture/weights.h"

namespace weft::picture {
namespace {

using ir::Operation;
using ir::Value;

constexpr size_t kMostText = 400;  // bytes of an attribute
constexpr int64_t kMostElements = 16;
constexpr uint32_t kMostOperands = 64;

// Cut in front of a byte that begins a character.
std::string Shortened(std::string text) {
  if (text.size() <= kMostText) return text;
  size_t end = kMostText;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "…";
}

std::string TypeText(ir::Type type) { return type ? type.ToString() : "none"; }

template <class Fields>
std::string_view NameAt(const Fields& fields, uint32_t i) {
  if (fields.size() == 0) return "";
  const ir::OperandDef& field = fields[std::min<size_t>(i, fields.size() - 1)];
  return i < fields.size() || field.arity == ir::Arity::kVariadic ? field.name : "";
}

std::string_view OperandName(Operation op, uint32_t i) {
  return op.def() ? NameAt(op.def()->info->operands, i) : "";
}

std::string_view ResultName(Operation op, uint32_t i) {
  const std::string_view name = op.result(i).name();
  return name.empty() && op.def() ? NameAt(op.def()->info->results, i) : name;
}

Json Operands(const Graph& graph, Operation op, TextTable* texts, ConstantTable* constants) {
  Json all = Json::array();
  for (uint32_t i = 0; i < op.num_operands() && i < kMostOperands; ++i) {
    const Value value = op.operand(i);
    if (!value) continue;
    const int node = graph.NodeOf(value);
    Json operand = {{"n", texts->Of(OperandName(op, i))}};
    if (node >= 0) {
      operand["f"] = node;
      operand["y"] = texts->Of(TypeText(value.type()));
    } else {
      operand["c"] = constants->Of(value);
    }
    all.push_back(std::move(operand));
  }
  if (op.num_operands() > kMostOperands)
    all.push_back({{"more", op.num_operands() - kMostOperands}});
  return all;
}

Json Results(Operation op, TextTable* texts) {
  Json all = Json::array();
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    all.push_back(
        {{"n", std::string(ResultName(op, i))}, {"y", texts->Of(TypeText(op.result(i).type()))}});
  }
  return all;
}

}  // namespace

int TextTable::Of(std::string_view text) {
  const auto it = numbers_.find(text);
  if (it != numbers_.end()) return it->second;
  const int number = static_cast<int>(texts_.size());
  numbers_.emplace(text, number);
  texts_.push_back(std::string(text));
  return number;
}

int ConstantTable::Of(Value constant) {
  const ir::Attribute value = ir::ConstantValue(constant);
  const auto [it, is_new] = numbers_.try_emplace({value.id(), std::string(constant.name())},
                                                 static_cast<int>(constants_.size()));
  if (is_new) constants_.push_back(Describe(constant, value));
  return it->second;
}

Json ConstantTable::Describe(Value constant, ir::Attribute value) {
  Json entry = {{"n", std::string(constant.name())}, {"y", texts_.Of(TypeText(constant.type()))}};
  if (!value.Is(ir::AttrKind::kDense)) return entry;
  if (counted_.try_emplace(value.id(), true).second) bytes_ += value.num_bytes();
  entry["b"] = value.num_bytes();
  if (value.dense_type().NumElements() <= kMostElements)
    entry["v"] = Shortened(ir::PrintAttribute(value));
  if (const auto statistics = StatisticsOf(value)) {
    entry["s"] = {statistics->min,       statistics->max,   statistics->mean,
                  statistics->deviation, statistics->zeros, statistics->not_finite,
                  statistics->seen};
    if (value.dense_type().NumElements() > kMostElements) entry["h"] = statistics->histogram;
  }
  return entry;
}

Json DescribeNode(const Graph& graph, const Node& node, TextTable* texts,
                  ConstantTable* constants) {
  Json entry = {{"k", node.kind}, {"t", texts->Of(node.title)}};
  if (node.kind != Node::kOperation) {
    entry["y"] = texts->Of(TypeText(node.value ? node.value.type() : ir::Type()));
    const int from = node.kind == Node::kOutput && node.value ? graph.NodeOf(node.value) : -1;
    if (from >= 0) entry["i"] = Json::array({{{"n", texts->Of("")}, {"f", from}}});
    if (node.kind == Node::kOutput && node.value && from < 0)
      entry["i"] = Json::array({{{"n", texts->Of("")}, {"c", constants->Of(node.value)}}});
    return entry;
  }
  entry["o"] = texts->Of(node.op.name());
  if (!node.place.empty()) entry["p"] = node.place;
  entry["i"] = Operands(graph, node.op, texts, constants);
  entry["r"] = Results(node.op, texts);
  Json attributes = Json::array();
  for (const ir::NamedAttribute& attribute : node.op.attrs())
    attributes.push_back({texts->Of(attribute.name.str()),
                          texts->Of(Shortened(ir::PrintAttribute(attribute.value)))});
  if (!attributes.empty()) entry["a"] = std::move(attributes);
  const ir::Origin origin = ir::OriginOf(node.op);
  for (const ir::Name rule : origin.rules) entry["by"].push_back(texts->Of(rule.str()));
  for (const ir::Name doc : origin.docs) entry["d"].push_back(Shortened(std::string(doc.str())));
  return entry;
}

}  // namespace weft::picture
