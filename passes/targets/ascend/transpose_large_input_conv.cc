// Seed: ascend_knowledge_base.md, TransposeLargeInputConv, for hardware that is slow on very wide
// images: two branches of convolutions run on the image turned on its side.

#include "drr/drr.h"
#include "ir/dialects/onnx/auto_pad.h"
#include "ir/dialects/onnx/conv.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "passes/canonicalize/constant_math.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

constexpr int64_t kWide = 20000;

// [height, width] the other way round; what is not given is `fallback` twice.
Ints Turned(const std::optional<Ints>& sides, int64_t fallback) {
  const Ints given = sides.value_or(Ints(2, fallback));
  return {given[1], given[0]};
}
// Of pads [top, left, bottom, right].
Ints TurnedPads(const std::optional<Ints>& pads) {
  const Ints given = pads.value_or(Ints(4, 0));
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

// a = selu(x), conv(a, w0) + conv(selu(conv(a, w1)), w2) => the same of t(x), t(w0), t(w1) and
// t(w2), and t of that, where t exchanges height and width
class TransposeLargeInputConv : public DrrPatternBase<TransposeLargeInputConv> {
 public:
  static constexpr std::string_view kName = "transpose-large-input-conv";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra =
      "a = selu(x), conv(a, w0) + conv(selu(conv(a, w1)), w2) => the same of t(x), t(w0), t(w1) "
      "and "
      "t(w2), and t of that, where t exchanges height and width";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    struct Branch {
      OpPattern<ops::Conv> conv;
      Tensor w, b;
    };
    const auto branch = [&](const std::string& i) -> Branch {
      return {src.Op<ops::Conv>(AnyAttrs()), src.Tensor("w" + i), src.Tensor("b" + i)};
    };
    const Branch shortcut = branch("0"), first = branch("1"), second = branch("2");
    const auto apply = [&](const Branch& c, Tensor t) { return c.conv(t, c.w, src.Optional(c.b)); };
    auto x = src.Tensor("x");
    auto selu = src.Op<ops::Selu>(AnyAttrs()), inner_selu = src.Op<ops::Selu>(AnyAttrs());
    auto a = selu(x);
    auto out = src.Op<ops::Add>()(apply(shortcut, a), apply(second, inner_selu(apply(first, a))));

    src.RequireNativeCall("x is wide and not high, of known size", [=](const MatchContext& m) {
      return m[x].rank() == 4 && m[x].dim(3) >= kWide && ir::IsStaticDim(m[x].dim(2)) &&
             m[x].dim(2) < kWide;
    });
    src.RequireNativeCall("all weights are f32 constants", [=](const MatchContext& m) {
      for (const Branch& c : {shortcut, first, second})
        if (m[c.w].rank() != 4 || !ConstantF32(m[c.w])) return false;
      return true;
    });
    src.RequireNativeCall("all pads are explicit", [=](const MatchContext& m) {
      for (const Branch& c : {shortcut, first, second})
        if (m[c.conv].auto_pad != ops::AutoPad::kNotSet) return false;
      return true;
    });

    ResultPattern res = src.ResultPattern();
    const auto turn = [&](auto t) { return res.Op<ops::Transpose>({.perm = {0, 1, 3, 2}})(t); };
    const auto turned = [&](const Branch& c, ResultTensor t) {
      const auto conv = c.conv;
      const auto w = c.w;
      auto weights =
          res.Constant([=](const MatchContext& m) { return TurnedWeights(m.context(), m[w]); });
      return res.Op<ops::Conv>(
          AttrsOf(conv),
          {.dilations = [=](const MatchContext& m) { return Turned(m[conv].dilations, 1); },
           .kernel_shape =
               [=](const MatchContext& m) {
                 return Ints{m[w].dim(3), m[w].dim(2)};
               },
           .pads = [=](const MatchContext& m) { return TurnedPads(m[conv].pads); },
           .strides = [=](const MatchContext& m) { return Turned(m[conv].strides, 1); }})(
          t, weights, c.b);
    };
    auto a_turned = res.Op<ops::Selu>(AttrsOf(selu))(turn(x));
    auto inner = res.Op<ops::Selu>(AttrsOf(inner_selu))(turned(first, a_turned));
    res.Tensor(out) = turn(res.Op<ops::Add>()(turned(shortcut, a_turned), turned(second, inner)));
  }
};
WEFT_REGISTER_RULE(TransposeLargeInputConv, "ascend");

}  // namespace
}  // namespace weft::passes
