#include "ir/dialects/fused/activation.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <numbers>
#include <type_traits>

#include "ir/builder.h"
#include "ir/dialects/fused/elementwise.h"
#include "ir/dialects/onnx.h"
#include "ir/infer.h"

namespace weft::ir::fused {
namespace {

template <class O>
constexpr bool (*IsOp())(Operation) {
  if constexpr (std::is_void_v<O>) {
    return nullptr;
  } else {
    return [](Operation op) { return op.Is<O>(); };
  }
}

// By activation.
struct Row {
  bool (*is_op)(Operation op);
  Value (*build)(Builder& b, Value x, DataType dtype, const Floats& params);
};
#define WEFT_ROW(Name, text, num_params, op, body)                                      \
  {IsOp<op>(), [](Builder& b, Value x, DataType dtype, const Floats& params) -> Value { \
     static_cast<void>(b), static_cast<void>(dtype), static_cast<void>(params);         \
     return body;                                                                       \
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

Activation ActivationOf(Operation op, Floats* params) {
  params->clear();
  if (op.num_operands() == 0 || op.num_results() != 1) return Activation::kNone;
  for (uint32_t i = 1; i < op.num_operands(); ++i)
    if (op.operand(i)) return Activation::kNone;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (!kRows[i].is_op || !kRows[i].is_op(op)) continue;
    for (const FieldDef& field : op.def()->fields) {
      const Attribute fallback =
          field.make_default ? field.make_default(*op.context()) : Attribute();
      const Attribute stated = op.attr(field.name.str());
      const Attribute value = stated ? stated : fallback;
      if (field.kind == AttrKind::kFloat) {
        params->push_back(value.AsFloat());
      } else if (!(value == fallback)) {
        return Activation::kNone;
      }
    }
    return static_cast<Activation>(i);
  }
  return Activation::kNone;
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
