// Seed: ascend_knowledge_base.md, ResizeModeToNearest, for hardware that resizes to the nearest
// neighbour only. Changes what the program computes: the two agree only where nothing is resized. The
// coordinates stay; what says how to interpolate goes.
#include "drr/drr.h"
#include "ir/dialects/onnx/image.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// resize(x, linear or cubic) => resize(x, nearest)
class ResizeModeToNearest : public DrrPatternBase<ResizeModeToNearest> {
 public:
  static constexpr std::string_view kName = "resize-mode-to-nearest";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra = "resize(x, linear or cubic) => resize(x, nearest)";
  static constexpr NumericClass kNumerics = NumericClass::kChangesMeaning;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), roi = src.Tensor("roi");
    auto scales = src.Tensor("scales"), sizes = src.Tensor("sizes");
    auto coordinates = src.Attr<ops::CoordinateMode>("coordinates");
    auto extrapolation = src.Attr<float>("extrapolation");
    auto out = src.Op<ops::Resize>({.coordinate_transformation_mode = coordinates,
                                    .cubic_coeff_a = Any(),
                                    .exclude_outside = Any(),
                                    .extrapolation_value = extrapolation,
                                    .mode = In{ops::ResizeMode::kLinear, ops::ResizeMode::kCubic},
                                    .nearest_mode = Any()})(
        x, src.Optional(roi), src.Optional(scales), src.Optional(sizes));

    ResultPattern res = src.ResultPattern();
    res.Tensor(out) =
        res.Op<ops::Resize>({.coordinate_transformation_mode = coordinates,
                             .extrapolation_value = extrapolation})(x, roi, scales, sizes);
  }
};
WEFT_REGISTER_OPT_IN_RULE(ResizeModeToNearest, "ascend");

}  // namespace
}  // namespace weft::passes
