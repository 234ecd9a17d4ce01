// Attributes as C++ values: bool, int64_t, float, double, std::string, enums, lists, types,
// tensors.
//
// An enum used as an attribute is stored as its name: give it, beside the enum,
//   constexpr std::array<std::string_view, N> EnumNames(Activation) { return {"none", "relu"}; }
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"

namespace weft::ir {

template <class T>
struct ValueTypeOf {
  using type = T;
  static constexpr bool kOptional = false;
};
template <class T>
struct ValueTypeOf<std::optional<T>> {
  using type = T;
  static constexpr bool kOptional = true;
};

template <class T>
constexpr AttrKind AttrKindOf() {
  if constexpr (std::is_same_v<T, bool>)
    return AttrKind::kBool;
  else if constexpr (std::is_same_v<T, int64_t>)
    return AttrKind::kInt;
  else if constexpr (std::is_same_v<T, float>)
    return AttrKind::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return AttrKind::kDouble;
  else if constexpr (std::is_same_v<T, std::string>)
    return AttrKind::kString;
  else if constexpr (std::is_same_v<T, DataType>)
    return AttrKind::kDataType;
  else if constexpr (std::is_enum_v<T>)
    return AttrKind::kString;
  else if constexpr (std::is_same_v<T, Ints>)
    return AttrKind::kInts;
  else if constexpr (std::is_same_v<T, Floats>)
    return AttrKind::kFloats;
  else if constexpr (std::is_same_v<T, Strings>)
    return AttrKind::kStrings;
  else if constexpr (std::is_same_v<T, Type>)
    return AttrKind::kType;
  else {
    static_assert(std::is_same_v<T, Attribute>, "no attribute holds a value of this type");
    return AttrKind::kDense;
  }
}

template <class E>
std::string_view EnumName(E value) {
  return EnumNames(E{})[static_cast<size_t>(value)];
}

template <class T>
Attribute MakeAttr(IrContext& c, const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return c.BoolAttr(value);
  else if constexpr (std::is_same_v<T, int64_t>)
    return c.IntAttr(value);
  else if constexpr (std::is_same_v<T, float>)
    return c.FloatAttr(value);
  else if constexpr (std::is_same_v<T, double>)
    return c.DoubleAttr(value);
  else if constexpr (std::is_same_v<T, std::string>)
    return c.StringAttr(value);
  else if constexpr (std::is_same_v<T, DataType>)
    return c.DataTypeAttr(value);
  else if constexpr (std::is_enum_v<T>)
    return c.StringAttr(EnumName(value));
  else if constexpr (std::is_same_v<T, Ints>)
    return c.IntsAttr(value);
  else if constexpr (std::is_same_v<T, Floats>)
    return c.FloatsAttr(value);
  else if constexpr (std::is_same_v<T, Strings>)
    return c.StringsAttr(value);
  else if constexpr (std::is_same_v<T, Type>)
    return c.TypeAttr(value);
  else
    return value;
}

// False when the attribute is of another kind or names no enumerator.
template <class T>
bool ReadAttr(Attribute attr, T* value) {
  if (!attr) return false;
  if constexpr (std::is_same_v<T, Attribute>) {
    *value = attr;
    return true;
  } else {
    if (attr.kind() != AttrKindOf<T>()) return false;
    if constexpr (std::is_same_v<T, bool>)
      *value = attr.AsBool();
    else if constexpr (std::is_same_v<T, int64_t>)
      *value = attr.AsInt();
    else if constexpr (std::is_same_v<T, float>)
      *value = attr.AsFloat();
    else if constexpr (std::is_same_v<T, double>)
      *value = attr.AsDouble();
    else if constexpr (std::is_same_v<T, std::string>)
      *value = attr.AsString();
    else if constexpr (std::is_same_v<T, DataType>)
      *value = attr.AsDataType();
    else if constexpr (std::is_same_v<T, Ints>)
      *value = attr.AsInts();
    else if constexpr (std::is_same_v<T, Floats>)
      *value = attr.AsFloats();
    else if constexpr (std::is_same_v<T, Strings>)
      *value = attr.AsStrings();
    else if constexpr (std::is_same_v<T, Type>)
      *value = attr.AsType();
    else {
      const auto names = EnumNames(T{});
      for (size_t i = 0; i < names.size(); ++i) {
        if (names[i] != attr.AsString()) continue;
        *value = static_cast<T>(i);
        return true;
      }
      return false;
    }
    return true;
  }
}

template <class T>
struct ElementOf {
  struct type {};  // element type of a non-list: unusable by design
};
template <class E>
struct ElementOf<std::vector<E>> {
  using type = E;
};

// What Builder::Create and rules take for an attribute: unset means the op's default.
template <class T>
class BuilderSlot {
 public:
  using V = typename ValueTypeOf<T>::type;
  BuilderSlot() = default;
  template <class U>
  requires(std::is_constructible_v<V, U> && !std::is_same_v<std::decay_t<U>, BuilderSlot>)
      BuilderSlot(U&& value)
      : value_(V(std::forward<U>(value))) {}
  BuilderSlot(std::initializer_list<typename ElementOf<V>::type> list) requires
      std::is_constructible_v<V, std::initializer_list<typename ElementOf<V>::type>>
      : value_(V(list)) {}
  BuilderSlot(const std::optional<V>& value) requires ValueTypeOf<T>::kOptional : value_(value) {}
  const std::optional<V>& value() const { return value_; }

 private:
  std::optional<V> value_;
};

}  // namespace weft::ir
