#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "drr/rule/constant_f32.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

struct BatchNorm {
  Tensor gamma, beta, mean, var;
  Attr<float> epsilon;
  Tensor y;

  BatchNorm(SourcePattern& src, const Tensor& x)
      : gamma(src.Tensor("gamma")),
        beta(src.Tensor("beta")),
        mean(src.Tensor("mean")),
        var(src.Tensor("var")),
        epsilon(src.Attr<float>("epsilon")),
        y(src.Op<ops::BatchNormalization>({.epsilon = epsilon, .momentum = Any()})(x, gamma, beta,
                                                                                   mean, var)) {}
};

// What a batch normalization does to each channel.
struct Channels {
  std::vector<double> scale;  // gamma / sqrt(var + epsilon)
  ir::DenseElements<float> mean, beta;
  double Apply(size_t c, double x) const { return (x - mean[c]) * scale[c] + beta[c]; }
};

// One for each place of axis 0 of `of`.
Let<Channels> ChannelsOf(SourcePattern& src, const BatchNorm& n, const Tensor& of) {
  for (const Tensor& t : {n.gamma, n.beta, n.mean, n.var})
    src.Require("gamma, beta, mean and var are f32 constants, one per channel", IsConstant(t),
                DType(t, kF32), PerChannel(t, of, 0));
  return src.Let("var + epsilon is positive", [=](const MatchContext& m) {
    const auto gamma = *ConstantF32(m[n.gamma]), var = *ConstantF32(m[n.var]);
    Channels channels{{}, *ConstantF32(m[n.mean]), *ConstantF32(m[n.beta])};
    for (size_t c = 0; c < var.size(); ++c) {
      if (!(var[c] + m[n.epsilon] > 0)) return std::optional<Channels>();
      channels.scale.push_back(gamma[c] / std::sqrt(double{var[c]} + double{m[n.epsilon]}));
    }
    return std::optional(channels);
  });
}

// One for each place of axis 0 of `of`.
void RequireBias(SourcePattern& src, const Tensor& b, const Tensor& of) {
  src.Require("b, if given, is an f32 constant, one per channel", IsConstant(IfGiven(b)),
              DType(IfGiven(b), kF32), PerChannel(IfGiven(b), of, 0));
}

// (b - mean) * s + beta, without b of 0.
ResultTensor NewBias(ResultPattern& res, const BatchNorm& n, Let<Channels> channels, Tensor b) {
  return res.Constant([=, mean = n.mean](const MatchContext& m) {
    return MakeF32(m.context(), m[mean].shape(), [&](int64_t c) {
      return m[channels].Apply(c, m.Has(b) ? (*ConstantF32(m[b]))[c] : 0);
    });
  });
}

// x * s + (beta - mean * s), whose parameters have this shape: 1 but on the axis of the channels.
ResultTensor ScaledAndShifted(ResultPattern& res, Tensor x, Let<Channels> channels,
                              Let<Ints> shape) {
  const auto per_channel = [&](auto number_of) {
    return res.Constant([=](const MatchContext& m) {
      return MakeF32(m.context(), m[shape], [&](int64_t c) { return number_of(m[channels], c); });
    });
  };
  auto scale = per_channel([](const Channels& all, size_t c) { return all.scale[c]; });
  auto shift = per_channel([](const Channels& all, size_t c) { return all.Apply(c, 0); });
  return res.Op<ops::Add>()(res.Op<ops::Mul>()(x, scale), shift);
}

// The numbers of channels, which are axis 1 of transpose(x, p), as they lie in x.
std::optional<Ints> ChannelShape(const Ints& p, int64_t channels) {
  if (p.size() < 2) return std::nullopt;
  Ints shape(p.size(), 1);
  shape[static_cast<size_t>(p[1])] = channels;
  return shape;
}

// Without perm the order is reversed.
Ints PermOf(const std::optional<Ints>& perm, int64_t rank) {
  if (perm) return *perm;
  Ints reversed(static_cast<size_t>(rank));
  std::iota(reversed.rbegin(), reversed.rend(), int64_t{0});
  return reversed;
}

}  // namespace

WEFT_RULE(FoldBatchNormIntoConv, "canonicalize", kReassociates,
          .algebra =
              "batch_norm(conv(x, w, b)) => conv(x, w * s, (b - mean) * s + beta), where "
              "s = gamma / sqrt(var + epsilon)") {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  const BatchNorm n(src, conv(x, w, src.Optional(b)));
  src.Require("w is an f32 constant", IsConstant(w), DType(w, kF32), MinRank(w, 3));
  RequireBias(src, b, w);
  auto channels = ChannelsOf(src, n, w);
  auto new_w = res.Constant([=](const MatchContext& m) {
    return ComputeF32(
        m.context(), m[w].shape(),
        [weights = m[w].constant(), scale = m[channels].scale](size_t first, std::span<float> to) {
          weights.Read(first * sizeof(float), std::as_writable_bytes(to));
          const size_t per_channel = weights.num_bytes() / sizeof(float) / scale.size();
          for (size_t i = 0; i < to.size();) {
            const size_t c = (first + i) / per_channel;
            for (const size_t end = std::min(to.size(), (c + 1) * per_channel - first); i < end;
                 ++i)
              to[i] = static_cast<float>(to[i] * scale[c]);
          }
        });
  });
  res.Tensor(n.y) = res.Like(conv)(x, new_w, NewBias(res, n, channels, b));
}

// The same for a ConvTranspose, whose w is [C, M / group, kernel...].
WEFT_RULE(FoldBatchNormIntoConvTranspose, "canonicalize", kReassociates,
          .algebra =
              "batch_norm(conv_transpose(x, w, b)) => conv_transpose(x, w * s, (b - mean) * "
              "s + beta), where s = gamma / sqrt(var + epsilon)") {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
  auto conv = src.Op<ops::ConvTranspose>(AnyAttrs());
  const BatchNorm n(src, conv(x, w, src.Optional(b)));
  src.Require("w is an f32 constant", IsConstant(w), DType(w, kF32), MinRank(w, 3));
  RequireBias(src, b, n.gamma);
  auto channels = ChannelsOf(src, n, n.gamma);
  src.Require("every channel has its weights", [=](const MatchContext& m) {
    const int64_t group = m[conv].group, per_group = m[w].dim(1);
    return group > 0 && per_group > 0 && m[w].dim(0) % group == 0 &&
           m[n.gamma].dim(0) == group * per_group && m[w].type().NumElements() > 0;
  });
  auto new_w = res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]);
    const int64_t per_group = m[w].dim(1), inputs = m[w].dim(0) / m[conv].group;
    const int64_t kernel = m[w].type().NumElements() / m[w].dim(0) / per_group;
    return MakeF32(m.context(), m[w].shape(), [&](int64_t i) {
      const int64_t in = i / kernel / per_group, out = i / kernel % per_group;
      return weights[i] * m[channels].scale[in / inputs * per_group + out];
    });
  });
  res.Tensor(n.y) = res.Like(conv)(x, new_w, NewBias(res, n, channels, b));
}

// The same for a Gemm, whose columns are the channels.
WEFT_RULE(FoldBatchNormIntoGemm, "canonicalize", kReassociates,
          .algebra =
              "batch_norm(gemm(a, w, b)) => gemm(a, w * s, (b - mean) * s + beta), where "
              "s = gamma / sqrt(var + epsilon)") {
  auto a = src.Tensor("a"), w = src.Tensor("w"), b = src.Tensor("b");
  auto trans_b = src.Attr<int64_t>("transB");
  auto gemm = src.Op<ops::Gemm>({.alpha = Any(), .transA = Any(), .transB = trans_b});
  const BatchNorm n(src, gemm(a, w, src.Optional(b)));
  src.Require("w is an f32 constant", IsConstant(w), DType(w, kF32), Rank(w, 2));
  RequireBias(src, b, n.gamma);
  auto channels = ChannelsOf(src, n, n.gamma);
  src.Require("every column is a channel", [=](const MatchContext& m) {
    return m[w].dim(m[trans_b] != 0 ? 0 : 1) == m[n.gamma].dim(0);
  });
  auto new_w = res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]);
    const int64_t columns = std::max<int64_t>(1, m[w].dim(1));
    return MakeF32(m.context(), m[w].shape(), [&](int64_t i) {
      return weights[i] * m[channels].scale[m[trans_b] != 0 ? i / columns : i % columns];
    });
  });
  res.Tensor(n.y) = res.Like(gemm)(a, new_w, NewBias(res, n, channels, b));
}

// The same for a product with a matrix, which becomes a Gemm for the bias.
WEFT_RULE(FoldBatchNormIntoMatmul, "canonicalize", kReassociates,
          .algebra =
              "batch_norm(matmul(a, w)) => gemm(a, w * s, beta - mean * s), where "
              "s = gamma / sqrt(var + epsilon)") {
  auto a = src.Tensor("a"), w = src.Tensor("w");
  const BatchNorm n(src, src.Op<ops::MatMul>()(a, w));
  src.Require("w is an f32 constant", IsConstant(w), DType(w, kF32), Rank(w, 2));
  src.Require(Rank(a, 2), PerChannel(n.gamma, w, 1));
  auto channels = ChannelsOf(src, n, n.gamma);
  auto new_w = res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]);
    const int64_t columns = std::max<int64_t>(1, m[w].dim(1));
    return MakeF32(m.context(), m[w].shape(),
                   [&](int64_t i) { return weights[i] * m[channels].scale[i % columns]; });
  });
  auto bias = res.Constant([=, mean = n.mean](const MatchContext& m) {
    return MakeF32(m.context(), m[mean].shape(),
                   [&](int64_t c) { return m[channels].Apply(c, 0); });
  });
  res.Tensor(n.y) = res.Op<ops::Gemm>()(a, new_w, bias);
}

// A product and a sum in the layout around the transposes (ascend_knowledge_base.md, BNFolding).
// Without them the normalization stays one op, or goes into a convolution.
WEFT_RULE(FoldBatchNormThroughTransposes, "canonicalize", kReassociates, .seed = "ascend",
          .aliases = {"bn-folding"},
          .algebra =
              "transpose(batch_norm(transpose(x, p)), q) => x * s + (beta - mean * s), where "
              "q undoes p and s = gamma / sqrt(var + epsilon) lies along the channels") {
  auto x = src.Tensor("x");
  auto before = src.Op<ops::Transpose>(AnyAttrs()), after = src.Op<ops::Transpose>(AnyAttrs());
  const BatchNorm n(src, before(x));
  auto out = after(n.y);
  auto channels = ChannelsOf(src, n, n.gamma);
  auto shape = src.Let("the transposes undo each other", [=](const MatchContext& m) {
    const int64_t rank = m[x].rank();
    if (rank < 2) return std::optional<Ints>();
    const Ints p = PermOf(m[before].perm, rank), q = PermOf(m[after].perm, rank);
    for (int64_t i = 0; i < rank; ++i)
      if (p[q[i]] != i) return std::optional<Ints>();
    return ChannelShape(p, m[n.gamma].dim(0));
  });
  res.Tensor(out) = ScaledAndShifted(res, x, channels, shape);
}

// In front of a convolution in NHWC, as DenseNet has it.
WEFT_RULE(SinkTransposeThroughBatchNorm, "layout", kReassociates,
          .algebra =
              "batch_norm(transpose(x, p)) => transpose(x * s + (beta - mean * s), p), where "
              "s = gamma / sqrt(var + epsilon) lies along axis p[1]") {
  auto x = src.Tensor("x");
  auto p = src.Attr<Ints>("p");
  const BatchNorm n(src, src.Keep(src.Op<ops::Transpose>({.perm = p})(x)));
  auto channels = ChannelsOf(src, n, n.gamma);
  auto shape = src.Let("x has channels", [=](const MatchContext& m) {
    return ChannelShape(m[p], m[n.gamma].dim(0));
  });
  res.Tensor(n.y) = res.Op<ops::Transpose>({.perm = p})(ScaledAndShifted(res, x, channels, shape));
}

}  // namespace weft::passes
