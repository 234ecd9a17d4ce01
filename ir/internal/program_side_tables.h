// What a Program keeps out of its hot records: what few operations have, and free lists.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph_view.h"
#include "ir/origin/origin_table.h"
#include "ir/program.h"

namespace weft::ir {

struct Program::SideTables {
  std::unordered_map<uint32_t, std::vector<uint32_t>> regions;                // by op
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> extra_results;  // by op: first, count
  std::unordered_map<uint32_t, uint32_t> use_counts;                          // by op, > 65535
  std::unordered_map<uint32_t, uint32_t> operand_counts;                      // by op, > 65535
  std::unordered_map<uint32_t, Name> value_names;                             // by value id
  std::unordered_map<uint32_t, Name> locations;                               // by op
  std::map<std::string, Attribute, std::less<>> parameters;
  std::vector<uint64_t> order;                            // by op; valid where the block says so
  std::multimap<uint32_t, uint32_t> free_large_operands;  // size -> first; small ones are chained
  std::vector<uint32_t> free_extras;
  Owned<internal::OriginTable> origins;  // null: nobody asked
};

inline Owned<internal::OriginTable>& GraphView::origins() const { return p_->side_->origins; }

}  // namespace weft::ir
