// What a post-process hook sees: the ops that the rule has made, and what is left of the match.
#pragma once

#include <vector>

#include "drr/rule/match_context.h"
#include "ir/program.h"

namespace weft::ir {
class Rewriter;
}  // namespace weft::ir

namespace weft::drr {

class PostContext {
 public:
  PostContext(const MatchContext* match, ir::Rewriter* rewriter,
              const std::vector<ir::Operation>* created,
              const IdVector<ResultValue, ir::Value>* results)
      : match_(*match), rewriter_(*rewriter), created_(*created), results_(*results) {}

  ir::Rewriter& rewriter() { return rewriter_; }  // include ir/rewriter.h to use it
  ir::IrContext* context() const { return match_.context(); }
  const MatchContext& match() const { return match_; }
  const std::vector<ir::Operation>& created() const { return created_; }  // in the order made
  // The value of a result tensor, the operation of a result op, the value of an attribute variable,
  // a matched tensor (null if it went with the ops that were replaced).
  template <class Handle>
  auto operator[](const Handle& handle) const {
    return handle.After(*this);
  }

  // By number, for handles.
  ir::Value result(ResultValueId id) const { return results_[id]; }
  ir::Operation result_op(ResultOpId id) const;

 private:
  const MatchContext& match_;
  ir::Rewriter& rewriter_;
  const std::vector<ir::Operation>& created_;
  const IdVector<ResultValue, ir::Value>& results_;
};

}  // namespace weft::drr
