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

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

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
void SortBest(std::span<Candidate<Key>> list, int64_t k) {
  const auto end = list.begin() + k;
  if (k < static_cast<int64_t>(list.size()))
    std::nth_element(list.begin(), end, list.end(), std::greater<>());
  std::sort(list.begin(), end, std::greater<>());
}

// By digits of their keys, the last one first. `list` is in the order of indices, `other` as long. Which of them holds
// the result.
template <class Key>
Candidate<Key>* SortByDigits(std::span<Candidate<Key>> list, Candidate<Key>* other) {
  using Unsigned = std::make_unsigned_t<Key>;
  constexpr int kBits = 11, kSize = 1 << kBits, kKeyBits = 8 * sizeof(Key);
  Candidate<Key>*from = list.data(), *to = other;
  for (int shift = 0; shift < kKeyBits; shift += kBits) {
    const auto digit = [shift](Key key) {
      const Unsigned falling = static_cast<Unsigned>(key) ^ std::numeric_limits<Key>::max();
      return static_cast<size_t>(falling >> shift & (kSize - 1));
    };
    uint32_t starts[kSize + 1] = {};
    for (const Candidate<Key>& c : list) ++starts[digit(c.key()) + 1];
    const bool all_same = starts[digit(list[0].key()) + 1] == list.size();
    if (all_same) continue;
    for (int i = 0; i < kSize; ++i) starts[i + 1] += starts[i];
    for (size_t i = 0; i < list.size(); ++i) to[starts[digit(from[i].key())]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

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

  void Add(const Key* keys, int64_t count, int64_t first) {
    int64_t i = 0;
    if (!has_limit_) {
      const int64_t room = is_ordered_ ? k_ : capacity_;
      for (; i < count && size_ < room; ++i) Append(Item(keys[i], first + i));
      if (size_ < room || takes_all_) return;
      Limit();
    }
    // A limit that few elements made lets many through: it is looked at again soon.
    int32_t found[kBlock];
    while (i < count) {
      const int64_t step = std::min({count - i, kBlock, std::max<int64_t>(first + i, 16)});
      const int64_t above = simd::FindAbove(keys + i, step, limit_, found);
      for (int64_t f = 0; f < above; ++f) {
        const Item item(keys[i + found[f]], first + i + found[f]);
        if (is_ordered_) {
          if (item > list_[k_ - 1]) Insert(item, k_ - 1);
        } else {
          list_[size_++] = item;
        }
      }
      if (is_ordered_) limit_ = list_[k_ - 1].key();
      if (!is_ordered_ && size_ + kBlock > capacity_) Limit();
      i += step;
    }
  }

  // The best k. Ends the adding.
  std::span<const Item> Sorted() {
    const auto k = static_cast<size_t>(k_);
    if (is_ordered_) return {list_, k};
    constexpr int64_t kLeastByDigits = 512;
    if (takes_all_ && size_ >= kLeastByDigits)
      return {SortByDigits<Key>({list_, static_cast<size_t>(size_)}, other_), k};
    SortBest<Key>({list_, static_cast<size_t>(size_)}, k_);
    return {list_, k};
  }

 private:
  static bool IsOrdered(int64_t k, int64_t n) { return k <= 24 && !TakesAll(k, n); }

  // Into the first `behind` candidates, which are in order, and over the one behind them.
  void Insert(Item item, int64_t behind) {
    for (; behind > 0 && item > list_[behind - 1]; --behind) list_[behind] = list_[behind - 1];
    list_[behind] = item;
  }
  void Append(Item item) {
    if (is_ordered_)
      Insert(item, size_);
    else
      list_[size_] = item;
    ++size_;
  }
  void Limit() {
    if (!is_ordered_) {
      std::nth_element(list_, list_ + k_ - 1, list_ + size_, std::greater<>());
      size_ = k_;
    }
    limit_ = list_[k_ - 1].key();
    has_limit_ = true;
  }

  const int64_t k_, capacity_;
  const bool is_ordered_, takes_all_;
  Item* const list_;
  Item* const other_;
  int64_t size_ = 0;
  bool has_limit_ = false;
  Key limit_ = 0;
};

}  // namespace weft::kernels::native
