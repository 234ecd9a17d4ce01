#include "drr/drr.h"
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx/matmul.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// gemm(a, b, c) => fused.linear(a, b, c), b constant
class GemmToLinear : public DrrPatternBase<GemmToLinear> {
 public:
  static constexpr std::string_view kName = "gemm-to-linear";
  static constexpr std::string_view kAlgebra = "gemm(a, b, c) => fused.linear(a, b, c), b constant";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto a = src.Tensor("a"), b = src.Tensor("b"), c = src.Tensor("c");
    auto trans_b = src.Attr<int64_t>("transB");
    auto out = src.Op<ops::Gemm>({.transB = trans_b})(a, b, src.Optional(c));

    src.RequireNativeCall("b is a constant matrix", [=](const MatchContext& m) {
      return m[b].is_constant() && m[b].rank() == 2 && m[b].dtype() == ir::DataType::kF32;
    });
    src.RequireNativeCall("c, if any, is one value per column", [=](const MatchContext& m) {
      return !m.Has(c) || m[c].shape() == Shape{m[b].dim(m[trans_b] ? 0 : 1)};
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Linear>(
        {.transpose_w = [=](const MatchContext& m) { return m[trans_b] != 0; }})(a, b, c);
  }
};
WEFT_REGISTER_RULE(GemmToLinear, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
