#include <cmath>

#include "drr/drr.h"
#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/onnx/elementwise.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// x * 1/2 * (1 + erf(x / sqrt(2))) => gelu(x)
class FuseErfGelu : public DrrPatternBase<FuseErfGelu> {
 public:
  static constexpr std::string_view kName = "fuse-erf-gelu";
  static constexpr std::string_view kAlgebra = "x * 1/2 * (1 + erf(x / sqrt(2))) => gelu(x)";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), half = src.Tensor("half"), one = src.Tensor("one");
    auto root = src.Tensor("sqrt(2)"), inverse_root = src.Tensor("1/sqrt(2)");
    auto t = src.Either(src.Op<ops::Div>()(x, root), src.Op<ops::Mul>()(x, inverse_root));
    auto a = src.Op<ops::Add>()(src.Op<ops::Erf>()(t), one);
    auto half_of_x = src.Op<ops::Mul>()(src.Op<ops::Mul>()(x, half), a);
    auto half_of_all = src.Op<ops::Mul>()(src.Op<ops::Mul>()(x, a), half);
    auto half_of_a = src.Op<ops::Mul>()(x, src.Op<ops::Mul>()(a, half));
    auto out = src.EitherOf({half_of_x, half_of_all, half_of_a});

    src.RequireNativeCall("x is f32 and keeps its shape", [=](const MatchContext& m) {
      if (m[x].dtype() != ir::DataType::kF32 || !m[x].has_rank()) return false;
      if (ir::ProvablySameType(m[x].type(), m[out].type())) return true;
      for (const drr::Tensor& t : {half, one, root, inverse_root})  // x may have any size then
        if (m.Has(t) && (m[t].type().NumElements() != 1 || m[t].rank() > m[x].rank())) return false;
      return true;
    });
    src.RequireNativeCall("the constants are 1/2, 1 and sqrt(2)", [=](const MatchContext& m) {
      return m[half].IsSplat(0.5) && m[one].IsSplat(1) &&
             (m.Has(root) ? m[root].IsSplat(std::sqrt(2.0), 1e-6)
                          : m[inverse_root].IsSplat(std::sqrt(0.5), 1e-6));
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Gelu>()(x);
  }
};
WEFT_REGISTER_RULE(FuseErfGelu, "fuse-composite");

}  // namespace
}  // namespace weft::passes
