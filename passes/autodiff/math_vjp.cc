// Gradients of pd's elementwise ops and matrix products.
#include "ir/dialects/pd.h"
#include "passes/autodiff/vjp.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;

void ReluVjp(VjpContext& c) { c.SetGrads<pd::ReluGrad>({c.result(), c.out_grad()}, {0}); }
WEFT_REGISTER_VJP(pd::Relu, ReluVjp);

void GeluVjp(VjpContext& c) { c.SetGrads<pd::GeluGrad>({c.operand(0), c.out_grad()}, {0}); }
WEFT_REGISTER_VJP(pd::Gelu, GeluVjp);

// factor * x + bias
ir::Value Affine(VjpContext& c, ir::Value x, float factor, float bias) {
  const ir::DataType dtype = x.type().IsTensor() ? x.type().dtype() : ir::DataType::kF32;
  const ir::Value scale = c.Make<pd::Full>({}, {.dtype = dtype, .shape = {1}, .value = factor});
  return c.Make<pd::Scale>({x, scale}, {.bias = bias});
}

// out_grad * out * (1 - out)
void SigmoidVjp(VjpContext& c) {
  const ir::Value slope = c.Make<pd::Multiply>({c.result(), Affine(c, c.result(), -1, 1)});
  c.SetGrad(0, c.Make<pd::Multiply>({c.out_grad(), slope}));
}
WEFT_REGISTER_VJP(pd::Sigmoid, SigmoidVjp);

// out_grad * (1 - out^2)
void TanhVjp(VjpContext& c) {
  const ir::Value square = c.Make<pd::Multiply>({c.result(), c.result()});
  c.SetGrad(0, c.Make<pd::Multiply>({c.out_grad(), Affine(c, square, -1, 1)}));
}
WEFT_REGISTER_VJP(pd::Tanh, TanhVjp);

void CastVjp(VjpContext& c) {
  const ir::Type x = c.operand(0).type();
  if (x.IsTensor() && ir::IsFloat(x.dtype()))
    c.SetGrad(0, c.Make<pd::Cast>({c.out_grad()}, {.dtype = x.dtype()}));
}
WEFT_REGISTER_VJP(pd::Cast, CastVjp);

// The factor has no gradient, as in Paddle.
void ScaleVjp(VjpContext& c) { c.SetGrad(0, c.Make<pd::Scale>({c.out_grad(), c.operand(1)})); }
WEFT_REGISTER_VJP(pd::Scale, ScaleVjp);

template <class Grad>
void BinaryVjp(VjpContext& c) {
  c.SetGrads<Grad>({c.operand(0), c.operand(1), c.out_grad()}, {0, 1});
}
WEFT_REGISTER_VJP(pd::Add, BinaryVjp<pd::AddGrad>);
WEFT_REGISTER_VJP(pd::Subtract, BinaryVjp<pd::SubtractGrad>);
WEFT_REGISTER_VJP(pd::Multiply, BinaryVjp<pd::MultiplyGrad>);
WEFT_REGISTER_VJP(pd::MatMul, BinaryVjp<pd::MatMulGrad>);

void DivideVjp(VjpContext& c) {
  c.SetGrads<pd::DivideGrad>({c.operand(0), c.operand(1), c.result(), c.out_grad()}, {0, 1});
}
WEFT_REGISTER_VJP(pd::Divide, DivideVjp);

}  // namespace
}  // namespace weft::passes
