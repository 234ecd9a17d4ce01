// Relu, Clip, and Min and Max with one number: whatever follows on each other is one Clip.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/builder.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// min(max(x, low), high)
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool HoldZero() const { return low <= 0 && high >= 0; }
};
// Of the first op, and of both together.
struct Merged {
  Bounds first, both;
};

// One op of those.
class Clamp {
 public:
  Clamp(SourcePattern& src, const char* low, const char* high, const char* floor,
        const char* ceiling)
      : low_(src.Tensor(low)),
        high_(src.Tensor(high)),
        floor_(src.Tensor(floor)),
        ceiling_(src.Tensor(ceiling)) {}

  Tensor Of(SourcePattern& src, const Tensor& x) const {
    return src.EitherOf({src.Op<ops::Relu>()(x),
                         src.Op<ops::Clip>()(x, src.Optional(low_), src.Optional(high_)),
                         src.Op<ops::Max>()(x, floor_), src.Op<ops::Min>()(x, ceiling_)});
  }

  // Nothing where one is not a number, or -0: which zero is the larger one, IEEE 754 leaves open.
  std::optional<Bounds> Read(const MatchContext& m, const Tensor& result) const {
    Bounds bounds;
    if (m[result].value().DefiningOp().Is<ops::Relu>()) bounds.low = 0;
    for (const Tensor& t : {low_, floor_})
      if (!Take(m, t, &bounds.low)) return std::nullopt;
    for (const Tensor& t : {high_, ceiling_})
      if (!Take(m, t, &bounds.high)) return std::nullopt;
    return bounds;
  }

 private:
  static bool Take(const MatchContext& m, const Tensor& t, double* bound) {
    if (!m.Has(t)) return true;
    const auto number = m[t].splat();
    if (!number || std::isnan(*number) || (*number == 0 && std::signbit(*number))) return false;
    *bound = *number;
    return true;
  }
  Tensor low_, high_, floor_, ceiling_;
};

// A number of the element type; null where it has no such number.
ir::Attribute Number(const MatchContext& m, const Tensor& like, double number) {
  const ir::DataType dtype = m[like].dtype();
  const ir::Attribute scalar =
      m.context()->DenseAttr(m.context()->TensorType(dtype, {}), ir::ElementBytes(dtype, number));
  constexpr double kExact = 1LL << 53;  // up to here every integer is a double
  if (!ir::IsInteger(dtype)) return scalar;
  return std::abs(number) < kExact && ir::DenseElement(scalar, 0) == number ? scalar
                                                                            : ir::Attribute();
}

}  // namespace

// Relu is a Clip from 0, max(x, a) one from a, min(x, b) one to b. Bounds may be crossed: the upper one
// counts. Before min and max of each other, so that numbers are joined and not listed.
WEFT_RULE(MergeClamps, "canonicalize", kExact, .benefit = 3,
          .algebra =
              "clip(clip(x, a, b), c, d) => clip(x, max(a, c), min(max(b, c), d)), also of "
              "relu(x), max(x, a) and min(x, b)") {
  auto x = src.Tensor("x");
  const Clamp first(src, "a", "b", "at_least", "at_most"),
      second(src, "c", "d", "floor", "ceiling");
  auto inner = src.Keep(first.Of(src, x));
  auto out = second.Of(src, inner);
  src.Require(SameType(x, out));
  src.Require("one of them is no Relu", [=](const MatchContext& m) {
    return !m[inner].value().DefiningOp().Is<ops::Relu>() ||
           !m[out].value().DefiningOp().Is<ops::Relu>();
  });
  auto bounds = src.Let("every bound is a number, and not -0", [=](const MatchContext& m) {
    const auto one = first.Read(m, inner), other = second.Read(m, out);
    if (!one || !other) return std::optional<Merged>();
    return std::optional(
        Merged{*one, Bounds{std::max(one->low, other->low),
                            std::min(std::max(one->high, other->low), other->high)}});
  });
  // Else a zero of x would keep its sign: relu(min(x, -1)) is 0, clip(x, 0, 0) may be -0.
  src.Require("0 is within the first bounds, or not within both", [=](const MatchContext& m) {
    return m[bounds].first.HoldZero() || !m[bounds].both.HoldZero();
  });
  res.Tensor(out) = res.Op<ops::Clip>()(
      x, res.Constant([=](const MatchContext& m) { return Number(m, x, m[bounds].both.low); }),
      res.Constant([=](const MatchContext& m) { return Number(m, x, m[bounds].both.high); }));
}

// max(xs, max(ys), zs) => max(xs, ys, zs), and so for min; not of an inner one that is used twice: nested
// so, each one would double the operands
WEFT_RULE(MergeExtrema, "canonicalize", kExact) {
  auto xs = src.Tensors("xs"), ys = src.Tensors("ys"), zs = src.Tensors("zs");
  auto inner = src.OneOf<ops::Min, ops::Max>(), outer = src.OneOf<ops::Min, ops::Max>();
  auto some = inner(ys);
  auto out = outer(xs, some, zs);
  src.Require("both are the same operator", SameOp(some, out));
  src.Require(OnlyUser(some, out));
  res.Tensor(out) = res.Like(outer)(xs, ys, zs);
}

}  // namespace weft::passes
