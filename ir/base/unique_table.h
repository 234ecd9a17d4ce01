// What uniquing tables share: a hash of several parts, and an open-addressing table from hashes to
// ids that leaves the values where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft::ir {

class Hasher {
 public:
  Hasher& Add(uint64_t part) {
    hash_ = (hash_ ^ part) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 32;
    return *this;
  }
  Hasher& AddBytes(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    Add(size);
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, at, sizeof(word));
      Add(word);
    }
    if (size == 0) return *this;
    uint64_t word = 0;
    std::memcpy(&word, at, size);
    return Add(word);
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0x243f6a8885a308d3u;
};

class UniqueTable {
 public:
  // The id with this hash for which `same(id)`; 0 if there is none.
  template <class Same>
  uint32_t Find(uint64_t hash, Same same) const {
    const auto short_hash = static_cast<uint32_t>(hash);
    for (size_t i = hash & Mask(); slots_[i].id != 0; i = (i + 1) & Mask())
      if (slots_[i].hash == short_hash && same(slots_[i].id)) return slots_[i].id;
    return 0;
  }
  void Add(uint64_t hash, uint32_t id) {  // id > 0
    if (++size_ * 2 > slots_.size()) {
      std::vector<Slot> old(slots_.size() * 2);
      old.swap(slots_);
      for (const Slot& slot : old)
        if (slot.id != 0) Put(slot);
    }
    Put({static_cast<uint32_t>(hash), id});
  }

 private:
  struct Slot {
    uint32_t hash = 0, id = 0;
  };
  size_t Mask() const { return slots_.size() - 1; }
  void Put(Slot slot) {
    size_t i = slot.hash & Mask();
    while (slots_[i].id != 0) i = (i + 1) & Mask();
    slots_[i] = slot;
  }
  std::vector<Slot> slots_ = std::vector<Slot>(64);
  size_t size_ = 0;
};

}  // namespace weft::ir
