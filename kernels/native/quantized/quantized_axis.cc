// QuantizeLinear and DequantizeLinear of 8 bits with a scale and a zero point for each entry of an axis, or one that is given
// at run time. They compute as the reference kernels do, so that no result differs.
#include <algorithm>
#include <array>

#include "kernels/native/native.h"
#include "kernels/native/quantized/quantized.h"
#include "kernels/native/simd/int8/quantize.h"

namespace weft::kernels::native {
namespace {

using ir::DataType;

constexpr int64_t kTile = 1 << 14;
// Elements of an entry that follow each other, below which a scale is written down for each of them.
constexpr int64_t kShortRun = 64;
constexpr int64_t kPiece = 512;  // elements whose scales are written down at a time

// The numbers of the entries of an axis.
struct AxisQuantization {
  int64_t extent = 1, inner = 1;
  int64_t n = 0;
  bool is_signed = false;
  bool one_scale = true, one_zero = true;

  float ScaleAt(const KernelArgs& args, int64_t entry) const {
    return args.input<float>(1)[one_scale ? 0 : entry];
  }
  int ZeroAt(const KernelArgs& args, int64_t entry) const {
    if (!args.HasInput(2)) return 0;
    const uint8_t byte = args.input<uint8_t>(2)[one_zero ? 0 : entry];
    return is_signed ? static_cast<int8_t>(byte) : byte;
  }
};

absl::StatusOr<AxisQuantization> MakeAxisQuantization(const KernelContext& context, int64_t axis,
                                                      DataType stored) {
  if (context.input_type(1).dtype() != DataType::kF32)
    return context.Unsupported("scales other than f32");
  AxisQuantization q = {.n = context.input_type(0).NumElements(),
                        .is_signed = stored == DataType::kI8};
  q.inner = q.n;
  for (const size_t i : {1, 2}) {
    if (!context.HasInput(i) || context.input_type(i).NumElements() == 1) continue;
    const std::span<const int64_t> x = context.dims(0), dims = context.dims(i);
    const int64_t at = ir::NormalAxis(axis, x.size());
    if (dims.size() != 1 || at < 0 || at >= static_cast<int64_t>(x.size()) ||
        dims[0] != x[static_cast<size_t>(at)])
      return context.Unsupported("other than one scale and zero point per entry of an axis");
    const AxisView view(x, at);
    q.extent = view.extent;
    q.inner = view.inner;
    (i == 1 ? q.one_scale : q.one_zero) = false;
  }
  return q;
}

// Those of entries [first, first + count), in loops of nothing else.
void WriteEntries(const AxisQuantization& q, const KernelArgs& args, int64_t first, int64_t count,
                  float* scales, int32_t* zeros) {
  if (q.one_scale) {
    std::fill_n(scales, count, q.ScaleAt(args, 0));
  } else {
    std::copy_n(args.input<float>(1) + first, count, scales);
  }
  if (q.one_zero) {
    std::fill_n(zeros, count, q.ZeroAt(args, 0));
  } else if (q.is_signed) {
    std::copy_n(args.input<int8_t>(2) + first, count, zeros);
  } else {
    std::copy_n(args.input<uint8_t>(2) + first, count, zeros);
  }
}

// Those of elements [begin, begin + count), one by one.
void WriteScales(const AxisQuantization& q, const KernelArgs& args, int64_t begin, int64_t count,
                 float* scales, int32_t* zeros) {
  int64_t entry = begin / q.inner % q.extent, at = begin % q.inner;
  for (int64_t i = 0; i < count;) {
    int64_t entries = 1, run = std::min(q.inner - at, count - i);
    if (q.inner == 1) {
      entries = run = std::min(q.extent - entry, count - i);
      WriteEntries(q, args, entry, entries, scales + i, zeros + i);
    } else {
      std::fill_n(scales + i, run, q.ScaleAt(args, entry));
      std::fill_n(zeros + i, run, q.ZeroAt(args, entry));
    }
    i += run;
    at = 0;
    entry = entry + entries == q.extent ? 0 : entry + entries;
  }
}

// Calls one(at, count, scale) for elements [at, at + count) of an entry, or where these are few each(at, count, scales) for
// those of several, until elements [begin, end) are done.
template <class One, class Each>
void ForScales(const AxisQuantization& q, const KernelArgs& args, int64_t begin, int64_t end,
               const One& one, const Each& each) {
  if (q.inner >= kShortRun) {
    while (begin < end) {
      const int64_t entry = begin / q.inner % q.extent;
      const int64_t count = std::min(q.inner - begin % q.inner, end - begin);
      one(begin, count,
          simd::ByteScale{.is_signed = q.is_signed,
                          .scale = q.ScaleAt(args, entry),
                          .zero = q.ZeroAt(args, entry)});
      begin += count;
    }
    return;
  }
  std::array<float, kPiece> scales;
  std::array<int32_t, kPiece> zeros;
  while (begin < end) {
    const int64_t count = std::min(kPiece, end - begin);
    WriteScales(q, args, begin, count, scales.data(), zeros.data());
    each(
        begin, count,
        simd::ByteScales{.is_signed = q.is_signed, .scales = scales.data(), .zeros = zeros.data()});
    begin += count;
  }
}

}  // namespace

Made MakeQuantizeAxis(const KernelContext& context, int64_t axis) {
  WEFT_ASSIGN_OR_RETURN(const AxisQuantization q,
                        MakeAxisQuantization(context, axis, context.result_type(0).dtype()));
  return MakeNative("quantize axis", {}, [q](const KernelArgs& args) {
    const float* const x = args.input<float>(0);
    uint8_t* const y = args.output<uint8_t>(0);
    args.pool->ParallelFor(q.n, kTile, [&](int64_t begin, int64_t end) {
      ForScales(
          q, args, begin, end,
          [&](int64_t at, int64_t count, const simd::ByteScale& scale) {
            simd::QuantizeBytes(x + at, y + at, count, scale);
          },
          [&](int64_t at, int64_t count, const simd::ByteScales& scales) {
            simd::QuantizeBytesEach(x + at, y + at, count, scales);
          });
    });
  });
}

Made MakeDequantizeAxis(const KernelContext& context, int64_t axis) {
  WEFT_ASSIGN_OR_RETURN(const AxisQuantization q,
                        MakeAxisQuantization(context, axis, context.input_type(0).dtype()));
  return MakeNative("dequantize axis", {}, [q](const KernelArgs& args) {
    const uint8_t* const x = args.input<uint8_t>(0);
    float* const y = args.output<float>(0);
    args.pool->ParallelFor(q.n, kTile, [&](int64_t begin, int64_t end) {
      ForScales(
          q, args, begin, end,
          [&](int64_t at, int64_t count, const simd::ByteScale& scale) {
            simd::DequantizeBytes(x + at, y + at, count, scale);
          },
          [&](int64_t at, int64_t count, const simd::ByteScales& scales) {
            simd::DequantizeBytesEach(x + at, y + at, count, scales);
          });
    });
  });
}

}  // namespace weft::kernels::native
