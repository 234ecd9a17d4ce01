// What a rule puts in the place of a match: `res` in the examples of drr/drr.h.
#pragma once

#include <concepts>
#include <initializer_list>
#include <utility>

#include "drr/cpp/op_patterns.h"
#include "drr/cpp/slots.h"

namespace weft::drr {

class ResultPattern {
 public:
  explicit ResultPattern(PatternGraph* graph) : graph_(graph) {}

  template <class O>
  ResultOpPattern<O> Op(ResultAttrs<O> attrs = {}, ResultAttrs<O> except = {},
                        SourceLoc loc = SourceLoc::Here()) {
    const ResultOpId op = graph_->NewResultOp(ir::OpDefOf<O>(), OpId(), loc);
    internal::RecordResultAttrs<O>(graph_, op, attrs, except);
    return {graph_, op};
  }

  // The op that `matched` is, with its attributes but for those that `except` gives, on other
  // operands. Of several alternatives all must have those.
  template <class O>
  ResultOpPattern<O> Like(OpPattern<O> matched, ResultAttrs<O> except = {},
                          SourceLoc loc = SourceLoc::Here()) {
    return Op<O>(AttrsOf(matched), std::move(except), loc);
  }
  template <class First, class... Others>
  ResultOpLike Like(OneOfPattern<First, Others...> matched, ResultAttrs<First> except = {},
                    SourceLoc loc = SourceLoc::Here()) {
    const ResultOpLike op = LikeOp(matched.id(), loc);
    internal::RecordResultAttrs<First>(graph_, op.id(), except);
    internal::CheckOverrides(graph_, op.id());
    return op;
  }
  ResultOpLike Like(AnyOpPattern matched, SourceLoc loc = SourceLoc::Here()) {
    return LikeOp(matched.id(), loc);
  }
  // All of a chain, one on top of the other, their further operands included; of an empty one its
  // operand.
  ResultOpLike Like(RepeatPattern matched, SourceLoc loc = SourceLoc::Here()) {
    return LikeOp(matched.id(), loc);
  }

  // A builtin.constant of this value, of an expression like ScalarLike(x, 0), or of what a function
  // computes; a null attribute declines the match.
  ResultTensor Constant(ir::Attribute value, SourceLoc loc = SourceLoc::Here());
  ResultTensor Constant(const Expression<ir::Attribute>& value, SourceLoc loc = SourceLoc::Here());
  // Hidden as the rules are whose lambdas it holds: what holds them must not be seen more widely.
  template <ComputesFor<ir::Attribute> F>
  [[gnu::visibility("hidden")]] ResultTensor Constant(F fn, SourceLoc loc = SourceLoc::Here()) {
    return ComputedConstant(
        [fn = std::move(fn)](const MatchContext& m) { return ir::Attribute(fn(m)); }, loc);
  }
  // Of rank 1 and i64.
  ResultTensor ConstantInts(std::initializer_list<int64_t> values,
                            SourceLoc loc = SourceLoc::Here());
  ResultTensor ConstantInts(const Expression<Ints>& values, SourceLoc loc = SourceLoc::Here());
  ResultTensor ConstantInts(ir::Function<Ints(const MatchContext&)> fn,
                            SourceLoc loc = SourceLoc::Here());

  class Output {
   public:
    Output(PatternGraph* graph, ValueId source, SourceLoc loc)
        : graph_(graph), source_(source), loc_(loc) {}
    void operator=(Operand with) &&;

   private:
    PatternGraph* graph_;
    ValueId source_;
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
  ResultOpLike LikeOp(OpId source_op, SourceLoc loc);
  void AddPostHook(ir::Function<void(PostContext&)> run, SourceLoc loc);
  ResultTensor ComputedConstant(ComputeAttr compute, SourceLoc loc);
  PatternGraph* graph_;
};

}  // namespace weft::drr
