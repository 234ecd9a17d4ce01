// The keys that are ours: checks, attrs, operands, single_use, name, numerics and benefit.
#include <fmt/format.h>

#include <algorithm>

#include "drr/neural_engine/mapping_reader.h"

namespace weft::drr::text {

void MappingReader::ReadOptions(const Literal& dict) {
  if (const Literal* name = dict.Find("name")) String(*name, "a name", &m_.name);
  if (const Literal* benefit = dict.Find("benefit"))
    Integer(*benefit, 1, 1'000'000, "a benefit", &m_.benefit);
  if (const Literal* single_use = dict.Find("single_use")) {
    if (!single_use->Is(Literal::kBool)) Error(*single_use, "'single_use' must be True or False");
    m_.single_use = single_use->integer != 0;
  }
  if (const Literal* numerics = dict.Find("numerics")) ReadNumerics(*numerics);
}

void MappingReader::ReadNodeOptions(const Literal& dict) {
  if (const Literal* operands = dict.Find("operands")) ReadOperands(*operands);
  if (const Literal* checks = dict.Find("checks")) ReadChecks(*checks);
  if (const Literal* attrs = dict.Find("attrs")) ReadAttrs(*attrs);
}

void MappingReader::ReadNumerics(const Literal& at) {
  if (at.Is(Literal::kString)) m_.numerics = FindNumericClass(at.text);
  if (!m_.numerics)
    Error(at,
          fmt::format("'numerics' must be {}, not {}", NumericClassChoices("'"), at.Describe()));
}

void MappingReader::ReadOperands(const Literal& at) {
  if (!IsDict(at, "'operands'")) return;
  for (size_t i = 0; i < at.items.size(); i += 2) {
    int consumer = 0;
    const Literal& producers = at.items[i + 1];
    if (!Index(at.items[i], m_.in.size(), "a node of 'in'", &consumer) ||
        !IsDict(producers, "the producers"))
      continue;
    for (size_t k = 0; k < producers.items.size(); k += 2) {
      int producer = 0, operand = 0;
      if (!Index(producers.items[k], m_.in.size(), "a node of 'in'", &producer) ||
          !Integer(producers.items[k + 1], 0, kMaxIndex, "an index", &operand))
        continue;
      const bool drawn = std::any_of(m_.edges.begin(), m_.edges.end(), [&](const Mapping::Edge& e) {
        return e.from == producer && e.to == consumer;
      });
      if (drawn) {
        m_.operand_of[{consumer, producer}] = operand;
      } else {
        Error(producers.items[k],
              fmt::format("no chain leads from node {} to node {}", producer, consumer));
      }
    }
  }
}

void MappingReader::ReadChecks(const Literal& at) {
  if (!IsDict(at, "'checks'")) return;
  for (size_t i = 0; i < at.items.size(); i += 2) {
    Mapping::Check check;
    check.at = at.items[i].at;
    const Literal& body = at.items[i + 1];
    if (!Index(at.items[i], m_.in.size(), "a node of 'in'", &check.node) ||
        !IsDict(body, "the checks of a node"))
      continue;
    for (size_t k = 0; k < body.items.size(); k += 2) {
      const Literal& key = body.items[k];
      const Literal& value = body.items[k + 1];
      if (key.text == "attrs") {
        if (IsDict(value, "'attrs'")) ReadLiterals(value, &check.attrs);
      } else if (key.text == "inputs") {
        if (IsDict(value, "'inputs'")) ReadInputChecks(value, &check.inputs);
      } else {
        Error(key, fmt::format("a node's checks are 'attrs' and 'inputs', not {}", key.Describe()));
      }
    }
    m_.checks.push_back(std::move(check));
  }
}

void MappingReader::ReadLiterals(const Literal& at, std::vector<Mapping::AttrValue>* attrs) {
  for (size_t i = 0; i < at.items.size(); i += 2) {
    Mapping::AttrValue value;
    value.at = at.items[i].at;
    if (!String(at.items[i], "the name of an attribute", &value.name)) continue;
    value.literal = &at.items[i + 1];
    attrs->push_back(std::move(value));
  }
}

void MappingReader::ReadInputChecks(const Literal& at, std::vector<Mapping::InputCheck>* inputs) {
  for (size_t i = 0; i < at.items.size(); i += 2) {
    Mapping::InputCheck check;
    check.at = at.items[i].at;
    const Literal& value = at.items[i + 1];
    if (!Integer(at.items[i], 0, kMaxIndex, "an index", &check.input)) continue;
    if (value.IsNumber()) {
      check.number = value.AsDouble();
    } else if (value.Is(Literal::kString) &&
               (value.text == "constant" || value.text == "positive")) {
      check.word = value.text;
    } else {
      Error(value, fmt::format("expected a number, 'constant' or 'positive' but found {}",
                               value.Describe()));
      continue;
    }
    inputs->push_back(std::move(check));
  }
}

void MappingReader::ReadAttrs(const Literal& at) {
  if (!IsDict(at, "'attrs'")) return;
  for (size_t i = 0; i < at.items.size(); i += 2) {
    int node = 0;
    const Literal& values = at.items[i + 1];
    if (!Index(at.items[i], m_.out.size(), "a node of 'out'", &node) ||
        !IsDict(values, "the attributes of a node"))
      continue;
    std::vector<Mapping::AttrValue> attrs;
    ReadLiterals(values, &attrs);
    for (Mapping::AttrValue& value : attrs) ReadReference(&value);
    m_.out[static_cast<size_t>(node)].attrs = std::move(attrs);
  }
}

void MappingReader::ReadReference(Mapping::AttrValue* value) {
  const Literal& l = *value->literal;
  const Literal* which = nullptr;
  if (l.IsSequence() && l.items.size() == 2 && l.items[0].Is(Literal::kInt) &&
      l.items[1].Is(Literal::kString)) {
    which = &l.items[0];
    value->attribute = l.items[1].text;
  } else if (l.Is(Literal::kDict)) {
    which = l.Find("return");
    const Literal* input = l.Find("input");
    if (!which || !input || l.items.size() != 4) {
      Error(l, "expected {'return': index, 'input': index}");
      return;
    }
    Integer(*input, 0, kMaxIndex, "an index", &value->input);
  }
  int index = 0;
  if (!which || !Index(*which, m_.returns.size(), "an index into 'returns'", &index)) return;
  value->literal = nullptr;
  value->node = m_.returns[static_cast<size_t>(index)];
}

}  // namespace weft::drr::text
