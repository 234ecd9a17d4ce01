// A set of small numbers, of operations: a bit for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::passes {

class IdSet {
 public:
  void Resize(size_t size) { words_.resize((size + 63) / 64); }
  bool Add(uint32_t id) {  // false: it was there
    uint64_t& word = words_[id / 64];
    const uint64_t bit = uint64_t{1} << id % 64;
    if (word & bit) return false;
    word |= bit;
    return true;
  }
  bool Remove(uint32_t id) {  // false: it was not there
    uint64_t& word = words_[id / 64];
    const uint64_t bit = uint64_t{1} << id % 64;
    if (!(word & bit)) return false;
    word &= ~bit;
    return true;
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace weft::passes
