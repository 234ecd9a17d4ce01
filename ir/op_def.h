// Operation definitions as plain C++: one struct per op is the only place where its name, operands,
// results, attributes, defaults, traits, documentation and ONNX name appear. Printer, parser,
// builder, verifier, ONNX bridge and rules all derive from it.
//
//   struct Softmax {
//     static constexpr OpInfo kInfo = {.name = "onnx.Softmax", .operands = {"x"}, .results = {"y"},
//                                      .onnx = "Softmax", .since = 13, .doc = "..."};
//     template <template <class> class Slot>
//     struct Attrs {
//       Slot<int64_t> axis{};
//       static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis,
//       int64_t{-1}}); }
//     };
//     static bool Infer(InferContext& c);                       // result types; reports mistakes
//     // Optional.
//     static std::vector<Value> Decompose(Builder&, std::span<const Value>, const Attrs<Plain>&);
//     static bool Verify(Operation op, std::string* error);  // what Infer does not see: regions
//   };
//
// A dialect's .cc file calls AddOps<Softmax, ...>(context).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/attribute.h"
#include "ir/context.h"

namespace weft::ir {

class Builder;
class InferContext;
class Operation;
class Value;

// --- what an op says about itself ------------------------------------------

enum class Arity : uint8_t { kOne, kOptional, kVariadic };
struct OperandDef {  // of operands and of results; at most one is variadic, and it is the last
  std::string_view name;
  Arity arity = Arity::kOne;
  constexpr OperandDef() = default;
  constexpr OperandDef(const char* n, Arity a = Arity::kOne) : name(n), arity(a) {}
};
constexpr OperandDef Optional(const char* name) { return {name, Arity::kOptional}; }
constexpr OperandDef Variadic(const char* name) { return {name, Arity::kVariadic}; }

template <class T, size_t kMax>
struct FixedList {
  std::array<T, kMax> items{};
  size_t count = 0;
  constexpr FixedList() = default;
  constexpr FixedList(std::initializer_list<T> list) {
    for (const T& t : list) items[count++] = t;
  }
  constexpr size_t size() const { return count; }
  constexpr const T* begin() const { return items.data(); }
  constexpr const T* end() const { return items.data() + count; }
  constexpr const T& operator[](size_t i) const { return items[i]; }
};

enum Trait : uint32_t {
  kNone = 0,
  kPure = 1 << 0,          // no effect but its results: may be erased when unused, merged, moved
  kCommutative = 1 << 1,   // the first two operands may be swapped
  kElementwise = 1 << 2,   // result element i depends on operand elements i only (after broadcast)
  kTerminator = 1 << 3,    // ends its block
  kConstantLike = 1 << 4,  // no operands, its value is known before run time
  kInplace = 1 << 5,       // may write result 0 over operands that OpInfo::inplace names
  kReadOnly = 1 << 6,  // never writes what its operands refer to (but see ir/analysis/inplace.h)
  kValueSemantics = 1 << 7,  // its results share no memory with its operands (likewise)
  kRandom = 1 << 8,          // two runs differ: never merged or folded
  kIsolated = 1 << 9,        // its regions see no value from outside
  kBodyInRegion = 1 << 10,   // its one region computes it, and may stand in its place
  kView = 1 << 11,           // its results may be its first operand (all of a variadic one), under
                             // another shape: they share memory
};

// Sets of operands, as bits: OverOperands(0, 3).
constexpr uint32_t kEveryOperand = ~0u;
template <class... I>
constexpr uint32_t OverOperands(I... operands) {
  return (0u | ... | (1u << operands));
}

struct OpInfo {
  std::string_view name;  // "dialect.Op"
  FixedList<OperandDef, 12> operands;
  FixedList<OperandDef, 8> results = {"out"};
  uint32_t traits = kPure;            // and those that AllTraits() adds
  std::string_view onnx = {};         // ONNX op_type; empty when ONNX has no such op
  int since = 1;                      // opset whose semantics the op has
  std::string_view onnx_domain = {};  // "" is ai.onnx
  int num_regions = 0;                // -1: any number
  std::string_view doc = {};
  // Operands that result 0 may be written over where the types are equal, because no element is read
  // after one in its place is written. Elementwise ops need not name them: it holds for all.
  uint32_t inplace = 0;
};

// A view writes nothing.
constexpr uint32_t InplaceOperands(const OpInfo& info) {
  return info.traits & kView ? 0 : info.traits & kElementwise ? kEveryOperand : info.inplace;
}
// The traits of an op with those that others imply: what is pure only reads, and its results are
// memory of their own unless they are views.
constexpr uint32_t AllTraits(const OpInfo& info) {
  uint32_t traits = info.traits;
  if (traits & kPure) traits |= kReadOnly | (traits & kView ? kNone : kValueSemantics);
  if (InplaceOperands(info) != 0) traits |= kInplace;
  return traits;
}

// Field{"perm", &Attrs::perm} is required; a third argument is its default; a field of type
// std::optional<T> may be absent.
template <class M, class D = std::nullptr_t>
struct Field {
  std::string_view name;
  M member;
  D fallback = {};
  static constexpr bool kHasDefault = !std::is_same_v<D, std::nullptr_t>;
};
template <class M>
Field(const char*, M) -> Field<M>;
template <class M, class D>
Field(const char*, M, D) -> Field<M, D>;

template <class T>
using Plain = T;

template <template <class> class Slot>
struct NoAttrs {
  static constexpr auto Fields() { return std::tuple<>(); }
};

// Every member of Attrs must be listed in Fields(): one byte per member counts them.
template <class T>
struct OneByte {
  char c{};
};
template <class O>
constexpr size_t kNumAttrs = std::tuple_size_v<decltype(O::template Attrs<OneByte>::Fields())>;
template <class O>
constexpr bool kFieldsComplete = std::is_empty_v<typename O::template Attrs<OneByte>>
                                     ? kNumAttrs<O> == 0
                                     : sizeof(typename O::template Attrs<OneByte>) == kNumAttrs<O>;

template <class O>
constexpr size_t MinOperands() {
  size_t n = 0;
  for (const auto& o : O::kInfo.operands) n += o.arity == Arity::kOne;
  return n;
}
template <class O>
constexpr size_t MaxOperands() {
  for (const auto& o : O::kInfo.operands)
    if (o.arity == Arity::kVariadic) return SIZE_MAX;
  return O::kInfo.operands.size();
}

// --- attribute values in C++ -----------------------------------------------
// An enum used as an attribute is stored as its name: give it, beside the enum,
//   constexpr std::array<std::string_view, N> EnumNames(Activation) { return {"none", "relu"}; }

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
  struct type {};  // of what is no list: nothing converts to it
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

// --- the run-time description -----------------------------------------------

struct FieldDef {
  Name name;
  AttrKind kind = AttrKind::kUnit;
  bool optional = false;                            // may be absent
  Attribute (*make_default)(IrContext&) = nullptr;  // null: required (unless optional)
  bool (*accepts)(Attribute) = nullptr;             // kind and enumerator
  std::vector<std::string_view> enumerators;        // of an enum
};

struct OpDef {
  Opcode opcode;
  const OpInfo* info = nullptr;
  uint32_t traits = kNone;  // AllTraits() of info
  std::vector<FieldDef> fields;
  bool (*infer)(InferContext&) = nullptr;
  std::vector<Value> (*decompose)(Builder&, std::span<const Value>, AttrDict) = nullptr;
  // Called by the verifier before it comes to what is inside: bodies may be anything.
  bool (*verify)(Operation op, std::string* error) = nullptr;

  std::string_view name() const { return info->name; }
  bool Has(Trait trait) const { return (traits & trait) != 0; }
  const FieldDef* FindField(Name name) const {
    for (const FieldDef& f : fields)
      if (f.name == name) return &f;
    return nullptr;
  }
};

// Made when first asked for.
template <class O>
const OpDef& OpDefOf();

// --- whole sets of attributes -----------------------------------------------

// All attributes of an op as a C++ struct; absent or ill-kinded ones keep their default.
template <class O>
typename O::template Attrs<Plain> ReadAttrs(AttrDict dict) {
  typename O::template Attrs<Plain> attrs;
  [[maybe_unused]] const std::vector<FieldDef>& fields = OpDefOf<O>().fields;
  [[maybe_unused]] size_t i = 0;
  std::apply(
      [&](const auto&... field) {
        (
            [&] {
              auto& member = attrs.*field.member;
              using V = typename ValueTypeOf<std::decay_t<decltype(member)>>::type;
              V value{};
              if (ReadAttr(dict.Get(fields[i++].name), &value)) {
                member = std::move(value);
              } else if constexpr (std::decay_t<decltype(field)>::kHasDefault) {
                member = V(field.fallback);
              }
            }(),
            ...);
      },
      attrs.Fields());
  return attrs;
}

// The dictionary with every default written out. A required attribute that is unset is left out:
// the verifier names it.
template <class O>
AttrDict MakeAttrs(IrContext& context, const typename O::template Attrs<BuilderSlot>& attrs) {
  if constexpr (kNumAttrs<O> == 0) {
    (void)context, (void)attrs;
    return {};
  } else {
    const std::vector<FieldDef>& fields = OpDefOf<O>().fields;
    std::array<NamedAttribute, kNumAttrs<O>> entries;
    size_t size = 0, i = 0;
    auto add = [&](const auto& field) {
      const auto& value = (attrs.*field.member).value();
      const FieldDef& def = fields[i++];
      if (value) {
        entries[size++] = {def.name, MakeAttr(context, *value)};
      } else if (def.make_default) {
        entries[size++] = {def.name, def.make_default(context)};
      }
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, attrs.Fields());
    return context.DictInPlace({entries.data(), size});
  }
}

// --- definitions of C++ ops --------------------------------------------------

template <class O>
inline const Opcode kOpcodeOf = Opcode::FindOrAdd(O::kInfo.name);

namespace internal {

template <class O, size_t kIndex>
FieldDef MakeFieldDef() {
  using Attrs = typename O::template Attrs<Plain>;
  constexpr auto kField = std::get<kIndex>(Attrs::Fields());
  using Member = std::decay_t<decltype(std::declval<Attrs>().*kField.member)>;
  using V = typename ValueTypeOf<Member>::type;
  FieldDef def;
  def.name = Name(kField.name);
  def.kind = AttrKindOf<V>();
  def.optional = ValueTypeOf<Member>::kOptional;
  def.accepts = [](Attribute attr) {
    V value{};
    return ReadAttr(attr, &value);
  };
  if constexpr (decltype(kField)::kHasDefault) {
    def.make_default = [](IrContext& context) {
      return MakeAttr(context, V(std::get<kIndex>(Attrs::Fields()).fallback));
    };
  }
  if constexpr (std::is_enum_v<V> && !std::is_same_v<V, DataType>) {
    for (std::string_view name : EnumNames(V{})) def.enumerators.push_back(name);
  }
  return def;
}

template <class O, size_t... kIndex>
OpDef MakeOpDef(std::index_sequence<kIndex...>) {
  static_assert(kFieldsComplete<O>, "Fields() does not list every attribute of this op");
  OpDef def;
  def.opcode = kOpcodeOf<O>;
  def.info = &O::kInfo;
  def.traits = AllTraits(O::kInfo);
  (def.fields.push_back(MakeFieldDef<O, kIndex>()), ...);
  if constexpr (requires { &O::Infer; }) def.infer = &O::Infer;
  if constexpr (requires { &O::Decompose; }) {
    def.decompose = [](Builder& b, std::span<const Value> operands, AttrDict attrs) {
      return O::Decompose(b, operands, ReadAttrs<O>(attrs));
    };
  }
  if constexpr (requires { &O::Verify; }) def.verify = &O::Verify;
  return def;
}

}  // namespace internal

template <class O>
const OpDef& OpDefOf() {
  static const OpDef* def =
      new OpDef(internal::MakeOpDef<O>(std::make_index_sequence<kNumAttrs<O>>()));
  return *def;
}

// Makes the ops of a dialect known to a context.
template <class... Os>
void AddOps(IrContext& context) {
  (context.AddOp(OpDefOf<Os>()), ...);
}

}  // namespace weft::ir
