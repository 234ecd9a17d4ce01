// Loops of pd's softmax, means, losses and metrics, and of their gradients.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ir/base/status.h"
#include "ir/builder.h"
#include "unittests/passes/pd/kernels.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::Operation;
using ir::Shape;
using ir::Value;

size_t RowLength(const Shape& dims, int64_t axis) {
  return static_cast<size_t>(dims[axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis]);
}

WEFT_PD_KERNEL(pd::Softmax, [](Operation op, const PdList& in) -> PdList {
  return {SoftmaxPd(in[0], op.attrs_of<pd::Softmax>().axis)};
});
WEFT_PD_KERNEL(pd::SoftmaxGrad, [](Operation op, const PdList& in) -> PdList {
  const int64_t axis = op.attrs_of<pd::SoftmaxGrad>().axis;
  const size_t n = RowLength(in[0].dims, axis);
  PdTensor grad = Zeros(in[0].dims);
  ForEachRow(in[0].dims, axis, [&](size_t first, size_t stride, size_t) {
    for (size_t i = 0; i < n; ++i)  // the Jacobian, entry by entry
      for (size_t j = 0; j < n; ++j) {
        const double p = in[0].data[first + i * stride], q = in[0].data[first + j * stride];
        grad.data[first + i * stride] += in[1].data[first + j * stride] * q * ((i == j) - p);
      }
  });
  return {grad};
});

// Where each element of x goes in a mean over some axes: the reduced ones become 1.
Shape KeptDims(const Shape& dims, ir::Ints axes) {
  Shape kept = dims;
  for (int64_t& axis : axes) axis = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
  for (size_t i = 0; i < dims.size(); ++i)
    if (axes.empty() || std::count(axes.begin(), axes.end(), static_cast<int64_t>(i))) kept[i] = 1;
  return kept;
}
WEFT_PD_KERNEL(pd::Mean, [](Operation op, const PdList& in) -> PdList {
  PdTensor out = Zeros(KeptDims(in[0].dims, op.attrs_of<pd::Mean>().axis));
  const double share =
      static_cast<double>(out.data.size()) / static_cast<double>(in[0].data.size());
  ForEachIndex(in[0].dims,
               [&](const Shape& i) { out.data[OffsetAt(out.dims, i)] += share * At(in[0], i); });
  out.dims = op.result().type().shape();
  return {out};
});
WEFT_PD_KERNEL(pd::MeanGrad, [](Operation op, const PdList& in) -> PdList {
  PdTensor grad = in[1];
  grad.dims = KeptDims(in[0].dims, op.attrs_of<pd::MeanGrad>().axis);
  const double share =
      static_cast<double>(grad.data.size()) / static_cast<double>(in[0].data.size());
  return {Generate(in[0].dims, [&](const Shape& i) { return share * At(grad, i); })};
});

// The weight that a label gives to class k of a row.
double WeightOf(const pd::CrossEntropyWithSoftmax::Attrs<ir::Plain>& a, const PdTensor& label,
                size_t element, size_t row, size_t k) {
  if (a.soft_label) return label.data[element];
  const auto named = static_cast<int64_t>(label.data[row]);
  return named != a.ignore_index && named == static_cast<int64_t>(k) ? 1 : 0;
}
WEFT_PD_KERNEL(pd::CrossEntropyWithSoftmax, [](Operation op, const PdList& in) -> PdList {
  const auto a = op.attrs_of<pd::CrossEntropyWithSoftmax>();
  const PdTensor softmax = a.use_softmax ? SoftmaxPd(in[0], a.axis) : in[0];
  PdTensor loss = Zeros(op.result(1).type().shape());
  const size_t n = RowLength(in[0].dims, a.axis);
  ForEachRow(in[0].dims, a.axis, [&](size_t first, size_t stride, size_t row) {
    for (size_t k = 0; k < n; ++k) {
      const size_t i = first + k * stride;
      loss.data[row] -= WeightOf(a, in[1], i, row, k) * std::log(softmax.data[i]);
    }
  });
  return {softmax, loss};
});
WEFT_PD_KERNEL(pd::CrossEntropyWithSoftmaxGrad, [](Operation op, const PdList& in) -> PdList {
  const auto a = op.attrs_of<pd::CrossEntropyWithSoftmaxGrad>();
  PdTensor grad = Zeros(in[1].dims);
  const size_t n = RowLength(in[1].dims, a.axis);
  ForEachRow(in[1].dims, a.axis, [&](size_t first, size_t stride, size_t row) {
    double all = 0;
    for (size_t k = 0; k < n; ++k) all += WeightOf(a, in[0], first + k * stride, row, k);
    for (size_t k = 0; k < n; ++k) {
      const size_t i = first + k * stride;
      const double p = in[1].data[i], weight = WeightOf(a, in[0], i, row, k);
      grad.data[i] = in[2].data[row] * (a.use_softmax ? p * all - weight : -weight / p);
    }
  });
  return {grad};
});

WEFT_PD_KERNEL(pd::TopK, [](Operation op, const PdList& in) -> PdList {
  const auto a = op.attrs_of<pd::TopK>();
  const size_t n = RowLength(in[0].dims, a.axis), k = static_cast<size_t>(in[1].data[0]);
  PdTensor out = Zeros(op.result(0).type().shape()), indices = out;
  ForEachRow(in[0].dims, a.axis, [&](size_t first, size_t stride, size_t row) {
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
      const double x = in[0].data[first + i * stride], y = in[0].data[first + j * stride];
      return a.largest ? x > y : x < y;
    });
    const size_t to = row / stride * stride * k + row % stride;
    for (size_t i = 0; i < k; ++i) {
      out.data[to + i * stride] = in[0].data[first + order[i] * stride];
      indices.data[to + i * stride] = static_cast<double>(order[i]);
    }
  });
  return {out, indices};
});
WEFT_PD_KERNEL(pd::Accuracy, [](Operation, const PdList& in) -> PdList {
  const auto rows = static_cast<size_t>(in[1].dims[0]), k = static_cast<size_t>(in[1].dims[1]);
  double correct = 0;
  for (size_t row = 0; row < rows; ++row) {
    const auto first = in[1].data.begin() + static_cast<std::ptrdiff_t>(row * k);
    const auto last = first + static_cast<std::ptrdiff_t>(k);
    correct += std::find(first, last, in[2].data[row]) != last ? 1 : 0;
  }
  const auto total = static_cast<double>(rows);
  return {{{}, {correct / total}}, {{}, {correct}}, {{}, {total}}};
});

TEST(PdLossKernels, ComputeSmallExamplesByHand) {
  ir::IrContext context;
  ir::LoadPdDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
  const Value label = b.AddInput("label", context.TensorType(ir::DataType::kI64, {2, 1}));
  const Value two = b.Make<pd::Full>({}, {.shape = {1}, .value = 2});
  const auto top = b.Create<pd::TopK>({x, two});
  const auto loss = b.Create<pd::CrossEntropyWithSoftmax>({x, label}, {.ignore_index = 1});
  const Value given =
      b.Create<pd::CrossEntropyWithSoftmax>({x, label}, {.use_softmax = false}).result(1);
  b.Return({{"mean", b.Make<pd::Mean>({x})},
            {"of rows", b.Make<pd::Mean>({x}, {.axis = {-1}, .keepdim = true})},
            {"indices", top.result(1)},
            {"accuracy", b.Make<pd::Accuracy>({top.result(0), top.result(1), label})},
            {"loss", loss.result(1)},
            {"given", given}});
  const auto out = EvaluatePd(program, {{{2, 3}, {1, 3, 2, 6, 5, 4}}, {{2, 1}, {0, 1}}});
  EXPECT_NEAR(out[0].data[0], 3.5, 1e-12);
  EXPECT_EQ(out[1].data, (std::vector<double>{2, 5}));
  EXPECT_EQ(out[2].data, (std::vector<double>{1, 2, 0, 1}));
  EXPECT_EQ(out[3].data, (std::vector<double>{0.5}));
  EXPECT_NEAR(out[4].data[0], std::log(1 + std::exp(1.0) + std::exp(2.0)), 1e-12);
  EXPECT_EQ(out[4].data[1], 0);  // ignored
  EXPECT_NEAR(out[5].data[1], -std::log(5.0), 1e-12);
}

}  // namespace
}  // namespace weft::passes
