// onnx.MatMulInteger with constant weights, on the f32 product: a block of 256 rows of the weights
// has sums below 2^24, which f32 holds exactly; the blocks are added in 32 bits.
#include <string>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/quantized.h"
#include "kernels/native/simd/gemm.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::DataType;

constexpr int64_t kBlock = 256;  // 256 * 255 * 255 < 2^24

struct Blocks {
  std::vector<simd::PackedMatrix> blocks;
};

int ByteAt(const std::byte* data, DataType dtype, int64_t i) {
  const auto byte = static_cast<uint8_t>(data[i]);
  return dtype == DataType::kI8 ? static_cast<int8_t>(byte) : byte;
}

// operand 1 less its zero points, in f32.
std::shared_ptr<Blocks> PackBlocks(const KernelContext& context, int64_t k, int64_t n) {
  const ir::Attribute w = context.constant(1), zeros = context.constant(3);
  const DataType dtype = w.dense_type().dtype();
  std::vector<float> centred(static_cast<size_t>(k * n));
  for (int64_t i = 0; i < k * n; ++i) {
    int zero = 0;
    if (zeros) {
      const bool one = zeros.dense_type().NumElements() == 1;
      zero = ByteAt(zeros.bytes().data(), dtype, one ? 0 : i % n);
    }
    centred[i] = static_cast<float>(ByteAt(w.bytes().data(), dtype, i) - zero);
  }
  auto packed = std::make_shared<Blocks>();
  for (int64_t at = 0; at < k; at += kBlock)
    packed->blocks.push_back(simd::PackedMatrix::Pack(centred.data() + at * n, n, 1,
                                                      std::min(kBlock, k - at), n, context.pool()));
  return packed;
}

template <class T>
void Centre(const T* x, int64_t stride, float* y, int64_t rows, int64_t columns, int zero,
            ThreadPool& pool) {
  pool.ParallelFor(rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < columns; ++j)
        y[i * columns + j] = static_cast<float>(x[i * stride + j] - zero);
  });
}

void AddInto(const float* x, int32_t* y, int64_t n, bool first, ThreadPool& pool) {
  pool.ParallelFor(n, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto sum = static_cast<uint32_t>(static_cast<int32_t>(x[i]));
      y[i] = static_cast<int32_t>(first ? sum : static_cast<uint32_t>(y[i]) + sum);
    }
  });
}

Made MakeMatMulInteger(const KernelContext& context) {
  const std::span<const int64_t> a = context.dims(0), b = context.dims(1);
  if (a.empty() || b.size() != 2 || !context.constant(1))
    return context.Unsupported("other than constant weights of rank 2");
  if (context.HasInput(2) && context.input_type(2).NumElements() != 1)
    return context.Unsupported("a zero point for each row");
  const int64_t k = b[0], n = b[1], m = CountElements(a.first(a.size() - 1));
  if (context.HasInput(3) && (!context.constant(3) || (context.input_type(3).NumElements() != 1 &&
                                                       context.input_type(3).NumElements() != n)))
    return context.Unsupported("zero points of the weights that are not constant");
  const std::string key =
      "native integer gemm w=" + std::to_string(context.constant(1).id()) +
      " zero=" + (context.constant(3) ? std::to_string(context.constant(3).id()) : "-");
  WEFT_ASSIGN_OR_RETURN(
      const std::shared_ptr<Blocks> weights,
      context.packed().Get<Blocks>(key, [&]() -> absl::StatusOr<std::shared_ptr<Blocks>> {
        return PackBlocks(context, k, n);
      }));
  const DataType dtype = context.input_type(0).dtype();
  const auto scratch = static_cast<size_t>(m * (std::min(k, kBlock) + n)) * sizeof(float);
  return MakeNative("integer gemm", {.scratch_bytes = scratch}, [=](const KernelArgs& args) {
    auto* sums = reinterpret_cast<float*>(args.scratch);
    float* centred = sums + m * n;
    const int zero = args.HasInput(2) ? ByteAt(args.inputs[2].data, dtype, 0) : 0;
    for (int64_t at = 0; at < k; at += kBlock) {
      const int64_t depth = std::min(kBlock, k - at);
      if (dtype == DataType::kI8)
        Centre(args.input<int8_t>(0) + at, k, centred, m, depth, zero, *args.pool);
      else
        Centre(args.input<uint8_t>(0) + at, k, centred, m, depth, zero, *args.pool);
      simd::Gemm({.m = m,
                  .a = centred,
                  .a_stride = depth,
                  .b = &weights->blocks[static_cast<size_t>(at / kBlock)],
                  .c = sums,
                  .c_stride = n},
                 *args.pool);
      AddInto(sums, args.output<int32_t>(0), m * n, at == 0, *args.pool);
    }
  });
}
const RegisterKernel<ops::MatMulInteger> kMatMulInteger("native", &MakeMatMulInteger);

}  // namespace
}  // namespace weft::kernels::native
