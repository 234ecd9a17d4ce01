// Reshapes, and the computation of their targets.
#include <optional>

#include "ir/dialects/onnx/infer/shape_value.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// The target as numbers, where 0 copies a size of x and one entry may be -1; nothing when that does
// not say the same for all sizes. A -1 beside a copied size says nothing when that size is 0, so the
// two never stand together unless the program has said so itself.
std::optional<Ints> KnownTarget(const BoundTensor& x, const BoundTensor& shape) {
  const auto entries = ir::EvaluateShapeValue(shape.value());
  if (!entries || !x.has_rank()) return std::nullopt;
  Ints target;
  bool copies = false, empty = false, derived = false;
  int computed = 0;
  for (size_t i = 0; i < entries->size(); ++i) {
    const ir::ShapeEntry entry = (*entries)[i];
    const bool is_copy = !entry.is_number && i < static_cast<size_t>(x.rank()) &&
                         ir::IsSymbolicDim(entry.value) &&
                         entry.value == x.dim(static_cast<int64_t>(i));
    target.push_back(entry.is_number ? entry.value : is_copy ? 0 : -1);
    copies |= is_copy;
    empty |= entry.is_number && entry.value == 0;
    computed += target.back() == -1;
    derived |= !entry.is_number && !is_copy;
  }
  if (computed > 1 || (derived && (copies || empty))) return std::nullopt;
  return target;
}

// Nothing when one is not a number.
std::optional<Ints> Numbers(const BoundTensor& shape) {
  const auto sizes = ir::EvaluateShapeValue(shape.value());
  if (!sizes) return std::nullopt;
  Ints numbers;
  for (const ir::ShapeEntry& size : *sizes) {
    if (!size.is_number) return std::nullopt;
    numbers.push_back(size.value);
  }
  return numbers;
}

}  // namespace

// reshape(x, shape of x) => x
WEFT_RULE(DropNoopReshape, "canonicalize", kExact, .aliases = {"remove-noop-reshape"}) {
  auto x = src.Tensor("x"), shape = src.Tensor("shape");
  auto out = src.Op<ops::Reshape>(AnyAttrs())(x, shape);
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// reshape(reshape(x, s), t) => reshape(x, t), with the shape itself for t: a 0 or -1 in t would mean
// another thing for x
WEFT_RULE(MergeReshapes, "canonicalize", kExact, .aliases = {"compose-reshapes"}) {
  auto x = src.Tensor("x"), s = src.Tensor("s"), t = src.Tensor("t");
  auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, s));
  auto out = src.Op<ops::Reshape>(AnyAttrs())(inner, t);
  src.Require(NonEmpty(out));
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(ShapeOf(out)));
}

// reshape(reshape(x, s), t) => reshape(x, t), where t is known and copies only sizes that x has too
WEFT_RULE(MergeReshapesByTarget, "canonicalize", kExact) {
  auto x = src.Tensor("x"), s = src.Tensor("s"), t = src.Tensor("t");
  auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, s));
  auto out = src.Op<ops::Reshape>({.allowzero = 0})(inner, t);
  src.Require(ReshapesCompose(x, inner, t));
  res.Tensor(out) = res.Op<ops::Reshape>({.allowzero = 0})(x, t);
}

// reshape(reshape(x, s), t) => x, where t is the shape of x, also when that is not known as numbers
WEFT_RULE(DropReshapeBack, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto inner = src.Keep(src.Op<ops::Reshape>(AnyAttrs())(x, src.Tensor("s")));
  auto out = src.Op<ops::Reshape>(AnyAttrs())(inner, src.Tensor("t"));
  src.Require(SameType(x, out));
  res.Tensor(out) = x;
}

// reshape(x, s) => reshape(x, constant), where s follows from the sizes of x. The small ops that
// computed s are erased with it. The document (ascend_knowledge_base.md, DynamicReshape) compares a
// few runs and believes what they have in common; here every entry follows from the symbolic sizes
// of the types, for all sizes.
WEFT_RULE(FoldDynamicReshape, "canonicalize", kExact, .seed = "ascend",
          .aliases = {"dynamic-reshape"}) {
  auto x = src.Tensor("x"), s = src.Tensor("s");
  auto out = src.Op<ops::Reshape>({.allowzero = 0})(x, s);
  src.Require("s is computed", [=](const MatchContext& m) { return !m[s].is_constant(); });
  auto target = src.Let(
      "every size is a number or x's at that place, but for one at most that follows from the "
      "others",
      [=](const MatchContext& m) { return KnownTarget(m[x], m[s]); });
  res.Tensor(out) = res.Op<ops::Reshape>()(x, res.ConstantInts(target));
}

// shape(x) => the sizes of x, from start to end: the one op that is a constant though its operand is
// none (ai_system_graph_optimization.md, 5.2.3). A size that is not asked for may be a symbol.
WEFT_RULE(FoldStaticShape, "canonicalize", kExact) {
  auto out = src.Op<ops::Shape>(AnyAttrs())(src.Tensor("x"));
  auto sizes =
      src.Let("the sizes are numbers", [=](const MatchContext& m) { return Numbers(m[out]); });
  res.Tensor(out) = res.ConstantInts(sizes);
}

// gather(shape(x), i) => those sizes of x. The others may be symbols.
WEFT_RULE(FoldStaticSize, "canonicalize", kExact) {
  auto sizes = src.Keep(src.Op<ops::Shape>(AnyAttrs())(src.Tensor("x")));
  auto out = src.Op<ops::Gather>(AnyAttrs())(sizes, src.Tensor("i"));
  auto numbers =
      src.Let("the sizes are numbers", [=](const MatchContext& m) { return Numbers(m[out]); });
  res.Tensor(out) = res.Constant([=](const MatchContext& m) {
    const ir::Type type = m[out].type();
    return type.context()->DenseAttrOf<int64_t>(type, std::span<const int64_t>(m[numbers]));
  });
}

}  // namespace weft::passes
