// Pools of norms, pools of whole channels, and MaxUnpool.
#include <algorithm>
#include <limits>

#include "ir/dialects/onnx/nn/pool.h"
#include "kernels/reference/inferred.h"
#include "kernels/reference/pool/each_in_window.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

double Root(double sum, int64_t p) {
  return p == 1 ? sum : std::pow(sum, 1 / static_cast<double>(p));
}
double Power(double x, int64_t p) { return std::pow(std::fabs(x), static_cast<double>(p)); }

absl::Status LpPool(const AttrsOf<ops::LpPool>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow(attrs, x.dims, attrs.kernel_shape, y.dims));
  const std::vector<double> in = ReadDoubles(x);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  double sum = 0;
  for (int64_t c = 0; c < x.dims[0] * x.dims[1]; ++c)
    ForEachInWindow(
        w, [&](int64_t, int64_t, int64_t) { sum = 0; },
        [&](int64_t i) { sum += Power(in[c * w.InSize() + i], attrs.p); },
        [&](int64_t o) { out[c * w.OutSize() + o] = Root(sum, attrs.p); });
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckLpPool(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::LpPool>();
  const auto window =
      MakeWindow(attrs, context.dims(0), attrs.kernel_shape, context.result_dims(0));
  if (!window.ok()) return ir::Annotate(window.status(), context.op().name());
  return SameFloats(context);
}
const RegisterReference<ops::LpPool> kLpPool(&LpPool, &CheckLpPool);

// y[c] = finish(fold of all elements of channel c, their number).
template <class Fold, class Finish>
void FoldChannels(const KernelArgs& args, double start, const Fold& fold, const Finish& finish) {
  const std::vector<double> in = ReadDoubles(args.inputs[0]);
  std::vector<double> out(static_cast<size_t>(args.outputs[0].NumElements()), start);
  const size_t size = out.empty() ? 0 : in.size() / out.size();
  for (size_t c = 0; c < out.size(); ++c) {
    for (size_t i = 0; i < size; ++i) out[c] = fold(out[c], in[c * size + i]);
    out[c] = finish(out[c], static_cast<double>(size));
  }
  WriteDoubles(out, args.outputs[0]);
}

absl::Status GlobalAveragePool(const AttrsOf<ops::GlobalAveragePool>&, const KernelArgs& args) {
  FoldChannels(
      args, 0, [](double sum, double x) { return sum + x; },
      [](double sum, double size) { return sum / size; });
  return absl::OkStatus();
}
const RegisterReference<ops::GlobalAveragePool> kGlobalAveragePool(&GlobalAveragePool, &SameFloats);

// As MaxPool: NaN is the result where a channel holds nothing else, and of equal zeros the first.
absl::Status GlobalMaxPool(const AttrsOf<ops::GlobalMaxPool>&, const KernelArgs& args) {
  const std::vector<double> in = ReadDoubles(args.inputs[0]);
  std::vector<double> out(static_cast<size_t>(args.outputs[0].NumElements()),
                          -std::numeric_limits<double>::infinity());
  const size_t size = out.empty() ? 0 : in.size() / out.size();
  for (size_t c = 0; size > 0 && c < out.size(); ++c) {
    out[c] = in[c * size];
    for (size_t i = 1; i < size; ++i) {
      const double x = in[c * size + i];
      if (x > out[c] || std::isnan(out[c])) out[c] = x;
    }
  }
  WriteDoubles(out, args.outputs[0]);
  return absl::OkStatus();
}
const RegisterReference<ops::GlobalMaxPool> kGlobalMaxPool(&GlobalMaxPool, &SameFloats);

absl::Status GlobalLpPool(const AttrsOf<ops::GlobalLpPool>& attrs, const KernelArgs& args) {
  FoldChannels(
      args, 0, [&](double sum, double x) { return sum + Power(x, attrs.p); },
      [&](double sum, double) { return Root(sum, attrs.p); });
  return absl::OkStatus();
}
const RegisterReference<ops::GlobalLpPool> kGlobalLpPool(&GlobalLpPool, &SameFloats);

absl::Status MaxUnpool(const AttrsOf<ops::MaxUnpool>& attrs, const KernelArgs& args) {
  const std::vector<double> x = ReadDoubles(args.inputs[0]);
  const std::vector<int64_t> indices = ReadInts(args.inputs[1]);
  const auto natural = ops::MaxUnpool::Unpooled(args.inputs[0].dims, attrs);
  if (!natural) return ir::InvalidArgument("kernel_shape, strides and pads make no shape of x's");
  const std::span<const int64_t> dims = args.outputs[0].dims;
  const int64_t size = NumElements(*natural);
  const Dims strides = RowMajorStrides(dims);
  std::vector<double> y(static_cast<size_t>(args.outputs[0].NumElements()));
  for (size_t i = 0; i < x.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= size)
      return ir::InvalidArgument("index " + std::to_string(indices[i]) + " of " +
                                 std::to_string(size) + " elements");
    int64_t rest = indices[i], to = 0;
    for (int axis = strides.size() - 1; axis >= 0; --axis) {
      const int64_t at = rest % (*natural)[axis];
      rest /= (*natural)[axis];
      if (at >= dims[axis]) return ir::InvalidArgument("output_shape is too small");
      to += at * strides[axis];
    }
    y[to] = x[i];
  }
  WriteDoubles(y, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckMaxUnpool(const KernelContext& context) {
  return CheckInferredFloats(context, {0});
}
const RegisterReference<ops::MaxUnpool> kMaxUnpool(&MaxUnpool, &CheckMaxUnpool);

}  // namespace
}  // namespace weft::kernels::reference
