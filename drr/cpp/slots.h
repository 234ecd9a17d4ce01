// What an attribute of an op pattern may be set to, in a source pattern and in a result pattern, and
// how that is recorded.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
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
  In(std::initializer_list<T> v) : values(v) {}
};
struct Any {};  // .value = Any(): matches whatever is there

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

// Source side: the op's default, a literal, a set, a handle to bind, or anything.
template <class T>
class SourceSlot {
 public:
  using V = typename ir::ValueTypeOf<T>::type;
  enum Kind { kDefault, kLiterals, kBind, kAny };
  SourceSlot() = default;
  template <LiteralOf<V> U>
  SourceSlot(U literal) : kind_(kLiterals), literals_{V(literal)} {}
  SourceSlot(std::initializer_list<typename ir::ElementOf<V>::type> list) requires
      std::constructible_from<V, std::initializer_list<typename ir::ElementOf<V>::type>>
      : kind_(kLiterals), literals_{V(list)} {}
  template <class U>
  SourceSlot(In<U> set) : kind_(kLiterals), literals_(set.values.begin(), set.values.end()) {}
  SourceSlot(Attr<V> handle) : kind_(kBind), variable_(handle.id()) {}
  SourceSlot(Any) : kind_(kAny) {}
  // Anything else is refused, in the line that says it: the message names T, which the attribute is.
  template <class WrongType>
  SourceSlot(WrongType) = delete;

  Kind kind() const { return kind_; }
  const std::vector<V>& literals() const { return literals_; }
  int variable() const { return variable_; }

 private:
  Kind kind_ = kDefault;
  std::vector<V> literals_;
  int variable_ = -1;
};

template <class T, class V>
concept ExpressionFor = std::same_as<T, V> ||(std::is_arithmetic_v<T>&& std::is_arithmetic_v<V> &&
                                              !std::same_as<T, bool> && !std::same_as<V, bool>) ||
                        (std::same_as<T, Ints> && std::same_as<V, ir::Attribute>);

// Result side: the op's default, a literal, a bound handle, an expression of the vocabulary, a value
// of src.Let(), or a function of the match.
template <class T>
class ResultSlot {
 public:
  using V = typename ir::ValueTypeOf<T>::type;
  enum Kind { kDefault, kLiteral, kCopy, kCompute, kExpression, kFrom };
  ResultSlot() = default;
  template <LiteralOf<V> U>
  ResultSlot(U literal) : kind_(kLiteral), literal_(V(literal)) {}
  ResultSlot(std::initializer_list<typename ir::ElementOf<V>::type> list) requires
      std::constructible_from<V, std::initializer_list<typename ir::ElementOf<V>::type>>
      : kind_(kLiteral), literal_(list) {}
  ResultSlot(Attr<V> handle) : kind_(kCopy), variable_(handle.id()) {}
  template <ComputesFor<V> F>
  ResultSlot(F fn)
      : kind_(kCompute), compute_([fn = std::move(fn)](const MatchContext& m) {
          return ir::MakeAttr(*m.context(), V(fn(m)));
        }) {}
  template <ExpressionFor<V> U>
  ResultSlot(const Expression<U>& expression) : kind_(kExpression), expression_(expression) {}
  template <class WrongType>
  ResultSlot(WrongType) = delete;
  // As a source op has it, if it has an attribute of this name.
  static ResultSlot From(int source_op) {
    ResultSlot slot;
    slot.kind_ = kFrom;
    slot.variable_ = source_op;
    return slot;
  }

  Kind kind() const { return kind_; }
  const V& literal() const { return literal_; }
  int variable() const { return variable_; }
  int source_op() const { return variable_; }
  const ComputeAttr& compute() const { return compute_; }
  const internal::Phrase& expression() const { return expression_; }

 private:
  Kind kind_ = kDefault;
  V literal_{};
  int variable_ = -1;
  ComputeAttr compute_;
  internal::Phrase expression_;
};

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
  int op_;
};

namespace internal {

template <class Slot>
void RecordSourceAttr(PatternGraph* graph, int op, size_t field, const Slot& slot) {
  switch (slot.kind()) {
    case Slot::kDefault:
      return AddDefaultAttr(graph, op, field);
    case Slot::kLiterals: {
      std::vector<ir::Attribute> values;
      for (const auto& literal : slot.literals())
        values.push_back(ir::MakeAttr(*graph->context(), static_cast<typename Slot::V>(literal)));
      return AddLiterals(graph, op, field, std::move(values));
    }
    case Slot::kBind:
      return AddBind(graph, op, field, slot.variable());
    case Slot::kAny:
      return;
  }
}

// Adds the alternative O with these attributes, but for those that `except` gives.
template <class O>
void RecordAlternative(PatternGraph* graph, int op,
                       const typename O::template Attrs<SourceSlot>& attrs,
                       const typename O::template Attrs<SourceSlot>& except = {}) {
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
void RecordResultAttr(PatternGraph* graph, int op, size_t field, const Slot& slot) {
  switch (slot.kind()) {
    case Slot::kDefault:
      return AddResultDefault(graph, op, field);
    case Slot::kLiteral:
      return AddResultLiteral(graph, op, field, ir::MakeAttr(*graph->context(), slot.literal()));
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
void RecordResultAttrs(PatternGraph* graph, int op,
                       const typename O::template Attrs<ResultSlot>& attrs,
                       const typename O::template Attrs<ResultSlot>& except = {}) {
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
