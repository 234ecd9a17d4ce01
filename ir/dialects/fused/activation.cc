#include "ir/dialects/fused/activation.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "ir/builder.h"
#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/onnx.h"
#include "ir/infer.h"

namespace weft::ir::fused {
namespace {

// By activation.
struct Row {
  Value (*build)(Builder& b, Value x, DataType dtype, const Floats& params);
};
#define WEFT_ROW(Name, text, num_params, op, body)                             \
  {[](Builder& b, Value x, DataType dtype, const Floats& params) -> Value {    \
    static_cast<void>(b), static_cast<void>(dtype), static_cast<void>(params); \
    return body;                                                               \
  }},
const Row kRows[] = {WEFT_FUSED_ACTIVATIONS(WEFT_ROW)};
#undef WEFT_ROW

}  // namespace

bool CheckActivation(InferContext& c, Activation activation, const Floats& params) {
  const size_t needed = NumActivationParams(activation);
  if (params.size() == needed) return true;
  return c.Fail(fmt::format("activation {} takes {} activation_params but has {}",
                            EnumName(activation), needed, params.size()));
}

Value BuildActivation(Builder& b, Value x, Activation activation, const Floats& params) {
  const Row& row = kRows[static_cast<size_t>(activation)];
  return row.build(b, x, x.type().dtype(), params);
}

Value BuildErfGelu(Builder& b, Value x) {
  const DataType dtype = x.type().dtype();
  const Value scaled = b.Make<ops::Div>({x, b.ConstantScalar(dtype, std::numbers::sqrt2)});
  const Value erf = b.Make<ops::Erf>({scaled});
  const Value one_plus = b.Make<ops::Add>({erf, b.ConstantScalar(dtype, 1)});
  const Value half = b.Make<ops::Mul>({x, b.ConstantScalar(dtype, 0.5)});
  return b.Make<ops::Mul>({half, one_plus});
}

Value BuildTanhGelu(Builder& b, Value x) {
  const DataType dtype = x.type().dtype();
  const Value cube = b.Make<ops::Mul>({b.Make<ops::Mul>({x, x}), x});
  const Value cubic = b.Make<ops::Mul>({cube, b.ConstantScalar(dtype, 0.044715)});
  const Value scale = b.ConstantScalar(dtype, std::sqrt(2 * std::numbers::inv_pi));
  const Value tanh = b.Make<ops::Tanh>({b.Make<ops::Mul>({b.Make<ops::Add>({x, cubic}), scale})});
  const Value one_plus = b.Make<ops::Add>({tanh, b.ConstantScalar(dtype, 1)});
  const Value half = b.Make<ops::Mul>({x, b.ConstantScalar(dtype, 0.5)});
  return b.Make<ops::Mul>({half, one_plus});
}

}  // namespace weft::ir::fused
