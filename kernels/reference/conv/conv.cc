// Convolution in one to three spatial dimensions.
#include "ir/dialects/onnx/nn/conv.h"

#include "kernels/reference/conv/convolve.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Adds weight * x, shifted by kernel element (k0, k1, k2), to the sums of one output channel.
void AddShifted(const Window& w, int64_t k0, int64_t k1, int64_t k2, double weight, const double* x,
                double* sums) {
  const auto [first0, last0] = w.Inside(0, k0);
  const auto [first1, last1] = w.Inside(1, k1);
  const auto [first2, last2] = w.Inside(2, k2);
  for (int64_t o0 = first0; o0 < last0; ++o0) {
    for (int64_t o1 = first1; o1 < last1; ++o1) {
      const double* row = x + (w.At(0, o0, k0) * w.in[1] + w.At(1, o1, k1)) * w.in[2];
      double* sum = sums + (o0 * w.out[1] + o1) * w.out[2];
      for (int64_t o2 = first2; o2 < last2; ++o2) sum[o2] += weight * row[w.At(2, o2, k2)];
    }
  }
}

// One output channel: x is [channels, in...], weights [channels, kernel...].
void ConvolveChannel(const Window& w, int64_t channels, const double* x, const double* weights,
                     double* sums) {
  for (int64_t c = 0; c < channels; ++c, x += w.InSize())
    for (int64_t k0 = 0; k0 < w.kernel[0]; ++k0)
      for (int64_t k1 = 0; k1 < w.kernel[1]; ++k1)
        for (int64_t k2 = 0; k2 < w.kernel[2]; ++k2) AddShifted(w, k0, k1, k2, *weights++, x, sums);
}

}  // namespace

std::vector<double> Convolve(const Window& w, const Convolution& c, ThreadPool& pool) {
  const int64_t outputs = c.w_dims[0], channels = c.w_dims[1];
  std::vector<double> result(static_cast<size_t>(c.x_dims[0] * outputs * w.OutSize()));
  pool.ParallelFor(c.x_dims[0] * outputs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / outputs, channel = i % outputs;
      const int64_t first = image * c.x_dims[1] + channel / (outputs / c.group) * channels;
      double* sums = result.data() + i * w.OutSize();
      std::fill(sums, sums + w.OutSize(), c.bias.empty() ? 0.0 : c.bias[channel]);
      ConvolveChannel(w, channels, c.x.data() + first * w.InSize(),
                      c.w.data() + channel * channels * w.KernelSize(), sums);
    }
  });
  return result;
}

namespace {

absl::Status Conv(const AttrsOf<ops::Conv>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &weights = args.inputs[1], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow(attrs, x.dims, weights.dims.subspan(2), y.dims));
  const Convolution convolution = {
      .x_dims = x.dims,
      .w_dims = weights.dims,
      .group = attrs.group,
      .x = ReadDoubles(x),
      .w = ReadDoubles(weights),
      .bias = args.HasInput(2) ? ReadDoubles(args.inputs[2]) : std::vector<double>()};
  WriteDoubles(Convolve(w, convolution, *args.pool), y);
  return absl::OkStatus();
}

absl::Status CheckConv(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::Conv>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1);
  if (w.size() != x.size() || x.size() < 3) return context.Unsupported("operands of these ranks");
  if (attrs.group < 1 || w[0] % attrs.group != 0 || w[1] * attrs.group != x[1])
    return context.InvalidArgument("channels and groups do not fit");
  if (context.HasInput(2) && context.input_type(2).NumElements() != w[0])
    return context.InvalidArgument("the bias does not have one element per channel");
  const auto window = MakeWindow(attrs, x, w.subspan(2), context.result_dims(0));
  if (!window.ok()) return ir::Annotate(window.status(), context.op().name());
  return SameFloats(context);
}
const RegisterReference<ops::Conv> kConv(&Conv, &CheckConv);

}  // namespace
}  // namespace weft::kernels::reference
