// The parts of page_data.h that are about single operations and the constants that they read.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "weft/picture/graph.h"

namespace weft::picture {

using Json = nlohmann::ordered_json;

// Texts that come often, by number.
class TextTable {
 public:
  int Of(std::string_view text);
  const Json& texts() const { return texts_; }

 private:
  std::map<std::string, int, std::less<>> numbers_;
  Json texts_ = Json::array();
};

// Constants, each once for both graphs.
class ConstantTable {
 public:
  explicit ConstantTable(TextTable* texts) : texts_(*texts) {}
  int Of(ir::Value constant);
  const Json& constants() const { return constants_; }
  uint64_t bytes() const { return bytes_; }

 private:
  Json Describe(ir::Value constant, ir::Attribute value);

  TextTable& texts_;
  std::map<std::pair<uint32_t, std::string>, int> numbers_;  // by attribute and name
  Json constants_ = Json::array();
  std::unordered_map<uint32_t, bool> counted_;  // attributes
  uint64_t bytes_ = 0;
};

// What an operation reads, makes and has, and where it comes from.
Json DescribeNode(const Graph& graph, const Node& node, TextTable* texts, ConstantTable* constants);

}  // namespace weft::picture
