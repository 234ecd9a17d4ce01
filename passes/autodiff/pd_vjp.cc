// The gradient of each op of pd.
#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"
#include "passes/autodiff/vjp.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;

// --- elementwise and matmul ---

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

// --- conv, pool, normalization, reduce, loss ---

void Conv2dVjp(VjpContext& c) {
  c.SetGrads<pd::Conv2dGrad>({c.operand(0), c.operand(1), c.out_grad()}, {0, 1});
}
WEFT_REGISTER_VJP(pd::Conv2d, Conv2dVjp);

// Running statistics have no gradient: they are updated, not trained. Where the op normalises by
// them, only parameters may count as constants.
void BatchNormVjp(VjpContext& c) {
  c.SetGrads<pd::BatchNormGrad>({c.operand(0), c.operand(3), c.operand(4), c.result(1), c.result(2),
                                 c.result(3), c.result(4), c.out_grad()},
                                {0, 3, 4});
  const auto attrs = c.op().attrs_of<pd::BatchNorm>();
  const bool reads_running =
      attrs.use_global_stats || (attrs.is_test && !attrs.trainable_statistics);
  for (const uint32_t i : {1u, 2u}) {
    const ir::Operation from = c.operand(i).DefiningOp();
    if (!reads_running) {
      c.SetZero(i);
    } else if (from && from.Is<ir::GetParameterOp>()) {
      c.SetConstant(i);
    }
  }
}
WEFT_REGISTER_VJP(pd::BatchNorm, BatchNormVjp);

void Pool2dVjp(VjpContext& c) {
  c.SetGrads<pd::Pool2dGrad>({c.operand(0), c.result(), c.out_grad(), c.operand(1)}, {0});
}
WEFT_REGISTER_VJP(pd::Pool2d, Pool2dVjp);

void SoftmaxVjp(VjpContext& c) { c.SetGrads<pd::SoftmaxGrad>({c.result(), c.out_grad()}, {0}); }
WEFT_REGISTER_VJP(pd::Softmax, SoftmaxVjp);

void MeanVjp(VjpContext& c) { c.SetGrads<pd::MeanGrad>({c.operand(0), c.out_grad()}, {0}); }
WEFT_REGISTER_VJP(pd::Mean, MeanVjp);

// Soft labels have no gradient, as in Paddle.
void CrossEntropyVjp(VjpContext& c) {
  c.SetGrads<pd::CrossEntropyWithSoftmaxGrad>({c.operand(1), c.result(0), c.out_grad()}, {0});
}
WEFT_REGISTER_VJP(pd::CrossEntropyWithSoftmax, CrossEntropyVjp, 1);

// --- movement and shape ---

void ReshapeVjp(VjpContext& c) { c.SetGrads<pd::ReshapeGrad>({c.result(1), c.out_grad()}, {0}); }
WEFT_REGISTER_VJP(pd::Reshape, ReshapeVjp);

void FlattenVjp(VjpContext& c) { c.SetGrads<pd::FlattenGrad>({c.result(1), c.out_grad()}, {0}); }
WEFT_REGISTER_VJP(pd::Flatten, FlattenVjp);

void ExpandVjp(VjpContext& c) {
  c.SetGrads<pd::ExpandGrad>({c.operand(0), c.operand(1), c.out_grad()}, {0});
}
WEFT_REGISTER_VJP(pd::Expand, ExpandVjp);

void TransposeVjp(VjpContext& c) {
  const ir::Ints perm = c.op().attrs_of<pd::Transpose>().perm;
  ir::Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] < 0 || perm[i] >= static_cast<int64_t>(perm.size())) return;  // of unknown rank
    inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  c.SetGrad(0, c.Make<pd::Transpose>({c.out_grad()}, {.perm = inverse}));
}
WEFT_REGISTER_VJP(pd::Transpose, TransposeVjp);

void ConcatVjp(VjpContext& c) {
  c.SetGrads<pd::ConcatGrad>({c.operand(0), c.operand(1), c.out_grad()}, {0});
}
WEFT_REGISTER_VJP(pd::Concat, ConcatVjp);

void CombineVjp(VjpContext& c) {
  const uint32_t count = c.op().num_operands();
  const auto parts = c.Create<ir::SplitOp>({c.out_grad()}, {}, count);
  for (uint32_t i = 0; i < count; ++i)
    if (c.wants(i)) c.SetGrad(i, parts[i]);
}
WEFT_REGISTER_VJP(ir::CombineOp, CombineVjp);

}  // namespace
}  // namespace weft::passes
