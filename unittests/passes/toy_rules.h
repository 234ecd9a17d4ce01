// Rules on the toy dialect that several tests of the driver and of the analysis share.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "drr/drr.h"
#include "drr/engine/rule_set.h"
#include "unittests/drr/engine/toy_ops.h"

namespace weft::passes {

// A rule that `Body` writes.
template <class Derived>
struct ToyRule : drr::DrrPatternBase<Derived> {
  void operator()(drr::DrrPatternContext* ctx) const override {
    drr::SourcePattern src = ctx->SourcePattern();
    drr::ResultPattern res = src.ResultPattern();
    Derived::Body(src, res);
  }
};

template <class... Rules>
drr::FrozenRewritePatternSet FreezeRules(ir::IrContext& context) {
  drr::RewritePatternSet set(&context);
  (set.Add<Rules>(), ...);
  for (const std::string& error : set.errors()) ADD_FAILURE() << error;
  return drr::FrozenRewritePatternSet(std::move(set));
}

// add(x, y) => mul(x, y)
struct AddToMul : ToyRule<AddToMul> {
  static constexpr std::string_view kName = "add-to-mul";
  static void Body(drr::SourcePattern& src, drr::ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    res.Tensor(src.Op<drr::toy::Add>()(x, y)) = res.Op<drr::toy::Mul>()(x, y);
  }
};
// mul(x, y) => add(x, y)
struct MulToAdd : ToyRule<MulToAdd> {
  static constexpr std::string_view kName = "mul-to-add";
  static void Body(drr::SourcePattern& src, drr::ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    res.Tensor(src.Op<drr::toy::Mul>()(x, y)) = res.Op<drr::toy::Add>()(x, y);
  }
};
// relu(x) => relu(relu(x)), which grows without end
struct GrowRelu : ToyRule<GrowRelu> {
  static constexpr std::string_view kName = "grow-relu";
  static void Body(drr::SourcePattern& src, drr::ResultPattern& res) {
    auto x = src.Tensor("x");
    res.Tensor(src.Op<drr::toy::Relu>()(x)) = res.Op<drr::toy::Relu>()(res.Op<drr::toy::Relu>()(x));
  }
};
// relu(relu(x)) => relu(x)
struct ReluOnce : ToyRule<ReluOnce> {
  static constexpr std::string_view kName = "relu-once";
  static void Body(drr::SourcePattern& src, drr::ResultPattern& res) {
    auto inner = src.Keep(src.Op<drr::toy::Relu>()(src.Tensor("x")));
    res.Tensor(src.Op<drr::toy::Relu>()(inner)) = inner;
  }
};

}  // namespace weft::passes
