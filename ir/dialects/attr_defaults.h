// Defaults of list attributes: what Field() takes where the attribute is a std::vector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::ir {

struct EmptyList {  // of any element type
  template <class T>
  constexpr operator std::vector<T>() const {
    return {};
  }
};

template <size_t kSize>
struct IntList {
  std::array<int64_t, kSize> items;
  operator std::vector<int64_t>() const { return {items.begin(), items.end()}; }
};
template <class... T>
IntList(T...) -> IntList<sizeof...(T)>;

}  // namespace weft::ir
