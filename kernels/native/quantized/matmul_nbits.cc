// com.microsoft.MatMulNBits: weights stay the few bits that they are given as, constant or not.
#include <bit>
#include <string>

#include "ir/dialects/microsoft/matmul.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/int4/nbits_gemm.h"

namespace weft::kernels::native {
namespace {

using ir::microsoft::MatMulNBits;

enum Operand : size_t { kA, kB, kScales, kZeroPoints, kGroups, kBias };

Made MakeMatMulNBits(const KernelContext& context) {
  const auto attrs = context.attrs_of<MatMulNBits>();
  if (context.input_type(kA).dtype() != ir::DataType::kF32) return context.Unsupported("only f32");
  if (context.HasInput(kGroups)) return context.Unsupported("columns with scales of other blocks");
  if (attrs.weight_prepacked.value_or(0) != 0)
    return context.Unsupported("weights in a layout of ONNX Runtime's own");
  if (attrs.block_size < simd::NBitsMatrix::kLeastBlock ||
      !std::has_single_bit(static_cast<uint64_t>(attrs.block_size)))
    return context.Unsupported("blocks of " + std::to_string(attrs.block_size));
  const simd::NBitsMatrix weights = {.bits = static_cast<int>(attrs.bits),
                                     .block_size = attrs.block_size,
                                     .n = attrs.N,
                                     .k = attrs.K,
                                     .blocks = (attrs.K + attrs.block_size - 1) / attrs.block_size};
  const std::span<const int64_t> a = context.dims(kA);
  const int64_t m = CountElements(a.first(a.size() - 1));
  const bool bit_zeros =
      context.HasInput(kZeroPoints) && context.input_type(kZeroPoints).dtype() == ir::DataType::kU8;
  const int64_t scratch = simd::NBitsGemmScratchBytes(m, weights.k, context.pool().num_threads());
  return MakeNative("few-bits gemm",
                    {.scratch_bytes = static_cast<size_t>(scratch),
                     .spaces_rows = true,
                     .spaced_rows = {{weights.k, weights.k}}},
                    [=](const KernelArgs& args) {
                      simd::NBitsMatrix b = weights;
                      b.data = args.input<uint8_t>(kB);
                      b.scales = args.input<float>(kScales);
                      if (bit_zeros) {
                        b.bit_zeros = args.input<uint8_t>(kZeroPoints);
                      } else {
                        b.float_zeros = args.input<float>(kZeroPoints);
                      }
                      simd::NBitsGemm({.m = m,
                                       .a = args.input<float>(kA),
                                       .a_stride = args.InputStrideOr(kA, weights.k),
                                       .b = b,
                                       .bias = args.input<float>(kBias),
                                       .c = args.output<float>(0),
                                       .c_stride = args.ResultStrideOr(weights.n)},
                                      args.scratch, *args.pool);
                    });
}
const RegisterKernel<MatMulNBits> kMatMulNBits("native", &MakeMatMulNBits);

}  // namespace
}  // namespace weft::kernels::native
