// Seed: ascend_knowledge_base.md, BNFolding: a batch normalization between two transposes that undo
// each other is a product and a sum in the layout around them. Without the transposes it stays one
// op, or goes into a convolution (fold-batch-norm-into-conv).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "drr/drr.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/normalization.h"
#include "passes/canonicalize/constant_math.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using namespace drr;  // the rule language

// Without perm the order is reversed.
Ints PermOf(const std::optional<Ints>& perm, int64_t rank) {
  if (perm) return *perm;
  Ints reversed(static_cast<size_t>(rank));
  std::iota(reversed.rbegin(), reversed.rend(), int64_t{0});
  return reversed;
}

// transpose(batch_norm(transpose(x, p)), q) => x * s + (beta - mean * s), where q undoes p and
// s = gamma / sqrt(var + epsilon) lies along the channels
class BnFolding : public DrrPatternBase<BnFolding> {
 public:
  static constexpr std::string_view kName = "bn-folding";
  static constexpr std::string_view kSeed = "ascend";
  static constexpr std::string_view kAlgebra =
      "transpose(batch_norm(transpose(x, p)), q) => x * s + (beta - mean * s), where q undoes p "
      "and "
      "s = gamma / sqrt(var + epsilon) lies along the channels";
  static constexpr NumericClass kNumerics = NumericClass::kReassociates;

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
    auto mean = src.Tensor("mean"), var = src.Tensor("var");
    auto epsilon = src.Attr<float>("epsilon");
    auto before = src.Op<ops::Transpose>(AnyAttrs()), after = src.Op<ops::Transpose>(AnyAttrs());
    auto normalized = src.Op<ops::BatchNormalization>({.epsilon = epsilon, .momentum = Any()})(
        before(x), gamma, beta, mean, var);
    auto out = after(normalized);

    src.RequireNativeCall("the transposes undo each other", [=](const MatchContext& m) {
      const int64_t rank = m[x].rank();
      if (rank < 2) return false;
      const Ints p = PermOf(m[before].perm, rank), q = PermOf(m[after].perm, rank);
      for (int64_t i = 0; i < rank; ++i)
        if (p[q[i]] != i) return false;
      return true;
    });
    src.RequireNativeCall("gamma, beta, mean and var are f32 constants of one length",
                          [=](const MatchContext& m) {
                            for (auto t : {gamma, beta, mean, var})
                              if (!ConstantF32(m[t]) || m[t].shape() != m[gamma].shape())
                                return false;
                            return true;
                          });
    src.RequireNativeCall("var + epsilon is positive", [=](const MatchContext& m) {
      const std::span<const float> variances = *ConstantF32(m[var]);
      return std::all_of(variances.begin(), variances.end(),
                         [&](float v) { return v + m[epsilon] > 0; });
    });

    const auto scale_of = [=](const MatchContext& m, int64_t channel) {
      const double variance = (*ConstantF32(m[var]))[channel];
      return (*ConstantF32(m[gamma]))[channel] / std::sqrt(variance + double{m[epsilon]});
    };
    // The shape of a constant with one element per channel, which is dimension 1 between the
    // transposes.
    const auto shape_of = [=](const MatchContext& m) {
      const Ints q = PermOf(m[after].perm, m[x].rank());
      Shape shape(q.size(), 1);
      shape[std::find(q.begin(), q.end(), 1) - q.begin()] = m[gamma].dim(0);
      return shape;
    };
    ResultPattern res = src.ResultPattern();
    auto scale = res.Constant([=](const MatchContext& m) {
      return MakeF32(m.context(), shape_of(m), [&](int64_t c) { return scale_of(m, c); });
    });
    auto shift = res.Constant([=](const MatchContext& m) {
      return MakeF32(m.context(), shape_of(m), [&](int64_t c) {
        return (*ConstantF32(m[beta]))[c] - (*ConstantF32(m[mean]))[c] * scale_of(m, c);
      });
    });
    res.Tensor(out) = res.Op<ops::Add>()(res.Op<ops::Mul>()(x, scale), shift);
  }
};
WEFT_REGISTER_RULE(BnFolding, "canonicalize");

}  // namespace
}  // namespace weft::passes
