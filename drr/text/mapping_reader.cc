#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "drr/internal/string_recorder.h"
#include "drr/text/internal/mapping.h"

namespace weft::drr::text {
namespace {

constexpr size_t kMaxNodes = 200;
constexpr int kMaxIndex = 1000;

class Reader {
 public:
  Reader(Diagnostics* mistakes, Mapping* mapping) : mistakes_(*mistakes), m_(*mapping) {}

  bool Read(const Literal& dict) {
    m_.at = dict.at;
    const size_t before = mistakes_.num_errors();
    if (!dict.Is(Literal::kDict))
      return Error(dict, fmt::format("expected a mapping dict but found {}", dict.Describe()));
    CheckKeys(dict);
    ReadSearchMode(dict);
    const Literal* patterns = dict.Find("patterns");
    if (!patterns) return Error(dict, "the mapping has no 'patterns'");
    const Literal* in = patterns->Find("in");
    const Literal* out = patterns->Find("out");
    if (!in || !out) return Error(*patterns, "'patterns' must be a dict with 'in' and 'out'");
    if (!ReadIn(*in) || !ReadOut(*out)) return false;
    ReadNodeNames(dict);
    ReadTensors(dict, "input_tensors", /*inputs=*/true);
    ReadTensors(dict, "output_tensors", /*inputs=*/false);
    if (const Literal* returns = dict.Find("returns"))
      Indices(*returns, m_.in.size(), "a node of 'in'", &m_.returns);
    ReadOptions(dict);
    return mistakes_.num_errors() == before;
  }

 private:
  bool Error(const Literal& at, const std::string& what) { return mistakes_.Error(at.at, what); }

  void CheckKeys(const Literal& dict) {
    static constexpr std::string_view kKeys[] = {
        "patterns", "search_mode", "node_names", "input_tensors", "output_tensors",
        "returns",  "name",        "numerics",   "benefit",       "single_use",
        "operands", "checks",      "attrs"};
    for (size_t i = 0; i < dict.items.size(); i += 2) {
      const Literal& key = dict.items[i];
      if (std::find(std::begin(kKeys), std::end(kKeys), key.text) != std::end(kKeys)) continue;
      mistakes_.Warning(key.at, fmt::format("the key {} means nothing here{}", key.Describe(),
                                            string_spelling::Suggest(
                                                key.text, {std::begin(kKeys), std::end(kKeys)})));
    }
  }

  // An index, which JSON writes as a string where it is a key.
  bool Integer(const Literal& at, int64_t least, int64_t most, std::string_view what, int* value) {
    int64_t number = at.integer;
    bool ok = at.Is(Literal::kInt);
    if (at.Is(Literal::kString) && !at.text.empty()) {
      const char* end = at.text.data() + at.text.size();
      const auto [ptr, ec] = std::from_chars(at.text.data(), end, number);
      ok = ec == std::errc() && ptr == end;
    }
    if (!ok) return Error(at, fmt::format("expected {} but found {}", what, at.Describe()));
    if (number < least || number > most)
      return Error(at, most < least ? fmt::format("{} is not {}: there is none", number, what)
                                    : fmt::format("{} is not {}: they are {} to {}", number, what,
                                                  least, most));
    *value = static_cast<int>(number);
    return true;
  }
  bool Index(const Literal& at, size_t size, std::string_view what, int* value) {
    return Integer(at, 0, static_cast<int64_t>(size) - 1, what, value);
  }
  bool Indices(const Literal& list, size_t size, std::string_view what, std::vector<int>* values) {
    if (!list.IsSequence())
      return Error(list, fmt::format("expected a list but found {}", list.Describe()));
    for (const Literal& item : list.items)
      if (!Index(item, size, what, &values->emplace_back())) return false;
    return true;
  }
  bool String(const Literal& at, std::string_view what, std::string* value) {
    if (!at.Is(Literal::kString) || at.text.empty())
      return Error(at, fmt::format("expected {} but found {}", what, at.Describe()));
    *value = at.text;
    return true;
  }
  bool IsDict(const Literal& at, std::string_view what) {
    return at.Is(Literal::kDict) ||
           Error(at, fmt::format("{} must be a dict, not {}", what, at.Describe()));
  }

  void ReadSearchMode(const Literal& dict) {
    const Literal* mode = dict.Find("search_mode");
    if (!mode) return;
    m_.by_name = mode->Is(Literal::kString) && mode->text == "node_name";
    if (!m_.by_name && !(mode->Is(Literal::kString) && mode->text == "op_type"))
      Error(*mode, fmt::format("'search_mode' must be 'op_type' or 'node_name', not {}",
                               mode->Describe()));
  }

  // (index, type) or (index, [type, type]).
  bool Element(const Literal& at, int* index, std::vector<std::string>* types) {
    if (!at.IsSequence() || at.items.size() != 2)
      return Error(at, fmt::format("expected (index, type) but found {}", at.Describe()));
    if (!Integer(at.items[0], 0, kMaxIndex, "an index", index)) return false;
    const Literal& type = at.items[1];
    if (!type.IsSequence())
      return String(type, "a type, or a list of types", &types->emplace_back());
    if (type.items.empty()) return Error(type, "the list of types is empty");
    for (const Literal& item : type.items)
      if (!String(item, "a type", &types->emplace_back())) return false;
    return true;
  }

  bool IsChains(const Literal& at, std::string_view what) {
    if (!at.IsSequence() || at.items.empty())
      return Error(at, fmt::format("'{}' must be a list of chains, not {}", what, at.Describe()));
    for (const Literal& chain : at.items)
      if (!chain.IsSequence() || chain.items.empty())
        return Error(chain, fmt::format("a chain must be a list of (index, type), not {}",
                                        chain.Describe()));
    return true;
  }

  // Node `index`, which may be there already with the same types.
  bool AddNode(const Literal& at, int index, std::vector<std::string> types) {
    if (static_cast<size_t>(index) >= m_.in.size()) m_.in.resize(static_cast<size_t>(index) + 1);
    if (m_.in.size() > kMaxNodes) return Error(at, fmt::format("more than {} nodes", kMaxNodes));
    Mapping::InNode& node = m_.in[static_cast<size_t>(index)];
    if (node.types.empty()) {
      node = {at.at, std::move(types)};
    } else if (node.types != types) {
      return Error(at, fmt::format("node {} had other types before", index));
    }
    return true;
  }

  void AddEdge(int from, int to, Position at) {
    for (const Mapping::Edge& e : m_.edges)
      if (e.from == from && e.to == to) return;
    m_.edges.push_back({from, to, at});
  }

  bool ReadIn(const Literal& in) {
    if (!IsChains(in, "in")) return false;
    const bool alone = in.items.size() == 1;
    const Literal& main = in.items[0];
    std::vector<int> spine;
    for (const Literal& item : main.items) {
      int index = 0;
      std::vector<std::string> types;
      if (!Element(item, &index, &types)) return false;
      const int position = static_cast<int>(spine.size());
      if (alone && index != position) {
        mistakes_.Warning(item.at, fmt::format("the node is number {} by its place in the only "
                                               "chain, not {}",
                                               position, index));
        index = position;
      }
      if (std::find(spine.begin(), spine.end(), index) != spine.end())
        return Error(item, fmt::format("node {} is there twice", index));
      if (!AddNode(item, index, std::move(types))) return false;
      if (!spine.empty() && !m_.by_name) AddEdge(spine.back(), index, item.at);
      spine.push_back(index);
    }
    m_.tail = spine.back();
    if (m_.by_name && !alone)
      return Error(in.items[1], "with search_mode 'node_name' there is one chain, of node names");
    for (size_t i = 1; i < in.items.size(); ++i)
      if (!ReadSubChain(in.items[i], spine)) return false;
    return CheckNodes(in);
  }

  // Ends in a node of the first chain; starts in one, or with () outside of the pattern.
  bool ReadSubChain(const Literal& chain, const std::vector<int>& spine) {
    const auto on_spine = [&](int node) {
      return std::find(spine.begin(), spine.end(), node) != spine.end();
    };
    int previous = -1;
    for (size_t i = 0; i < chain.items.size(); ++i) {
      const Literal& item = chain.items[i];
      const bool last = i + 1 == chain.items.size();
      if (i == 0 && item.IsSequence() && item.items.empty() && !last) continue;
      int index = 0;
      std::vector<std::string> types;
      if (!Element(item, &index, &types)) return false;
      const bool open_head = i == 1 && previous < 0;
      if (i == 0 && !on_spine(index))
        return Error(item, fmt::format("node {} is not in the first chain; a chain whose head is "
                                       "outside starts with ()",
                                       index));
      if (last && !on_spine(index))
        return Error(item, fmt::format("the chain must end in a node of the first one, which node "
                                       "{} is not",
                                       index));
      if (i > 0 && !last && on_spine(index))
        return Error(item, fmt::format("node {} is in the first chain already", index));
      if (last && i == 0) return Error(item, "a chain of one node joins nothing");
      if (!AddNode(item, index, std::move(types))) return false;
      if (!open_head && previous >= 0) AddEdge(previous, index, item.at);
      previous = index;
    }
    return true;
  }

  bool CheckNodes(const Literal& in) {
    for (size_t i = 0; i < m_.in.size(); ++i)
      if (m_.in[i].types.empty())
        return Error(in, fmt::format("there is no node {}, but a node {}", i, m_.in.size() - 1));
    if (!m_.by_name && m_.tail != static_cast<int>(m_.in.size()) - 1)
      return Error(in, fmt::format("the last node of the first chain must have the highest index, "
                                   "{}, not {}",
                                   m_.in.size() - 1, m_.tail));
    std::vector<int> state(m_.in.size(), 0);  // rings: 1 on the path, 2 done
    for (size_t i = 0; i < m_.in.size(); ++i)
      if (HasRing(static_cast<int>(i), &state))
        return Error(in, fmt::format("node {} reads its own result", i));
    return true;
  }
  bool HasRing(int node, std::vector<int>* state) const {
    int& mine = (*state)[static_cast<size_t>(node)];
    if (mine) return mine == 1;
    mine = 1;
    for (const Mapping::Edge& e : m_.edges)
      if (e.to == node && HasRing(e.from, state)) return true;
    mine = 2;
    return false;
  }

  bool ReadOut(const Literal& out) {
    if (!IsChains(out, "out")) return false;
    std::map<int, Mapping::OutNode> nodes;
    std::vector<int> order;
    for (const Literal& chain : out.items)
      for (size_t i = 0; i < chain.items.size(); ++i) {
        int index = 0;
        std::vector<std::string> types;
        if (!Element(chain.items[i], &index, &types)) return false;
        if (types.size() > 1) return Error(chain.items[i], "a new node has one type");
        Mapping::OutNode node;
        node.at = node.inputs_at = node.outputs_at = chain.items[i].at;
        node.type = types[0];
        node.linked = i > 0;
        if (!nodes.emplace(index, std::move(node)).second)
          return Error(chain.items[i], fmt::format("node {} is there twice", index));
        const bool in_order = static_cast<size_t>(index) == order.size();
        if (!in_order)
          return Error(chain.items[i], fmt::format("the next new node must be number {}, not {}",
                                                   order.size(), index));
        order.push_back(index);
        if (order.size() > kMaxNodes)
          return Error(chain.items[i], fmt::format("more than {} nodes", kMaxNodes));
      }
    for (int index : order) m_.out.push_back(std::move(nodes[index]));
    return true;
  }

  void ReadNodeNames(const Literal& dict) {
    const Literal* names = dict.Find("node_names");
    if (!names || !IsDict(*names, "'node_names'")) return;
    for (size_t i = 0; i < names->items.size(); i += 2) {
      int node = 0;
      if (!Index(names->items[i], m_.out.size(), "a node of 'out'", &node)) continue;
      const Literal& name = names->items[i + 1];
      Mapping::OutNode& out = m_.out[static_cast<size_t>(node)];
      if (name.Is(Literal::kInt)) {
        Index(name, m_.in.size(), "a node of 'in'", &out.name_of);
      } else {
        String(name, "a name, or the index of a node of 'in'", &out.name);
      }
    }
  }

  // {node: [j]}, {node: [j0, j1]} or {'outside': [j]}.
  bool Tensor(const Literal& at, bool input, Mapping::Tensor* tensor) {
    tensor->at = at.at;
    if (!at.Is(Literal::kDict) || at.items.size() != 2)
      return Error(at, fmt::format("expected {{node: [index]}} but found {}", at.Describe()));
    const Literal& node = at.items[0];
    const Literal& indices = at.items[1];
    int unused = 0;
    const bool is_number =
        node.Is(Literal::kInt) || (node.Is(Literal::kString) && !node.text.empty() &&
                                   std::all_of(node.text.begin(), node.text.end(),
                                               [](char c) { return c >= '0' && c <= '9'; }));
    if (is_number) {
      if (!Index(node, m_.in.size(), "a node of 'in'", &tensor->node)) return false;
    } else if (!input) {
      return Error(node, fmt::format("expected a node of 'in' but found {}", node.Describe()));
    } else if (!String(node, "a node", &tensor->outside)) {
      return false;
    }
    const size_t most = tensor->outside.empty() && input ? 2 : 1;
    if (!indices.IsSequence() || indices.items.empty() || indices.items.size() > most)
      return Error(indices, fmt::format("expected {} but found {}",
                                        most == 2 ? "a list of one or two indices" : "[index]",
                                        indices.Describe()));
    for (const Literal& index : indices.items) {
      if (!Integer(index, tensor->outside.empty() ? 0 : -1, kMaxIndex, "an index", &unused))
        return false;
      tensor->indices.push_back(unused);
    }
    if (tensor->indices.size() == 2 && tensor->indices[0] == tensor->indices[1])
      return Error(indices, "the two indices are equal");
    return true;
  }

  void ReadTensors(const Literal& dict, std::string_view key, bool inputs) {
    const Literal* all = dict.Find(key);
    if (!all) {
      Error(dict, fmt::format("the mapping has no '{}'", key));
      return;
    }
    if (!IsDict(*all, fmt::format("'{}'", key))) return;
    for (size_t i = 0; i < all->items.size(); i += 2) {
      int node = 0;
      if (!Index(all->items[i], m_.out.size(), "a node of 'out'", &node)) continue;
      ReadTensorsOf(all->items[i + 1], inputs, &m_.out[static_cast<size_t>(node)]);
    }
  }

  bool ReadTensorsOf(const Literal& entry, bool inputs, Mapping::OutNode* out) {
    if (!entry.IsSequence() || entry.items.size() != 2 || !entry.items[0].IsSequence() ||
        !entry.items[1].IsSequence() || entry.items[1].items.size() != 2)
      return Error(entry, "expected [[tensors], [[places], how many]]");
    (inputs ? out->inputs_at : out->outputs_at) = entry.at;
    std::vector<Mapping::Tensor>& tensors = inputs ? out->inputs : out->outputs;
    std::vector<int>& places = inputs ? out->input_positions : out->output_positions;
    int& count = inputs ? out->num_inputs : out->num_outputs;
    tensors.clear();
    for (const Literal& item : entry.items[0].items)
      if (!Tensor(item, inputs, &tensors.emplace_back())) return false;
    const Literal& target = entry.items[1];
    if (!Integer(target.items[1], 0, kMaxIndex, "a number of tensors", &count)) return false;
    if (!Indices(target.items[0], static_cast<size_t>(count), "a place", &places)) return false;
    if (places.size() != tensors.size())
      return Error(target, fmt::format("{} tensors but {} places", tensors.size(), places.size()));
    std::vector<int> sorted = places;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return Error(target, "two tensors have one place");
    return true;
  }

  // --- keys of ours ---------------------------------------------------------------

  void ReadOptions(const Literal& dict) {
    if (const Literal* name = dict.Find("name")) String(*name, "a name", &m_.name);
    if (const Literal* benefit = dict.Find("benefit"))
      Integer(*benefit, 1, 1'000'000, "a benefit", &m_.benefit);
    if (const Literal* single_use = dict.Find("single_use")) {
      if (!single_use->Is(Literal::kBool)) Error(*single_use, "'single_use' must be True or False");
      m_.single_use = single_use->integer != 0;
    }
    if (const Literal* numerics = dict.Find("numerics")) ReadNumerics(*numerics);
    if (const Literal* operands = dict.Find("operands")) ReadOperands(*operands);
    if (const Literal* checks = dict.Find("checks")) ReadChecks(*checks);
    if (const Literal* attrs = dict.Find("attrs")) ReadAttrs(*attrs);
  }

  void ReadNumerics(const Literal& at) {
    for (NumericClass c :
         {NumericClass::kExact, NumericClass::kReassociates, NumericClass::kApproximate})
      if (at.Is(Literal::kString) && at.text == NumericClassName(c)) m_.numerics = c;
    if (!m_.numerics)
      Error(at, fmt::format("'numerics' must be 'exact', 'reassociates' or 'approximate', not {}",
                            at.Describe()));
  }

  void ReadOperands(const Literal& at) {
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
        const bool drawn = std::any_of(
            m_.edges.begin(), m_.edges.end(),
            [&](const Mapping::Edge& e) { return e.from == producer && e.to == consumer; });
        if (drawn) {
          m_.operand_of[{consumer, producer}] = operand;
        } else {
          Error(producers.items[k],
                fmt::format("no chain leads from node {} to node {}", producer, consumer));
        }
      }
    }
  }

  void ReadChecks(const Literal& at) {
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
          Error(key,
                fmt::format("a node's checks are 'attrs' and 'inputs', not {}", key.Describe()));
        }
      }
      m_.checks.push_back(std::move(check));
    }
  }

  void ReadLiterals(const Literal& at, std::vector<Mapping::AttrValue>* attrs) {
    for (size_t i = 0; i < at.items.size(); i += 2) {
      Mapping::AttrValue value;
      value.at = at.items[i].at;
      if (!String(at.items[i], "the name of an attribute", &value.name)) continue;
      value.literal = &at.items[i + 1];
      attrs->push_back(std::move(value));
    }
  }

  void ReadInputChecks(const Literal& at, std::vector<Mapping::InputCheck>* inputs) {
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

  void ReadAttrs(const Literal& at) {
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

  // [0, 'axis'] and {'return': 0, 'input': 1} speak of returns[0].
  void ReadReference(Mapping::AttrValue* value) {
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

  Diagnostics& mistakes_;
  Mapping& m_;
};

}  // namespace

bool ReadMapping(const Literal& dict, const std::string& name, Diagnostics* mistakes,
                 Mapping* mapping) {
  mapping->name = name;
  return Reader(mistakes, mapping).Read(dict);
}

std::string KebabCase(std::string_view name) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string kebab;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_upper(c) && !is_plain(c)) {
      if (!kebab.empty() && kebab.back() != '-') kebab += '-';
      continue;
    }
    const bool starts_word =
        is_upper(c) && i > 0 &&
        (is_plain(name[i - 1]) || (is_upper(name[i - 1]) && i + 1 < name.size() &&
                                   name[i + 1] >= 'a' && name[i + 1] <= 'z'));
    if (starts_word && !kebab.empty() && kebab.back() != '-') kebab += '-';
    kebab += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  while (!kebab.empty() && kebab.back() == '-') kebab.pop_back();
  return kebab.empty() ? "rule" : kebab;
}

}  // namespace weft::drr::text
