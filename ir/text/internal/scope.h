// The values that the text of a program has named so far.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/program.h"

namespace weft::ir {

// A value as the text names it: %12 or %x.
struct ValueRef {
  const char* at = nullptr;
  uint64_t number = 0;
  std::string_view name = {};  // empty: numbered
  std::string Text() const {
    return name.empty() ? fmt::format("%{}", number) : fmt::format("%{}", name);
  }
};

struct NamedRef {  // where a value is defined
  ValueRef ref;
  bool has_name = false;
  std::string_view name = {};
};

// The values that are in scope.
class Values {
 public:
  explicit Values(size_t text_size) : dense_limit_(text_size / 4 + 64) {}

  Value Find(const ValueRef& ref) const {
    if (ref.name.empty() && ref.number < dense_.size()) return dense_[ref.number];
    if (ref.name.empty()) {
      auto it = sparse_.find(ref.number);
      return it == sparse_.end() ? Value() : it->second;
    }
    auto it = named_.find(ref.name);
    return it == named_.end() ? Value() : it->second;
  }
  void Set(const ValueRef& ref, Value value) {
    if (!ref.name.empty()) {
      named_[ref.name] = value;
    } else if (ref.number < dense_limit_) {
      if (ref.number >= dense_.size())
        dense_.resize(std::min<size_t>(dense_limit_, ref.number + ref.number / 2 + 16));
      dense_[ref.number] = value;
    } else {
      sparse_[ref.number] = value;
    }
  }

 private:
  size_t dense_limit_;
  std::vector<Value> dense_;  // by number
  absl::flat_hash_map<uint64_t, Value> sparse_;
  absl::flat_hash_map<std::string_view, Value> named_;
};

}  // namespace weft::ir
