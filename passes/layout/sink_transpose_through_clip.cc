#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// clip(transpose(x, p), low, high) => transpose(clip(x, low, high), p)
class SinkTransposeThroughClip : public DrrPatternBase<SinkTransposeThroughClip> {
 public:
  static constexpr std::string_view kName = "sink-transpose-through-clip";
  static constexpr std::string_view kAlgebra =
      "clip(transpose(x, p), low, high) => transpose(clip(x, low, high), p)";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), low = src.Tensor("low"), high = src.Tensor("high");
    auto p = src.Attr<Ints>("p");
    auto out = src.Op<ops::Clip>()(src.Keep(src.Op<ops::Transpose>({.perm = p})(x)),
                                   src.Optional(low), src.Optional(high));

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = p})(res.Op<ops::Clip>()(x, low, high));
  }
};
WEFT_REGISTER_RULE(SinkTransposeThroughClip, "layout");

}  // namespace
}  // namespace weft::passes
