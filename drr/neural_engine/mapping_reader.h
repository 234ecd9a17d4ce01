// Reads a mapping dict: what must be there and the tensors in mapping_reader.cc, the chains of
// `patterns` in mapping_patterns.cc, and the optional keys that are ours in mapping_options.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drr/neural_engine/mapping.h"

namespace weft::drr::text {

class MappingReader {
 public:
  MappingReader(Diagnostics* mistakes, Mapping* mapping) : mistakes_(*mistakes), m_(*mapping) {}

  void Read(const Literal& dict);

 private:
  static constexpr int kMaxIndex = 1000;

  bool Error(const Literal& at, const std::string& what) { return mistakes_.Error(at.at, what); }

  // An index, which JSON writes as a string where it is a key.
  bool Integer(const Literal& at, int64_t least, int64_t most, std::string_view what, int* value);
  bool Index(const Literal& at, size_t size, std::string_view what, int* value);
  bool Indices(const Literal& list, size_t size, std::string_view what, std::vector<int>* values);
  bool String(const Literal& at, std::string_view what, std::string* value);
  bool IsDict(const Literal& at, std::string_view what);

  void CheckKeys(const Literal& dict);
  // The nodes of `patterns`: false when there are mistakes in them.
  bool ReadPatterns(const Literal& dict);
  void ReadSearchMode(const Literal& dict);
  void ReadNodeNames(const Literal& dict);
  // {node: [j]}, {node: [j0, j1]} or {'outside': [j]}.
  bool Tensor(const Literal& at, bool input, Mapping::Tensor* tensor);
  void ReadTensors(const Literal& dict, std::string_view key, bool inputs);
  bool ReadTensorsOf(const Literal& entry, bool inputs, Mapping::OutNode* out);

  // patterns
  // (index, type) or (index, [type, type]).
  bool Element(const Literal& at, int* index, std::vector<std::string>* types);
  bool IsChains(const Literal& at, std::string_view what);
  // Node `index`, which may be there already with the same types.
  bool AddNode(const Literal& at, int index, std::vector<std::string> types);
  void AddEdge(int from, int to, Position at);
  bool ReadIn(const Literal& in);
  // Ends in a node of the first chain; starts in one, or with () outside of the pattern.
  bool ReadSubChain(const Literal& chain, const std::vector<int>& spine);
  bool CheckNodes(const Literal& in);
  bool HasRing(int node, std::vector<int>* state) const;
  bool ReadOut(const Literal& out);

  // Keys of ours; of them those that speak of nodes.
  void ReadOptions(const Literal& dict);
  void ReadNodeOptions(const Literal& dict);
  void ReadNumerics(const Literal& at);
  void ReadOperands(const Literal& at);
  void ReadChecks(const Literal& at);
  void ReadLiterals(const Literal& at, std::vector<Mapping::AttrValue>* attrs);
  void ReadInputChecks(const Literal& at, std::vector<Mapping::InputCheck>* inputs);
  void ReadAttrs(const Literal& at);
  // [0, 'axis'] and {'return': 0, 'input': 1} speak of returns[0].
  void ReadReference(Mapping::AttrValue* value);

  Diagnostics& mistakes_;
  Mapping& m_;
};

}  // namespace weft::drr::text
