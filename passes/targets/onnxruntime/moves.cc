// Moves of numbers, in fewer operators.
#include <array>
#include <optional>

#include "passes/rules.h"

namespace weft::passes {
namespace {

struct Parts {
  int64_t axis;
  Ints sizes;
};

std::optional<int64_t> OneInteger(const BoundTensor& t) {
  const std::optional<Ints> ints = t.ints();
  return ints && ints->size() == 1 ? std::optional(ints->front()) : std::nullopt;
}

// What x[0:middle] and x[middle:end] divide it into, when they are all of x on one axis.
std::optional<Parts> TwoParts(const BoundTensor& x, const BoundTensor& axis,
                              const BoundTensor& middle, const BoundTensor& end) {
  const std::optional<int64_t> a = OneInteger(axis), m = OneInteger(middle), e = OneInteger(end);
  if (!a || !m || !e || !x.has_rank()) return std::nullopt;
  const int64_t at = *a < 0 ? *a + x.rank() : *a;
  if (at < 0 || at >= x.rank() || !ir::IsStaticDim(x.dim(at))) return std::nullopt;
  const int64_t size = x.dim(at), cut = *m < 0 ? *m + size : *m;
  if (cut <= 0 || cut >= size || *e < size) return std::nullopt;
  return Parts{at, {cut, size - cut}};
}

}  // namespace

// x[0:middle], x[middle:end] => split(x), as the halves of a rotary embedding
WEFT_RULE(FuseSlicesIntoSplit, "onnxruntime", kExact) {
  auto x = src.Tensor("x"), middle = src.Tensor("middle"), end = src.Tensor("end");
  auto axis = src.Tensor("axis"), step = src.Tensor("step");
  const auto slice = [&](const Tensor& from, const Tensor& to) {
    return src.Op<ops::Slice>()(x, from, to, axis, src.Optional(step));
  };
  auto low = slice(src.Splat(0), middle), high = slice(middle, end);
  src.Require(IsSplat(IfGiven(step), 1));
  auto parts = src.Let("the two are all of x on one axis", [=](const MatchContext& m) {
    return TwoParts(m[x], m[axis], m[middle], m[end]);
  });
  auto split = res.Op<ops::Split>({.axis = parts[&Parts::axis]});
  const std::array<ResultOperand, 2> operands{
      Operand(x).value,
      Operand(res.ConstantInts([=](const MatchContext& m) { return m[parts].sizes; })).value};
  const size_t first = split.graph()->CallResult(split.id(), operands, 2).index();
  res.Tensor(low) = ResultTensor(ResultValueId(first));
  res.Tensor(high) = ResultTensor(ResultValueId(first + 1));
}

}  // namespace weft::passes
