// Elementwise kernels on quantised numbers: QuantizeLinear and DequantizeLinear with one constant
// scale, tables, sums and products. They compute as the reference bodies do, in f32, so that no result
// differs.
#include "kernels/native/quantized/quantized.h"

#include <array>
#include <cstring>
#include <limits>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/int8/quantize.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::DataType;

constexpr int64_t kTile = 1 << 14;

// --- between f32 and 8 bits -----------------------------------------------------------

simd::ByteScale ScaleOf(DataType dtype, const Quantization& q) {
  return {.is_signed = dtype == DataType::kI8, .scale = q.scale, .zero = q.zero};
}

Made MakeQuantize(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::QuantizeLinear>();
  const DataType dtype = context.result_type(0).dtype();
  if (context.input_type(0).dtype() != DataType::kF32 || !IsByte(dtype) || attrs.block_size != 0 ||
      (attrs.precision != 0 && attrs.precision != 1))
    return context.Unsupported("only f32 to 8 bits");
  const absl::StatusOr<Quantization> constant = ReadQuantization(context, 1, 2);
  if (!constant.ok()) return MakeQuantizeAxis(context, attrs.axis);
  const Quantization q = *constant;
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("quantize", {}, [=](const KernelArgs& args) {
    args.pool->ParallelFor(n, kTile, [&](int64_t begin, int64_t end) {
      simd::QuantizeBytes(args.input<float>(0) + begin, args.output<uint8_t>(0) + begin,
                          end - begin, ScaleOf(dtype, q));
    });
  });
}
const RegisterKernel<ops::QuantizeLinear> kQuantize("native", &MakeQuantize);

Made MakeDequantize(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::DequantizeLinear>();
  const DataType dtype = context.input_type(0).dtype();
  if (context.result_type(0).dtype() != DataType::kF32 || !IsByte(dtype) || attrs.block_size != 0)
    return context.Unsupported("only 8 bits to f32");
  const absl::StatusOr<Quantization> constant = ReadQuantization(context, 1, 2);
  if (!constant.ok()) return MakeDequantizeAxis(context, attrs.axis);
  const Quantization q = *constant;
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("dequantize", {}, [=](const KernelArgs& args) {
    args.pool->ParallelFor(n, kTile, [&](int64_t begin, int64_t end) {
      simd::DequantizeBytes(args.input<uint8_t>(0) + begin, args.output<float>(0) + begin,
                            end - begin, ScaleOf(dtype, q));
    });
  });
}
const RegisterKernel<ops::DequantizeLinear> kDequantize("native", &MakeDequantize);

// The numbers of a run go from the lowest to the highest, 0 included; NaN counts as 0.
Made MakeDynamicQuantize(const KernelContext& context) {
  if (context.input_type(0).dtype() != DataType::kF32) return context.Unsupported("only f32");
  const int64_t n = context.input_type(0).NumElements();
  const int threads = context.pool().num_threads();
  struct alignas(64) Bounds {  // of a thread
    float low, high;
  };
  const NativeOptions options = {.scratch_bytes = sizeof(Bounds) * static_cast<size_t>(threads)};
  return MakeNative("dynamic quantize", options, [=](const KernelArgs& args) {
    const float* x = args.input<float>(0);
    const std::span<Bounds> bounds(reinterpret_cast<Bounds*>(args.scratch),
                                   static_cast<size_t>(threads));
    std::fill(bounds.begin(), bounds.end(), Bounds{0, 0});
    args.pool->ParallelForSlots(n, kTile, [&](int slot, int64_t begin, int64_t end) {
      Bounds& of_slot = bounds[static_cast<size_t>(slot)];
      simd::FindBounds(x + begin, end - begin, &of_slot.low, &of_slot.high);
    });
    float lowest = 0, highest = 0;
    for (const Bounds& b : bounds) {
      lowest = std::min(lowest, b.low);
      highest = std::max(highest, b.high);
    }
    const float scale = highest == lowest ? 1.0f / 255 : (highest - lowest) / 255;
    // 0 where infinities leave no number.
    const uint8_t zero = Round<uint8_t>(std::fmax(0.0f, -lowest / scale), 0);
    args.pool->ParallelFor(n, kTile, [&](int64_t begin, int64_t end) {
      simd::QuantizeBytes(x + begin, args.output<uint8_t>(0) + begin, end - begin,
                          {.is_signed = false, .scale = scale, .zero = zero});
    });
    *args.output<float>(1) = scale;
    *args.output<uint8_t>(2) = zero;
  });
}
const RegisterKernel<ops::DynamicQuantizeLinear> kDynamicQuantize("native", &MakeDynamicQuantize);

// --- tables -------------------------------------------------------------------------

Made MakeLookup(const KernelContext& context) {
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("lookup", {.may_overwrite = 1}, [n](const KernelArgs& args) {
    const uint8_t* table = args.input<uint8_t>(1);
    args.pool->ParallelFor(n, kTile, [&](int64_t begin, int64_t end) {
      const uint8_t* x = args.input<uint8_t>(0);
      for (int64_t i = begin; i < end; ++i) args.output<uint8_t>(0)[i] = table[x[i]];
    });
  });
}
const RegisterKernel<ir::fused::QLookup> kLookup("native", &MakeLookup);

// --- two operands ---------------------------------------------------------------------

struct Binary {
  simd::ByteBinary op;
  int64_t a_period, b_period;  // the operands are repeated
  int64_t n;
};

void RunBinary(const Binary& binary, const KernelArgs& args, int64_t begin, int64_t end) {
  const auto *a = args.input<uint8_t>(0), *b = args.input<uint8_t>(3);
  int64_t i = begin % binary.a_period, j = begin % binary.b_period;
  for (int64_t at = begin; at < end;) {
    const int64_t run = std::min({end - at, binary.a_period - i, binary.b_period - j});
    simd::BinaryBytes(binary.op, a + i, b + j, args.output<uint8_t>(0) + at, run);
    at += run;
    i = i + run == binary.a_period ? 0 : i + run;
    j = j + run == binary.b_period ? 0 : j + run;
  }
}

// The number of elements of an operand that is repeated over the leading dims, or 0 for another
// broadcast.
int64_t PeriodOf(std::span<const int64_t> dims, std::span<const int64_t> result) {
  while (!dims.empty() && dims.front() == 1) dims = dims.subspan(1);
  const bool is_suffix =
      dims.size() <= result.size() && std::equal(dims.rbegin(), dims.rend(), result.rbegin());
  return is_suffix ? CountElements(dims) : 0;
}

Made MakeBinary(const KernelContext& context, simd::ByteOp op) {
  const ir::Ints clamp = context.attrs_of<ir::fused::QAdd>().clamp;
  const DataType dtype = context.result_type(0).dtype();
  WEFT_ASSIGN_OR_RETURN(const Quantization a, ReadQuantization(context, 1, 2));
  WEFT_ASSIGN_OR_RETURN(const Quantization b, ReadQuantization(context, 4, 5));
  WEFT_ASSIGN_OR_RETURN(const Quantization y, ReadQuantization(context, 6, 7));
  const bool is_signed = dtype == DataType::kI8;
  Binary binary = {.op = {.op = op,
                          .a = ScaleOf(context.input_type(0).dtype(), a),
                          .b = ScaleOf(context.input_type(3).dtype(), b),
                          .y = ScaleOf(dtype, y),
                          .low = is_signed ? -128 : 0,
                          .high = is_signed ? 127 : 255},
                   .a_period = PeriodOf(context.dims(0), context.result_dims(0)),
                   .b_period = PeriodOf(context.dims(3), context.result_dims(0)),
                   .n = context.result_type(0).NumElements()};
  if (!clamp.empty()) {
    binary.op.low = static_cast<int>(clamp[0]);
    binary.op.high = static_cast<int>(clamp[1]);
  }
  if (binary.a_period == 0 || binary.b_period == 0)
    return context.Unsupported("an operand that is repeated within");
  return MakeNative("quantised elementwise", {}, [=](const KernelArgs& args) {
    args.pool->ParallelFor(
        binary.n, kTile, [&](int64_t begin, int64_t end) { RunBinary(binary, args, begin, end); });
  });
}
Made MakeQAdd(const KernelContext& context) { return MakeBinary(context, simd::ByteOp::kAdd); }
Made MakeQMul(const KernelContext& context) { return MakeBinary(context, simd::ByteOp::kMul); }
const RegisterKernel<ir::fused::QAdd> kQAdd("native", &MakeQAdd);
const RegisterKernel<ir::fused::QMul> kQMul("native", &MakeQMul);

}  // namespace

absl::StatusOr<Quantization> ReadQuantization(const KernelContext& context, size_t scale,
                                              size_t zero) {
  const ir::Attribute scales = context.constant(scale);
  if (!scales || scales.dense_type().dtype() != DataType::kF32 ||
      scales.dense_type().NumElements() != 1)
    return context.Unsupported("other than one constant f32 scale");
  Quantization q;
  std::memcpy(&q.scale, scales.bytes().data(), sizeof(q.scale));
  if (!context.HasInput(zero)) return q;
  const ir::Attribute zeros = context.constant(zero);
  if (!zeros || !IsByte(zeros.dense_type().dtype()) || zeros.dense_type().NumElements() != 1)
    return context.Unsupported("other than one constant zero point of 8 bits");
  const auto byte = static_cast<uint8_t>(zeros.bytes()[0]);
  q.zero = zeros.dense_type().dtype() == DataType::kI8 ? static_cast<int8_t>(byte) : byte;
  return q;
}

}  // namespace weft::kernels::native
