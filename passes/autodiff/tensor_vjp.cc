// Gradients of pd's ops that change shapes and move data.
#include "ir/dialects/builtin.h"
#include "ir/dialects/pd.h"
#include "passes/autodiff/vjp.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;

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
