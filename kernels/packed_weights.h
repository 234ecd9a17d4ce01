// Weights in the form a kernel wants, made once and shared by all plans of a session.
//
//   auto packed = packed_weights.Get<Matrix>("gemm n=64 w=17", [&] { return Pack(...); });
//
// The key names the packing, everything it depends on, and the weights by Attribute::id().
#pragma once

#include <map>
#include <memory>
#include <string>
#include <typeinfo>

#include "ir/base/check.h"
#include "ir/base/status.h"

namespace weft::kernels {

class PackedWeights {
 public:
  // `make` returns absl::StatusOr<std::shared_ptr<T>>; it is called when the key is new.
  template <class T, class Make>
  absl::StatusOr<std::shared_ptr<T>> Get(const std::string& key, const Make& make) {
    auto it = entries_.find(key);
    if (it == entries_.end()) {
      WEFT_ASSIGN_OR_RETURN(std::shared_ptr<T> made, make());
      it = entries_.emplace(key, Entry{std::move(made), &typeid(T)}).first;
    }
    WEFT_CHECK(*it->second.type == typeid(T), "two kinds of packing have the same key");
    return std::static_pointer_cast<T>(it->second.value);
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<void> value;
    const std::type_info* type;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace weft::kernels
