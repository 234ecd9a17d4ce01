// Attributes: immutable values attached to operations. Uniqued by IrContext (equality is pointer
// equality), except that large dense weights are uniqued by their buffer and not by content.
//
//   Attribute axis = context.IntAttr(-1);
//   AttrDict attrs = context.Dict({{Name("axis"), axis}});
//   attrs.Get("axis").AsInt() == -1;
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/function.h"
#include "ir/name.h"
#include "ir/type.h"

namespace weft::ir {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

enum class AttrKind : uint8_t {
  kUnit,  // present, no value
  kBool,
  kInt,     // 64 bit
  kFloat,   // 32 bit
  kDouble,  // 64 bit
  kString,
  kInts,
  kFloats,
  kStrings,
  kDataType,  // an element type, e.g. the target of a cast
  kType,
  kDense,     // tensor contents: see DenseStorage
  kVerbatim,  // a token kept as written: Place(cpu), an ONNX attribute nobody interprets
};

// A byte range that constants share. The context keeps it alive for as long as the context lives.
// `release` is called once when the context dies (free, munmap, delete).
struct WeightBuffer {
  const std::byte* data = nullptr;
  size_t size = 0;
  Function<void()> release;
};

class Attribute;
struct AttributeStorage {
  IrContext* context = nullptr;
  uint32_t id = 0;
  AttrKind kind = AttrKind::kUnit;
  int64_t integer = 0;  // bool, int, data type
  double real = 0;      // float, double
  std::string text{};   // string, verbatim, label of an elided dense
  Ints ints{};
  Floats floats{};
  Strings strings{};                // strings; contents of a dense string tensor
  Type type{};                      // type; type of a dense
  const std::byte* data = nullptr;  // dense contents, row-major, little-endian; null when elided
  size_t size = 0;
};

class Attribute {
 public:
  constexpr Attribute() = default;
  explicit constexpr Attribute(const AttributeStorage* storage) : storage_(storage) {}

  explicit operator bool() const { return storage_ != nullptr; }
  AttrKind kind() const { return storage_->kind; }
  bool Is(AttrKind kind) const { return storage_ && storage_->kind == kind; }

  bool AsBool() const { return storage_->integer != 0; }
  int64_t AsInt() const { return storage_->integer; }
  double AsDouble() const { return storage_->real; }
  float AsFloat() const { return static_cast<float>(storage_->real); }
  const std::string& AsString() const { return storage_->text; }
  const Ints& AsInts() const { return storage_->ints; }
  const Floats& AsFloats() const { return storage_->floats; }
  const Strings& AsStrings() const { return storage_->strings; }
  DataType AsDataType() const { return static_cast<DataType>(storage_->integer); }
  Type AsType() const { return storage_->type; }

  // Dense tensors. IsElided: type known, contents left out of the text they were read from.
  Type dense_type() const { return storage_->type; }
  std::span<const std::byte> bytes() const { return {storage_->data, storage_->size}; }
  bool IsElided() const {
    return storage_->data == nullptr && storage_->strings.empty() &&
           storage_->type.NumElements() != 0;
  }
  const Strings& dense_strings() const { return storage_->strings; }
  template <class T>
  std::span<const T> elements() const {  // T must be the C++ type of the element type
    return {reinterpret_cast<const T*>(storage_->data), storage_->size / sizeof(T)};
  }

  uint32_t id() const { return storage_ ? storage_->id : 0; }
  const AttributeStorage* storage() const { return storage_; }
  friend bool operator==(Attribute a, Attribute b) { return a.storage_ == b.storage_; }

 private:
  const AttributeStorage* storage_ = nullptr;
};

struct NamedAttribute {
  Name name;
  Attribute value;
};

struct AttrDictStorage {
  uint32_t id = 0;
  std::vector<NamedAttribute> entries;  // sorted by name text
};

// The attributes of one operation: sorted by name, uniqued (id equality is value equality).
class AttrDict {
 public:
  constexpr AttrDict() = default;  // the empty dictionary of any context
  explicit constexpr AttrDict(const AttrDictStorage* storage) : storage_(storage) {}
  Attribute Get(Name name) const {
    for (const NamedAttribute& entry : *this)
      if (entry.name == name) return entry.value;
    return {};
  }
  Attribute Get(std::string_view name) const { return Get(Name(name)); }
  const NamedAttribute* begin() const { return storage_ ? storage_->entries.data() : nullptr; }
  const NamedAttribute* end() const { return begin() + size(); }
  size_t size() const { return storage_ ? storage_->entries.size() : 0; }
  bool empty() const { return size() == 0; }
  uint32_t id() const { return storage_ ? storage_->id : 0; }
  friend bool operator==(AttrDict a, AttrDict b) { return a.id() == b.id(); }

 private:
  const AttrDictStorage* storage_ = nullptr;
};

}  // namespace weft::ir
