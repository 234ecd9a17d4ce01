#include "kernels/native/search/best.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

namespace weft::kernels::native {
namespace {

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

}  // namespace

template <class Key>
void SortBest(std::span<Candidate<Key>> list, int64_t k) {
  const auto end = list.begin() + k;
  if (k < static_cast<int64_t>(list.size()))
    std::nth_element(list.begin(), end, list.end(), std::greater<>());
  std::sort(list.begin(), end, std::greater<>());
}

template <class Key>
void Best<Key>::Add(const Key* keys, int64_t count, int64_t first) {
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

template <class Key>
std::span<const Candidate<Key>> Best<Key>::Sorted() {
  const auto k = static_cast<size_t>(k_);
  if (is_ordered_) return {list_, k};
  constexpr int64_t kLeastByDigits = 512;
  if (takes_all_ && size_ >= kLeastByDigits)
    return {SortByDigits<Key>({list_, static_cast<size_t>(size_)}, other_), k};
  SortBest<Key>({list_, static_cast<size_t>(size_)}, k_);
  return {list_, k};
}

// Into the first `behind` candidates, which are in order, and over the one behind them.
template <class Key>
void Best<Key>::Insert(Item item, int64_t behind) {
  for (; behind > 0 && item > list_[behind - 1]; --behind) list_[behind] = list_[behind - 1];
  list_[behind] = item;
}

template <class Key>
void Best<Key>::Append(Item item) {
  if (is_ordered_)
    Insert(item, size_);
  else
    list_[size_] = item;
  ++size_;
}

template <class Key>
void Best<Key>::Limit() {
  if (!is_ordered_) {
    std::nth_element(list_, list_ + k_ - 1, list_ + size_, std::greater<>());
    size_ = k_;
  }
  limit_ = list_[k_ - 1].key();
  has_limit_ = true;
}

template void SortBest(std::span<Candidate<int32_t>>, int64_t);
template void SortBest(std::span<Candidate<int64_t>>, int64_t);
template class Best<int32_t>;
template class Best<int64_t>;

}  // namespace weft::kernels::native
