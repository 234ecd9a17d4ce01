#include "drr/drr.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// concat(x) => x
class RemoveSingleConcat : public DrrPatternBase<RemoveSingleConcat> {
 public:
  static constexpr std::string_view kName = "remove-single-concat";
  static constexpr std::string_view kAlgebra = "concat(x) => x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Concat>({.axis = Any()})(x);

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = x;
  }
};
WEFT_REGISTER_RULE(RemoveSingleConcat, "canonicalize");

}  // namespace
}  // namespace weft::passes
