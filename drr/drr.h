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
// Commutative ops match either operand order. See passes/rules/ for rules.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drr/match_context.h"
#include "drr/pattern.h"
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

// Non-template parts of recording (drr/record.cc).
void AddDefaultAttr(PatternGraph* graph, const ir::FieldDef& field, SourceLoc loc,
                    std::string_view op, std::vector<AttrPattern>* attrs);
void AddLiterals(PatternGraph* graph, const ir::FieldDef& field, std::vector<ir::Attribute> values,
                 std::vector<AttrPattern>* attrs);
void AddBind(PatternGraph* graph, const ir::FieldDef& field, int variable,
             std::vector<AttrPattern>* attrs);
void CheckResultAttr(PatternGraph* graph, const ir::OpDef& def, const ir::FieldDef& field, bool set,
                     bool inherited, int variable, SourceLoc loc);

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

template <class O>
std::vector<AttrPattern> RecordSourceAttrs(PatternGraph* graph,
                                           const typename O::template Attrs<SourceSlot>& attrs,
                                           SourceLoc loc) {
  std::vector<AttrPattern> result;
  const ir::OpDef& def = ir::OpDefOf<O>();
  size_t i = 0;
  auto record = [&](const auto& slot) {
    const ir::FieldDef& field = def.fields[i++];
    using Slot = std::decay_t<decltype(slot)>;
    switch (slot.kind()) {
      case Slot::kDefault:
        AddDefaultAttr(graph, field, loc, def.name(), &result);
        break;
      case Slot::kLiterals: {
        std::vector<ir::Attribute> values;
        for (const auto& literal : slot.literals())
          values.push_back(ir::MakeAttr(*graph->context(), static_cast<typename Slot::V>(literal)));
        AddLiterals(graph, field, std::move(values), &result);
        break;
      }
      case Slot::kBind:
        AddBind(graph, field, slot.variable(), &result);
        break;
      case Slot::kAny:
        break;
    }
  };
  std::apply([&](const auto&... field) { (record(attrs.*field.member), ...); }, attrs.Fields());
  return result;
}

template <class O>
std::vector<ResultAttr> RecordResultAttrs(PatternGraph* graph,
                                          const typename O::template Attrs<ResultSlot>& attrs,
                                          bool inherited, SourceLoc loc) {
  std::vector<ResultAttr> result;
  const ir::OpDef& def = ir::OpDefOf<O>();
  size_t i = 0;
  auto record = [&](const auto& slot) {
    const ir::FieldDef& field = def.fields[i++];
    using Slot = std::decay_t<decltype(slot)>;
    CheckResultAttr(graph, def, field, slot.kind() != Slot::kDefault, inherited, slot.variable(),
                    loc);
    ResultAttr attr{field.name, {}, -1, {}};
    if (slot.kind() == Slot::kDefault) {
      if (inherited || !field.make_default) return;
      attr.literal = field.make_default(*graph->context());
    } else if (slot.kind() == Slot::kLiteral) {
      attr.literal = ir::MakeAttr(*graph->context(), slot.literal());
    } else if (slot.kind() == Slot::kCopy) {
      attr.variable = slot.variable();
    } else {
      attr.compute = slot.compute();
    }
    result.push_back(std::move(attr));
  };
  std::apply([&](const auto&... field) { (record(attrs.*field.member), ...); }, attrs.Fields());
  return result;
}

template <class Handle, size_t... kIndex>
std::array<Handle, sizeof...(kIndex)> Pack(const std::vector<Handle>& v,
                                           std::index_sequence<kIndex...>) {
  return {v[kIndex]...};
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
    graph_->Call(id_, operands, kResults);
    std::vector<Tensor> outs;
    for (int id : graph_->ops[id_].results) outs.emplace_back(graph_, id);
    if constexpr (kResults == 1) {
      return outs[0];
    } else {
      return internal::Pack(outs, std::make_index_sequence<kResults>());
    }
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
    graph_->Call(id_, operands, 1);
    return Tensor(graph_, graph_->ops[id_].results[0]);
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
    graph_->Call(id_, operands, 1);
    return Tensor(graph_, graph_->ops[id_].results[0]);
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
    graph_->Call(id_, {&operand, 1}, 1);
    return Tensor(graph_, graph_->ops[id_].results[0]);
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
    graph_->CallResult(id_, operands, kResults);
    std::vector<ResultTensor> outs;
    for (int id : graph_->result_ops[id_].results) outs.emplace_back(id);
    if constexpr (kResults == 1) {
      return outs[0];
    } else {
      return internal::Pack(outs, std::make_index_sequence<kResults>());
    }
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
    graph_->CallResult(id_, operands, 1);
    return ResultTensor(graph_->result_ops[id_].results[0]);
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
  ResultTensor ConstantInts(std::function<Ints(const MatchContext&)> fn,  // 1-D i64
                            SourceLoc loc = SourceLoc::Here());
  ResultTensor ConstantInts(std::initializer_list<int64_t> values,
                            SourceLoc loc = SourceLoc::Here());

  class Output {
   public:
    Output(PatternGraph* graph, int source, SourceLoc loc)
        : graph_(graph), source_(source), loc_(loc) {}
    void operator=(Operand with) && { graph_->replacements.push_back({source_, with.value, loc_}); }

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
    graph_->post_hooks.push_back({std::move(fn), loc});
  }

 private:
  ResultOpLike LikeOp(int source_op, SourceLoc loc);
  template <class O>
  ResultOpPattern<O> Make(int attrs_of, const typename O::template Attrs<ResultSlot>& attrs,
                          SourceLoc loc) {
    ResultOp op;
    op.def = &ir::OpDefOf<O>();
    op.attrs_of = attrs_of;
    op.attrs = internal::RecordResultAttrs<O>(graph_, attrs, attrs_of >= 0, loc);
    op.loc = loc;
    return ResultOpPattern<O>(graph_, graph_->NewResultOp(std::move(op)));
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
    SourceOp op;
    op.alternatives.push_back(
        {&ir::OpDefOf<O>(), internal::RecordSourceAttrs<O>(graph_, attrs, loc)});
    op.loc = loc;
    return {graph_, graph_->NewOp(std::move(op))};
  }
  template <class O>
  OpPattern<O> Op(AnyAttrs, SourceLoc loc = SourceLoc::Here()) {
    SourceOp op;
    op.alternatives.push_back({&ir::OpDefOf<O>(), {}});
    op.loc = loc;
    return {graph_, graph_->NewOp(std::move(op))};
  }
  // Alternatives match with default attributes, or with OneOf<...>(AnyAttrs()) with any.
  template <class... Os>
  OneOfPattern<Os...> OneOf(SourceLoc loc = SourceLoc::Here()) {
    SourceOp op;
    (op.alternatives.push_back(
         {&ir::OpDefOf<Os>(), internal::RecordSourceAttrs<Os>(graph_, {}, loc)}),
     ...);
    op.loc = loc;
    return {graph_, graph_->NewOp(std::move(op))};
  }
  template <class... Os>
  OneOfPattern<Os...> OneOf(AnyAttrs, SourceLoc loc = SourceLoc::Here()) {
    SourceOp op;
    (op.alternatives.push_back({&ir::OpDefOf<Os>(), {}}), ...);
    op.loc = loc;
    return {graph_, graph_->NewOp(std::move(op))};
  }
  // An op of any name that has all of `traits` (ir::kElementwise | ...). What the match replaces
  // must be pure.
  AnyOpPattern AnyOp(uint32_t traits = ir::kNone, SourceLoc loc = SourceLoc::Here());
  // An op of that name, which need not be defined: "onnx.If".
  AnyOpPattern AnyOp(std::string_view name, SourceLoc loc = SourceLoc::Here());
  // Zero or more of these ops with default attributes, or with Repeat<...>(AnyAttrs()) with any.
  template <class... Os>
  RepeatPattern Repeat(Range times = {}, SourceLoc loc = SourceLoc::Here()) {
    SourceOp op;
    (op.alternatives.push_back(
         {&ir::OpDefOf<Os>(), internal::RecordSourceAttrs<Os>(graph_, {}, loc)}),
     ...);
    return MakeRepeat(std::move(op), times, loc);
  }
  template <class... Os>
  RepeatPattern Repeat(AnyAttrs, Range times = {}, SourceLoc loc = SourceLoc::Here()) {
    SourceOp op;
    (op.alternatives.push_back({&ir::OpDefOf<Os>(), {}}), ...);
    return MakeRepeat(std::move(op), times, loc);
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
    return MakeSkip(t, {{&ir::OpDefOf<Os>(), false}...}, loc);
  }
  // The same, but each only where its result has the type of its operand, and no dim is unknown.
  template <class... Os>
  drr::Tensor SkipNoOps(const drr::Tensor& t, SourceLoc loc = SourceLoc::Here()) {
    return MakeSkip(t, {{&ir::OpDefOf<Os>(), true}...}, loc);
  }
  // t must not be made by what `pattern` describes. Handles that only the pattern has are unbound.
  drr::Tensor Not(const drr::Tensor& t, const drr::Tensor& pattern) {
    graph_->values[t.id()].nots.push_back(pattern.id());
    return t;
  }
  // What the terminator of the op's region returns; None(): whatever is returned there.
  template <class P>
  void Returns(const P& op, int region, std::initializer_list<SourceOperand> values,
               SourceLoc loc = SourceLoc::Here()) {
    RegionPattern& r = graph_->ops[op.id()].regions.emplace_back();
    r.region = region;
    r.loc = loc;
    for (const SourceOperand& v : values) r.returned.push_back(v.id());
  }
  static NoneTensor None() { return {}; }

  template <std::predicate<const MatchContext&> F>
  void RequireNativeCall(std::string_view why, F fn, SourceLoc loc = SourceLoc::Here()) {
    graph_->constraints.push_back({std::string(why), std::move(fn), loc});
  }

  drr::ResultPattern ResultPattern() { return drr::ResultPattern(graph_); }

 private:
  RepeatPattern MakeRepeat(SourceOp op, Range times, SourceLoc loc);
  drr::Tensor MakeSkip(const drr::Tensor& t, std::vector<SkippedOp> skipped, SourceLoc loc);
  PatternGraph* graph_;
};

class DrrPatternContext {
 public:
  DrrPatternContext(std::string_view rule, ir::IrContext* context)
      : graph_(std::make_unique<PatternGraph>(rule, context)) {}
  drr::SourcePattern SourcePattern(SourceLoc loc = SourceLoc::Here()) {
    graph_->loc = loc;
    return drr::SourcePattern(graph_.get());
  }
  PatternGraph& graph() { return *graph_; }
  std::unique_ptr<PatternGraph> Take() { return std::move(graph_); }

 private:
  std::unique_ptr<PatternGraph> graph_;  // handles keep pointers to it while the rule is recorded
};

// The outcome of building a rule: the rule, or every mistake in it as file:line: error: text.
struct BuildResult {
  std::unique_ptr<Rule> rule;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;  // string spelling only: what the rule leaves unused
  bool ok() const { return rule != nullptr; }
};

namespace internal {
BuildResult FinishRule(std::unique_ptr<PatternGraph> graph, std::string_view algebra,
                       NumericClass numerics, int benefit);
}  // namespace internal

// A rule: derive, give kName (kebab-case), optionally kAlgebra, kNumerics and kBenefit, and
// override operator().
template <class Derived>
class DrrPatternBase {
 public:
  virtual ~DrrPatternBase() = default;
  virtual void operator()(DrrPatternContext* ctx) const = 0;

  BuildResult Build(ir::IrContext* context) const {
    DrrPatternContext ctx(Name(), context);
    (*this)(&ctx);
    std::string_view algebra;
    NumericClass numerics = NumericClass::kReassociates;
    int benefit = 0;
    if constexpr (requires { Derived::kAlgebra; }) algebra = Derived::kAlgebra;
    if constexpr (requires { Derived::kNumerics; }) numerics = Derived::kNumerics;
    if constexpr (requires { Derived::kBenefit; }) benefit = Derived::kBenefit;
    return internal::FinishRule(ctx.Take(), algebra, numerics, benefit);
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
