// Loops of pd's convolutions, pools and normalisations and of their gradients. Each gradient walks the
// same taps as its op, and scatters what the op gathered; finite differences judge both
// (vjp_test.cc), examples by hand the ops.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/base/status.h"
#include "ir/builder.h"
#include "unittests/passes/pd/kernels.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::Ints;
using ir::Operation;
using ir::Shape;
using ir::Value;

// A tensor of images in either layout.
struct Images {
  Images(const Shape& dims, pd::DataFormat format) : nchw(format == pd::DataFormat::kNchw) {
    n = dims[0];
    c = nchw ? dims[1] : dims[3];
    h = nchw ? dims[2] : dims[1];
    w = nchw ? dims[3] : dims[2];
  }
  size_t Offset(int64_t in, int64_t ic, int64_t ih, int64_t iw) const {
    return static_cast<size_t>(nchw ? ((in * c + ic) * h + ih) * w + iw
                                    : ((in * h + ih) * w + iw) * c + ic);
  }
  bool nchw;
  int64_t n, c, h, w;
};

// Padding before the first row or column: `axis` is 0 for rows.
int64_t PadBefore(pd::PaddingAlgorithm algorithm, const Ints& paddings, size_t axis, int64_t size,
                  int64_t out, int64_t stride, int64_t extent) {
  if (algorithm == pd::PaddingAlgorithm::kValid) return 0;
  if (algorithm == pd::PaddingAlgorithm::kSame)
    return std::max<int64_t>((out - 1) * stride + extent - size, 0) / 2;
  return paddings.size() == 2 ? paddings[axis] : paddings[2 * axis];
}

// f(offset in x, in the filter, in the result) for every product of a convolution.
template <class F>
void ForEachTap(const pd::Conv2d::Attrs<ir::Plain>& a, const Shape& x_dims, const Shape& filter,
                const Shape& out_dims, F&& f) {
  const Images x(x_dims, a.data_format), out(out_dims, a.data_format);
  const int64_t extent_h = (filter[2] - 1) * a.dilations[0] + 1;
  const int64_t extent_w = (filter[3] - 1) * a.dilations[1] + 1;
  const int64_t top =
      PadBefore(a.padding_algorithm, a.paddings, 0, x.h, out.h, a.strides[0], extent_h);
  const int64_t left =
      PadBefore(a.padding_algorithm, a.paddings, 1, x.w, out.w, a.strides[1], extent_w);
  const int64_t outputs_per_group = filter[0] / a.groups;
  ForEachIndex({out.n, out.c, out.h, out.w}, [&](const Shape& o) {
    ForEachIndex({filter[1], filter[2], filter[3]}, [&](const Shape& k) {
      const int64_t row = o[2] * a.strides[0] + k[1] * a.dilations[0] - top;
      const int64_t column = o[3] * a.strides[1] + k[2] * a.dilations[1] - left;
      if (row < 0 || row >= x.h || column < 0 || column >= x.w) return;
      const int64_t channel = o[1] / outputs_per_group * filter[1] + k[0];
      f(x.Offset(o[0], channel, row, column), OffsetAt(filter, {o[1], k[0], k[1], k[2]}),
        out.Offset(o[0], o[1], o[2], o[3]));
    });
  });
}
WEFT_PD_KERNEL(pd::Conv2d, [](Operation op, const PdList& in) -> PdList {
  PdTensor out = Zeros(op.result().type().shape());
  ForEachTap(op.attrs_of<pd::Conv2d>(), in[0].dims, in[1].dims, out.dims,
             [&](size_t x, size_t w, size_t y) { out.data[y] += in[0].data[x] * in[1].data[w]; });
  return {out};
});
WEFT_PD_KERNEL(pd::Conv2dGrad, [](Operation op, const PdList& in) -> PdList {
  PdTensor x_grad = Zeros(in[0].dims), w_grad = Zeros(in[1].dims);
  ForEachTap(op.attrs_of<pd::Conv2dGrad>(), in[0].dims, in[1].dims, in[2].dims,
             [&](size_t x, size_t w, size_t y) {
               x_grad.data[x] += in[2].data[y] * in[1].data[w];
               w_grad.data[w] += in[2].data[y] * in[0].data[x];
             });
  return {x_grad, w_grad};
});

struct Range {
  int64_t begin, end;
};
// Window `i` of `count` along rows (axis 0) or columns, within the image.
Range WindowOf(const pd::Pool2d::Attrs<ir::Plain>& a, size_t axis, int64_t i, int64_t size,
               int64_t count, int64_t kernel) {
  if (a.global_pooling) return {0, size};
  if (a.adaptive) return {i * size / count, ((i + 1) * size + count - 1) / count};
  const int64_t begin = i * a.strides[axis] - PadBefore(a.padding_algorithm, a.paddings, axis, size,
                                                        count, a.strides[axis], kernel);
  return {std::max<int64_t>(begin, 0), std::min(begin + kernel, size)};
}
// f(the elements of the window, the result's element, what an average divides by)
template <class F>
void ForEachWindow(const pd::Pool2d::Attrs<ir::Plain>& a, const Shape& x_dims, const Ints& kernel,
                   const Shape& out_dims, F&& f) {
  const Images x(x_dims, a.data_format), out(out_dims, a.data_format);
  ForEachIndex({out.n, out.c, out.h, out.w}, [&](const Shape& o) {
    const Range rows = WindowOf(a, 0, o[2], x.h, out.h, kernel[0]);
    const Range columns = WindowOf(a, 1, o[3], x.w, out.w, kernel[1]);
    std::vector<size_t> window;
    for (int64_t row = rows.begin; row < rows.end; ++row)
      for (int64_t column = columns.begin; column < columns.end; ++column)
        window.push_back(x.Offset(o[0], o[1], row, column));
    const bool whole = a.exclusive || a.adaptive || a.global_pooling;
    const auto divisor =
        whole ? static_cast<double>(window.size()) : static_cast<double>(kernel[0] * kernel[1]);
    f(window, out.Offset(o[0], o[1], o[2], o[3]), divisor);
  });
}
Ints KernelOf(const PdTensor& t) { return {t.data.begin(), t.data.end()}; }

WEFT_PD_KERNEL(pd::Pool2d, [](Operation op, const PdList& in) -> PdList {
  const auto attrs = op.attrs_of<pd::Pool2d>();
  const std::vector<double>& x = in[0].data;
  PdTensor out = Zeros(op.result().type().shape());
  ForEachWindow(attrs, in[0].dims, KernelOf(in[1]), out.dims,
                [&](const std::vector<size_t>& window, size_t to, double divisor) {
                  double most = x[window[0]], sum = 0;
                  for (const size_t i : window) most = std::max(most, x[i]), sum += x[i];
                  out.data[to] = attrs.pooling_type == pd::PoolingType::kMax ? most : sum / divisor;
                });
  return {out};
});
WEFT_PD_KERNEL(pd::Pool2dGrad, [](Operation op, const PdList& in) -> PdList {
  const auto attrs = op.attrs_of<pd::Pool2dGrad>();
  PdTensor grad = Zeros(in[0].dims);
  ForEachWindow(attrs, in[0].dims, KernelOf(in[3]), in[1].dims,
                [&](const std::vector<size_t>& window, size_t from, double divisor) {
                  for (const size_t i : window) {
                    if (attrs.pooling_type == pd::PoolingType::kAvg) {
                      grad.data[i] += in[2].data[from] / divisor;
                    } else if (in[0].data[i] == in[1].data[from]) {
                      grad.data[i] += in[2].data[from];
                      break;
                    }
                  }
                });
  return {grad};
});

// Whether the op normalises by the running statistics.
bool ReadsRunning(const pd::BatchNorm::Attrs<ir::Plain>& a) {
  return a.use_global_stats || (a.is_test && !a.trainable_statistics);
}
size_t ChannelAxisOf(const pd::BatchNorm::Attrs<ir::Plain>& a, const Shape& x) {
  return a.data_layout == pd::DataFormat::kNchw ? 1 : x.size() - 1;
}
// f(element, its channel)
template <class F>
void ForEachOfChannel(const pd::BatchNorm::Attrs<ir::Plain>& a, const Shape& dims, F&& f) {
  const size_t axis = ChannelAxisOf(a, dims);
  ForEachIndex(dims, [&](const Shape& i) { f(OffsetAt(dims, i), static_cast<size_t>(i[axis])); });
}
WEFT_PD_KERNEL(pd::BatchNorm, [](Operation op, const PdList& in) -> PdList {
  const auto a = op.attrs_of<pd::BatchNorm>();
  const Shape dims = in[0].dims;
  const size_t channels = in[1].data.size();
  const double count = static_cast<double>(Count(dims)) / static_cast<double>(channels);
  PdTensor mean = Zeros(in[1].dims), variance = mean, inverse = mean, out = Zeros(dims);
  ForEachOfChannel(a, dims, [&](size_t i, size_t c) { mean.data[c] += in[0].data[i] / count; });
  ForEachOfChannel(a, dims, [&](size_t i, size_t c) {
    variance.data[c] += std::pow(in[0].data[i] - mean.data[c], 2) / count;
  });
  PdTensor mean_out = in[1], variance_out = in[2];
  for (size_t c = 0; c < channels; ++c) {
    inverse.data[c] = 1 / std::sqrt(variance.data[c] + double{a.epsilon});
    if (ReadsRunning(a)) continue;
    const double m = a.momentum;
    mean_out.data[c] = m * in[1].data[c] + (1 - m) * mean.data[c];
    variance_out.data[c] = m * in[2].data[c] + (1 - m) * variance.data[c];
  }
  const PdTensor &by_mean = ReadsRunning(a) ? in[1] : mean,
                 &by_variance = ReadsRunning(a) ? in[2] : variance;
  ForEachOfChannel(a, dims, [&](size_t i, size_t c) {
    const double x =
        (in[0].data[i] - by_mean.data[c]) / std::sqrt(by_variance.data[c] + double{a.epsilon});
    out.data[i] = x * in[3].data[c] + in[4].data[c];
  });
  return {out, mean_out, variance_out, mean, inverse};
});
WEFT_PD_KERNEL(pd::BatchNormGrad, [](Operation op, const PdList& in) -> PdList {
  const auto a = op.attrs_of<pd::BatchNormGrad>();
  const Shape dims = in[0].dims;
  const size_t channels = in[1].data.size();
  const double count = static_cast<double>(Count(dims)) / static_cast<double>(channels);
  const std::vector<double>& grad = in[7].data;
  auto normal = [&](size_t i, size_t c) {
    if (!ReadsRunning(a)) return (in[0].data[i] - in[5].data[c]) * in[6].data[c];
    return (in[0].data[i] - in[3].data[c]) / std::sqrt(in[4].data[c] + double{a.epsilon});
  };
  PdTensor x_grad = Zeros(dims), scale_grad = Zeros(in[1].dims), bias_grad = scale_grad;
  ForEachOfChannel(a, dims, [&](size_t i, size_t c) {
    scale_grad.data[c] += grad[i] * normal(i, c);
    bias_grad.data[c] += grad[i];
  });
  ForEachOfChannel(a, dims, [&](size_t i, size_t c) {
    if (ReadsRunning(a)) {
      x_grad.data[i] = grad[i] * in[1].data[c] / std::sqrt(in[4].data[c] + double{a.epsilon});
    } else {
      const double rest = (bias_grad.data[c] + normal(i, c) * scale_grad.data[c]) / count;
      x_grad.data[i] = in[1].data[c] * in[6].data[c] * (grad[i] - rest);
    }
  });
  return {x_grad, scale_grad, bias_grad};
});

class PdNnKernels : public testing::Test {
 protected:
  PdNnKernels() : program(&context), b(&program) { ir::LoadPdDialect(context); }
  Value Input(const Shape& dims) {
    return b.AddInput("x" + std::to_string(program.body().num_arguments()),
                      context.TensorType(ir::DataType::kF32, dims));
  }
  ir::IrContext context;
  ir::Program program;
  ir::Builder b;
};

TEST_F(PdNnKernels, ConvolutionsSlideOverPaddedImages) {
  const Value x = Input({1, 1, 2, 3}), w = Input({1, 1, 2, 2});
  const Value same = b.Make<pd::Conv2d>(
      {x, w}, {.padding_algorithm = pd::PaddingAlgorithm::kSame, .strides = {1, 2}});
  b.Return({{"valid", b.Make<pd::Conv2d>({x, w})},
            {"padded", b.Make<pd::Conv2d>({x, w}, {.paddings = {1, 0, 0, 0}})},
            {"same", same}});
  const auto out =
      EvaluatePd(program, {{{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}, {{1, 1, 2, 2}, {1, 10, 100, 1000}}});
  EXPECT_EQ(out[0].data, (std::vector<double>{5421, 6532}));
  EXPECT_EQ(out[1].data, (std::vector<double>{2100, 3200, 5421, 6532}));
  EXPECT_EQ(out[2].data, (std::vector<double>{5421, 603, 54, 6}));  // padded right and below
}

TEST_F(PdNnKernels, PoolsTakeTheMostOrTheMeanOfAWindow) {
  const Value x = Input({1, 1, 2, 3});
  const Value two = b.Make<pd::FullIntArray>({}, {.value = {2, 2}});
  const auto average = pd::PoolingType::kAvg;
  b.Return({{"max", b.Make<pd::Pool2d>({x, two})},
            {"exclusive",
             b.Make<pd::Pool2d>({x, two},
                                {.paddings = {1, 1}, .pooling_type = average, .strides = {2, 2}})},
            {"inclusive", b.Make<pd::Pool2d>({x, two}, {.exclusive = false,
                                                        .paddings = {1, 1},
                                                        .pooling_type = average,
                                                        .strides = {2, 2}})},
            {"adaptive", b.Make<pd::Pool2d>({x, two}, {.adaptive = true, .pooling_type = average})},
            {"global", b.Make<pd::Pool2d>({x, two}, {.global_pooling = true})}});
  const auto out = EvaluatePd(program, {{{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}});
  EXPECT_EQ(out[0].data, (std::vector<double>{5, 6}));
  EXPECT_EQ(out[1].data, (std::vector<double>{1, 2.5, 4, 5.5}));
  EXPECT_EQ(out[2].data, (std::vector<double>{0.25, 1.25, 1, 2.75}));
  EXPECT_EQ(out[3].data, (std::vector<double>{1.5, 2.5, 4.5, 5.5}));
  EXPECT_EQ(out[4].data, (std::vector<double>{6}));
}

TEST_F(PdNnKernels, BatchNormUsesTheBatchOrWhatItKnew) {
  const Value x = Input({2, 1}), v = Input({1});
  const auto training =
      b.Create<pd::BatchNorm>({x, v, v, v, v}, {.epsilon = 0.0f, .momentum = 0.5f});
  const auto test = b.Create<pd::BatchNorm>({x, v, v, v, v}, {.epsilon = 0.0f, .is_test = true});
  b.Return({{"training", training.result(0)},
            {"mean_out", training.result(1)},
            {"variance_out", training.result(2)},
            {"saved_variance", training.result(4)},
            {"test", test.result(0)},
            {"test mean", test.result(1)}});
  const auto out = EvaluatePd(program, {{{2, 1}, {1, 5}}, {{1}, {4}}});
  EXPECT_EQ(out[0].data, (std::vector<double>{0, 8}));  // -1 and 1 times 4, plus 4
  EXPECT_EQ(out[1].data, (std::vector<double>{3.5}));
  EXPECT_EQ(out[2].data, (std::vector<double>{4}));
  EXPECT_EQ(out[3].data, (std::vector<double>{0.5}));
  EXPECT_EQ(out[4].data, (std::vector<double>{-2, 6}));
  EXPECT_EQ(out[5].data, (std::vector<double>{4}));
}

}  // namespace
}  // namespace weft::passes
