// fused.rotary_embedding.
#include "kernels/native/simd/rotary_embedding.h"

#include "ir/dialects/fused.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

// Strides of operand i over the rows of x.
Dims RowStrides(const KernelContext& context, size_t i) {
  ir::Shape rows(context.dims(0).begin(), context.dims(0).end());
  rows.back() = context.dims(i).back();
  return BroadcastStrides(context.dims(i), rows);
}

Made MakeRotaryEmbedding(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> dims = context.dims(0);
  if (dims.size() > kMaxRank) return context.Unsupported("x of so high a rank");
  const int64_t columns = dims.back(), given = context.dims(1).back();
  if (context.dims(2).back() != given || (given != columns && given != columns / 2))
    return context.Unsupported("cosines and sines of different sizes");
  simd::RotaryArguments shape = {
      .pairs = columns / 2,
      .interleaved = context.attrs_of<ir::fused::RotaryEmbedding>().interleaved,
      .per_column = given == columns};
  const Dims cos = RowStrides(context, 1), sin = RowStrides(context, 2);
  shape.rows = 1;
  for (int i = 0; i + 1 < static_cast<int>(dims.size()); ++i) {
    shape.angles.Add(dims[static_cast<size_t>(i)], {cos[i], sin[i]});
    shape.rows *= dims[static_cast<size_t>(i)];
  }
  shape.angles.Coalesce();
  return MakeNative("rotary embedding", {.may_overwrite = 1}, [shape](const KernelArgs& args) {
    simd::RotaryArguments run = shape;
    run.x = args.input<float>(0);
    run.cos = args.input<float>(1);
    run.sin = args.input<float>(2);
    run.y = args.output<float>(0);
    simd::RotaryEmbedding(run, *args.pool);
  });
}
const RegisterKernel<ir::fused::RotaryEmbedding> kRotaryEmbedding("native", &MakeRotaryEmbedding);

}  // namespace
}  // namespace weft::kernels::native
