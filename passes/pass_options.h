// Options of single passes: each a struct that the header of its pass defines, found by its type, so
// that a new one edits no framework.
//
//   run.options.Set(SearchOptions{.budget = 100});       // a tool
//   if (const auto* o = run.options.Get<SearchOptions>()) // the pass; null: its defaults
#pragma once

#include <any>
#include <typeindex>
#include <unordered_map>
#include <utility>

namespace weft::passes {

class PassOptions {
 public:
  template <class T>
  void Set(T options) {
    by_type_[std::type_index(typeid(T))] = std::move(options);
  }
  // Valid until the next Set of the same type.
  template <class T>
  const T* Get() const {
    const auto it = by_type_.find(std::type_index(typeid(T)));
    return it == by_type_.end() ? nullptr : std::any_cast<T>(&it->second);
  }

 private:
  std::unordered_map<std::type_index, std::any> by_type_;
};

}  // namespace weft::passes
