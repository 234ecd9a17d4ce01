// Attributes: immutable values attached to operations. Uniqued by IrContext (equality is pointer
// equality), except that large dense weights are uniqued by their buffer and not by content.
//
//   Attribute axis = context.IntAttr(-1);
//   AttrDict attrs = context.Dict({{Name("axis"), axis}});
//   attrs.Get("axis").AsInt() == -1;
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
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
  kDense,     // tensor contents: DenseElements
  kVerbatim,  // a token kept as written: Place(cpu), an ONNX attribute nobody interprets
};

// A byte range that constants share. Its owner, mostly the context, keeps it alive as long as itself.
struct WeightBuffer {
  const std::byte* data = nullptr;
  size_t size = 0;
  Function<void()> release;  // called once when the owner dies (free, munmap, delete)
  // Of a map of a whole file: its descriptor, open until it is released; otherwise -1.
  int file = -1;
};

// The elements of a dense tensor, read as values: in a file they may start at any address.
template <class T>
class DenseElements {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;
    Iterator() = default;
    explicit Iterator(const std::byte* at) : at_(at) {}
    T operator*() const {
      T value;
      std::memcpy(&value, at_, sizeof(T));
      return value;
    }
    Iterator& operator++() {
      at_ += sizeof(T);
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(Iterator a, Iterator b) { return a.at_ == b.at_; }

   private:
    const std::byte* at_ = nullptr;
  };

  DenseElements() = default;
  explicit DenseElements(std::span<const std::byte> bytes)
      : data_(bytes.data()), size_(bytes.size() / sizeof(T)) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](size_t i) const { return *Iterator(data_ + i * sizeof(T)); }
  Iterator begin() const { return Iterator(data_); }
  Iterator end() const { return Iterator(data_ + size_ * sizeof(T)); }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

struct ComputedContents;  // of IrContext::ComputedDenseAttr

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
  const WeightBuffer* map = nullptr;  // of the file that the contents lie in
  const ComputedContents* computed = nullptr;
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

  // Dense tensors. IsElided: type known, contents left out of the text they were read from. The bytes
  // of a large one may start at any address.
  Type dense_type() const { return storage_->type; }
  std::span<const std::byte> bytes() const {
    if (storage_->computed != nullptr) return ComputedBytes();
    return {storage_->data, storage_->size};
  }
  size_t num_bytes() const { return storage_->size; }  // of bytes(), which stays as it is
  // Copies whole elements from byte `offset` on. Of contents in a file this is several times faster than to touch its
  // map, and leaves none of it in memory; of computed ones it is all that is computed.
  void Read(size_t offset, std::span<std::byte> to) const;
  // Whether bytes() costs nothing and no memory: contents are neither in a file nor computed when they are read.
  bool IsInMemory() const { return storage_->map == nullptr && storage_->computed == nullptr; }
  // Gives memory back that contents in a file take since they were touched; they are read again when needed.
  void DropPages() const;
  bool IsElided() const {
    return storage_->data == nullptr && storage_->computed == nullptr &&
           storage_->strings.empty() && storage_->type.NumElements() != 0;
  }
  const Strings& dense_strings() const { return storage_->strings; }
  template <class T>
  DenseElements<T> elements() const {  // T must be the C++ type of the element type
    return DenseElements<T>(bytes());
  }

  uint32_t id() const { return storage_ ? storage_->id : 0; }
  const AttributeStorage* storage() const { return storage_; }
  friend bool operator==(Attribute a, Attribute b) { return a.storage_ == b.storage_; }

 private:
  std::span<const std::byte> ComputedBytes() const;
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
