// Deformable convolution, in any number of spatial dimensions.
#include "ir/dialects/onnx/nn/conv.h"
#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using Attrs = AttrsOf<ops::DeformConv>;

int64_t Entry(const std::optional<ir::Ints>& list, size_t i, int64_t fallback) {
  return list ? (*list)[i] : fallback;
}

// Linear interpolation of one channel at a place; what lies outside is 0.
double Interpolate(const double* x, std::span<const int64_t> dims, const std::vector<double>& at) {
  double sum = 0;
  for (size_t corner = 0; corner < size_t{1} << dims.size(); ++corner) {
    double weight = 1;
    int64_t offset = 0;
    bool inside = true;
    for (size_t i = 0; i < dims.size() && inside; ++i) {
      const double low = std::floor(at[i]), part = at[i] - low;
      const bool upper = (corner >> i & 1) != 0;
      const double index = low + (upper ? 1 : 0);
      weight *= upper ? part : 1 - part;
      inside = weight != 0 && index >= 0 && index < static_cast<double>(dims[i]);
      if (inside) offset = offset * dims[i] + static_cast<int64_t>(index);
    }
    if (inside) sum += weight * x[offset];
  }
  return sum;
}

class DeformConvRun {
 public:
  DeformConvRun(const Attrs& attrs, const KernelArgs& args)
      : attrs_(attrs),
        x_(args.inputs[0]),
        w_(args.inputs[1]),
        y_(args.outputs[0]),
        image_(x_.dims.subspan(2)),
        kernel_(w_.dims.subspan(2)),
        out_(y_.dims.subspan(2)),
        in_(ReadDoubles(x_)),
        weights_(ReadDoubles(w_)),
        offsets_(ReadDoubles(args.inputs[2])) {
    if (args.HasInput(4)) mask_ = ReadDoubles(args.inputs[4]);
  }

  // Output element `o` (of the spatial ones) of a channel of an image.
  double At(int64_t image, int64_t channel, int64_t o) const {
    const int64_t inputs = w_.dims[1], group = channel / (w_.dims[0] / attrs_.group);
    const int64_t elements = NumElements(kernel_), size = NumElements(image_);
    double sum = 0;
    for (int64_t c = 0; c < inputs; ++c) {
      const int64_t from = group * inputs + c;
      const int64_t offset_group = from / (x_.dims[1] / attrs_.offset_group);
      const double* x = in_.data() + (image * x_.dims[1] + from) * size;
      for (int64_t k = 0; k < elements; ++k) {
        const int64_t place = (image * attrs_.offset_group + offset_group) * elements + k;
        const double factor = mask_.empty() ? 1 : mask_[place * NumElements(out_) + o];
        sum += weights_[(channel * inputs + c) * elements + k] * factor *
               Interpolate(x, image_, Place(place, o, k));
      }
    }
    return sum;
  }

 private:
  // Where kernel element k reads for output element o.
  std::vector<double> Place(int64_t place, int64_t o, int64_t k) const {
    const size_t n = image_.size();
    const int64_t outputs = NumElements(out_);
    std::vector<double> at(n);
    int64_t rest_o = o, rest_k = k;
    for (size_t i = n; i-- > 0;) {
      const int64_t start = rest_o % out_[i] * Entry(attrs_.strides, i, 1) -
                            Entry(attrs_.pads, i, 0) +
                            rest_k % kernel_[i] * Entry(attrs_.dilations, i, 1);
      rest_o /= out_[i];
      rest_k /= kernel_[i];
      const auto axis = static_cast<int64_t>(i), axes = static_cast<int64_t>(n);
      at[i] = static_cast<double>(start) + offsets_[(place * axes + axis) * outputs + o];
    }
    return at;
  }

  const Attrs& attrs_;
  const TensorView &x_, &w_, &y_;
  const std::span<const int64_t> image_, kernel_, out_;
  const std::vector<double> in_, weights_, offsets_;
  std::vector<double> mask_;
};

absl::Status DeformConv(const Attrs& attrs, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  const DeformConvRun run(attrs, args);
  const int64_t size = NumElements(y.dims.subspan(2));
  const std::vector<double> bias =
      args.HasInput(3) ? ReadDoubles(args.inputs[3]) : std::vector<double>(y.dims[1], 0.0);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  args.pool->ParallelFor(y.dims[0] * y.dims[1], 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      for (int64_t o = 0; o < size; ++o)
        out[row * size + o] = bias[row % y.dims[1]] + run.At(row / y.dims[1], row % y.dims[1], o);
  });
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckDeformConv(const KernelContext& context) {
  WEFT_RETURN_IF_ERROR(CheckInferred(context));
  return SameFloats(context);
}
const RegisterReference<ops::DeformConv> kDeformConv(&DeformConv, &CheckDeformConv);

}  // namespace
}  // namespace weft::kernels::reference
