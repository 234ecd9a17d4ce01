// Products with weights that stay the few bits that they are given as: com.microsoft.MatMulNBits, constant or not, and
// fused.dequantize_matmul with constant ones.
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ir/dialects/fused/quantized_products.h"
#include "ir/dialects/microsoft/matmul.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/int4/nbits_gemm.h"

namespace weft::kernels::native {
namespace {

using ir::DataType;
using ir::fused::DequantizeMatmul;
using ir::microsoft::MatMulNBits;

bool TakesBlocks(int64_t size) {
  return size >= simd::NBitsMatrix::kLeastBlock && std::has_single_bit(static_cast<uint64_t>(size));
}

simd::NBitsMatrix MatrixOf(int64_t bits, int64_t block_size, int64_t n, int64_t k) {
  return {.bits = static_cast<int>(bits),
          .block_size = block_size,
          .n = n,
          .k = k,
          .blocks = (k + block_size - 1) / block_size};
}

// The product of operand 0 and the weights, whose data `data_of(args, &weights)` says; `bias` is an operand, or none is.
template <class F>
Made MakeGemm(const KernelContext& context, const simd::NBitsMatrix& weights, size_t bias,
              uint32_t packed, F data_of) {
  const std::span<const int64_t> a = context.dims(0);
  const int64_t m = CountElements(a.first(a.size() - 1));
  const int64_t scratch = simd::NBitsGemmScratchBytes(m, weights.k, context.pool().num_threads());
  return MakeNative("few-bits gemm",
                    {.packed = packed,
                     .scratch_bytes = static_cast<size_t>(scratch),
                     .spaces_rows = true,
                     .spaced_rows = {{weights.k, weights.k}}},
                    [=](const KernelArgs& args) {
                      simd::NBitsMatrix b = weights;
                      data_of(args, &b);
                      simd::NBitsGemm({.m = m,
                                       .a = args.input<float>(0),
                                       .a_stride = args.InputStrideOr(0, weights.k),
                                       .b = b,
                                       .bias = args.input<float>(bias),
                                       .c = args.output<float>(0),
                                       .c_stride = args.ResultStrideOr(weights.n)},
                                      args.scratch, *args.pool);
                    });
}

// --- as ONNX Runtime has them -----------------------------------------------------------

Made MakeMatMulNBits(const KernelContext& context) {
  enum Operand : size_t { kA, kB, kScales, kZeroPoints, kGroups, kBias };
  const auto attrs = context.attrs_of<MatMulNBits>();
  if (context.input_type(kA).dtype() != DataType::kF32) return context.Unsupported("only f32");
  if (context.HasInput(kGroups)) return context.Unsupported("columns with scales of other blocks");
  if (attrs.weight_prepacked.value_or(0) != 0)
    return context.Unsupported("weights in a layout of ONNX Runtime's own");
  if (!TakesBlocks(attrs.block_size))
    return context.Unsupported("blocks of " + std::to_string(attrs.block_size));
  const bool bit_zeros =
      context.HasInput(kZeroPoints) && context.input_type(kZeroPoints).dtype() == DataType::kU8;
  return MakeGemm(context, MatrixOf(attrs.bits, attrs.block_size, attrs.N, attrs.K), kBias, 0,
                  [=](const KernelArgs& args, simd::NBitsMatrix* b) {
                    b->data = args.input<uint8_t>(kB);
                    b->scales = args.input<float>(kScales);
                    if (bit_zeros) {
                      b->bit_zeros = args.input<uint8_t>(kZeroPoints);
                    } else {
                      b->float_zeros = args.input<float>(kZeroPoints);
                    }
                  });
}
const RegisterKernel<MatMulNBits> kMatMulNBits("native", &MakeMatMulNBits);

// --- as DequantizeLinear has them -------------------------------------------------------

struct PackedBlocks {
  std::vector<uint8_t> data, zeros;  // no zeros: each is half the range
  std::vector<float> scales;
};

// From an integer, signed or not, to one from 0 on with the same distance from its zero point.
uint8_t Unsigned(std::byte element, bool is_signed, int bits) {
  const unsigned shift = is_signed ? 1u << (bits - 1) : 0;
  return static_cast<uint8_t>((static_cast<unsigned>(element) + shift) & ((1u << bits) - 1));
}

// w [k, n] by columns, scales and zero points [blocks, n] likewise; `zeros` may be null.
void PackBlocks(const simd::NBitsMatrix& matrix, ir::Attribute w, ir::Attribute scales,
                ir::Attribute zeros, ThreadPool& pool, PackedBlocks* packed) {
  const int64_t n = matrix.n, blocks = matrix.blocks;
  const int bits = matrix.bits;
  const DataType dtype = w.dense_type().dtype();
  const bool is_signed = dtype == DataType::kI2 || dtype == DataType::kI4 || dtype == DataType::kI8;
  packed->data.assign(static_cast<size_t>(n * matrix.row_bytes()), 0);
  pool.ParallelFor(blocks, 1, [&](int64_t begin, int64_t end) {
    std::vector<std::byte> rows(static_cast<size_t>(matrix.block_size * n));
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * matrix.block_size;
      const int64_t count = std::min(matrix.block_size, matrix.k - first);
      w.Read(static_cast<size_t>(first * n), std::span(rows).first(static_cast<size_t>(count * n)));
      for (int64_t column = 0; column < n; ++column) {
        uint8_t* const to = packed->data.data() + column * matrix.row_bytes() + first * bits / 8;
        for (int64_t i = 0; i < count; ++i) {
          const uint8_t number =
              Unsigned(rows[static_cast<size_t>(i * n + column)], is_signed, bits);
          to[i * bits / 8] |= static_cast<uint8_t>(number << (i * bits % 8));
        }
      }
    }
  });
  const std::vector<float> scale = ConstantFloats(scales);
  packed->scales.resize(scale.size());
  for (int64_t i = 0; i < n * blocks; ++i)
    packed->scales[static_cast<size_t>(i)] =
        scale[static_cast<size_t>(i % blocks * n + i / blocks)];
  if (!zeros && is_signed) return;
  packed->zeros.assign(static_cast<size_t>(n * matrix.zero_bytes()), 0);
  if (!zeros) return;
  for (int64_t i = 0; i < n * blocks; ++i) {
    const int64_t column = i / blocks, block = i % blocks;
    const uint8_t zero =
        Unsigned(zeros.bytes()[static_cast<size_t>(block * n + column)], is_signed, bits);
    packed->zeros[static_cast<size_t>(column * matrix.zero_bytes() + block * bits / 8)] |=
        static_cast<uint8_t>(zero << (block * bits % 8));
  }
}

Made MakeDequantizeMatmul(const KernelContext& context) {
  enum Operand : size_t { kX, kW, kScale, kZero, kNone };
  const int64_t block_size = context.attrs_of<DequantizeMatmul>().block_size;
  const ir::Attribute w = context.constant(kW), scale = context.constant(kScale),
                      zero = context.constant(kZero);
  if (context.input_type(kX).dtype() != DataType::kF32) return context.Unsupported("only f32");
  if (!w || !scale || (context.HasInput(kZero) && !zero))
    return context.Unsupported("weights that are not constant");
  if (!TakesBlocks(block_size))
    return context.Unsupported("blocks of " + std::to_string(block_size));
  if (context.HasEmptyTensor()) return context.Unsupported("empty tensors");
  const std::span<const int64_t> dims = context.dims(kW);
  const simd::NBitsMatrix matrix = MatrixOf(
      static_cast<int64_t>(ir::ElementBits(w.dense_type().dtype())), block_size, dims[1], dims[0]);
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<PackedBlocks> packed,
                        context.packed().Get<PackedBlocks>(
                            "blocks of " + std::to_string(block_size), {w, scale, zero},
                            [&]() -> absl::StatusOr<std::shared_ptr<PackedBlocks>> {
                              auto made = std::make_shared<PackedBlocks>();
                              PackBlocks(matrix, w, scale, zero, context.pool(), made.get());
                              return made;
                            }));
  return MakeGemm(context, matrix, kNone, 1u << kW | 1u << kScale | 1u << kZero,
                  [=](const KernelArgs&, simd::NBitsMatrix* b) {
                    b->data = packed->data.data();
                    b->scales = packed->scales.data();
                    if (!packed->zeros.empty()) b->bit_zeros = packed->zeros.data();
                  });
}
const RegisterKernel<DequantizeMatmul> kDequantizeMatmul("native", &MakeDequantizeMatmul);

}  // namespace
}  // namespace weft::kernels::native
