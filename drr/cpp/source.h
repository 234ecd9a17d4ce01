// What a rule finds: `src` in the examples of drr/drr.h.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "drr/cpp/constraints.h"
#include "drr/cpp/let.h"
#include "drr/cpp/op_patterns.h"
#include "drr/cpp/result.h"
#include "drr/cpp/slots.h"

namespace weft::drr {

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

  // `except`: attributes that are not as in the first, which is then AnyAttrs().
  template <class O>
  OpPattern<O> Op(SourceAttrs<O> attrs = {}, SourceAttrs<O> except = {},
                  SourceLoc loc = SourceLoc::Here()) {
    const OpId op = graph_->NewOp(loc);
    internal::RecordAlternative<O>(graph_, op, attrs, except);
    return {graph_, op};
  }
  // Alternatives match with default attributes, or with OneOf<...>(AnyAttrs()) with any.
  template <class... Os>
  OneOfPattern<Os...> OneOf(SourceLoc loc = SourceLoc::Here()) {
    const OpId op = graph_->NewOp(loc);
    (internal::RecordAlternative<Os>(graph_, op, {}), ...);
    return {graph_, op};
  }
  template <class... Os>
  OneOfPattern<Os...> OneOf(AnyAttrs, SourceLoc loc = SourceLoc::Here()) {
    const OpId op = graph_->NewOp(loc);
    (graph_->AddAlternative(op, ir::OpDefOf<Os>()), ...);
    return {graph_, op};
  }
  // The same, but for attributes that all of them have.
  template <class First, class... Others>
  OneOfPattern<First, Others...> OneOf(AnyAttrs any, SourceAttrs<First> except,
                                       SourceLoc loc = SourceLoc::Here()) {
    const OpId op = graph_->NewOp(loc);
    internal::RecordAlternative<First>(graph_, op, any, except);
    (graph_->AddAlternative(op, ir::OpDefOf<Others>()), ...);
    internal::ShareAttrs(graph_, op);
    return {graph_, op};
  }
  // The first with these attributes, or one of the others with any.
  template <class First, class... Others>
  OneOfPattern<First, Others...> OneOf(SourceAttrs<First> first, AnyAttrs,
                                       SourceLoc loc = SourceLoc::Here()) {
    const OpId op = graph_->NewOp(loc);
    internal::RecordAlternative<First>(graph_, op, first);
    (graph_->AddAlternative(op, ir::OpDefOf<Others>()), ...);
    return {graph_, op};
  }
  // An op of any name that has all of `traits` (ir::kElementwise | ...), of the dialects that are
  // loaded when the rules are frozen. What the match replaces must be pure.
  AnyOpPattern AnyOp(uint32_t traits = ir::kNone, SourceLoc loc = SourceLoc::Here());
  // An op of that name, which need not be defined: "onnx.If".
  AnyOpPattern AnyOp(std::string_view name, SourceLoc loc = SourceLoc::Here());
  // Zero or more of these ops with default attributes, or with Repeat<...>(AnyAttrs()) with any.
  template <class... Os>
  RepeatPattern Repeat(Range times = {}, SourceLoc loc = SourceLoc::Here()) {
    const OpId op = graph_->NewOp(loc);
    (internal::RecordAlternative<Os>(graph_, op, {}), ...);
    return MakeRepeat(op, times);
  }
  template <class... Os>
  RepeatPattern Repeat(AnyAttrs, Range times = {}, SourceLoc loc = SourceLoc::Here()) {
    const OpId op = graph_->NewOp(loc);
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
  // Marks an intermediate value that may have external uses: its defining op then stays.
  drr::Tensor Keep(const drr::Tensor& t) {
    graph_->values[t.id()].escape = Escape::kKeep;
    return t;
  }
  TensorList Keep(const TensorList& t) {
    graph_->values[t.id()].escape = Escape::kKeep;
    return t;
  }
  // As Keep(), and what is matched below t may have external uses too: it all stays for them, and
  // what the result needs of it is computed again.
  drr::Tensor Recompute(const drr::Tensor& t) {
    graph_->values[t.id()].escape = Escape::kRecompute;
    return t;
  }
  // Marks a value that may be defined in a block around that of its user.
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
  // The defining op of t must not match `pattern`. Handles that only the pattern has are unbound.
  drr::Tensor Not(const drr::Tensor& t, const drr::Tensor& pattern);
  // What the terminator of the op's region returns; None(): whatever is returned there.
  template <class P>
  void Returns(const P& op, int region, std::initializer_list<SourceOperand> values,
               SourceLoc loc = SourceLoc::Here()) {
    AddReturns(op.id(), region, values, loc);
  }
  static NoneTensor None() { return {}; }

  // A constant, every element of which is `number`: exactly where f32 has the number, else to 1e-6
  // of it, or to `tolerance`.
  drr::Tensor Splat(double number, SourceLoc loc = SourceLoc::Here());
  drr::Tensor Splat(double number, double tolerance, SourceLoc loc = SourceLoc::Here());

  // What must hold for the rewrite to be right: words of drr/cpp/constraints.h, whose reasons are
  // generated, or given first for all of them; or a function and its reason.
  template <std::same_as<Condition>... C>
  void Require(const C&... conditions) {
    (AddCondition(conditions, "", false), ...);
  }
  template <std::same_as<Condition>... C>
  void Require(std::string_view why, const Condition& first, const C&... others) {
    AddCondition(first, why, false);
    (AddCondition(others, why, false), ...);
  }
  template <std::predicate<const MatchContext&> F>
  void Require(std::string_view why, F fn, SourceLoc loc = SourceLoc::Here()) {
    AddConstraint(why, std::move(fn), loc, false);
  }
  template <std::predicate<const MatchContext&> F>
  void RequireNativeCall(std::string_view why, F fn, SourceLoc loc = SourceLoc::Here()) {
    AddConstraint(why, std::move(fn), loc, false);
  }
  // What must hold for the rewrite to gain something; without it, it would be right all the same.
  template <std::same_as<Condition>... C>
  void Profitable(const C&... conditions) {
    (AddCondition(conditions, "", true), ...);
  }
  template <std::predicate<const MatchContext&> F>
  void Profitable(std::string_view why, F fn, SourceLoc loc = SourceLoc::Here()) {
    AddConstraint(why, std::move(fn), loc, true);
  }
  // What fn computes (a std::optional), once per match; where it is nothing, the rule declines for
  // this reason. m[let] is the value.
  template <std::invocable<const MatchContext&> F>
  [[gnu::visibility("hidden")]] auto Let(std::string_view why, F fn,
                                         SourceLoc loc = SourceLoc::Here()) {
    using T = typename std::invoke_result_t<F, const MatchContext&>::value_type;
    const LetId id(graph_->num_lets++);
    AddConstraint(
        why,
        [fn = std::move(fn), id](const MatchContext& m) {
          auto value = fn(m);
          if (!value) return false;
          m.SetLet<T>(id, std::move(*value));
          return true;
        },
        loc, false);
    return drr::Let<T>(id);
  }

  // A computed attribute that must be there, or the rule declines for this reason.
  template <class T>
  Expression<T> Let(std::string_view why, const Expression<T>& expression) {
    AddCondition(Condition{expression}, why, false);
    return expression;
  }

  drr::ResultPattern ResultPattern() { return drr::ResultPattern(graph_); }

 private:
  RepeatPattern MakeRepeat(OpId op, Range times);
  drr::Tensor MakeSkip(const drr::Tensor& t, std::initializer_list<const ir::OpDef*> skipped,
                       bool same_type, SourceLoc loc);
  void AddReturns(OpId op, int region, std::initializer_list<SourceOperand> values, SourceLoc loc);
  void AddCondition(const Condition& condition, std::string_view why, bool profitable);
  void AddConstraint(std::string_view why, ir::Function<bool(const MatchContext&)> holds,
                     SourceLoc loc, bool profitable);
  PatternGraph* graph_;
};

}  // namespace weft::drr
