// Matrix products and convolutions of quantised numbers: the integers that they stand for are summed
// exactly.
#include "ir/dialects/onnx/quantized_math.h"

#include <algorithm>
#include <limits>

#include "kernels/reference/conv/convolve.h"
#include "kernels/reference/inferred.h"
#include "kernels/reference/matmul_shape.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Applies f(value, parameter) to all values of a tensor of these dims. The parameters are one; or one
// per row, along axis -2, if `rows`; or of a shape that broadcasts.
template <class F>
void Combine(std::vector<double>* values, std::span<const int64_t> dims,
             const TensorView& parameters, bool rows, const F& f) {
  const std::vector<double> entries = ReadDoubles(parameters);
  Dims shape(parameters.dims);
  if (entries.size() == 1) shape = Dims();
  if (shape.size() == 1 && rows) shape.push_back(1);
  size_t i = 0;
  for (Odometer<1> at(dims, {BroadcastStrides(shape, dims)}); !at.done(); at.Next(), ++i)
    (*values)[i] = f((*values)[i], entries[at.offset[0]]);
}

// Operand i less the zero points in operand `zero`, if they are given.
std::vector<double> Centred(const KernelArgs& args, size_t i, size_t zero, bool rows) {
  std::vector<double> values = ReadDoubles(args.inputs[i]);
  if (args.HasInput(zero))
    Combine(&values, args.inputs[i].dims, args.inputs[zero], rows,
            [](double q, double z) { return q - z; });
  return values;
}

std::vector<double> Product(const MatMulShape& s, const std::vector<double>& a,
                            const std::vector<double>& b) {
  std::vector<double> y;
  for (Odometer<2> at(s.batch, {s.a_strides, s.b_strides}); !at.done(); at.Next()) {
    const double* left = a.data() + at.offset[0] * s.m * s.k;
    const double* right = b.data() + at.offset[1] * s.k * s.n;
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < s.k; ++k) sum += left[i * s.k + k] * right[k * s.n + j];
        y.push_back(sum);
      }
  }
  return y;
}

// Modulo 2^32.
void WriteInt32(const std::vector<double>& sums, const TensorView& y) {
  const std::span<int32_t> to = y.values<int32_t>();
  for (size_t i = 0; i < sums.size(); ++i)
    to[i] = static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(sums[i])));
}

// Integers that the type of y may not hold.
void WriteSaturated(const std::vector<double>& values, const TensorView& y) {
  VisitInteger(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    constexpr auto kLowest = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto kMax = static_cast<double>(std::numeric_limits<T>::max());
    for (size_t i = 0; i < values.size(); ++i)
      y.values<T>()[i] = static_cast<T>(std::fmax(kLowest, std::fmin(values[i], kMax)));
  });
}

absl::Status MatMulInteger(const AttrsOf<ops::MatMulInteger>&, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  const MatMulShape shape(args.inputs[0].dims, args.inputs[1].dims, y.dims);
  WriteInt32(Product(shape, Centred(args, 0, 2, true), Centred(args, 1, 3, false)), y);
  return absl::OkStatus();
}
const RegisterReference<ops::MatMulInteger> kMatMulInteger(&MatMulInteger, &CheckInferred);

absl::Status QLinearMatMul(const AttrsOf<ops::QLinearMatMul>&, const KernelArgs& args) {
  const TensorView &a = args.inputs[0], &b = args.inputs[3], &y = args.outputs[0];
  const auto times = [](double x, double scale) { return x * scale; };
  std::vector<double> left = Centred(args, 0, 2, true), right = Centred(args, 3, 5, false);
  Combine(&left, a.dims, args.inputs[1], true, times);
  Combine(&right, b.dims, args.inputs[4], false, times);
  std::vector<double> sums = Product(MatMulShape(a.dims, b.dims, y.dims), left, right);
  Combine(&sums, y.dims, args.inputs[6], true,
          [](double x, double scale) { return std::nearbyint(x / scale); });
  Combine(&sums, y.dims, args.inputs[7], true, [](double x, double zero) { return x + zero; });
  WriteSaturated(sums, y);
  return absl::OkStatus();
}
absl::Status CheckQLinearMatMul(const KernelContext& context) {
  return CheckInferredFloats(context, {1, 4, 6});
}
const RegisterReference<ops::QLinearMatMul> kQLinearMatMul(&QLinearMatMul, &CheckQLinearMatMul);

// w less its zero points, which are one or one per output channel.
std::vector<double> CentredWeights(const KernelArgs& args, size_t i, size_t zero) {
  std::vector<double> w = ReadDoubles(args.inputs[i]);
  if (!args.HasInput(zero)) return w;
  const std::vector<double> zeros = ReadDoubles(args.inputs[zero]);
  const size_t size = w.size() / std::max<size_t>(args.inputs[i].dims[0], 1);
  for (size_t j = 0; j < w.size(); ++j) w[j] -= zeros[zeros.size() == 1 ? 0 : j / size];
  return w;
}

absl::Status ConvInteger(const AttrsOf<ops::ConvInteger>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &w = args.inputs[1], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const Window window, MakeWindow(attrs, x.dims, w.dims.subspan(2), y.dims));
  const Convolution convolution = {.x_dims = x.dims,
                                   .w_dims = w.dims,
                                   .group = attrs.group,
                                   .x = Centred(args, 0, 2, false),
                                   .w = CentredWeights(args, 1, 3),
                                   .bias = {}};
  WriteInt32(Convolve(window, convolution, *args.pool), y);
  return absl::OkStatus();
}
absl::Status CheckWindow(const KernelContext& context, const AttrsOf<ops::Conv>& attrs, size_t w) {
  const auto window =
      MakeWindow(attrs, context.dims(0), context.dims(w).subspan(2), context.result_dims(0));
  if (!window.ok()) return ir::Annotate(window.status(), context.op().name());
  return CheckInferred(context);
}
absl::Status CheckConvInteger(const KernelContext& context) {
  return CheckWindow(context, context.attrs_of<ops::ConvInteger>(), 1);
}
const RegisterReference<ops::ConvInteger> kConvInteger(&ConvInteger, &CheckConvInteger);

absl::Status QLinearConv(const AttrsOf<ops::QLinearConv>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &w = args.inputs[3], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const Window window, MakeWindow(attrs, x.dims, w.dims.subspan(2), y.dims));
  const Convolution convolution = {
      .x_dims = x.dims,
      .w_dims = w.dims,
      .group = attrs.group,
      .x = Centred(args, 0, 2, false),
      .w = CentredWeights(args, 3, 5),
      .bias = args.HasInput(8) ? ReadDoubles(args.inputs[8]) : std::vector<double>()};
  std::vector<double> sums = Convolve(window, convolution, *args.pool);
  const double x_scale = ReadDoubles(args.inputs[1])[0], y_scale = ReadDoubles(args.inputs[6])[0];
  const double zero = ReadDoubles(args.inputs[7])[0];
  const std::vector<double> w_scales = ReadDoubles(args.inputs[4]);
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t channel = i / window.OutSize() % w.dims[0];
    const double scale = x_scale * w_scales[w_scales.size() == 1 ? 0 : channel] / y_scale;
    sums[i] = std::nearbyint(sums[i] * scale) + zero;
  }
  WriteSaturated(sums, y);
  return absl::OkStatus();
}
absl::Status CheckQLinearConv(const KernelContext& context) {
  return CheckWindow(context, context.attrs_of<ops::QLinearConv>(), 3);
}
const RegisterReference<ops::QLinearConv> kQLinearConv(&QLinearConv, &CheckQLinearConv);

}  // namespace
}  // namespace weft::kernels::reference
