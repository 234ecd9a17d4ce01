// What the passes on LiteRT's attention share: following values from op to op, and scales.
#pragma once

#include <optional>

#include "ir/dialects/litert.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/normalization.h"
#include "ir/program.h"

namespace weft::passes {

// The defining op of `value` if it is an O and `value` has no other use; or none.
template <class O>
ir::Operation SingleUseDef(ir::Value value) {
  const ir::Operation op = value.DefiningOp();
  return op && op.Is<O>() && value.HasOneUse() ? op : ir::Operation();
}

// The only user of `value`, which must be an O that takes it as this operand; or none.
template <class O>
ir::Operation OnlyUser(ir::Value value, uint32_t operand = 0) {
  if (!value.HasOneUse()) return {};
  const ir::OpOperand use = value.first_use();
  return use.owner().Is<O>() && use.index() == operand ? use.owner() : ir::Operation();
}

inline bool Permutes(ir::Operation transpose, const ir::Ints& perm) {
  return transpose.attrs_of<ir::ops::Transpose>().perm == perm;
}

inline bool IsOverTheLastAxis(ir::Operation softmax) {
  const int64_t axis = softmax.attrs_of<ir::ops::Softmax>().axis;
  const ir::Type type = softmax.result().type();
  return axis == -1 || (type.HasRank() && axis + 1 == static_cast<int64_t>(type.rank()));
}

// Whether `op` is a product of floats that exchanges dimensions of its second operand as given, and
// none of its first.
inline bool IsFloatProduct(ir::Operation op, bool adj_y) {
  const auto attrs = op.attrs_of<ir::litert::MatMul>();
  return !attrs.adj_x && attrs.adj_y == adj_y && !attrs.x_scale;
}

// x * factor, where x has the type of the product.
struct Scaled {
  ir::Value x, factor;
};
// `accepts(factor)` tells the factor from x.
template <class F>
std::optional<Scaled> ScaledBy(ir::Operation mul, const F& accepts) {
  for (const uint32_t i : {0u, 1u}) {
    const ir::Value x = mul.operand(i), factor = mul.operand(1 - i);
    if (ir::ProvablySameType(x.type(), mul.result().type()) && factor.type().IsStatic() &&
        accepts(factor))
      return Scaled{x, factor};
  }
  return std::nullopt;
}

}  // namespace weft::passes
