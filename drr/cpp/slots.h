// What an attribute of an op pattern may be set to, in a source pattern and in a result pattern, and
// how that is recorded.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "drr/cpp/handles.h"
#include "drr/cpp/phrase.h"
#include "drr/rule/record_attributes.h"
#include "ir/op_def.h"

namespace weft::drr {

template <class U, class T>
concept LiteralOf = (std::same_as<T, bool> && std::same_as<U, bool>) ||
                    (std::integral<T> && !std::same_as<T, bool> && std::integral<U> &&
                     !std::same_as<U, bool>) ||
                    (std::floating_point<T> && std::is_arithmetic_v<U> && !std::same_as<U, bool>) ||
                    (!std::is_arithmetic_v<T> && std::constructible_from<T, U> &&
                     !std::invocable<U, const MatchContext&>);

template <class F, class T>
concept ComputesFor = std::invocable<F, const MatchContext&> &&
    std::convertible_to<std::invoke_result_t<F, const MatchContext&>, T>;

template <class T>
struct In {  // .axis = In{-1, 3}
  std::vector<T> values;
  bool or_absent = false;
  In(std::initializer_list<T> v) : values(v) {}
  In OrAbsent() && {  // or not written out
    or_absent = true;
    return std::move(*this);
  }
};
struct Absent {};  // .axes = Absent(): not written out
struct Any {};     // .value = Any(): matches whatever is there

// Op<O>(AnyAttrs()): whatever all of them are. It converts to the attributes of any op, so that Op()
// is one function: the compiler's message about a misspelt attribute is then eight lines.
struct AnyAttrs {
  template <class Attrs>
  requires requires { Attrs::Fields(); }
  operator Attrs() const {
    Attrs attrs;
    std::apply([&](const auto&... field) { ((attrs.*field.member = Any()), ...); },
               Attrs::Fields());
    return attrs;
  }
};

// Literals, as attributes of a context. One type for all slots: what a slot costs to compile is
// paid where a literal stands, and not for every attribute of every op.
using MakeLiterals = ir::Function<void(ir::IrContext&, std::vector<ir::Attribute>*)>;

template <class V>
MakeLiterals LiteralOfType(V value) {
  return [value = std::move(value)](ir::IrContext& c, std::vector<ir::Attribute>* attributes) {
    attributes->push_back(ir::MakeAttr(c, value));
  };
}

// Source side: the op's default, a literal, a set, a handle to bind, or anything.
template <class T>
class SourceSlot {
 public:
  using V = typename ir::ValueTypeOf<T>::type;
  enum Kind { kDefault, kLiterals, kBind, kAny };
  SourceSlot() = default;
  template <LiteralOf<V> U>
  SourceSlot(U literal) : kind_(kLiterals), literals_(LiteralOfType(V(literal))) {}
  SourceSlot(std::initializer_list<typename ir::ElementOf<V>::type> list) requires
      std::constructible_from<V, std::initializer_list<typename ir::ElementOf<V>::type>>
      : kind_(kLiterals), literals_(LiteralOfType(V(list))) {}
  template <class U>
  SourceSlot(In<U> set)
      : kind_(kLiterals),
        literals_([set](ir::IrContext& c, std::vector<ir::Attribute>* attributes) {
          for (const auto& value : set.values) attributes->push_back(ir::MakeAttr(c, V(value)));
          if (set.or_absent) attributes->emplace_back();
        }) {}
  SourceSlot(Absent)
      : kind_(kLiterals), literals_([](ir::IrContext&, std::vector<ir::Attribute>* attributes) {
          attributes->emplace_back();
        }) {}
  SourceSlot(Attr<V> handle) : kind_(kBind), variable_(handle.id()) {}
  SourceSlot(Any) : kind_(kAny) {}

  Kind kind() const { return kind_; }
  const MakeLiterals& literals() const { return literals_; }
  AttrId variable() const { return variable_; }

 private:
  Kind kind_ = kDefault;
  MakeLiterals literals_;
  AttrId variable_;
};

template <class T, class V>
concept ExpressionFor = std::same_as<T, V> ||(std::is_arithmetic_v<T>&& std::is_arithmetic_v<V> &&
                                              !std::same_as<T, bool> && !std::same_as<V, bool>) ||
                        (std::same_as<T, Ints> && std::same_as<V, ir::Attribute>) ||
                        (std::same_as<T, std::string> && std::is_enum_v<V>);  // its name

// Result side: the op's default, a literal, a bound handle, an expression of the vocabulary, a value
// of src.Let(), or a function of the match.
template <class T>
class ResultSlot {
 public:
  using V = typename ir::ValueTypeOf<T>::type;
  enum Kind { kDefault, kLiteral, kCopy, kCompute, kExpression, kFrom };
  ResultSlot() = default;
  template <LiteralOf<V> U>
  ResultSlot(U literal) : kind_(kLiteral), literal_(LiteralOfType(V(literal))) {}
  ResultSlot(std::initializer_list<typename ir::ElementOf<V>::type> list) requires
      std::constructible_from<V, std::initializer_list<typename ir::ElementOf<V>::type>>
      : kind_(kLiteral), literal_(LiteralOfType(V(list))) {}
  ResultSlot(Attr<V> handle) : kind_(kCopy), variable_(handle.id()) {}
  template <ComputesFor<V> F>
  [[gnu::visibility("hidden")]] ResultSlot(F fn)  // as in result.h
      : kind_(kCompute), compute_([fn = std::move(fn)](const MatchContext& m) {
          return ir::MakeAttr(*m.context(), V(fn(m)));
        }) {}
  template <ExpressionFor<V> U>
  ResultSlot(const Expression<U>& expression) : kind_(kExpression), expression_(expression) {}
  // As a source op has it, if it has an attribute of this name.
  static ResultSlot From(OpId source_op) {
    ResultSlot slot;
    slot.kind_ = kFrom;
    slot.source_op_ = source_op;
    return slot;
  }

  Kind kind() const { return kind_; }
  const MakeLiterals& literal() const { return literal_; }
  AttrId variable() const { return variable_; }
  OpId source_op() const { return source_op_; }
  const ComputeAttr& compute() const { return compute_; }
  const internal::Phrase& expression() const { return expression_; }

 private:
  Kind kind_ = kDefault;
  MakeLiterals literal_;
  AttrId variable_;
  OpId source_op_;
  ComputeAttr compute_;
  internal::Phrase expression_;
};

// The attributes of op O, as Op<O>() takes them. Each slot knows O, so that the compiler can say of
// which op an attribute has the wrong type.
template <class>
inline constexpr bool kNever = false;

template <class O>
struct SlotsOf {
  template <class T>
  struct Source : SourceSlot<T> {
    using V = typename ir::ValueTypeOf<T>::type;
    Source() = default;
    template <std::convertible_to<SourceSlot<T>> Given>
    Source(Given given) : SourceSlot<T>(std::move(given)) {}
    Source(std::initializer_list<typename ir::ElementOf<V>::type> list) requires
        std::constructible_from<V, std::initializer_list<typename ir::ElementOf<V>::type>>
        : SourceSlot<T>(list) {}
    template <class Given>
    Source(Given) {
      static_assert(kNever<Given>,
                    "this attribute of op O is a T, not what is Given: write a "
                    "literal, In{...}, an Attr<T> or Any()");
    }
  };
  template <class T>
  struct Result : ResultSlot<T> {
    using V = typename ir::ValueTypeOf<T>::type;
    Result() = default;
    template <std::convertible_to<ResultSlot<T>> Given>
    Result(Given given) : ResultSlot<T>(std::move(given)) {}
    Result(std::initializer_list<typename ir::ElementOf<V>::type> list) requires
        std::constructible_from<V, std::initializer_list<typename ir::ElementOf<V>::type>>
        : ResultSlot<T>(list) {}
    template <class Given>
    Result(Given) {
      static_assert(kNever<Given>,
                    "this attribute of op O is a T, not what is Given: write a "
                    "literal, an Attr<T>, an expression or a function");
    }
  };
};
template <class O>
using SourceAttrs = typename O::template Attrs<SlotsOf<O>::template Source>;
template <class O>
using ResultAttrs = typename O::template Attrs<SlotsOf<O>::template Result>;

// Op<O>(AttrsOf(op)): copies, by name, the attributes that a matched op has and the new one knows.
class AttrsOf {
 public:
  template <class OpPattern>
  explicit AttrsOf(const OpPattern& op) : op_(op.id()) {}
  template <class Attrs>
  requires requires { Attrs::Fields(); }
  operator Attrs() const {
    Attrs attrs;
    std::apply(
        [&](const auto&... field) {
          ((attrs.*field.member =
                std::remove_reference_t<decltype(attrs.*field.member)>::From(op_)),
           ...);
        },
        Attrs::Fields());
    return attrs;
  }

 private:
  OpId op_;
};

namespace internal {

std::vector<ir::Attribute> AttributesOf(PatternGraph* graph, const MakeLiterals& literals);

template <class Slot>
void RecordSourceAttr(PatternGraph* graph, OpId op, size_t field, const Slot& slot) {
  switch (slot.kind()) {
    case Slot::kDefault:
      return AddDefaultAttr(graph, op, field);
    case Slot::kLiterals:
      return AddLiterals(graph, op, field, AttributesOf(graph, slot.literals()));
    case Slot::kBind:
      return AddBind(graph, op, field, slot.variable());
    case Slot::kAny:
      return;
  }
}

// Adds the alternative O with these attributes, but for those that `except` gives.
template <class O>
void RecordAlternative(PatternGraph* graph, OpId op, const SourceAttrs<O>& attrs,
                       const SourceAttrs<O>& except = {}) {
  graph->AddAlternative(op, ir::OpDefOf<O>());
  [[maybe_unused]] size_t i = 0;
  std::apply(
      [&](const auto&... field) {
        (RecordSourceAttr(
             graph, op, i++,
             (except.*field.member).kind() ? except.*field.member : attrs.*field.member),
         ...);
      },
      attrs.Fields());
}

template <class Slot>
void RecordResultAttr(PatternGraph* graph, ResultOpId op, size_t field, const Slot& slot) {
  switch (slot.kind()) {
    case Slot::kDefault:
      return AddResultDefault(graph, op, field);
    case Slot::kLiteral:
      return AddResultLiteral(graph, op, field, AttributesOf(graph, slot.literal())[0]);
    case Slot::kCopy:
      return AddResultCopy(graph, op, field, slot.variable());
    case Slot::kCompute:
      return AddResultCompute(graph, op, field, slot.compute());
    case Slot::kExpression:
      return AddResultFormula(graph, op, field, MakeFormula(graph, slot.expression(), false));
    case Slot::kFrom:
      graph->result_ops[op].attrs_of = slot.source_op();
      return;
  }
}

// The attributes of result op `op`, which is an O, but for those that `except` gives.
template <class O>
void RecordResultAttrs(PatternGraph* graph, ResultOpId op, const ResultAttrs<O>& attrs,
                       const ResultAttrs<O>& except = {}) {
  [[maybe_unused]] size_t i = 0;
  std::apply(
      [&](const auto&... field) {
        (RecordResultAttr(
             graph, op, i++,
             (except.*field.member).kind() ? except.*field.member : attrs.*field.member),
         ...);
      },
      attrs.Fields());
}

}  // namespace internal

}  // namespace weft::drr
