#include "drr/drr.h"
#include "ir/dialects/fused/matmul.h"
#include "ir/dialects/onnx/matmul.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using namespace drr;  // the rule language

// matmul(x, w) => fused.linear(x, w), w a constant matrix
class MatMulToLinear : public DrrPatternBase<MatMulToLinear> {
 public:
  static constexpr std::string_view kName = "matmul-to-linear";
  static constexpr std::string_view kAlgebra =
      "matmul(x, w) => fused.linear(x, w), w a constant matrix";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w");
    auto out = src.Op<ops::MatMul>()(x, w);

    src.RequireNativeCall("w is a constant matrix", [=](const MatchContext& m) {
      return m[w].is_constant() && m[w].rank() == 2;
    });
    src.RequireNativeCall("x is f32 of rank 2 or more", [=](const MatchContext& m) {
      return m[x].rank() >= 2 && m[x].dtype() == ir::DataType::kF32;
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<fused::Linear>()(x, w);
  }
};
WEFT_REGISTER_RULE(MatMulToLinear, "fuse-epilogue");

}  // namespace
}  // namespace weft::passes
