// Normalisations: of responses, to mean 0 and variance 1, and to a norm of 1. In double, as the reference kernel.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/nn/rows.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// --- of responses -------------------------------------------------------------------

Made MakeLRN(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::LRN>();
  if (context.dims(0).size() < 2 || attrs.size < 1)
    return context.Unsupported("x of rank below 2, or a size below 1");
  const AxisView view(context.dims(0), 1);
  const int64_t before = (attrs.size - 1) / 2, after = attrs.size - 1 - before;
  const simd::ResponseArguments shape = {.stride = view.inner,
                                         .bias = attrs.bias,
                                         .factor = attrs.alpha / static_cast<double>(attrs.size),
                                         .beta = attrs.beta};
  return MakeNative("local response norm", {}, [=](const KernelArgs& args) {
    const int64_t rows = view.outer * view.extent;
    const int64_t taps = std::min(attrs.size, view.extent);
    args.pool->ParallelFor(
        rows, TileFor(rows, view.inner * (taps + 8)), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t c = row % view.extent, first = c - std::min(c, before);
            const int64_t last = c + std::min(view.extent - 1 - c, after);
            simd::ResponseArguments run = shape;
            run.x = args.input<float>(0) + row * view.inner;
            run.first = run.x - (c - first) * view.inner;
            run.rows = last - first + 1;
            simd::NormalizeResponses(run, view.inner, args.output<float>(0) + row * view.inner);
          }
        });
  });
}
const RegisterKernel<ops::LRN> kLRN("native", &MakeLRN);

// --- to mean 0 and variance 1 -------------------------------------------------------

// [outer, channels, inner] of which the channels are kept; sizes of 1 are either.
std::optional<AxisView> KeptAxes(std::span<const int64_t> dims, const ir::Ints& axes) {
  std::vector<bool> reduced(dims.size(), axes.empty());
  for (const int64_t axis : axes) {
    const int64_t normal = ir::NormalAxis(axis, dims.size());
    if (normal < 0 || normal >= static_cast<int64_t>(dims.size())) return std::nullopt;
    reduced[static_cast<size_t>(normal)] = true;
  }
  AxisView view(dims, 0, static_cast<int64_t>(dims.size()));
  view.extent = 1;
  bool in_channels = false, behind = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (reduced[i]) {
      behind = in_channels;
      (behind ? view.inner : view.outer) *= dims[i];
    } else {
      if (behind) return std::nullopt;
      in_channels = true;
      view.extent *= dims[i];
    }
  }
  if (!in_channels) std::swap(view.outer, view.inner);  // one row
  return view;
}

Made MakeMeanVarianceNormalization(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto view =
      KeptAxes(context.dims(0), context.attrs_of<ops::MeanVarianceNormalization>().axes);
  constexpr int64_t kLeastRow = 8;
  if (!view || view->inner < kLeastRow)
    return context.Unsupported("axes that leave no rows of channels");
  return MakeNative("mean variance norm", {}, [view = *view](const KernelArgs& args) {
    constexpr double kLeastDeviation = 1e-9;  // what ONNX adds, lest it be 0
    const int64_t n = view.inner, step = view.extent * n;
    const double count = static_cast<double>(view.outer) * static_cast<double>(n);
    const auto normalize = [&](int64_t channel) {
      const float* const x = args.input<float>(0) + channel * n;
      float* const y = args.output<float>(0) + channel * n;
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < view.outer; ++i) sum += simd::SumOfRow(x + i * step, n);
      const double mean = sum / count;
      for (int64_t i = 0; i < view.outer; ++i)
        squares += simd::SumOfSquaredDistances(x + i * step, n, mean);
      const double deviation = std::sqrt(squares / count) + kLeastDeviation;
      for (int64_t i = 0; i < view.outer; ++i)
        simd::NormalizeRow(x + i * step, n, mean, deviation, y + i * step);
    };
    args.pool->ParallelFor(view.extent, TileFor(view.extent, 4 * view.outer * n),
                           [&](int64_t begin, int64_t end) {
                             for (int64_t c = begin; c < end; ++c) normalize(c);
                           });
  });
}
const RegisterKernel<ops::MeanVarianceNormalization> kMeanVarianceNormalization(
    "native", &MakeMeanVarianceNormalization);

// --- to a norm of 1 -----------------------------------------------------------------

void DivideRowByNorm(const float* x, int64_t n, bool squares, float* y) {
  const double norm =
      squares ? std::sqrt(simd::SumOfSquaredDistances(x, n, 0)) : simd::SumOfMagnitudes(x, n);
  if (norm == 0)
    std::fill_n(y, n, 0.0f);
  else
    simd::NormalizeRow(x, n, 0, norm, y);
}

Made MakeLpNormalization(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::LpNormalization>();
  if (attrs.p != 1 && attrs.p != 2) return context.Unsupported("other norms than 1 and 2");
  const std::span<const int64_t> dims = context.dims(0);
  const int64_t axis = ir::NormalAxis(attrs.axis, dims.size());
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size()))
    return context.Unsupported("an axis that x does not have");
  const AxisView view(dims, axis);
  const bool squares = attrs.p == 2;
  const int64_t pieces = (view.inner + simd::kNormColumns - 1) / simd::kNormColumns;
  const int64_t tasks = view.outer * pieces;
  const int64_t cost = 2 * view.extent * std::min(view.inner, simd::kNormColumns);
  return MakeNative("norm", {}, [=](const KernelArgs& args) {
    const float* const x = args.input<float>(0);
    float* const y = args.output<float>(0);
    args.pool->ParallelFor(tasks, TileFor(tasks, cost), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % pieces * simd::kNormColumns;
        const int64_t at = task / pieces * view.extent * view.inner + first;
        if (view.inner == 1)
          DivideRowByNorm(x + at, view.extent, squares, y + at);
        else
          simd::DivideByNorms(x + at, view.extent, view.inner,
                              std::min(simd::kNormColumns, view.inner - first), squares, y + at);
      }
    });
  });
}
const RegisterKernel<ops::LpNormalization> kLpNormalization("native", &MakeLpNormalization);

}  // namespace
}  // namespace weft::kernels::native
