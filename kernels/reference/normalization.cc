// Normalizations and softmax.
#include <algorithm>
#include <utility>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/softmax.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Replaces the given statistics by those of the batch, and gives away both, mixed.
void TrainStatistics(const std::vector<double>& values, const AxisView& view, double momentum,
                     const KernelArgs& args, std::vector<double>* mean, std::vector<double>* var) {
  const std::vector<double> old_mean = std::exchange(*mean, std::vector<double>(mean->size()));
  const std::vector<double> old_var = std::exchange(*var, std::vector<double>(var->size()));
  const double count = static_cast<double>(view.outer * view.inner);
  const auto channel = [&](size_t i) { return i / view.inner % view.extent; };
  for (size_t i = 0; i < values.size(); ++i) (*mean)[channel(i)] += values[i] / count;
  for (size_t i = 0; i < values.size(); ++i) {
    const double centred = values[i] - (*mean)[channel(i)];
    (*var)[channel(i)] += centred * centred / count;
  }
  const auto write = [&](size_t result, const std::vector<double>& old,
                         const std::vector<double>& batch) {
    if (result >= args.outputs.size()) return;
    std::vector<double> mixed(old.size());
    for (size_t c = 0; c < old.size(); ++c)
      mixed[c] = old[c] * momentum + batch[c] * (1 - momentum);
    WriteDoubles(mixed, args.outputs[result]);
  };
  write(1, old_mean, *mean);
  write(2, old_var, *var);
}

absl::Status BatchNormalization(const AttrsOf<ops::BatchNormalization>& attrs,
                                const KernelArgs& args) {
  const std::vector<double> scale = ReadDoubles(args.inputs[1]), b = ReadDoubles(args.inputs[2]);
  std::vector<double> mean = ReadDoubles(args.inputs[3]), var = ReadDoubles(args.inputs[4]);
  const AxisView view(args.inputs[0].dims, 1);
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  if (attrs.training_mode != 0) TrainStatistics(values, view, attrs.momentum, args, &mean, &var);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i / view.inner % view.extent;
    values[i] = (values[i] - mean[c]) / std::sqrt(var[c] + attrs.epsilon) * scale[c] + b[c];
  }
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckBatchNormalization(const KernelContext& context) {
  if (context.num_results() > 1 && context.attrs_of<ops::BatchNormalization>().training_mode == 0)
    return context.InvalidArgument("only training gives statistics");
  if (context.dims(0).size() < 2) return context.Unsupported("x of rank below 2");
  for (size_t i = 1; i < 5; ++i) {
    if (context.input_type(i).NumElements() != context.dims(0)[1])
      return context.InvalidArgument("operand " + std::to_string(i) +
                                     " does not have one element per channel");
  }
  return Floats(context);
}
const RegisterReference<ops::BatchNormalization> kBatchNormalization(&BatchNormalization,
                                                                     &CheckBatchNormalization);

// Mean and 1 / standard deviation of n values.
std::pair<double, double> Statistics(const double* values, int64_t n, double epsilon) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += values[i];
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (values[i] - mean) * (values[i] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) + epsilon)};
}

absl::Status LayerNormalization(const AttrsOf<ops::LayerNormalization>& attrs,
                                const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const AxisView view(x.dims, attrs.axis);
  const int64_t size = view.extent * view.inner;
  std::vector<double> values = ReadDoubles(x), means, inverses;
  for (int64_t row = 0; row < view.outer; ++row) {
    double* first = values.data() + row * size;
    const auto [mean, inverse] = Statistics(first, size, attrs.epsilon);
    for (int64_t i = 0; i < size; ++i) first[i] = (first[i] - mean) * inverse;
    means.push_back(mean);
    inverses.push_back(inverse);
  }
  const std::vector<double> scale = ReadDoubles(args.inputs[1]);
  // Adding -0 changes nothing, not even a zero.
  const bool has_bias = args.HasInput(2);
  const std::vector<double> bias = has_bias ? ReadDoubles(args.inputs[2]) : std::vector{-0.0};
  const Dims bias_strides =
      has_bias ? BroadcastStrides(args.inputs[2].dims, y.dims) : BroadcastStrides({}, y.dims);
  size_t i = 0;
  for (Odometer<2> at(y.dims, {BroadcastStrides(args.inputs[1].dims, y.dims), bias_strides});
       !at.done(); at.Next(), ++i)
    values[i] = values[i] * scale[at.offset[0]] + bias[at.offset[1]];
  WriteDoubles(values, y);
  if (args.outputs.size() > 1) WriteDoubles(means, args.outputs[1]);
  if (args.outputs.size() > 2) WriteDoubles(inverses, args.outputs[2]);
  return absl::OkStatus();
}
absl::Status CheckLayerNormalization(const KernelContext& context) {
  const auto rank = static_cast<int64_t>(context.dims(0).size());
  const int64_t axis = context.attrs_of<ops::LayerNormalization>().axis;
  if (axis < -rank || axis >= rank) return context.InvalidArgument("needs an axis of x");
  for (size_t i : {1, 2}) {
    if (!context.HasInput(i)) continue;
    const std::span<const int64_t> x = context.dims(0), dims = context.dims(i);
    const auto fits = [](int64_t dim, int64_t of_x) { return dim == 1 || dim == of_x; };
    if (dims.size() > x.size() || !std::equal(dims.rbegin(), dims.rend(), x.rbegin(), fits))
      return context.InvalidArgument("scale or bias of shape " + ir::ToString(dims) +
                                     " does not broadcast to x");
  }
  return Floats(context);
}
const RegisterReference<ops::LayerNormalization> kLayerNormalization(&LayerNormalization,
                                                                     &CheckLayerNormalization);

absl::Status GroupNormalization(const AttrsOf<ops::GroupNormalization>& attrs,
                                const KernelArgs& args) {
  const std::vector<double> scale = ReadDoubles(args.inputs[1]), b = ReadDoubles(args.inputs[2]);
  const AxisView view(args.inputs[0].dims, 1);
  const int64_t groups = view.outer * attrs.num_groups;
  const int64_t size = view.extent / attrs.num_groups * view.inner;
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  for (int64_t group = 0; group < groups; ++group) {
    const auto [mean, inverse] = Statistics(values.data() + group * size, size, attrs.epsilon);
    for (int64_t i = group * size; i < (group + 1) * size; ++i) {
      const int64_t c = i / view.inner % view.extent;
      values[i] = (values[i] - mean) * inverse * scale[c] + b[c];
    }
  }
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckGroupNormalization(const KernelContext& context) {
  if (context.dims(0).size() < 2) return context.Unsupported("x of rank below 2");
  const int64_t channels = context.dims(0)[1];
  const int64_t num_groups = context.attrs_of<ops::GroupNormalization>().num_groups;
  if (num_groups < 1 || channels % num_groups != 0)
    return context.InvalidArgument("the channels are not num_groups groups");
  for (size_t i : {1, 2}) {
    if (context.input_type(i).NumElements() != channels)
      return context.InvalidArgument("operand " + std::to_string(i) +
                                     " does not have one element per channel");
  }
  return SameFloats(context);
}
const RegisterReference<ops::GroupNormalization> kGroupNormalization(&GroupNormalization,
                                                                     &CheckGroupNormalization);

absl::Status RMSNormalization(const AttrsOf<ops::RMSNormalization>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const AxisView view(x.dims, attrs.axis);
  const int64_t size = view.extent * view.inner;
  std::vector<double> values = ReadDoubles(x);
  for (int64_t row = 0; row < view.outer; ++row) {
    double* first = values.data() + row * size;
    double squares = 0;
    for (int64_t i = 0; i < size; ++i) squares += first[i] * first[i];
    const double rms = std::sqrt(squares / static_cast<double>(size) + attrs.epsilon);
    for (int64_t i = 0; i < size; ++i) first[i] /= rms;
  }
  const std::vector<double> scale = ReadDoubles(args.inputs[1]);
  size_t i = 0;
  for (Odometer<1> at(y.dims, {BroadcastStrides(args.inputs[1].dims, y.dims)}); !at.done();
       at.Next())
    values[i++] *= scale[at.offset[0]];
  WriteDoubles(values, y);
  return absl::OkStatus();
}
absl::Status CheckRMSNormalization(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(1).dtype();
  if (!VisitFloat(context.input_type(0).dtype(), [](auto) {}) || !VisitFloat(dtype, [](auto) {}) ||
      context.result_type(0).dtype() != dtype)
    return context.Unsupported("these element types");
  const auto rank = static_cast<int64_t>(context.dims(0).size());
  const int64_t axis = context.attrs_of<ops::RMSNormalization>().axis;
  if (axis < -rank || axis >= rank) return context.InvalidArgument("needs an axis of x");
  return absl::OkStatus();
}
const RegisterReference<ops::RMSNormalization> kRMSNormalization(&RMSNormalization,
                                                                 &CheckRMSNormalization);

// What ONNX adds to the deviation, lest it be 0.
constexpr double kLeastDeviation = 1e-9;

absl::Status MeanVarianceNormalization(const AttrsOf<ops::MeanVarianceNormalization>& attrs,
                                       const KernelArgs& args) {
  const std::span<const int64_t> dims = args.inputs[0].dims;
  std::vector<bool> reduced(dims.size(), attrs.axes.empty());
  for (const int64_t axis : attrs.axes) reduced[ir::NormalAxis(axis, dims.size())] = true;
  Dims strides(static_cast<int>(dims.size()), 0);  // of the statistics
  int64_t size = 1;
  for (int i = strides.size() - 1; i >= 0; --i) {
    if (reduced[i]) continue;
    strides[i] = size;
    size *= dims[i];
  }
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  const double count = static_cast<double>(values.size()) / static_cast<double>(size);
  std::vector<double> means(static_cast<size_t>(size)), variances(means.size());
  const auto for_each = [&](const auto& body) {
    size_t i = 0;
    for (Odometer<1> at(dims, {strides}); !at.done(); at.Next()) body(values[i++], at.offset[0]);
  };
  for_each([&](double& x, int64_t at) { means[at] += x / count; });
  for_each([&](double& x, int64_t at) { x -= means[at]; });
  for_each([&](double& x, int64_t at) { variances[at] += x * x / count; });
  for_each([&](double& x, int64_t at) { x /= std::sqrt(variances[at]) + kLeastDeviation; });
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckMeanVarianceNormalization(const KernelContext& context) {
  const auto rank = static_cast<int64_t>(context.dims(0).size());
  for (const int64_t axis : context.attrs_of<ops::MeanVarianceNormalization>().axes)
    if (axis < -rank || axis >= rank) return context.InvalidArgument("needs axes of x");
  return SameFloats(context);
}
const RegisterReference<ops::MeanVarianceNormalization> kMeanVarianceNormalization(
    &MeanVarianceNormalization, &CheckMeanVarianceNormalization);

absl::Status LRN(const AttrsOf<ops::LRN>& attrs, const KernelArgs& args) {
  const AxisView view(args.inputs[0].dims, 1);
  const int64_t before = (attrs.size - 1) / 2, after = attrs.size - 1 - before;
  const std::vector<double> x = ReadDoubles(args.inputs[0]);
  std::vector<double> y(x.size());
  for (int64_t row = 0; row < view.rows(); ++row) {
    const int64_t start = view.RowStart(row);
    for (int64_t c = 0; c < view.extent; ++c) {
      double squares = 0;
      const int64_t last = std::min(view.extent - 1, after < view.extent ? c + after : after);
      for (int64_t i = std::max<int64_t>(0, c - before); i <= last; ++i)
        squares += x[start + i * view.inner] * x[start + i * view.inner];
      const double base = attrs.bias + attrs.alpha / static_cast<double>(attrs.size) * squares;
      y[start + c * view.inner] = x[start + c * view.inner] / std::pow(base, attrs.beta);
    }
  }
  WriteDoubles(y, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckLRN(const KernelContext& context) {
  if (context.dims(0).size() < 2) return context.Unsupported("x of rank below 2");
  if (context.attrs_of<ops::LRN>().size < 1) return context.InvalidArgument("size is below 1");
  return SameFloats(context);
}
const RegisterReference<ops::LRN> kLRN(&LRN, &CheckLRN);

// --- along one axis ---------------------------------------------------------------

// row(first, n, stride) works on every row in place.
template <class Row>
absl::Status ForEachRow(const KernelArgs& args, int64_t axis, const Row& row) {
  const AxisView view(args.inputs[0].dims, axis);
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  for (int64_t i = 0; view.extent > 0 && i < view.rows(); ++i)
    row(values.data() + view.RowStart(i), view.extent, view.inner);
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}

absl::Status LpNormalization(const AttrsOf<ops::LpNormalization>& attrs, const KernelArgs& args) {
  return ForEachRow(args, attrs.axis, [&](double* x, int64_t n, int64_t stride) {
    double norm = 0;
    for (int64_t i = 0; i < n; ++i)
      norm += attrs.p == 1 ? std::fabs(x[i * stride]) : x[i * stride] * x[i * stride];
    if (attrs.p == 2) norm = std::sqrt(norm);
    for (int64_t i = 0; i < n; ++i) x[i * stride] = norm == 0 ? 0 : x[i * stride] / norm;
  });
}
const RegisterReference<ops::LpNormalization> kLpNormalization(&LpNormalization, &SameFloats);

absl::Status Softmax(const AttrsOf<ops::Softmax>& attrs, const KernelArgs& args) {
  return ForEachRow(args, attrs.axis, &SoftmaxRow);
}
const RegisterReference<ops::Softmax> kSoftmax(&Softmax, &SameFloats);

absl::Status LogSoftmax(const AttrsOf<ops::LogSoftmax>& attrs, const KernelArgs& args) {
  return ForEachRow(args, attrs.axis, &LogSoftmaxRow);
}
const RegisterReference<ops::LogSoftmax> kLogSoftmax(&LogSoftmax, &SameFloats);

// A NaN is larger than all numbers.
absl::Status Hardmax(const AttrsOf<ops::Hardmax>& attrs, const KernelArgs& args) {
  return ForEachRow(args, attrs.axis, [](double* x, int64_t n, int64_t stride) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
      const double a = x[i * stride], b = x[best * stride];
      if (a > b || (std::isnan(a) && !std::isnan(b))) best = i;
    }
    for (int64_t i = 0; i < n; ++i) x[i * stride] = i == best ? 1 : 0;
  });
}
const RegisterReference<ops::Hardmax> kHardmax(&Hardmax, &SameFloats);

}  // namespace
}  // namespace weft::kernels::reference
