// Of constant propagation in ai_system_graph_optimization.md (5.2.3): the one op that is a constant
// though its operand is none. Exact.
#include <optional>

#include "drr/drr.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/dialects/onnx/shape_value.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// Nothing when one is not a number. Of the sizes that are asked for, not of all of x: a batch that
// is a symbol may be left out.
std::optional<Ints> Numbers(const BoundTensor& shape) {
  const auto sizes = ir::EvaluateShapeValue(shape.value());
  if (!sizes) return std::nullopt;
  Ints numbers;
  for (const ir::ShapeEntry& size : *sizes) {
    if (!size.is_number) return std::nullopt;
    numbers.push_back(size.value);
  }
  return numbers;
}

// shape(x) => the sizes of x, from start to end
class FoldStaticShape : public DrrPatternBase<FoldStaticShape> {
 public:
  static constexpr std::string_view kName = "fold-static-shape";
  static constexpr std::string_view kAlgebra = "shape(x) => the sizes of x";
  static constexpr NumericClass kNumerics = NumericClass::kExact;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto out = src.Op<ops::Shape>(AnyAttrs())(src.Tensor("x"));

    src.RequireNativeCall("the sizes are numbers",
                          [=](const MatchContext& m) { return Numbers(m[out]).has_value(); });

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) =
        res.ConstantInts([=](const MatchContext& m) { return Numbers(m[out]).value_or(Ints()); });
  }
};
WEFT_REGISTER_RULE(FoldStaticShape, "canonicalize");

}  // namespace
}  // namespace weft::passes
