// The rule language: authors include this header and op headers, and link weft::drr.
//
//   src.Tensor("x")           a value; two uses of one handle must be the same value
//   src.Attr<Ints>("p")       an attribute variable; bound twice = equal
//   src.Op<O>({.perm = p})(x) an op. Silence on an attribute means its default; a literal, In{...},
//                             a handle or Any() say otherwise; Op<O>(AnyAttrs()) frees them all
//   src.OneOf<A, B>()(x)      one of several ops
//   src.Either(u, v)          one of several values
//   src.Optional(t)           an optional operand that may be absent
//   src.Keep(t)               an intermediate value that others may read too
//   src.RequireNativeCall(why, f)  a constraint and its reason
//   res.Op<O>({...})(x)       attributes are literals, handles or lambdas; AttrsOf(op) copies all
//   res.None()                an optional operand that is not given
//   res.Like(one_of)(x)       the op that was matched, with its attributes
//   res.Constant(f)           a constant computed from the match; a null attribute declines
//   res.Tensor(out) = y       replaces the source value
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
    static_assert(internal::kArityOk<O>(sizeof...(In)), "wrong number of operands for this op");
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
    static_assert((internal::kArityOk<Os>(sizeof...(In)) && ...),
                  "wrong number of operands for one of these ops");
    const std::array<int, sizeof...(In)> operands{SourceOperand(in).id()...};
    graph_->Call(id_, operands, 1);
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
    static_assert(internal::kArityOk<O>(sizeof...(In)), "wrong number of operands for this op");
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
  int op() const { return op_; }

 private:
  int op_;
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
    ResultOp op;
    op.like = matched.id();
    op.loc = loc;
    return ResultOpLike(graph_, graph_->NewResultOp(std::move(op)));
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

 private:
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
  static NoneTensor None() { return {}; }

  template <std::predicate<const MatchContext&> F>
  void RequireNativeCall(std::string_view why, F fn, SourceLoc loc = SourceLoc::Here()) {
    graph_->constraints.push_back({std::string(why), std::move(fn), loc});
  }

  drr::ResultPattern ResultPattern() { return drr::ResultPattern(graph_); }

 private:
  PatternGraph* graph_;
};

class DrrPatternContext {
 public:
  DrrPatternContext(std::string_view rule, ir::IrContext* context)
      : graph_(std::make_unique<PatternGraph>(rule, context)) {}
  drr::SourcePattern SourcePattern() { return drr::SourcePattern(graph_.get()); }
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
