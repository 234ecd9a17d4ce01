// Seed: ascend_knowledge_base.md, AvgPoolSplit, for hardware whose pooling window has at most 255
// elements. The seed copies pads to both pools and does not look at ceil_mode; either gives wrong
// numbers, so both must be off. The input need not be a multiple of the window: floor(floor(n / a) /
// b) = floor(n / (a b)), and the same elements are left out at the end.
#include "drr/drr.h"
#include "ir/dialects/onnx/auto_pad.h"
#include "ir/dialects/onnx/pool.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

constexpr int64_t kMaxWindow = 255;

// Height and width. Sizes come from the model: areas are compared without multiplying them out.
struct Size {
  int64_t height = 1, width = 1;
  bool Fits() const { return height <= kMaxWindow / width; }
};

int64_t SmallestFactor(int64_t n) {
  for (int64_t f = 2; f <= n / f; ++f)
    if (n % f == 0) return f;
  return n;
}

// Of the windows whose product is `window`, the first: the whole, less the smallest prime factors,
// always taken from the larger side, that make it fit.
Size FirstOf(Size window) {
  while (!window.Fits()) {
    int64_t& larger = window.height >= window.width ? window.height : window.width;
    larger /= SmallestFactor(larger);
  }
  return window;
}
Size RestOf(Size window) {
  const Size first = FirstOf(window);
  return {window.height / first.height, window.width / first.width};
}

bool Factors(Size window) {
  while (!window.Fits()) {
    const Size rest = RestOf(window);
    if (rest.height == window.height && rest.width == window.width) return false;
    window = rest;
  }
  return true;
}

// average_pool(x, a * b) => average_pool(average_pool(x, a), b), where no windows overlap
class AvgpoolSplit : public DrrPatternBase<AvgpoolSplit> {
 public:
  static constexpr std::string_view kName = "avgpool-split";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra =
      "average_pool(x, a * b) => average_pool(average_pool(x, a), b), where no windows overlap";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto pool =
        src.Op<ops::AveragePool>({.auto_pad = In{ops::AutoPad::kNotSet, ops::AutoPad::kValid},
                                  .count_include_pad = Any(),
                                  .kernel_shape = Any(),
                                  .pads = Any(),
                                  .strides = Any()});
    auto out = pool(x);

    src.RequireNativeCall(
        "the window has two sides and moves by its own size", [=](const MatchContext& m) {
          const Ints kernel = m[pool].kernel_shape;
          return kernel.size() == 2 && kernel[0] > 0 && kernel[1] > 0 && m[pool].strides == kernel;
        });
    src.RequireNativeCall("nothing is padded", [=](const MatchContext& m) {
      return m[pool].auto_pad == ops::AutoPad::kValid || !m[pool].pads ||
             *m[pool].pads == Ints(4, 0);
    });
    const auto window = [=](const MatchContext& m) {
      return Size{m[pool].kernel_shape[0], m[pool].kernel_shape[1]};
    };
    src.RequireNativeCall("the window has more than 255 elements",
                          [=](const MatchContext& m) { return !window(m).Fits(); });
    src.RequireNativeCall("the window is a product of windows of at most 255 elements",
                          [=](const MatchContext& m) { return Factors(window(m)); });

    ResultPattern res = src.ResultPattern();
    const auto pool_by = [&](Size (*part)(Size), auto of) {
      const auto size = [=](const MatchContext& m) {
        const Size s = part(window(m));
        return Ints{s.height, s.width};
      };
      return res.Op<ops::AveragePool>({.kernel_shape = size, .strides = size})(of);
    };
    res.Tensor(out) = pool_by(&RestOf, pool_by(&FirstOf, x));
  }
};
WEFT_REGISTER_RULE(AvgpoolSplit, "ascend");

}  // namespace
}  // namespace weft::passes
