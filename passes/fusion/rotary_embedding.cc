// Rotary embeddings, from what exporters spell out: pairs of columns (a, b) turned by angles.
#include "ir/dialects/fused/rotary_embedding.h"

#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

// The first columns of the pairs of x, and the second ones; how they lie in a row again is Joined(). Fused they only
// gain where their number is known: of others there is no reference body.
struct Pairs {
  Tensor first, second;
};

// Column i and column i + D / 2.
struct Halves {
  static constexpr bool kInterleaved = false;

  static Pairs Of(SourcePattern& src, const Tensor& x) {
    auto [low, high] =
        Several<2>(src.Op<ops::Split>(AnyAttrs()), x, src.Optional(src.Tensor("sizes")));
    return {low, high};
  }
  // That the result has the type of x says that the columns are what is cut.
  static Tensor Joined(SourcePattern& src, const Tensor& x, const Tensor& a, const Tensor& b) {
    auto axis = src.Attr<int64_t>("axis");
    auto joined = src.Op<ops::Concat>({.axis = axis})(a, b);
    src.Require("the columns are joined", SameAxis(x, axis, -1), SameType(joined, x));
    return joined;
  }
};

// Columns 2 i and 2 i + 1, of an x of rank 4. Equal constants are one, as after
// common-subexpression-elimination.
struct Neighbours {
  static constexpr bool kInterleaved = true;

  static Pairs Of(SourcePattern& src, const Tensor& x) {
    auto last = src.Either(src.Splat(-1), src.Splat(3)), step = src.Splat(2);
    const auto every_second = [&](double start, const char* end) {
      return src.Op<ops::Slice>()(x, src.Splat(start), src.Tensor(end), last, step);
    };
    return {every_second(0, "end_of_first"), every_second(1, "end_of_second")};
  }
  // That the result has the type of x says that a and b have all of its columns.
  static Tensor Joined(SourcePattern& src, const Tensor& x, const Tensor& a, const Tensor& b) {
    auto last = src.Either(src.Splat(-1), src.Splat(4));
    const auto column = [&](const Tensor& t) { return src.Op<ops::Unsqueeze>()(t, last); };
    auto pairs = src.Op<ops::Concat>({.axis = In{-1, 4}})(column(a), column(b));
    auto joined = src.Op<ops::Reshape>(AnyAttrs())(pairs, src.Tensor("shape"));
    src.Require("pairs become neighbours", Rank(pairs, 5), SameType(joined, x));
    return joined;
  }
};

// x * cos + joined(-second, first) * sin, with a number for each column
template <class Form>
void FusePartners(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), cos = src.Tensor("cos"), sin = src.Tensor("sin");
  const Pairs pairs = Form::Of(src, x);
  if constexpr (!Form::kInterleaved)
    src.Require("x is cut in halves", SameType(pairs.first, pairs.second));
  auto partners = Form::Joined(src, x, src.Op<ops::Neg>()(pairs.second), pairs.first);
  auto out = x * cos + partners * sin;
  src.Require(DType(x, kF32));
  src.Profitable(StaticDim(x, -1));
  for (const Tensor& t : {cos, sin})
    src.Require("cos and sin have a number for each column", Broadcasts(t, x),
                SameDim(t, -1, x, -1));
  res.Tensor(out) =
      res.Op<fused::RotaryEmbedding>({.interleaved = Form::kInterleaved})(x, cos, sin);
}

// joined(first * cos - second * sin, second * cos + first * sin), with a number for each pair
template <class Form>
void FuseTurnedPairs(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), cos = src.Tensor("cos"), sin = src.Tensor("sin");
  const Pairs pairs = Form::Of(src, x);
  const auto& [a, b] = pairs;
  // One column alone would broadcast; of halves, which are joined as they are, none is left over.
  if constexpr (Form::kInterleaved) src.Require("each pair has two columns", SameType(a, b));
  auto out = Form::Joined(src, x, a * cos - b * sin, b * cos + a * sin);
  src.Require(DType(x, kF32));
  src.Profitable(StaticDim(x, -1));
  for (const Tensor& t : {cos, sin})
    src.Require("cos and sin have a number for each pair", SameDim(t, -1, a, -1));
  res.Tensor(out) =
      res.Op<fused::RotaryEmbedding>({.interleaved = Form::kInterleaved})(x, cos, sin);
}

}  // namespace

// x * cos + concat(-b, a) * sin => rotary_embedding(x, cos, sin), where a, b = split(x), as Llama has it
WEFT_RULE(FuseRotaryHalves, "fuse-composite", kReassociates) { FusePartners<Halves>(src, res); }

// concat(a * cos - b * sin, b * cos + a * sin) => rotary_embedding(x, cos, sin), where a, b = split(x), as
// onnx.RotaryEmbedding is defined
WEFT_RULE(FuseRotaryHalfAngles, "fuse-composite", kReassociates) {
  FuseTurnedPairs<Halves>(src, res);
}

// x * cos + stack(-b, a) * sin => rotary_embedding(x, cos, sin) {interleaved}, where a and b are the even
// and the odd columns of x
WEFT_RULE(FuseRotaryNeighbours, "fuse-composite", kReassociates) {
  FusePartners<Neighbours>(src, res);
}

// stack(a * cos - b * sin, b * cos + a * sin) => rotary_embedding(x, cos, sin) {interleaved}, likewise, as
// GPT-J has it
WEFT_RULE(FuseRotaryNeighbourAngles, "fuse-composite", kReassociates) {
  FuseTurnedPairs<Neighbours>(src, res);
}

}  // namespace weft::passes
