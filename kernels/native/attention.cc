// fused.attention, in either layout, reading heads through strides.
#include "kernels/native/simd/attention.h"

#include "ir/dialects/fused.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

// A [B, H, S, D] tensor's dims, whatever the layout.
struct Heads {
  int64_t batch, heads, rows, columns;
  Heads(std::span<const int64_t> dims, bool bshd)
      : batch(dims[0]), heads(dims[bshd ? 2 : 1]), rows(dims[bshd ? 1 : 2]), columns(dims[3]) {}
};

template <class View>
View Strided(const Dims& strides, bool bshd) {
  View view;
  view.batch_stride = strides[0];
  view.head_stride = strides[bshd ? 2 : 1];
  view.row_stride = strides[bshd ? 1 : 2];
  return view;
}

// q, k or v of a run, which may be a part of a wider tensor.
simd::AttentionView ViewOf(const KernelArgs& args, size_t i, bool bshd) {
  auto view =
      Strided<simd::AttentionView>(*SpacedStrides(args.inputs[i].dims, args.spacing(i)), bshd);
  view.data = args.input<float>(i);
  return view;
}

// Operand i, the mask or what is kept.
absl::Status CheckBroadcasts(const KernelContext& context, size_t i,
                             std::span<const int64_t> scores) {
  if (!context.HasInput(i)) return absl::OkStatus();
  const std::span<const int64_t> mask = context.dims(i);
  bool fits = mask.size() <= 4;
  for (size_t i = 0; fits && i < mask.size(); ++i)
    fits = mask[i] == 1 || mask[i] == scores[4 - mask.size() + i];
  if (fits) return absl::OkStatus();
  return context.InvalidArgument("a mask of shape " + ir::ToString(mask) + " for scores of shape " +
                                 ir::ToString(scores));
}

simd::MaskStrides StridesOf(const KernelContext& context, size_t i,
                            std::span<const int64_t> scores) {
  if (!context.HasInput(i)) return {};
  const Dims strides = BroadcastStrides(context.dims(i), scores);
  return {.batch = strides[0], .head = strides[1], .query = strides[2], .key = strides[3]};
}

Made MakeAttention(const KernelContext& context) {
  if (context.result_type(0).dtype() != ir::DataType::kF32) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ir::fused::Attention>();
  const bool bshd = attrs.layout == ir::fused::AttentionLayout::kBshd;
  for (size_t i : {0, 1, 2})
    if (context.dims(i).size() != 4) return context.Unsupported("operands of rank other than 4");
  const Heads q(context.dims(0), bshd), k(context.dims(1), bshd), v(context.dims(2), bshd);
  if (k.batch != q.batch || v.batch != q.batch || v.heads != k.heads ||
      (q.heads != k.heads && (k.heads == 0 || q.heads % k.heads != 0)) || k.columns != q.columns ||
      v.rows != k.rows)
    return context.InvalidArgument("q, k and v do not fit together");
  const Dims scores = {q.batch, q.heads, q.rows, k.rows};
  for (size_t i : {3, 4}) WEFT_RETURN_IF_ERROR(CheckBroadcasts(context, i, scores));
  simd::AttentionArguments a = {.batch = q.batch,
                                .heads = q.heads,
                                .kv_heads = k.heads,
                                .queries = q.rows,
                                .keys = k.rows,
                                .head_size = q.columns,
                                .value_size = v.columns,
                                .scale = attrs.scale,
                                .fill = attrs.fill,
                                .zero_nan = attrs.zero_nan};
  a.y = Strided<simd::AttentionOutput>(RowMajorStrides(context.result_dims(0)), bshd);
  a.mask_strides = StridesOf(context, 3, scores);
  a.keep_strides = StridesOf(context, 4, scores);
  const int64_t scratch = simd::AttentionScratchBytes(a, context.pool().num_threads());
  using Limits = NativeOptions::RowLimits;
  return MakeNative("attention",
                    {.scratch_bytes = static_cast<size_t>(scratch),
                     .spaced_rows = {Limits::AtLeast(q.columns), Limits::AtLeast(k.columns),
                                     Limits::AtLeast(v.columns)}},
                    [a, bshd](const KernelArgs& args) {
                      simd::AttentionArguments run = a;
                      run.q = ViewOf(args, 0, bshd);
                      run.k = ViewOf(args, 1, bshd);
                      run.v = ViewOf(args, 2, bshd);
                      run.mask = args.input<float>(3);
                      run.keep = args.input<uint8_t>(4);
                      run.y.data = args.output<float>(0);
                      simd::Attention(run, args.scratch, *args.pool);
                    });
}
const RegisterKernel<ir::fused::Attention> kAttention("native", &MakeAttention);

}  // namespace
}  // namespace weft::kernels::native
