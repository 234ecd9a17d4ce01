// onnx.DFT and onnx.STFT.
#include <algorithm>
#include <memory>
#include <optional>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/nn/signal.h"
#include "kernels/native/native.h"
#include "kernels/native/signal/spectrum.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// The one integer of an operand, `fallback` where it is not given; nothing where it is not known before run time.
std::optional<int64_t> KnownNumber(const KernelContext& context, size_t i, int64_t fallback) {
  if (!context.HasInput(i)) return fallback;
  const ir::Attribute dense = context.constant(i);
  if (!dense || dense.dense_type().NumElements() != 1) return std::nullopt;
  return static_cast<int64_t>(ir::DenseElement(dense, 0));
}

bool IsOneOrTwo(int64_t parts) { return parts == 1 || parts == 2; }

absl::Status CheckTransform(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (dtype != ir::DataType::kF32 && dtype != ir::DataType::kF64)
    return context.Unsupported("other than f32 and f64");
  if (context.result_type(0).dtype() != dtype)
    return context.Unsupported("a result of another element type");
  if (context.HasEmptyTensor()) return context.Unsupported("tensors without elements");
  return absl::OkStatus();
}

// A kernel that runs `signals` transforms, of which place(args, tag, i) says where number i lies.
template <class T, class Place>
Made MakeSpectrum(std::string_view name, const SpectrumShape& shape, int64_t signals,
                  const KernelContext& context, const Place& place) {
  const auto spectrum = std::make_shared<const Spectrum<T>>(shape, signals);
  const NativeOptions options = {.scratch_bytes =
                                     spectrum->ScratchBytes(context.pool().num_threads())};
  const bool has_window = context.op().opcode() == ir::kOpcodeOf<ops::STFT>;
  return MakeNative(name, options, [spectrum, place, has_window](const KernelArgs& args) {
    const T *const x = args.input<T>(0), *const window = has_window ? args.input<T>(2) : nullptr;
    T* const y = args.output<T>(0);
    spectrum->Run(
        window,
        [&](int64_t i) {
          const auto [from, to] = place(i);
          return Signal<T>{x + from, y + to};
        },
        args.scratch, *args.pool);
  });
}
template <class Place>
Made MakeSpectrum(std::string_view name, const SpectrumShape& shape, int64_t signals,
                  const KernelContext& context, const Place& place) {
  return context.input_type(0).dtype() == ir::DataType::kF32
             ? MakeSpectrum<float>(name, shape, signals, context, place)
             : MakeSpectrum<double>(name, shape, signals, context, place);
}

Made MakeDft(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckTransform(context));
  const auto attrs = context.attrs_of<ops::DFT>();
  const bool inverse = attrs.inverse != 0, onesided = attrs.onesided != 0;
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  const auto rank = static_cast<int64_t>(x.size());
  const auto given_axis = KnownNumber(context, 2, -2);
  if (!given_axis) return context.Unsupported("an axis that is not known");
  const int64_t axis = *given_axis < 0 ? *given_axis + rank : *given_axis;
  if (axis < 0 || axis + 1 >= rank || y.size() != x.size())
    return context.Unsupported("an axis that is no dimension of numbers");
  const auto length = KnownNumber(context, 1, inverse && onesided ? 2 * (x[axis] - 1) : x[axis]);
  if (!length) return context.Unsupported("a length that is not known");
  const int64_t n = *length, numbers = y[axis];
  if (n < 1 || n > simd::Fft<float>::kMostLength ||
      numbers != (onesided && !inverse ? n / 2 + 1 : n))
    return context.Unsupported("a result of another length");
  ir::Shape expected(x.begin(), x.end());
  expected[axis] = numbers, expected.back() = y.back();
  if (!std::ranges::equal(expected, y) || !IsOneOrTwo(x.back()) || !IsOneOrTwo(y.back()))
    return context.Unsupported("operands that do not fit each other");
  const AxisView view(x.first(x.size() - 1), axis);
  const int64_t parts = x.back(), result_parts = y.back();
  const int64_t in = view.extent, inner = view.inner;
  const SpectrumShape shape = {.n = n,
                               .given = std::min(in, onesided && inverse ? n / 2 + 1 : n),
                               .parts = parts,
                               .stride = inner * parts,
                               .inverse = inverse,
                               .completes = onesided && inverse,
                               .numbers = numbers,
                               .result_parts = result_parts,
                               .result_stride = inner * result_parts};
  return MakeSpectrum("discrete Fourier transform", shape, view.outer * inner, context,
                      [=](int64_t i) {
                        const int64_t outer = i / inner, at = i % inner;
                        return std::pair((outer * in * inner + at) * parts,
                                         (outer * numbers * inner + at) * result_parts);
                      });
}
const RegisterKernel<ops::DFT> kDft("native", &MakeDft);

Made MakeStft(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckTransform(context));
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  const bool has_window = context.HasInput(2);
  if (x.size() != 3 || y.size() != 4 || (has_window && context.dims(2).size() != 1) ||
      (has_window && context.input_type(2).dtype() != context.input_type(0).dtype()))
    return context.Unsupported("operands that do not fit each other");
  const auto step = KnownNumber(context, 1, 0);
  const auto length = KnownNumber(context, 3, has_window ? context.dims(2)[0] : x[1]);
  if (!step || !length) return context.Unsupported("a step or a length that is not known");
  const int64_t n = *length, frames = y[1], numbers = y[2], samples = x[1], parts = x[2];
  if (*step < 1 || n < 1 || n > std::min(samples, simd::Fft<float>::kMostLength) ||
      (samples - n) / *step + 1 != frames ||
      numbers != (context.attrs_of<ops::STFT>().onesided != 0 ? n / 2 + 1 : n) ||
      (has_window && context.dims(2)[0] != n) || y[0] != x[0] || !IsOneOrTwo(parts) || y[3] != 2)
    return context.Unsupported("frames that do not fit the signal");
  const SpectrumShape shape = {.n = n,
                               .given = n,
                               .parts = parts,
                               .stride = parts,
                               .inverse = false,
                               .completes = false,
                               .numbers = numbers,
                               .result_parts = 2,
                               .result_stride = 2};
  return MakeSpectrum("short-time Fourier transform", shape, x[0] * frames, context,
                      [=, step = *step](int64_t i) {
                        const int64_t first = i / frames * samples + i % frames * step;
                        return std::pair(first * parts, i * numbers * 2);
                      });
}
const RegisterKernel<ops::STFT> kStft("native", &MakeStft);

}  // namespace
}  // namespace weft::kernels::native
