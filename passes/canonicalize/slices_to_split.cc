// Slices that are all of a value become one Split.
#include <algorithm>
#include <optional>

#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

struct SliceOperands {
  Tensor start, end, axis;
};

std::optional<int64_t> OneInteger(const BoundTensor& t) {
  const std::optional<Ints> ints = t.ints();
  return ints && ints->size() == 1 ? std::optional(ints->front()) : std::nullopt;
}

// From `begin` to `end` of a dimension, 0 <= begin < end <= its size.
struct Part {
  int64_t axis, begin, end;
};
std::optional<Part> PartOf(const MatchContext& m, const Tensor& x, const SliceOperands& s) {
  const auto axis = OneInteger(m[s.axis]), begin = OneInteger(m[s.start]),
             end = OneInteger(m[s.end]);
  if (!axis || !begin || !end || !m[x].has_rank()) return std::nullopt;
  const int64_t at = *axis < 0 ? *axis + m[x].rank() : *axis;
  if (at < 0 || at >= m[x].rank() || !ir::IsStaticDim(m[x].dim(at))) return std::nullopt;
  const int64_t size = m[x].dim(at);
  const auto place = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const Part part = {at, place(*begin), place(*end)};
  return part.begin < part.end ? std::optional(part) : std::nullopt;
}

struct Cut {
  int64_t axis;
  Ints sizes;
};
// Where x is cut in two, the first part before the second.
std::optional<Cut> CutInTwo(const MatchContext& m, const Tensor& x, const SliceOperands& low,
                            const SliceOperands& high) {
  const std::optional<Part> a = PartOf(m, x, low), b = PartOf(m, x, high);
  if (!a || !b || a->axis != b->axis || a->begin != 0 || a->end != b->begin ||
      b->end != m[x].dim(b->axis))
    return std::nullopt;
  return Cut{a->axis, {a->end, b->end - b->begin}};
}

}  // namespace

// x[0:middle], x[middle:end] => split(x), as the halves of a rotary embedding
WEFT_RULE(FuseSlicesIntoSplit, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  const auto slice = [&](const SliceOperands& s, const Tensor& step) {
    src.Require(IsSplat(IfGiven(step), 1));
    return src.Op<ops::Slice>()(x, s.start, s.end, s.axis, src.Optional(step));
  };
  const SliceOperands first = {src.Splat(0), src.Tensor("middle"), src.Tensor("axis")};
  const SliceOperands second = {src.Tensor("start"), src.Tensor("end"), src.Tensor("second_axis")};
  auto low = slice(first, src.Tensor("step")), high = slice(second, src.Tensor("second_step"));
  auto cut = src.Let("the two are all of x on one axis",
                     [=](const MatchContext& m) { return CutInTwo(m, x, first, second); });
  auto sizes = res.ConstantInts([=](const MatchContext& m) { return m[cut].sizes; });
  auto [a, b] = Several<2>(res.Op<ops::Split>({.axis = cut[&Cut::axis]}), x, sizes);
  res.Tensor(low) = a;
  res.Tensor(high) = b;
}

}  // namespace weft::passes
