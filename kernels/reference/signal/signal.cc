// Fourier transforms by their definition, and what goes with them.
#include "ir/dialects/onnx/nn/signal.h"

#include <algorithm>
#include <complex>

#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using Complex = std::complex<double>;

// The powers of exp(-2 pi i / n), or of its inverse.
std::vector<Complex> Roots(int64_t n, bool inverse) {
  std::vector<Complex> roots;
  for (int64_t i = 0; i < n; ++i)
    roots.push_back(std::polar(
        1.0, (inverse ? 2 : -2) * M_PI * static_cast<double>(i) / static_cast<double>(n)));
  return roots;
}

// Number k of the transform of x, whose length is that of `roots`.
Complex Transformed(const std::vector<Complex>& x, const std::vector<Complex>& roots, int64_t k) {
  Complex sum = 0;
  const size_t n = roots.size();
  size_t power = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += x[i] * roots[power];
    power += static_cast<size_t>(k);
    if (power >= n) power -= n;
  }
  return sum;
}

// The spectrum of a real signal of x.size() elements, from the first half of it.
void CompleteSpectrum(std::vector<Complex>* x) {
  const size_t n = x->size();
  for (size_t i = n / 2 + 1; i < n; ++i) (*x)[i] = std::conj((*x)[n - i]);
}

absl::Status DFT(const AttrsOf<ops::DFT>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const bool inverse = attrs.inverse != 0, onesided = attrs.onesided != 0;
  int64_t axis = args.HasInput(2) ? ReadInts(args.inputs[2])[0] : -2;
  const auto rank = static_cast<int64_t>(x.dims.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + 1 >= rank) return ir::InvalidArgument("axis is no dimension of numbers");
  int64_t n = inverse && onesided ? 2 * (x.dims[axis] - 1) : x.dims[axis];
  if (args.HasInput(1)) n = ReadInts(args.inputs[1])[0];
  const AxisView in(x.dims.first(x.dims.size() - 1), axis);
  const int64_t parts = x.dims.back(), y_parts = y.dims.back(), numbers = y.dims[axis];
  if (n < 1 || numbers != (onesided && !inverse ? n / 2 + 1 : n))
    return ir::InvalidArgument("dft_length is " + std::to_string(n));
  const std::vector<double> values = ReadDoubles(x);
  const std::vector<Complex> roots = Roots(n, inverse);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  for (int64_t row = 0; row < in.outer * in.inner; ++row) {
    const int64_t outer = row / in.inner, inner = row % in.inner;
    std::vector<Complex> signal(static_cast<size_t>(n));
    const int64_t given = onesided && inverse ? n / 2 + 1 : n;
    for (int64_t i = 0; i < std::min(in.extent, given); ++i) {
      const double* from = &values[((outer * in.extent + i) * in.inner + inner) * parts];
      signal[i] = Complex(from[0], parts > 1 ? from[1] : 0);
    }
    if (onesided && inverse) CompleteSpectrum(&signal);
    for (int64_t k = 0; k < numbers; ++k) {
      const Complex number = Transformed(signal, roots, k) / (inverse ? static_cast<double>(n) : 1);
      double* to = &out[((outer * numbers + k) * in.inner + inner) * y_parts];
      to[0] = number.real();
      if (y_parts > 1) to[1] = number.imag();
    }
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckDft(const KernelContext& context) { return CheckInferredFloats(context, {0}); }
const RegisterReference<ops::DFT> kDft(&DFT, &CheckDft);

absl::Status STFT(const AttrsOf<ops::STFT>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const int64_t step = ReadInts(args.inputs[1])[0], parts = x.dims[2];
  const bool has_window = args.HasInput(2);
  const std::vector<double> window =
      has_window ? ReadDoubles(args.inputs[2]) : std::vector<double>();
  int64_t n = has_window ? args.inputs[2].dims[0] : x.dims[1];
  if (args.HasInput(3)) n = ReadInts(args.inputs[3])[0];
  const int64_t frames = y.dims[1], numbers = y.dims[2];
  if (step < 1 || n < 1 || n > x.dims[1] || (x.dims[1] - n) / step + 1 != frames ||
      numbers != (attrs.onesided != 0 ? n / 2 + 1 : n) ||
      (has_window && args.inputs[2].dims[0] != n))
    return ir::InvalidArgument("frame_step, frame_length and window do not fit the signal");
  const std::vector<double> values = ReadDoubles(x);
  const std::vector<Complex> roots = Roots(n, false);
  std::vector<double> out;
  for (int64_t frame = 0; frame < y.dims[0] * frames; ++frame) {
    const int64_t first = frame / frames * x.dims[1] + frame % frames * step;
    std::vector<Complex> signal;
    for (int64_t i = 0; i < n; ++i) {
      const double* from = &values[(first + i) * parts];
      signal.push_back(Complex(from[0], parts > 1 ? from[1] : 0) * (has_window ? window[i] : 1));
    }
    for (int64_t k = 0; k < numbers; ++k) {
      const Complex number = Transformed(signal, roots, k);
      out.insert(out.end(), {number.real(), number.imag()});
    }
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckStft(const KernelContext& context) {
  return CheckInferredFloats(context, {0, 2});
}
const RegisterReference<ops::STFT> kStft(&STFT, &CheckStft);

// The bins of a spectrum at which the triangles begin, peak and end.
std::vector<int64_t> MelBins(int64_t count, double length, double rate, double lower,
                             double upper) {
  const double low = 2595 * std::log10(1 + lower / 700), high = 2595 * std::log10(1 + upper / 700);
  const double step = (high - low) / static_cast<double>(count + 2);
  std::vector<int64_t> bins;
  for (int64_t i = 0; i < count + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double bin = std::floor((length + 1) * hertz / rate);
    bins.push_back(std::isfinite(bin) && std::fabs(bin) < 1e9 ? static_cast<int64_t>(bin) : -1);
  }
  return bins;
}

absl::Status MelWeightMatrix(const AttrsOf<ops::MelWeightMatrix>&, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  const auto scalar = [&](size_t i) { return ReadDoubles(args.inputs[i])[0]; };
  const int64_t rows = y.dims[0], count = y.dims[1];
  if (scalar(0) != static_cast<double>(count) ||
      std::floor(scalar(1) / 2) + 1 != static_cast<double>(rows) || scalar(2) < 1)
    return ir::InvalidArgument("num_mel_bins, dft_length or sample_rate is wrong");
  const std::vector<int64_t> bins = MelBins(count, scalar(1), scalar(2), scalar(3), scalar(4));
  for (size_t i = 0; i < bins.size(); ++i)
    if (bins[i] < 0 || bins[i] > rows || (i > 0 && bins[i] < bins[i - 1]))
      return ir::InvalidArgument("the edges do not lie in the spectrum");
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = bins[i], peak = bins[i + 1], last = bins[i + 2];
    for (int64_t j = first; j < std::min(peak, rows); ++j)
      out[j * count + i] = static_cast<double>(j - first) / static_cast<double>(peak - first);
    for (int64_t j = peak; j < std::min(std::max(last, peak + 1), rows); ++j)
      out[j * count + i] =
          j == peak ? 1 : static_cast<double>(last - j) / static_cast<double>(last - peak);
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckMelWeightMatrix(const KernelContext& context) {
  if (!VisitNumber(context.result_type(0).dtype(), [](auto) {}))
    return context.Unsupported("this element type");
  return CheckInferredFloats(context, {3, 4});
}
const RegisterReference<ops::MelWeightMatrix> kMelWeightMatrix(&MelWeightMatrix,
                                                               &CheckMelWeightMatrix);

// a + b cos(2 pi i / n) + c cos(4 pi i / n)
absl::Status Cosines(const AttrsOf<ops::HannWindow>& attrs, const KernelArgs& args, double a,
                     double b, double c) {
  const TensorView& y = args.outputs[0];
  const int64_t size = y.dims[0], n = attrs.periodic != 0 ? size : size - 1;
  if (ReadInts(args.inputs[0])[0] != size) return ir::InvalidArgument("size is negative");
  std::vector<double> out;
  for (int64_t i = 0; i < size; ++i) {
    const double turn = n > 0 ? 2 * M_PI * static_cast<double>(i) / static_cast<double>(n) : M_PI;
    out.push_back(a + b * std::cos(turn) + c * std::cos(2 * turn));
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckCosines(const KernelContext& context) {
  if (!VisitNumber(context.result_type(0).dtype(), [](auto) {}))
    return context.Unsupported("this element type");
  return CheckInferred(context);
}

absl::Status HannWindow(const AttrsOf<ops::HannWindow>& attrs, const KernelArgs& args) {
  return Cosines(attrs, args, 0.5, -0.5, 0);
}
const RegisterReference<ops::HannWindow> kHannWindow(&HannWindow, &CheckCosines);

absl::Status HammingWindow(const AttrsOf<ops::HammingWindow>& attrs, const KernelArgs& args) {
  return Cosines(attrs, args, 25.0 / 46, -21.0 / 46, 0);
}
const RegisterReference<ops::HammingWindow> kHammingWindow(&HammingWindow, &CheckCosines);

absl::Status BlackmanWindow(const AttrsOf<ops::BlackmanWindow>& attrs, const KernelArgs& args) {
  return Cosines(attrs, args, 0.42, -0.5, 0.08);
}
const RegisterReference<ops::BlackmanWindow> kBlackmanWindow(&BlackmanWindow, &CheckCosines);

}  // namespace
}  // namespace weft::kernels::reference
