// What an op says about itself: OpInfo with its operands, results, traits, documentation and ONNX
// name, and the fields of its attributes. See ir/op_def.h for how they make an op.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace weft::ir {

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
  kReadsShapesOnly = 1 << 12,  // its results follow from the types of its operands
  kAxisOfOperand = 1 << 13,  // attributes axis and axes count dimensions of operand 0, -1 the last
  kTypeGeneric = 1 << 14,    // its data operands and results may get another element type together
  kRankGeneric = 1 << 15,    // its first operand (all of an elementwise or variadic op) and results
                             // may get a dimension of size 1 in one place
  kOwnLoop = 1 << 16,        // no part of fused.elementwise, whose kernels do not compute it or in
                             // other digits
  kAtomic = 1 << 17,         // rules take it as it is: its reference body is for runs and files
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
  // Operands that are data. The others say where and how: axes, shapes, indices, conditions.
  uint32_t data = kEveryOperand;
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

}  // namespace weft::ir
