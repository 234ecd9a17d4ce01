// Gradients of pd's convolutions, pools, normalisations, softmax and losses.
#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"
#include "passes/autodiff/vjp.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;

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
    if (!reads_running || (from && from.Is<ir::GetParameterOp>())) c.SetZero(i);
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

}  // namespace
}  // namespace weft::passes
