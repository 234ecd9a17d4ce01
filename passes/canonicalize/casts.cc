#include "ir/dialects/onnx/math.h"
#include "passes/rules.h"

namespace weft::passes {

// cast(x, type of x) => x
WEFT_RULE(DropNoopCast, "canonicalize", kExact, .aliases = {"remove-noop-cast"}) {
  auto x = src.Tensor("x");
  auto out = src.Op<ops::Cast>(AnyAttrs())(x);
  src.Require(SameDType(x, out));
  res.Tensor(out) = x;
}

// cast_like(x, like) => cast(x, type of like), as torch's exporter gives scalars the type of a tensor.
WEFT_RULE(LowerCastLike, "canonicalize", kExact) {
  auto x = src.Tensor("x"), like = src.Tensor("like");
  auto out = src.Op<ops::CastLike>()(x, like);
  auto to = src.Let("the element type is known", DTypeOf(like));
  res.Tensor(out) = res.Op<ops::Cast>({.to = to})(x);
}

// cast(cast(x, t), s) => cast(x, s), where casting by way of t loses nothing. The document
// (ascend_knowledge_base.md, MergeCasts) drops the first of any two casts; here only where no value
// changes: not f32 -> i32 -> f32 (1.7 became 1), not f64 -> f32 -> f16 (rounded twice), not
// i64 -> i32 -> i64 (2^40 became 0). A tree of casts is hung on its root, user by user. Of the
// document's other two cases, equal casts are merged by common-subexpression-elimination, and casts
// to the same type are dropped above.
WEFT_RULE(MergeCasts, "canonicalize", kExact, .seed = "ascend") {
  auto t = src.Attr<ir::DataType>("t"), s = src.Attr<ir::DataType>("s");
  auto x = src.Tensor("x");
  auto outer = src.Op<ops::Cast>({.to = s})(src.Keep(src.Op<ops::Cast>({.to = t})(x)));
  src.Require(CastsCompose(x, t, s));
  res.Tensor(outer) = res.Op<ops::Cast>({.to = s})(x);
}

// cast(constant_of_shape(s) {v}, t) => constant_of_shape(s) {v as t}, where t has that number
WEFT_RULE(FoldCastIntoConstantOfShape, "canonicalize", kExact) {
  auto s = src.Tensor("s");
  auto to = src.Attr<ir::DataType>("to");
  auto filled = src.Op<ops::ConstantOfShape>(AnyAttrs())(s);
  auto out = src.Op<ops::Cast>({.to = to})(filled);
  auto value = src.Let("the number is one of the new element type", Converted(filled, "value", to));
  res.Tensor(out) = res.Op<ops::ConstantOfShape>({.value = value})(s);
}

}  // namespace weft::passes
