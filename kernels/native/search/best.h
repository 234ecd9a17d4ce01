// The best elements of a list that passes by a part at a time: those with the largest keys (simd/search/keys.h), of
// equal ones those of the lowest index.
//
//   Best<int32_t> best(k, n, room);                       // room: Best<int32_t>::Room(k, n) candidates
//   for (...) best.Add(keys, count, index of the first);  // indices rise
//   for (const Candidate<int32_t>& c : best.Sorted()) use(c.index());
//
// A key that is not above those kept costs a comparison of a vector's lane. Few are kept in order; of more, a list of
// candidates grows and is cut down to the best of them now and then; and where most elements are wanted all are sorted.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/native/simd/search/keys.h"

namespace weft::kernels::native {

// a > b: a is better. Of no more than 2^32 elements.
template <class Key>
class Candidate {
 public:
  Candidate(Key key, int64_t index) : key_(key), index_(static_cast<uint32_t>(index)) {}
  Key key() const { return key_; }
  int64_t index() const { return index_; }
  bool operator>(const Candidate& other) const {
    return key_ != other.key_ ? key_ > other.key_ : index_ < other.index_;
  }

 private:
  Key key_;
  uint32_t index_;
};
// Both in one number, which compares at once.
template <>
class Candidate<int32_t> {
 public:
  Candidate(int32_t key, int64_t index)
      : bits_(uint64_t{static_cast<uint32_t>(key) ^ kSign} << 32 |
              static_cast<uint32_t>(~static_cast<uint32_t>(index))) {}
  int32_t key() const { return static_cast<int32_t>(static_cast<uint32_t>(bits_ >> 32) ^ kSign); }
  int64_t index() const { return ~static_cast<uint32_t>(bits_); }
  bool operator>(const Candidate& other) const { return bits_ > other.bits_; }

 private:
  static constexpr uint32_t kSign = 0x80000000u;
  uint64_t bits_;
};

// The best k of a list, in front and in order.
template <class Key>
void SortBest(std::span<Candidate<Key>> list, int64_t k);

template <class Key>
class Best {
 public:
  using Item = Candidate<Key>;
  static constexpr int64_t kBlock = 256;  // keys that are looked at together

  // 0 < k <= n. Where TakesAll, `other` has room for n more candidates.
  Best(int64_t k, int64_t n, Item* room, Item* other = nullptr)
      : k_(k),
        capacity_(Room(k, n)),
        is_ordered_(IsOrdered(k, n)),
        takes_all_(TakesAll(k, n)),
        list_(room),
        other_(other) {}

  static bool TakesAll(int64_t k, int64_t n) { return k > n / 4; }
  static int64_t Room(int64_t k, int64_t n) {
    if (TakesAll(k, n)) return n;
    return IsOrdered(k, n) ? k : 2 * k + 2 * kBlock;
  }

  void Add(const Key* keys, int64_t count, int64_t first);
  // The best k. Ends the adding.
  std::span<const Item> Sorted();

 private:
  static bool IsOrdered(int64_t k, int64_t n) { return k <= 24 && !TakesAll(k, n); }

  void Insert(Item item, int64_t behind);
  void Append(Item item);
  void Limit();

  const int64_t k_, capacity_;
  const bool is_ordered_, takes_all_;
  Item* const list_;
  Item* const other_;
  int64_t size_ = 0;
  bool has_limit_ = false;
  Key limit_ = 0;
};

// For both types that keys have.
extern template void SortBest(std::span<Candidate<int32_t>>, int64_t);
extern template void SortBest(std::span<Candidate<int64_t>>, int64_t);
extern template class Best<int32_t>;
extern template class Best<int64_t>;

}  // namespace weft::kernels::native
