#include <optional>

#include "ir/builder.h"
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
  auto filled = src.Op<ops::ConstantOfShape>(AnyAttrs());
  auto to = src.Attr<ir::DataType>("to");
  auto out = src.Op<ops::Cast>({.to = to})(filled(s));
  const auto is_number = [](ir::DataType type) { return ir::IsFloat(type) || ir::IsInteger(type); };
  auto value = src.Let("the number is one of the new element type", [=](const MatchContext& m) {
    const auto given = m[filled].value;
    if (given && (!given->dense_type() || given->dense_type().NumElements() != 1 ||
                  given->bytes().empty() || !is_number(given->dense_type().dtype())))
      return std::optional<ir::Attribute>();
    const double number = given ? ir::DenseElement(*given, 0) : 0;
    if (!is_number(m[to])) return std::optional<ir::Attribute>();
    const ir::Attribute cast = m.context()->DenseAttr(m.context()->TensorType(m[to], {1}),
                                                      ir::ElementBytes(m[to], number));
    return ir::DenseElement(cast, 0) == number ? std::optional(cast) : std::nullopt;
  });
  res.Tensor(out) = res.Op<ops::ConstantOfShape>({.value = value})(s);
}

}  // namespace weft::passes
