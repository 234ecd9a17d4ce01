// The rule language: authors include this header and op headers, and link weft::drr.
//
//   src.Tensor("x")           a value; two uses of one handle must be the same value
//   src.Attr<Ints>("p")       an attribute variable; bound twice = equal
//   src.Op<O>({.perm = p})(x) an op. Silence on an attribute means its default; a literal, In{...},
//                             a handle or Any() say otherwise; Op<O>(AnyAttrs()) frees them all
//   src.OneOf<A, B>()(x)      one of several ops
//   src.Either(u, v)          one of several values
//   src.Optional(t)           an optional operand that may be absent
//   src.Repeat<A, B>()(x)     zero or more of these ops in a row, each reading the one before
//   src.AnyOp(traits)(x)      an op of any name
//   src.Tensors("xs")         any number of consecutive operands; src.Op<O>().Each(xs): one O each
//   src.Not(x, pattern)       x must not be what the pattern makes
//   src.Skip<Identity>(t)     these ops may stand between t and its reader; SkipNoOps<Cast>(t)
//   src.Outside(t)            t may be made in a block around its reader's
//   src.Returns(op, 0, {t})   what the op's region returns
//   src.Keep(t)               an intermediate value that others may read too; Recompute(t)
//   src.RequireNativeCall(why, f)  a constraint and its reason
//   res.Op<O>({...})(x)       attributes are literals, handles or lambdas; AttrsOf(op) copies all
//   res.None()                an optional operand that is not given
//   res.Like(one_of)(x)       the op, or chain of ops, that was matched, with its attributes
//   res.Constant(f)           a constant computed from the match; a null attribute declines
//   res.Tensor(out) = y       replaces the source value
//   res.PostProcess(f)        runs after the replacement, on the ops that were made
//
// Commutative ops match either operand order. See passes/canonicalize/ for rules.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/rule/match_context.h"
#include "drr/rule/pattern_graph.h"
#include "ir/dialects/builtin.h"

namespace weft::ir {
class Rewriter;
}  // namespace weft::ir

namespace weft::drr {

using ir::Floats;
using ir::Ints;
using ir::Shape;

// --- handles: trivially copyable, safe to capture with [=] -------------------

class Tensor {
 public:
  Tensor(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  int id() const { return id_; }
  PatternGraph* graph() const { return graph_; }

 private:
  PatternGraph* graph_;
  int id_;
};

// Any number of values: consecutive operands of an op that takes any number of them.
class TensorList {
 public:
  TensorList(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  int id() const { return id_; }
  PatternGraph* graph() const { return graph_; }

 private:
  PatternGraph* graph_;
  int id_;
};

class ResultList {
 public:
  explicit ResultList(int id) : id_(id) {}
  int id() const { return id_; }

 private:
  int id_;
};

class ResultTensor {
 public:
  explicit ResultTensor(int id) : id_(id) {}
  int id() const { return id_; }

 private:
  int id_;
};

template <class T>
class Attr {
 public:
  explicit Attr(int id) : id_(id) {}
  int id() const { return id_; }

 private:
  int id_;
};

inline BoundTensor MatchContext::operator[](Tensor tensor) const {
  return BoundTensor(value(tensor.id()));
}
inline bool MatchContext::Has(Tensor tensor) const { return static_cast<bool>(value(tensor.id())); }

// --- attribute slots ----------------------------------------------------------

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
struct Any {};       // .value = Any(): matches whatever is there
struct AnyAttrs {};  // Op<O>(AnyAttrs()): whatever all of them are

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

  Kind kind() const { return kind_; }
  const std::vector<V>& literals() const { return literals_; }
  int variable() const { return variable_; }

 private:
  Kind kind_ = kDefault;
  std::vector<V> literals_;
  int variable_ = -1;
};

// Result side: the op's default, a literal, a bound handle, or a function of the match.
template <class T>
class ResultSlot {
 public:
  using V = typename ir::ValueTypeOf<T>::type;
  enum Kind { kDefault, kLiteral, kCopy, kCompute };
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

  Kind kind() const { return kind_; }
  const V& literal() const { return literal_; }
  int variable() const { return variable_; }
  const ComputeAttr& compute() const { return compute_; }

 private:
  Kind kind_ = kDefault;
  V literal_{};
  int variable_ = -1;
  ComputeAttr compute_;
};

namespace internal {

// Non-template parts of recording (drr/cpp/record.cc): attribute `field` of the last alternative of
// source op `op`, or of result op `op`. What templates leave to them is compiled once, and not for
// every op of every rule.
void AddDefaultAttr(PatternGraph* graph, int op, size_t field);
void AddLiterals(PatternGraph* graph, int op, size_t field, std::vector<ir::Attribute> values);
void AddBind(PatternGraph* graph, int op, size_t field, int variable);
void AddResultDefault(PatternGraph* graph, int op, size_t field);
void AddResultLiteral(PatternGraph* graph, int op, size_t field, ir::Attribute value);
void AddResultCopy(PatternGraph* graph, int op, size_t field, int variable);
void AddResultCompute(PatternGraph* graph, int op, size_t field, const ComputeAttr& compute);
// The same for those who keep the attributes of an alternative themselves.
void AddDefaultAttr(PatternGraph* graph, const ir::FieldDef& field, SourceLoc loc,
                    std::string_view op, std::vector<AttrPattern>* attrs);
void AddLiterals(PatternGraph* graph, const ir::FieldDef& field, std::vector<ir::Attribute> values,
                 std::vector<AttrPattern>* attrs);
void AddBind(PatternGraph* graph, const ir::FieldDef& field, int variable,
             std::vector<AttrPattern>* attrs);

template <class O>
constexpr bool kArityOk(size_t n) {
  return n >= ir::MinOperands<O>() && n <= ir::MaxOperands<O>();
}
// A list among the operands is whatever is left of a variadic operand.
template <class O, class List, class... In>
constexpr bool CallOk() {
  constexpr bool kList = (std::is_same_v<In, List> || ...);
  return kList ? ir::MaxOperands<O>() == SIZE_MAX : kArityOk<O>(sizeof...(In));
}
template <class O>
constexpr size_t NumRequiredResults() {
  size_t n = 0;
  for (const auto& r : O::kInfo.results) n += r.arity == ir::Arity::kOne;
  return n;
}

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

// Adds the alternative O with these attributes.
template <class O>
void RecordAlternative(PatternGraph* graph, int op,
                       const typename O::template Attrs<SourceSlot>& attrs) {
  graph->AddAlternative(op, ir::OpDefOf<O>());
  [[maybe_unused]] size_t i = 0;
  std::apply(
      [&](const auto&... field) { (RecordSourceAttr(graph, op, i++, attrs.*field.member), ...); },
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
  }
}

// Handles of consecutive ids: one, or an array for structured bindings.
template <size_t kCount, class MakeHandle>
auto Results(MakeHandle make) {
  if constexpr (kCount == 1) {
    return make(0);
  } else {
    return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      return std::array<decltype(make(0)), kCount>{make(static_cast<int>(kIndex))...};
    }
    (std::make_index_sequence<kCount>());
  }
}

}  // namespace internal

// --- op patterns ----------------------------------------------------------------

struct NoneTensor {};  // an optional operand that is not given

class SourceOperand {
 public:
  SourceOperand(Tensor t) : id_(t.id()) {}
  SourceOperand(TensorList t) : id_(t.id()) {}
  SourceOperand(NoneTensor) : id_(kAbsent) {}
  int id() const { return id_; }

 private:
  int id_;
};

// Applied to operands it gives its result, or an array of its results for structured bindings.
template <class O>
class OpPattern {
 public:
  OpPattern(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  template <class... In>
  auto operator()(const In&... in) const {
    static_assert((std::convertible_to<In, SourceOperand> && ...),
                  "source operands must be source tensors");
    static_assert(internal::CallOk<O, TensorList, In...>(), "wrong number of operands for this op");
    constexpr size_t kResults = internal::NumRequiredResults<O>();
    const std::array<int, sizeof...(In)> operands{SourceOperand(in).id()...};
    const int first = graph_->Call(id_, operands, kResults);
    return internal::Results<kResults>([&](int i) { return Tensor(graph_, first + i); });
  }
  // One such op for every element of a list: a list of their results.
  TensorList Each(TensorList operands) const {
    static_assert(internal::kArityOk<O>(1), "Each() is for ops of one operand");
    return {graph_, graph_->CallEach(id_, operands.id())};
  }
  int id() const { return id_; }

 private:
  PatternGraph* graph_;
  int id_;
};

template <class... Os>
class OneOfPattern {
 public:
  OneOfPattern(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  template <class... In>
  Tensor operator()(const In&... in) const {
    static_assert((internal::CallOk<Os, TensorList, In...>() && ...),
                  "wrong number of operands for one of these ops");
    const std::array<int, sizeof...(In)> operands{SourceOperand(in).id()...};
    return Tensor(graph_, graph_->Call(id_, operands, 1));
  }
  TensorList Each(TensorList operands) const {
    static_assert((internal::kArityOk<Os>(1) && ...), "Each() is for ops of one operand");
    return {graph_, graph_->CallEach(id_, operands.id())};
  }
  int id() const { return id_; }

 private:
  PatternGraph* graph_;
  int id_;
};

// An op of any name, of which the first result is read.
class AnyOpPattern {
 public:
  AnyOpPattern(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  template <class... In>
  Tensor operator()(const In&... in) const {
    static_assert((std::convertible_to<In, SourceOperand> && ...),
                  "source operands must be source tensors");
    const std::array<int, sizeof...(In)> operands{SourceOperand(in).id()...};
    return Tensor(graph_, graph_->Call(id_, operands, 1));
  }
  int id() const { return id_; }

 private:
  PatternGraph* graph_;
  int id_;
};

// How often ops may repeat. A longer chain matches with as many of its last ops as are allowed.
struct Range {
  int min = 0;
  int max = 32;
};

// Zero or more ops in a row. Each reads the one before with its first operand (a commutative one
// with the other when the first is a constant); further operands are whatever they are.
class RepeatPattern {
 public:
  RepeatPattern(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  Tensor operator()(const Tensor& in) const {
    const int operand = in.id();
    return Tensor(graph_, graph_->Call(id_, {&operand, 1}, 1));
  }
  int id() const { return id_; }

 private:
  PatternGraph* graph_;
  int id_;
};

class Operand {
 public:
  Operand(Tensor t) : value{ResultOperand::kSource, t.id()} {}
  Operand(ResultTensor t) : value{ResultOperand::kResult, t.id()} {}
  Operand(TensorList t) : value{ResultOperand::kSource, t.id(), true} {}
  Operand(ResultList t) : value{ResultOperand::kResult, t.id(), true} {}
  Operand(NoneTensor) {}
  ResultOperand value;
};

template <class O>
class ResultOpPattern {
 public:
  ResultOpPattern(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  template <class... In>
  auto operator()(const In&... in) const {
    static_assert((std::convertible_to<In, Operand> && ...), "operands must be tensors or None()");
    constexpr bool kSourceList = (std::is_same_v<In, TensorList> || ...);
    using List = std::conditional_t<kSourceList, TensorList, ResultList>;
    static_assert(internal::CallOk<O, List, In...>(), "wrong number of operands for this op");
    constexpr size_t kResults = internal::NumRequiredResults<O>();
    const std::array<ResultOperand, sizeof...(In)> operands{Operand(in).value...};
    const int first = graph_->CallResult(id_, operands, kResults);
    return internal::Results<kResults>([&](int i) { return ResultTensor(first + i); });
  }
  // One such op for every element of a list, which is its first operand: a list of their results.
  template <class... In>
  ResultList Each(Operand list, const In&... in) const {
    static_assert((std::convertible_to<In, Operand> && ...), "operands must be tensors or None()");
    static_assert(internal::kArityOk<O>(1 + sizeof...(In)), "wrong number of operands for this op");
    const std::array<ResultOperand, 1 + sizeof...(In)> operands{list.value, Operand(in).value...};
    return ResultList(graph_->CallEachResult(id_, operands));
  }
  int id() const { return id_; }

 private:
  PatternGraph* graph_;
  int id_;
};

class ResultOpLike {
 public:
  ResultOpLike(PatternGraph* graph, int id) : graph_(graph), id_(id) {}
  template <class... In>
  ResultTensor operator()(const In&... in) const {
    static_assert((std::convertible_to<In, Operand> && ...), "operands must be tensors or None()");
    const std::array<ResultOperand, sizeof...(In)> operands{Operand(in).value...};
    return ResultTensor(graph_->CallResult(id_, operands, 1));
  }

 private:
  PatternGraph* graph_;
  int id_;
};

// Copies, by name, the attributes a matched op has and the new op knows.
class AttrsOf {
 public:
  template <class O>
  explicit AttrsOf(OpPattern<O> op) : op_(op.id()) {}
  template <class... Os>
  explicit AttrsOf(OneOfPattern<Os...> op) : op_(op.id()) {}
  explicit AttrsOf(AnyOpPattern op) : op_(op.id()) {}
  int op() const { return op_; }

 private:
  int op_;
};

// --- after the replacement ---------------------------------------------------------

// What a post-process hook sees: the ops the rule has made, and what is left of the match.
class PostContext {
 public:
  PostContext(const MatchContext* match, ir::Rewriter* rewriter,
              const std::vector<ir::Operation>* created, const std::vector<ir::Value>* results)
      : match_(*match), rewriter_(*rewriter), created_(*created), results_(*results) {}

  ir::Rewriter& rewriter() { return rewriter_; }  // include ir/rewriter.h to use it
  ir::IrContext* context() const { return match_.context(); }
  const std::vector<ir::Operation>& created() const { return created_; }  // in the order made
  ir::Value operator[](ResultTensor t) const { return results_[t.id()]; }
  template <class O>
  ir::Operation operator[](ResultOpPattern<O> op) const {
    return ResultOpAt(op.id());
  }
  template <class T>
  T operator[](drr::Attr<T> attr) const {
    return match_[attr];
  }
  // A matched value, null if it went with the ops that were replaced.
  BoundTensor operator[](Tensor t) const;

 private:
  ir::Operation ResultOpAt(int op) const;
  const MatchContext& match_;
  ir::Rewriter& rewriter_;
  const std::vector<ir::Operation>& created_;
  const std::vector<ir::Value>& results_;
};

// --- source and result patterns ---------------------------------------------------

class ResultPattern {
 public:
  explicit ResultPattern(PatternGraph* graph) : graph_(graph) {}

  template <class O>
  ResultOpPattern<O> Op(typename O::template Attrs<ResultSlot> attrs = {},
                        SourceLoc loc = SourceLoc::Here()) {
    return Make<O>(-1, attrs, loc);
  }
  template <class O>
  ResultOpPattern<O> Op(AttrsOf from, typename O::template Attrs<ResultSlot> overrides = {},
                        SourceLoc loc = SourceLoc::Here()) {
    return Make<O>(from.op(), overrides, loc);
  }

  // The op that `matched` is, with its attributes, on other operands.
  template <class... Os>
  ResultOpLike Like(OneOfPattern<Os...> matched, SourceLoc loc = SourceLoc::Here()) {
    return LikeOp(matched.id(), loc);
  }

  ResultOpLike Like(AnyOpPattern matched, SourceLoc loc = SourceLoc::Here()) {
    return LikeOp(matched.id(), loc);
  }
  // All of a chain, one on top of the other, their further operands included; of an empty one its
  // operand.
  ResultOpLike Like(RepeatPattern matched, SourceLoc loc = SourceLoc::Here()) {
    return LikeOp(matched.id(), loc);
  }

  // A builtin.constant whose contents the function computes; a null attribute declines the match.
  template <ComputesFor<ir::Attribute> F>
  ResultTensor Constant(F fn, SourceLoc loc = SourceLoc::Here()) {
    return Op<ir::ConstantOp>({.value = std::move(fn)}, loc)();
  }
  ResultTensor ConstantInts(ir::Function<Ints(const MatchContext&)> fn,  // 1-D i64
                            SourceLoc loc = SourceLoc::Here());
  ResultTensor ConstantInts(std::initializer_list<int64_t> values,
                            SourceLoc loc = SourceLoc::Here());

  class Output {
   public:
    Output(PatternGraph* graph, int source, SourceLoc loc)
        : graph_(graph), source_(source), loc_(loc) {}
    void operator=(Operand with) &&;

   private:
    PatternGraph* graph_;
    int source_;
    SourceLoc loc_;
  };
  Output Tensor(const drr::Tensor& source, SourceLoc loc = SourceLoc::Here()) {
    return Output(graph_, source.id(), loc);
  }
  static NoneTensor None() { return {}; }
  // Run once the match is replaced, in the order given.
  template <std::invocable<PostContext&> F>
  void PostProcess(F fn, SourceLoc loc = SourceLoc::Here()) {
    AddPostHook(std::move(fn), loc);
  }

 private:
  ResultOpLike LikeOp(int source_op, SourceLoc loc);
  void AddPostHook(ir::Function<void(PostContext&)> run, SourceLoc loc);
  template <class O>
  ResultOpPattern<O> Make(int attrs_of, const typename O::template Attrs<ResultSlot>& attrs,
                          SourceLoc loc) {
    const int op = graph_->NewResultOp(ir::OpDefOf<O>(), attrs_of, loc);
    [[maybe_unused]] size_t i = 0;
    std::apply(
        [&](const auto&... field) {
          (internal::RecordResultAttr(graph_, op, i++, attrs.*field.member), ...);
        },
        attrs.Fields());
    return ResultOpPattern<O>(graph_, op);
  }
  PatternGraph* graph_;
};

class SourcePattern {
 public:
  explicit SourcePattern(PatternGraph* graph) : graph_(graph) {}

  drr::Tensor Tensor(std::string_view name, SourceLoc loc = SourceLoc::Here()) {
    return {graph_, graph_->NewValue(name, loc)};
  }
  TensorList Tensors(std::string_view name, SourceLoc loc = SourceLoc::Here());
  template <class T>
  drr::Attr<T> Attr(std::string_view name, SourceLoc loc = SourceLoc::Here()) {
    return drr::Attr<T>(graph_->NewAttr(name, loc));
  }

  template <class O>
  OpPattern<O> Op(typename O::template Attrs<SourceSlot> attrs = {},
                  SourceLoc loc = SourceLoc::Here()) {
    const int op = graph_->NewOp(loc);
    internal::RecordAlternative<O>(graph_, op, attrs);
    return {graph_, op};
  }
  template <class O>
  OpPattern<O> Op(AnyAttrs, SourceLoc loc = SourceLoc::Here()) {
    const int op = graph_->NewOp(loc);
    graph_->AddAlternative(op, ir::OpDefOf<O>());
    return {graph_, op};
  }
  // Alternatives match with default attributes, or with OneOf<...>(AnyAttrs()) with any.
  template <class... Os>
  OneOfPattern<Os...> OneOf(SourceLoc loc = SourceLoc::Here()) {
    const int op = graph_->NewOp(loc);
    (internal::RecordAlternative<Os>(graph_, op, {}), ...);
    return {graph_, op};
  }
  template <class... Os>
  OneOfPattern<Os...> OneOf(AnyAttrs, SourceLoc loc = SourceLoc::Here()) {
    const int op = graph_->NewOp(loc);
    (graph_->AddAlternative(op, ir::OpDefOf<Os>()), ...);
    return {graph_, op};
  }
  // An op of any name that has all of `traits` (ir::kElementwise | ...). What the match replaces
  // must be pure.
  AnyOpPattern AnyOp(uint32_t traits = ir::kNone, SourceLoc loc = SourceLoc::Here());
  // An op of that name, which need not be defined: "onnx.If".
  AnyOpPattern AnyOp(std::string_view name, SourceLoc loc = SourceLoc::Here());
  // Zero or more of these ops with default attributes, or with Repeat<...>(AnyAttrs()) with any.
  template <class... Os>
  RepeatPattern Repeat(Range times = {}, SourceLoc loc = SourceLoc::Here()) {
    const int op = graph_->NewOp(loc);
    (internal::RecordAlternative<Os>(graph_, op, {}), ...);
    return MakeRepeat(op, times);
  }
  template <class... Os>
  RepeatPattern Repeat(AnyAttrs, Range times = {}, SourceLoc loc = SourceLoc::Here()) {
    const int op = graph_->NewOp(loc);
    (graph_->AddAlternative(op, ir::OpDefOf<Os>()), ...);
    return MakeRepeat(op, times);
  }
  // Zero or more ops of any name that have all of `traits`.
  RepeatPattern RepeatAny(uint32_t traits, Range times = {}, SourceLoc loc = SourceLoc::Here());

  drr::Tensor Either(const drr::Tensor& a, const drr::Tensor& b,
                     SourceLoc loc = SourceLoc::Here()) {
    return EitherOf({a, b}, loc);
  }
  drr::Tensor EitherOf(std::initializer_list<drr::Tensor> alternatives,
                       SourceLoc loc = SourceLoc::Here());
  // Marks a value that is an operand: the operand may be absent.
  drr::Tensor Optional(const drr::Tensor& t) {
    graph_->values[t.id()].optional = true;
    return t;
  }
  // Marks an intermediate value that others may read too: its producer then stays.
  drr::Tensor Keep(const drr::Tensor& t) {
    graph_->values[t.id()].escape = Escape::kKeep;
    return t;
  }
  TensorList Keep(const TensorList& t) {
    graph_->values[t.id()].escape = Escape::kKeep;
    return t;
  }
  // As Keep(), and what is matched below t may be read by others too: it all stays for them, and
  // what the result needs of it is computed again.
  drr::Tensor Recompute(const drr::Tensor& t) {
    graph_->values[t.id()].escape = Escape::kRecompute;
    return t;
  }
  // Marks a value that may be made in a block around the one it is read in.
  drr::Tensor Outside(const drr::Tensor& t) {
    graph_->values[t.id()].outside = true;
    return t;
  }
  // t, or what a few of these ops in a row make of it (of their first operand).
  template <class... Os>
  drr::Tensor Skip(const drr::Tensor& t, SourceLoc loc = SourceLoc::Here()) {
    return MakeSkip(t, {&ir::OpDefOf<Os>()...}, false, loc);
  }
  // The same, but each only where its result has the type of its operand, and no dim is unknown.
  template <class... Os>
  drr::Tensor SkipNoOps(const drr::Tensor& t, SourceLoc loc = SourceLoc::Here()) {
    return MakeSkip(t, {&ir::OpDefOf<Os>()...}, true, loc);
  }
  // t must not be made by what `pattern` describes. Handles that only the pattern has are unbound.
  drr::Tensor Not(const drr::Tensor& t, const drr::Tensor& pattern);
  // What the terminator of the op's region returns; None(): whatever is returned there.
  template <class P>
  void Returns(const P& op, int region, std::initializer_list<SourceOperand> values,
               SourceLoc loc = SourceLoc::Here()) {
    AddReturns(op.id(), region, values, loc);
  }
  static NoneTensor None() { return {}; }

  template <std::predicate<const MatchContext&> F>
  void RequireNativeCall(std::string_view why, F fn, SourceLoc loc = SourceLoc::Here()) {
    AddConstraint(why, std::move(fn), loc);
  }

  drr::ResultPattern ResultPattern() { return drr::ResultPattern(graph_); }

 private:
  RepeatPattern MakeRepeat(int op, Range times);
  drr::Tensor MakeSkip(const drr::Tensor& t, std::initializer_list<const ir::OpDef*> skipped,
                       bool same_type, SourceLoc loc);
  void AddReturns(int op, int region, std::initializer_list<SourceOperand> values, SourceLoc loc);
  void AddConstraint(std::string_view why, ir::Function<bool(const MatchContext&)> holds,
                     SourceLoc loc);
  PatternGraph* graph_;
};

class DrrPatternContext {
 public:
  DrrPatternContext(std::string_view rule, ir::IrContext* context);
  ~DrrPatternContext();
  DrrPatternContext(const DrrPatternContext&) = delete;
  DrrPatternContext& operator=(const DrrPatternContext&) = delete;
  drr::SourcePattern SourcePattern(SourceLoc loc = SourceLoc::Here()) {
    graph_->loc = loc;
    return drr::SourcePattern(graph_.get());
  }
  PatternGraph& graph() { return *graph_; }

 private:
  ir::Owned<PatternGraph> graph_;  // handles keep pointers to it while the rule is recorded
};

// The outcome of building a rule: the rule, or every mistake in it as file:line: error: text.
struct BuildResult {
  ir::Owned<Rule> rule;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;  // string spelling only: what the rule leaves unused
  bool ok() const { return rule != nullptr; }

  BuildResult();
  BuildResult(BuildResult&& other) noexcept;
  BuildResult& operator=(BuildResult&& other) noexcept;
  ~BuildResult();
};

// What a rule says of itself besides its pattern.
struct RuleInfo {
  std::string_view name, algebra;
  NumericClass numerics = NumericClass::kReassociates;
  int benefit = 0;
};

namespace internal {

class PatternRecorder {
 public:
  virtual ~PatternRecorder() = default;
  virtual void operator()(DrrPatternContext* ctx) const = 0;

 protected:
  BuildResult BuildRule(ir::IrContext* context, const RuleInfo& info) const;
};
// Checks a recorded graph and makes it a rule.
BuildResult FinishRule(PatternGraph graph, const RuleInfo& info);
template <class GraphPointer>
BuildResult FinishRule(GraphPointer graph, std::string_view algebra, NumericClass numerics,
                       int benefit) {
  const std::string name(graph->rule());
  return FinishRule(std::move(*graph), {name, algebra, numerics, benefit});
}

}  // namespace internal

// A rule: derive, give kName (kebab-case), optionally kAlgebra, kNumerics and kBenefit, and
// override operator().
template <class Derived>
class DrrPatternBase : public internal::PatternRecorder {
 public:
  BuildResult Build(ir::IrContext* context) const {
    RuleInfo info{.name = Name()};
    if constexpr (requires { Derived::kAlgebra; }) info.algebra = Derived::kAlgebra;
    if constexpr (requires { Derived::kNumerics; }) info.numerics = Derived::kNumerics;
    if constexpr (requires { Derived::kBenefit; }) info.benefit = Derived::kBenefit;
    return BuildRule(context, info);
  }
  static constexpr std::string_view Name() {
    if constexpr (requires { Derived::kName; }) {
      return Derived::kName;
    } else {
      return "unnamed-rule";
    }
  }
};

}  // namespace weft::drr
