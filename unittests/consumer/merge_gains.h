// scale(scale(x, a), b) => scale(x, a * b)
#pragma once

#include "drr/drr.h"
#include "gain_dialect.h"

namespace gain {

class MergeGains : public weft::drr::DrrPatternBase<MergeGains> {
 public:
  static constexpr std::string_view kName = "merge-gains";
  static constexpr std::string_view kAlgebra = "scale(scale(x, a), b) => scale(x, a * b)";

  void operator()(weft::drr::DrrPatternContext* ctx) const override {
    weft::drr::SourcePattern src = ctx->SourcePattern();
    auto a = src.Attr<float>("a"), b = src.Attr<float>("b");
    auto x = src.Tensor("x");
    auto out = src.Op<Scale>({.factor = b})(src.Op<Scale>({.factor = a})(x));

    weft::drr::ResultPattern res = src.ResultPattern();
    res.Tensor(out) =
        res.Op<Scale>({.factor = [=](const weft::drr::MatchContext& m) { return m[a] * m[b]; }})(x);
  }
};

}  // namespace gain
