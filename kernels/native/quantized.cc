// Elementwise kernels on quantised numbers: QuantizeLinear and DequantizeLinear with one scale,
// tables, sums and products. They compute as the reference bodies do, in f32, so that no result
// differs.
#include "kernels/native/quantized.h"

#include <array>
#include <cstring>
#include <limits>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::DataType;

constexpr int64_t kTile = 1 << 14;

// --- between f32 and 8 bits -----------------------------------------------------------

template <class T>
void QuantizeRange(const float* x, T* y, int64_t n, const Quantization& q) {
  for (int64_t i = 0; i < n; ++i) y[i] = Round<T>(x[i] / q.scale, q.zero);
}

Made MakeQuantize(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::QuantizeLinear>();
  const DataType dtype = context.result_type(0).dtype();
  if (context.input_type(0).dtype() != DataType::kF32 || !IsByte(dtype) || attrs.block_size != 0 ||
      (attrs.precision != 0 && attrs.precision != 1))
    return context.Unsupported("only f32 to 8 bits");
  WEFT_ASSIGN_OR_RETURN(const Quantization q, ReadQuantization(context, 1, 2));
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("quantize", {}, [=](const KernelArgs& args) {
    args.pool->ParallelFor(n, kTile, [&](int64_t begin, int64_t end) {
      const float* x = args.input<float>(0) + begin;
      if (dtype == DataType::kI8)
        QuantizeRange(x, args.output<int8_t>(0) + begin, end - begin, q);
      else
        QuantizeRange(x, args.output<uint8_t>(0) + begin, end - begin, q);
    });
  });
}
const RegisterKernel<ops::QuantizeLinear> kQuantize("native", &MakeQuantize);

template <class T>
void DequantizeRange(const T* x, float* y, int64_t n, const Quantization& q) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] - q.zero) * q.scale;
}

Made MakeDequantize(const KernelContext& context) {
  const DataType dtype = context.input_type(0).dtype();
  if (context.result_type(0).dtype() != DataType::kF32 || !IsByte(dtype))
    return context.Unsupported("only 8 bits to f32");
  WEFT_ASSIGN_OR_RETURN(const Quantization q, ReadQuantization(context, 1, 2));
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("dequantize", {}, [=](const KernelArgs& args) {
    args.pool->ParallelFor(n, kTile, [&](int64_t begin, int64_t end) {
      float* y = args.output<float>(0) + begin;
      if (dtype == DataType::kI8)
        DequantizeRange(args.input<int8_t>(0) + begin, y, end - begin, q);
      else
        DequantizeRange(args.input<uint8_t>(0) + begin, y, end - begin, q);
    });
  });
}
const RegisterKernel<ops::DequantizeLinear> kDequantize("native", &MakeDequantize);

// The numbers of a run go from the lowest to the highest, 0 included; NaN counts as 0.
Made MakeDynamicQuantize(const KernelContext& context) {
  if (context.input_type(0).dtype() != DataType::kF32) return context.Unsupported("only f32");
  const int64_t n = context.input_type(0).NumElements();
  return MakeNative("dynamic quantize", {}, [n](const KernelArgs& args) {
    const float* x = args.input<float>(0);
    constexpr int64_t kLanes = 16;
    std::array<float, kLanes> low{}, high{};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t j = 0; j < kLanes; ++j) {
        low[j] = x[i + j] < low[j] ? x[i + j] : low[j];
        high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
      }
    for (; i < n; ++i) {
      low[0] = x[i] < low[0] ? x[i] : low[0];
      high[0] = x[i] > high[0] ? x[i] : high[0];
    }
    const float lowest = *std::min_element(low.begin(), low.end());
    const float highest = *std::max_element(high.begin(), high.end());
    const float scale = highest == lowest ? 1.0f / 255 : (highest - lowest) / 255;
    // 0 where infinities leave no number.
    const uint8_t zero = Round<uint8_t>(std::fmax(0.0f, -lowest / scale), 0);
    args.pool->ParallelFor(n, kTile, [&](int64_t begin, int64_t end) {
      QuantizeRange(x + begin, args.output<uint8_t>(0) + begin, end - begin, {scale, zero});
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

struct Source {
  DataType dtype;
  Quantization q;
  int64_t period;  // the operand is repeated
};

struct Binary {
  Source a, b;
  Quantization y;
  int low, high;  // bounds of the result
  int64_t n;
};

void Dequantize(const Source& source, const uint8_t* x, float* y, int64_t n) {
  if (source.dtype == DataType::kI8)
    DequantizeRange(reinterpret_cast<const int8_t*>(x), y, n, source.q);
  else
    DequantizeRange(x, y, n, source.q);
}

// A block at a time, as floats.
template <class T, class F>
void BinaryRange(const Binary& binary, const uint8_t* a, const uint8_t* b, T* y, int64_t begin,
                 int64_t end, const F& f) {
  constexpr int64_t kBlock = 256;
  const T low = static_cast<T>(binary.low), high = static_cast<T>(binary.high);
  std::array<float, kBlock> left, right;
  int64_t i = begin % binary.a.period, j = begin % binary.b.period;
  for (int64_t at = begin; at < end;) {
    const int64_t run =
        std::min({end - at, binary.a.period - i, binary.b.period - j, int64_t{kBlock}});
    Dequantize(binary.a, a + i, left.data(), run);
    Dequantize(binary.b, b + j, right.data(), run);
    for (int64_t k = 0; k < run; ++k) {
      const T q = Round<T>(f(left[k], right[k]) / binary.y.scale, binary.y.zero);
      y[at + k] = std::min(std::max(q, low), high);
    }
    at += run;
    i = i + run == binary.a.period ? 0 : i + run;
    j = j + run == binary.b.period ? 0 : j + run;
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

template <class F>
Made MakeBinary(const KernelContext& context, const F& f) {
  const ir::Ints clamp = context.attrs_of<ir::fused::QAdd>().clamp;
  const DataType dtype = context.result_type(0).dtype();
  WEFT_ASSIGN_OR_RETURN(const Quantization a, ReadQuantization(context, 1, 2));
  WEFT_ASSIGN_OR_RETURN(const Quantization b, ReadQuantization(context, 4, 5));
  WEFT_ASSIGN_OR_RETURN(const Quantization y, ReadQuantization(context, 6, 7));
  const bool is_signed = dtype == DataType::kI8;
  const Binary binary = {
      .a = {context.input_type(0).dtype(), a, PeriodOf(context.dims(0), context.result_dims(0))},
      .b = {context.input_type(3).dtype(), b, PeriodOf(context.dims(3), context.result_dims(0))},
      .y = y,
      .low = !clamp.empty() ? static_cast<int>(clamp[0])
             : is_signed    ? -128
                            : 0,
      .high = !clamp.empty() ? static_cast<int>(clamp[1])
              : is_signed    ? 127
                             : 255,
      .n = context.result_type(0).NumElements()};
  if (binary.a.period == 0 || binary.b.period == 0)
    return context.Unsupported("an operand that is repeated within");
  return MakeNative("quantised elementwise", {}, [=](const KernelArgs& args) {
    args.pool->ParallelFor(binary.n, kTile, [&](int64_t begin, int64_t end) {
      const auto *left = args.input<uint8_t>(0), *right = args.input<uint8_t>(3);
      if (is_signed)
        BinaryRange(binary, left, right, args.output<int8_t>(0), begin, end, f);
      else
        BinaryRange(binary, left, right, args.output<uint8_t>(0), begin, end, f);
    });
  });
}
Made MakeQAdd(const KernelContext& context) {
  return MakeBinary(context, [](float a, float b) { return a + b; });
}
Made MakeQMul(const KernelContext& context) {
  return MakeBinary(context, [](float a, float b) { return a * b; });
}
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
