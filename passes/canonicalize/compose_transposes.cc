// The inner transpose may have other readers: the outer one no longer waits for it.
#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// transpose(transpose(x, p), q) => transpose(x, p[q])
class ComposeTransposes : public DrrPatternBase<ComposeTransposes> {
 public:
  static constexpr std::string_view kName = "compose-transposes";
  static constexpr std::string_view kAlgebra =
      "transpose(transpose(x, p), q) => transpose(x, p[q])";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
    auto x = src.Tensor("x");
    auto inner = src.Keep(src.Op<ops::Transpose>({.perm = p})(x));
    auto outer = src.Op<ops::Transpose>({.perm = q})(inner);

    ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<ops::Transpose>({.perm = [=](const MatchContext& m) {
      const Ints inner_perm = m[p];
      Ints perm;
      for (int64_t axis : m[q]) perm.push_back(inner_perm[axis]);
      return perm;
    }})(x);
  }
};
WEFT_REGISTER_RULE(ComposeTransposes, "canonicalize");

}  // namespace
}  // namespace weft::passes
