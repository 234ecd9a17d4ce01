// Pools and convolutions of sizes that an Ascend NPU does not run, or runs slowly.
#include <optional>
#include <string>

#include "drr/rule/constant_f32.h"
#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// --- windows: [height, width] --------------------------------------------------------

constexpr int64_t kMaxWindow = 255;  // elements

// Sizes come from the model: the area is compared without multiplying it out.
bool Fits(const Ints& window) { return window[0] <= kMaxWindow / window[1]; }

// Of those that fit into a window; n itself where there is none.
int64_t SmallestFactor(int64_t n) {
  for (int64_t f = 2; f <= kMaxWindow; ++f)
    if (n % f == 0) return f;
  return n;
}

bool IsProductOfSizesThatFit(int64_t n) {
  while (n > kMaxWindow) {
    const int64_t factor = SmallestFactor(n);
    if (factor == n) return false;
    n /= factor;
  }
  return true;
}

struct WindowProduct {
  Ints first, second;
};

// The first window is the whole, less the smallest prime factors, always of the larger side, that
// make it fit. The second need not fit: it is split again. Nothing where that would not end.
std::optional<WindowProduct> SplitWindow(const Ints& window) {
  for (int64_t side : window)
    if (!IsProductOfSizesThatFit(side)) return std::nullopt;
  WindowProduct product{window, Ints(window.size(), 1)};
  while (!Fits(product.first)) {
    const size_t larger = product.first[0] >= product.first[1] ? 0 : 1;
    const int64_t factor = SmallestFactor(product.first[larger]);
    product.first[larger] /= factor;
    product.second[larger] *= factor;
  }
  return product;
}

// --- images turned on their side -------------------------------------------------------

constexpr int64_t kWide = 20000;

// [height, width] the other way round; what is not given, or empty, is `fallback` twice.
Ints Turned(const std::optional<Ints>& sides, int64_t fallback) {
  const Ints given = sides && !sides->empty() ? *sides : Ints(2, fallback);
  return {given[1], given[0]};
}

// Of pads [top, left, bottom, right].
Ints TurnedPads(const std::optional<Ints>& pads) {
  const Ints given = pads && !pads->empty() ? *pads : Ints(4, 0);
  return {given[1], given[0], given[3], given[2]};
}

ir::Attribute TurnedWeights(ir::IrContext* context, const BoundTensor& w) {
  const auto weights = *ConstantF32(w);
  const int64_t height = w.dim(2), width = w.dim(3);
  return MakeF32(context, Shape{w.dim(0), w.dim(1), width, height}, [&](int64_t i) {
    const int64_t kernel = i / (height * width), column = i / height % width, row = i % height;
    return weights[(kernel * height + row) * width + column];
  });
}

// A convolution of constant weights, and the same one of the turned image.
struct TurnableConv {
  OpPattern<ops::Conv> conv;
  Tensor w, b;

  TurnableConv(SourcePattern& src, const std::string& i)
      : conv(src.Op<ops::Conv>(AnyAttrs(), {.auto_pad = ops::AutoPad::kNotSet})),
        w(src.Tensor("w" + i)),
        b(src.Tensor("b" + i)) {}

  Tensor Of(SourcePattern& src, const Tensor& x) const { return conv(x, w, src.Optional(b)); }

  void RequireWeights(SourcePattern& src) const {
    src.Require("all weights are f32 constants", IsConstant(w), DType(w, kF32), Rank(w, 4));
  }

  ResultTensor TurnedOf(ResultPattern& res, const ResultTensor& x) const {
    const auto turned_w =
        res.Constant([w = w](const MatchContext& m) { return TurnedWeights(m.context(), m[w]); });
    const auto c = conv;
    return res.Like(
        c, {.dilations = [c](const MatchContext& m) { return Turned(m[c].dilations, 1); },
            .kernel_shape = [w = w](const MatchContext& m) -> Ints {
              return {m[w].dim(3), m[w].dim(2)};
            },
            .pads = [c](const MatchContext& m) { return TurnedPads(m[c].pads); },
            .strides = [c](const MatchContext& m) { return Turned(m[c].strides, 1); }})(x, turned_w,
                                                                                        b);
  }
};

}  // namespace

// For hardware whose pooling window has at most 255 elements (ascend_knowledge_base.md,
// AvgPoolSplit). The document copies pads to both pools and does not look at ceil_mode; either
// gives wrong numbers, so both must be off. The input need not be a multiple of the window:
// floor(floor(n / a) / b) = floor(n / (a b)), and the same elements are left out at the end.
WEFT_RULE(SplitAveragePool, "ascend", kReassociates, .seed = "ascend",
          .aliases = {"avgpool-split", "avg-pool-split"},
          .algebra =
              "average_pool(x, a * b) => average_pool(average_pool(x, a), b), where no windows "
              "overlap") {
  auto x = src.Tensor("x");
  auto window = src.Attr<Ints>("window");
  auto pool = src.Op<ops::AveragePool>(AnyAttrs(),
                                       {.auto_pad = In{ops::AutoPad::kNotSet, ops::AutoPad::kValid},
                                        .ceil_mode = 0,
                                        .kernel_shape = window,
                                        .strides = window});
  auto out = pool(x);
  src.Require(Rank(x, 4));
  src.Require("nothing is padded", [=](const MatchContext& m) {
    return m[pool].auto_pad == ops::AutoPad::kValid || !m[pool].pads || *m[pool].pads == Ints(4, 0);
  });
  src.Require("the window has no gaps", [=](const MatchContext& m) {
    return !m[pool].dilations || *m[pool].dilations == Ints(2, 1);
  });
  src.Profitable("the window has more than 255 elements",
                 [=](const MatchContext& m) { return !Fits(m[window]); });
  auto product = src.Let("the window is a product of windows of at most 255 elements",
                         [=](const MatchContext& m) { return SplitWindow(m[window]); });
  const auto pool_by = [&](Ints WindowProduct::*size, auto of) {
    return res.Op<ops::AveragePool>({.kernel_shape = product[size], .strides = product[size]})(of);
  };
  res.Tensor(out) = pool_by(&WindowProduct::second, pool_by(&WindowProduct::first, x));
}

// For hardware that is slow on very wide images (ascend_knowledge_base.md,
// TransposeLargeInputConv): two branches of convolutions run on the image turned on its side.
WEFT_RULE(LowerWideConvBlock, "ascend", kReassociates, .seed = "ascend",
          .aliases = {"transpose-large-input-conv"},
          .algebra =
              "a = selu(x), conv(a, w0) + conv(selu(conv(a, w1)), w2) => the same of t(x), t(w0), "
              "t(w1) and t(w2), and t of that, where t exchanges height and width") {
  const TurnableConv shortcut(src, "0"), first(src, "1"), second(src, "2");
  auto x = src.Tensor("x");
  auto selu = src.Op<ops::Selu>(AnyAttrs()), inner_selu = src.Op<ops::Selu>(AnyAttrs());
  auto a = selu(x);
  auto out = shortcut.Of(src, a) + second.Of(src, inner_selu(first.Of(src, a)));
  src.Require(Rank(x, 4));
  src.Profitable(MinDim(x, 3, kWide), MaxDim(x, 2, kWide - 1));
  for (const TurnableConv& conv : {shortcut, first, second}) conv.RequireWeights(src);

  const auto turn = [&](auto t) { return res.Op<ops::Transpose>({.perm = {0, 1, 3, 2}})(t); };
  auto turned_a = res.Like(selu)(turn(x));
  auto inner = res.Like(inner_selu)(first.TurnedOf(res, turned_a));
  res.Tensor(out) =
      turn(res.Op<ops::Add>()(shortcut.TurnedOf(res, turned_a), second.TurnedOf(res, inner)));
}

}  // namespace weft::passes
