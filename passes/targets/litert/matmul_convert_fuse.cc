// Seed: litert_graph_to_graph.md, "Matmul-convert Fusion": the Convert is there because a Concat
// wants its operands in one quantisation, which the product can have itself. Its sums are rounded
// once instead of twice. Where the first scale is no larger than the second and did not saturate the
// results are at most one step apart; elsewhere they may be far apart, and the new ones are right.
#include "drr/drr.h"
#include "ir/dialects/litert.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace litert = ir::litert;
using namespace drr;  // the rule language

// convert(matmul(x, y), s) => matmul(x, y) quantised by s
class MatmulConvertFuse : public DrrPatternBase<MatmulConvertFuse> {
 public:
  static constexpr std::string_view kName = "matmul-convert-fuse";
  static constexpr std::string_view kSeed = "litert";
  static constexpr std::string_view kAlgebra =
      "convert(matmul(x, y), s) => matmul(x, y) quantised by s";
  static constexpr NumericClass kNumerics = NumericClass::kApproximate;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto first_scale = src.Attr<float>("first_scale"), scale = src.Attr<float>("scale");
    auto first_zero = src.Attr<int64_t>("first_zero"), zero = src.Attr<int64_t>("zero");
    auto matmul = src.Op<litert::MatMul>({.adj_x = Any(),
                                          .adj_y = Any(),
                                          .out_scale = first_scale,
                                          .out_zero_point = first_zero,
                                          .x_scale = Any(),
                                          .x_zero_point = Any(),
                                          .y_scale = Any(),
                                          .y_zero_point = Any()});
    auto product = matmul(x, y);
    // What the product states is what the Convert starts from: each is bound twice.
    auto out = src.Op<litert::Convert>({.from_scale = first_scale,
                                        .from_zero_point = first_zero,
                                        .to = Any(),
                                        .to_scale = scale,
                                        .to_zero_point = zero})(product);

    src.RequireNativeCall("the element type stays", [=](const MatchContext& m) {
      return m[out].dtype() == m[product].dtype();
    });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) =
        res.Op<litert::MatMul>(AttrsOf(matmul), {.out_scale = scale, .out_zero_point = zero})(x, y);
  }
};
WEFT_REGISTER_RULE(MatmulConvertFuse, "litert");

}  // namespace
}  // namespace weft::passes
