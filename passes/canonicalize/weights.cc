// Constant factors and terms that weights take in.
#include <algorithm>
#include <optional>

#include "drr/rule/constant_f32.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

constexpr char kPerColumn[] = "the other operand is an f32 constant, a number or one per column";
constexpr char kPerChannel[] = "the other operand is an f32 constant, a number or one per channel";

// What fuses a GELU or a norm looks for the factor behind the product, of which it may be a part.
Tensor NoProduct(SourcePattern& src, const Tensor& x) {
  return src.Not(x, src.OneOf<ops::Mul, ops::Div>()(src.Tensor("any"), src.Tensor("other")));
}

using Attribute = ir::Attribute;

bool HasWeights(const ir::Operation& op) {
  return op && (op.Is<ops::Conv>() || op.Is<ops::MatMul>() || op.Is<ops::Gemm>()) &&
         ir::Contents(op.operand(1));
}

float NumberAt(const ir::DenseElements<float>& numbers, int64_t i) {
  return numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(i)];
}

// The channel of its input that a weight of a convolution reads.
struct ChannelRead {
  int64_t group, outputs, inputs, kernel;
  int64_t operator()(int64_t weight) const {
    const int64_t row = weight / kernel;
    return row / inputs / (outputs / group) * inputs + row % inputs;
  }
};

// t has numbers for them.
Let<ChannelRead> ChannelsRead(SourcePattern& src, const OpPattern<ops::Conv>& conv, Tensor w,
                              Tensor t) {
  return src.Let("there is one number, or one for each channel that w reads",
                 [=](const MatchContext& m) -> std::optional<ChannelRead> {
                   const int64_t group = m[conv].group, outputs = m[w].dim(0), inputs = m[w].dim(1);
                   const int64_t count = m[t].type().NumElements();
                   if (group <= 0 || outputs <= 0 || outputs % group != 0 || inputs <= 0 ||
                       (count != 1 && count != group * inputs))
                     return std::nullopt;
                   const int64_t kernel = m[w].type().NumElements() / outputs / inputs;
                   return ChannelRead{group, outputs, inputs, kernel};
                 });
}

// A constant matrix w, [K, N], or [N, K] where `turned` is not 0.
struct WeightMatrix {
  Tensor w;
  std::optional<Attr<int64_t>> turned;

  WeightMatrix(SourcePattern& src, std::optional<Attr<int64_t>> turned = {})
      : w(src.Tensor("w")), turned(turned) {
    src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2));
  }
  bool IsTurned(const MatchContext& m) const { return turned && m[*turned] != 0; }
  int64_t Rows(const MatchContext& m) const { return m[w].dim(IsTurned(m) ? 1 : 0); }
  int64_t Columns(const MatchContext& m) const { return m[w].dim(IsTurned(m) ? 0 : 1); }

  // Times s, one number or one for each column.
  Let<Attribute> Scaled(SourcePattern& src, Tensor s) const {
    return src.Let("s has one number, or one for each column of w",
                   [=, self = *this](const MatchContext& m) -> std::optional<Attribute> {
                     const auto weights = *ConstantF32(m[self.w]), factors = *ConstantF32(m[s]);
                     const int64_t count = std::ssize(factors), size = m[self.w].dim(1);
                     if (count != 1 && count != self.Columns(m)) return std::nullopt;
                     return MakeF32(m.context(), m[self.w].shape(), [&](int64_t i) {
                       return double{weights[i]} *
                              NumberAt(factors, self.IsTurned(m) ? i / size : i % size);
                     });
                   });
  }
  // b + t . w, where b may be absent.
  Let<Attribute> Bias(SourcePattern& src, Tensor t, Tensor b) const {
    src.Require("b, if given, is an f32 constant, a number or one per column",
                IsConstant(IfGiven(b)), DType(IfGiven(b), kF32));
    return src.Let("t has one number, or one for each row of w, and b for each column",
                   [=, self = *this](const MatchContext& m) -> std::optional<Attribute> {
                     const auto weights = *ConstantF32(m[self.w]), terms = *ConstantF32(m[t]);
                     const auto bias = ConstantF32(m[b]);
                     const int64_t rows = self.Rows(m), columns = self.Columns(m);
                     const auto fits = [](size_t count, int64_t size) {
                       return count == 1 || static_cast<int64_t>(count) == size;
                     };
                     if (!fits(terms.size(), rows) || (bias && !fits(bias->size(), columns)))
                       return std::nullopt;
                     const int64_t to_row = self.IsTurned(m) ? 1 : columns,
                                   to_column = self.IsTurned(m) ? rows : 1;
                     return MakeF32(m.context(), Shape{columns}, [&](int64_t column) {
                       double sum = bias ? NumberAt(*bias, column) : 0.0;
                       for (int64_t row = 0; row < rows; ++row)
                         sum += double{weights[row * to_row + column * to_column]} *
                                NumberAt(terms, row);
                       return sum;
                     });
                   });
  }
};

// gemm(x * s, w, c) as gemm(x, w * s, c), with this transB: the axis of w that columns of x meet.
void ScaleRowsOfGemm(SourcePattern& src, ResultPattern& res, int64_t trans_b) {
  auto x = src.Tensor("x"), c = src.Tensor("c"), s = src.Tensor("s"), w = src.Tensor("w");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs(), {.transA = 0, .transB = trans_b});
  auto scaled = NoProduct(src, x) * s;
  auto out = gemm(scaled, w, src.Optional(c));
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2));
  src.Profitable(OnlyUser(w, out));
  src.Require(kPerColumn, IsConstant(s), DType(s, kF32), SameType(x, scaled),
              VariesAlong(s, x, -1));
  res.Tensor(out) = res.Like(gemm)(x, res.Constant(Product(w, s, trans_b)), c);
}

}  // namespace

// conv(x, w, b) * s => conv(x, w * s, b * s), s by channel
WEFT_RULE(FoldFactorIntoConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), s = src.Tensor("s");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(x, w, src.Optional(b));
  auto out = y * s;
  src.Require(IsConstant(w), DType(w, kF32), IsConstant(IfGiven(b)));
  src.Profitable(OnlyUser(w, y));
  src.Require(kPerChannel, IsConstant(s), DType(s, kF32), VariesAlong(s, y, 1));
  res.Tensor(out) =
      res.Like(conv)(x, res.Constant(Product(w, s, 0)), res.Constant(BiasProduct(b, s, w)));
}

// conv(x, w, b) + t => conv(x, w, b + t), t by channel
WEFT_RULE(FoldTermIntoConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = conv(x, w, src.Optional(b));
  auto out = y + t;
  src.Require(IsConstant(IfGiven(b)));
  src.Require(kPerChannel, IsConstant(t), DType(t, kF32), StaticDim(w, 0), VariesAlong(t, y, 1));
  res.Tensor(out) = res.Like(conv)(x, w, res.Constant(BiasSum(b, t, w)));
}

// conv(x * s, w, b) => conv(x, w * s, b), s by channel: 0 times it is 0, so padding stays what it is
WEFT_RULE(FoldFactorBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), s = src.Tensor("s");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto scaled = NoProduct(src, x) * s;
  auto out = conv(scaled, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), MinRank(w, 3), SameType(x, scaled));
  src.Profitable(OnlyUser(w, out));
  src.Require(kPerChannel, IsConstant(s), DType(s, kF32), VariesAlong(s, x, 1));
  auto channel = ChannelsRead(src, conv, w, s);
  auto new_w = res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]), factors = *ConstantF32(m[s]);
    const ChannelRead read = m[channel];
    return MakeF32(m.context(), m[w].shape(),
                   [&](int64_t i) { return double{weights[i]} * NumberAt(factors, read(i)); });
  });
  res.Tensor(out) = res.Like(conv)(x, new_w, b);
}

// conv(x + t, w, b) => conv(x, w, b + sum of w * t), t by channel, where nothing is padded
WEFT_RULE(FoldTermBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto sum = x + t;
  auto out = conv(sum, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), MinRank(w, 3), SameType(x, sum));
  src.Require(IsConstant(IfGiven(b)));
  src.Require("nothing is padded", [=](const MatchContext& m) {
    const auto& pads = m[conv].pads;
    return m[conv].auto_pad == ops::AutoPad::kValid ||
           (m[conv].auto_pad == ops::AutoPad::kNotSet &&
            (!pads || std::all_of(pads->begin(), pads->end(), [](int64_t p) { return p == 0; })));
  });
  src.Require(kPerChannel, IsConstant(t), DType(t, kF32), VariesAlong(t, x, 1));
  auto channel = ChannelsRead(src, conv, w, t);
  auto new_b = res.Constant([=](const MatchContext& m) {
    const auto weights = *ConstantF32(m[w]), terms = *ConstantF32(m[t]);
    const ChannelRead read = m[channel];
    const int64_t outputs = m[w].dim(0), count = read.inputs * read.kernel;
    return MakeF32(m.context(), Shape{outputs}, [&](int64_t c) {
      double sum = m.Has(b) ? (*ConstantF32(m[b]))[c] : 0.0;
      for (int64_t i = c * count; i < (c + 1) * count; ++i)
        sum += double{weights[i]} * NumberAt(terms, read(i));
      return sum;
    });
  });
  res.Tensor(out) = res.Like(conv)(x, w, new_b);
}

// conv(x / d, w, b) => conv(x, w / d, b), d a number, likewise
WEFT_RULE(FoldDivisorBeforeConv, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), d = src.Tensor("d");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto divided = NoProduct(src, x) / d;
  auto out = conv(divided, w, src.Optional(b));
  src.Require(IsConstant(w), DType(w, kF32), NonZero(d), OneElement(d), Broadcasts(d, w),
              DType(d, kF32), SameType(x, divided));
  src.Profitable(OnlyUser(w, out));
  res.Tensor(out) = res.Like(conv)(x, res.Constant(Quotient(w, d)), b);
}

// matmul(x, w) * s => matmul(x, w * s), s a number or one for each column
WEFT_RULE(FoldFactorIntoMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), s = src.Tensor("s");
  auto y = src.Op<ops::MatMul>()(x, w);
  auto out = y * s;
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2));
  src.Profitable(OnlyUser(w, y));
  src.Require("s is an f32 constant, a number or one per column", IsConstant(s), DType(s, kF32),
              VariesAlong(s, y, -1));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Product(w, s, 1)));
}

// gemm(x, w, c) * s => gemm(x, w * s, c * s), s likewise
WEFT_RULE(FoldFactorIntoGemm, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), c = src.Tensor("c"), s = src.Tensor("s");
  auto trans_b = src.Attr<int64_t>("transB");
  auto gemm = src.Op<ops::Gemm>(AnyAttrs(), {.transB = trans_b});
  const WeightMatrix w(src, trans_b);
  auto y = gemm(x, w.w, src.Optional(c));
  auto out = y * s;
  src.Profitable(OnlyUser(w.w, y));
  src.Require("s is an f32 constant, a number or one per column", IsConstant(s), DType(s, kF32),
              VariesAlong(s, y, -1));
  src.Require("c, if given, is a constant, a number or one per column", IsConstant(IfGiven(c)),
              VariesAlong(IfGiven(c), y, -1));
  auto new_w = w.Scaled(src, s);
  auto new_c = res.Constant([=](const MatchContext& m) {
    const auto factors = *ConstantF32(m[s]);
    const auto given = ConstantF32(m[c]);
    const size_t size = std::max(factors.size(), given ? given->size() : 1);
    return MakeF32(m.context(), Shape{static_cast<int64_t>(size)}, [&](int64_t i) {
      return (given ? double{NumberAt(*given, i)} : 0.0) * NumberAt(factors, i);
    });
  });
  res.Tensor(out) = res.Like(gemm)(x, res.Constant(new_w), new_c);
}

// matmul(x * s, w) => matmul(x, w * s), s a number or one for each column of x
WEFT_RULE(FoldFactorBeforeMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), s = src.Tensor("s"), w = src.Tensor("w");
  auto scaled = NoProduct(src, x) * s;
  auto out = src.Op<ops::MatMul>()(scaled, w);
  src.Require(IsConstant(w), DType(w, kF32), Rank(w, 2));
  src.Profitable(OnlyUser(w, out));
  src.Require(kPerColumn, IsConstant(s), DType(s, kF32), SameType(x, scaled),
              VariesAlong(s, x, -1));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Product(w, s, 0)));
}

// gemm(x * s, w, c) => gemm(x, w * s, c), s likewise
WEFT_RULE(FoldFactorBeforeGemm, "canonicalize", kReassociates) { ScaleRowsOfGemm(src, res, 0); }
// The same with w transposed
WEFT_RULE(FoldFactorBeforeTransposedGemm, "canonicalize", kReassociates) {
  ScaleRowsOfGemm(src, res, 1);
}

// matmul(x + t, w) + b => matmul(x, w) + (b + t . w), t and b a number or one for each column
WEFT_RULE(FoldTermBeforeMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), t = src.Tensor("t"), b = src.Tensor("b");
  const WeightMatrix w(src);
  auto sum = NoProduct(src, x) + t;
  auto product = src.Op<ops::MatMul>()(sum, w.w);
  auto out = product + b;
  src.Require(kPerColumn, IsConstant(t), DType(t, kF32), SameType(x, sum), VariesAlong(t, x, -1));
  src.Require(VariesAlong(b, product, -1));
  auto bias = w.Bias(src, t, b);
  res.Tensor(out) = res.Op<ops::Add>()(res.Op<ops::MatMul>()(x, w.w), res.Constant(bias));
}

// gemm(x + t, w, c) => gemm(x, w, c + t . w), likewise
WEFT_RULE(FoldTermBeforeGemm, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), t = src.Tensor("t"), c = src.Tensor("c");
  auto trans_b = src.Attr<int64_t>("transB");
  auto gemm = src.Op<ops::Gemm>({.transB = trans_b});
  const WeightMatrix w(src, trans_b);
  auto sum = NoProduct(src, x) + t;
  auto out = gemm(sum, w.w, src.Optional(c));
  src.Require(kPerColumn, IsConstant(t), DType(t, kF32), SameType(x, sum), VariesAlong(t, x, -1));
  src.Require(VariesAlong(IfGiven(c), out, -1));
  res.Tensor(out) = res.Like(gemm)(x, w.w, res.Constant(w.Bias(src, t, c)));
}

// matmul(x, w) / d => matmul(x, w / d), d a number
WEFT_RULE(FoldDivisorIntoMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), d = src.Tensor("d");
  auto y = src.Op<ops::MatMul>()(x, w);
  auto out = y / d;
  src.Require(IsConstant(w), DType(w, kF32), NonZero(d), OneElement(d), Broadcasts(d, w),
              DType(d, kF32), SameType(y, out));
  src.Profitable(OnlyUser(w, y));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Quotient(w, d)));
}

// matmul(x / d, w) => matmul(x, w / d), d a number
WEFT_RULE(FoldDivisorBeforeMatmul, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), d = src.Tensor("d");
  auto divided = NoProduct(src, x) / d;
  auto out = src.Op<ops::MatMul>()(divided, w);
  src.Require(IsConstant(w), DType(w, kF32), NonZero(d), OneElement(d), Broadcasts(d, w),
              DType(d, kF32), SameType(x, divided));
  src.Profitable(OnlyUser(w, out));
  res.Tensor(out) = res.Op<ops::MatMul>()(x, res.Constant(Quotient(w, d)));
}

// x / d => x * (1 / d), d a constant, before or behind a product, which takes in factors
WEFT_RULE(FoldDivisorIntoWeights, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), d = src.Tensor("d");
  auto out = NoProduct(src, x) / d;
  auto inverse = src.Let(
      "d is an f32 constant without a 0", [=](const MatchContext& m) -> std::optional<Attribute> {
        const auto numbers = ConstantF32(m[d]);
        if (!numbers || std::count(numbers->begin(), numbers->end(), 0.0F) > 0) return std::nullopt;
        return MakeF32(m.context(), m[d].shape(), [&](int64_t i) { return 1.0 / (*numbers)[i]; });
      });
  src.Profitable(
      "a product with weights makes x, or alone reads the result", [=](const MatchContext& m) {
        const ir::Operation add = m[x].value().DefiningOp();
        const bool has_bias = add && add.Is<ops::Add>() && ir::Contents(add.operand(1));
        const ir::Value product = has_bias ? add.operand(0) : m[x].value();
        const ir::Value y = m[out].value();
        return HasWeights(product.DefiningOp()) ||
               (y.HasOneUse() && y.uses()[0].index() == 0 && HasWeights(y.uses()[0].owner()));
      });
  res.Tensor(out) = res.Op<ops::Mul>()(x, res.Constant(inverse));
}

// f(x, w, 0) => f(x, w), of convolutions and gemm
WEFT_RULE(DropZeroBias, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w");
  auto f = src.OneOf<ops::Conv, ops::ConvTranspose, ops::Gemm>(AnyAttrs());
  auto out = f(x, w, src.Splat(0));
  res.Tensor(out) = res.Like(f)(x, w);
}

// transpose(conv(x, w, b), p) + t => transpose(conv(x, w, b + t), p), t by channel, as tf2onnx writes
// a bias behind the layout of TensorFlow
WEFT_RULE(FoldTermThroughTranspose, "canonicalize", kReassociates) {
  auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b"), t = src.Tensor("t");
  auto perm = src.Attr<Ints>("perm");
  auto conv = src.Op<ops::Conv>(AnyAttrs());
  auto y = src.Op<ops::Transpose>({.perm = perm})(conv(x, w, src.Optional(b)));
  auto out = y + t;
  src.Require(IsConstant(IfGiven(b)));
  src.Require("t is an f32 constant, a number or one per channel", IsConstant(t), DType(t, kF32),
              StaticDim(w, 0), VariesAlong(t, y, 1, perm));
  res.Tensor(out) =
      res.Op<ops::Transpose>({.perm = perm})(res.Like(conv)(x, w, res.Constant(BiasSum(b, t, w))));
}

}  // namespace weft::passes
