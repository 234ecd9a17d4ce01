// Whether a list has an element: Contains(names, "fuse").
#pragma once

#include <algorithm>

namespace weft::ir {

template <class List, class Element>
bool Contains(const List& list, const Element& element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

}  // namespace weft::ir
