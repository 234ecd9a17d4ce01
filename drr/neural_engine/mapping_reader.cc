#include "drr/neural_engine/mapping_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/base/suggest.h"

namespace weft::drr::text {

void MappingReader::Read(const Literal& dict) {
  m_.at = dict.at;
  if (!dict.Is(Literal::kDict)) {
    Error(dict, fmt::format("expected a mapping dict but found {}", dict.Describe()));
    return;
  }
  CheckKeys(dict);
  ReadSearchMode(dict);
  ReadOptions(dict);
  if (!ReadPatterns(dict)) return;  // the rest refers to nodes by number
  ReadNodeNames(dict);
  ReadTensors(dict, "input_tensors", /*inputs=*/true);
  ReadTensors(dict, "output_tensors", /*inputs=*/false);
  if (const Literal* returns = dict.Find("returns"))
    Indices(*returns, m_.in.size(), "a node of 'in'", &m_.returns);
  ReadNodeOptions(dict);
}

bool MappingReader::ReadPatterns(const Literal& dict) {
  const Literal* patterns = dict.Find("patterns");
  if (!patterns) return Error(dict, "the mapping has no 'patterns'");
  const Literal* in = patterns->Find("in");
  const Literal* out = patterns->Find("out");
  if (!in || !out) return Error(*patterns, "'patterns' must be a dict with 'in' and 'out'");
  const bool in_is_read = ReadIn(*in), out_is_read = ReadOut(*out);
  return in_is_read && out_is_read;
}

void MappingReader::CheckKeys(const Literal& dict) {
  static constexpr std::string_view kKeys[] = {
      "patterns", "search_mode", "node_names", "input_tensors", "output_tensors", "returns", "name",
      "numerics", "benefit",     "single_use", "operands",      "checks",         "attrs"};
  for (size_t i = 0; i < dict.items.size(); i += 2) {
    const Literal& key = dict.items[i];
    if (std::find(std::begin(kKeys), std::end(kKeys), key.text) != std::end(kKeys)) continue;
    mistakes_.Warning(key.at, fmt::format("the key {} means nothing here{}", key.Describe(),
                                          ir::DidYouMean(key.text, kKeys)));
  }
}

bool MappingReader::Integer(const Literal& at, int64_t least, int64_t most, std::string_view what,
                            int* value) {
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

bool MappingReader::Index(const Literal& at, size_t size, std::string_view what, int* value) {
  return Integer(at, 0, static_cast<int64_t>(size) - 1, what, value);
}

bool MappingReader::Indices(const Literal& list, size_t size, std::string_view what,
                            std::vector<int>* values) {
  if (!list.IsSequence())
    return Error(list, fmt::format("expected a list but found {}", list.Describe()));
  for (const Literal& item : list.items)
    if (!Index(item, size, what, &values->emplace_back())) return false;
  return true;
}

bool MappingReader::String(const Literal& at, std::string_view what, std::string* value) {
  if (!at.Is(Literal::kString) || at.text.empty())
    return Error(at, fmt::format("expected {} but found {}", what, at.Describe()));
  *value = at.text;
  return true;
}

bool MappingReader::IsDict(const Literal& at, std::string_view what) {
  return at.Is(Literal::kDict) ||
         Error(at, fmt::format("{} must be a dict, not {}", what, at.Describe()));
}

void MappingReader::ReadSearchMode(const Literal& dict) {
  const Literal* mode = dict.Find("search_mode");
  if (!mode) return;
  const std::string_view text = mode->Is(Literal::kString) ? mode->text : std::string_view();
  m_.by_name = text.find("name") != std::string_view::npos;  // what a misspelt mode means, too
  if (text != "node_name" && text != "op_type")
    Error(*mode,
          fmt::format("'search_mode' must be 'op_type' or 'node_name', not {}", mode->Describe()));
}

void MappingReader::ReadNodeNames(const Literal& dict) {
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

bool MappingReader::Tensor(const Literal& at, bool input, Mapping::Tensor* tensor) {
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

void MappingReader::ReadTensors(const Literal& dict, std::string_view key, bool inputs) {
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

bool MappingReader::ReadTensorsOf(const Literal& entry, bool inputs, Mapping::OutNode* out) {
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

void ReadMapping(const Literal& dict, const std::string& name, Diagnostics* mistakes,
                 Mapping* mapping) {
  mapping->name = name;
  MappingReader(mistakes, mapping).Read(dict);
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
