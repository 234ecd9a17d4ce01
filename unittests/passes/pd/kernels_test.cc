// Loops of pd's elementwise ops, matrix products and data movement, and tests that they compute what
// the ops mean.
#include "unittests/passes/pd/kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/base/status.h"
#include "ir/builder.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::Ints;
using ir::Operation;
using ir::Shape;
using ir::Value;

// --- values ----------------------------------------------------------------------

WEFT_PD_KERNEL(pd::Full, [](Operation op, const PdList&) -> PdList {
  const auto attrs = op.attrs_of<pd::Full>();
  return {Generate(attrs.shape, [&](const Shape&) { return attrs.value; })};
});
WEFT_PD_KERNEL(pd::FullIntArray, [](Operation op, const PdList&) -> PdList {
  const Ints value = op.attrs_of<pd::FullIntArray>().value;
  return {{{static_cast<int64_t>(value.size())}, {value.begin(), value.end()}}};
});

// --- elementwise -----------------------------------------------------------------

template <double (*kF)(double, double)>
PdList Binary(Operation, const PdList& in) {
  return {Generate(Broadcast(in[0].dims, in[1].dims),
                   [&](const Shape& index) { return kF(At(in[0], index), At(in[1], index)); })};
}
double Sum(double x, double y) { return x + y; }
double Difference(double x, double y) { return x - y; }
double Product(double x, double y) { return x * y; }
double Quotient(double x, double y) { return x / y; }
WEFT_PD_KERNEL(pd::Add, Binary<Sum>);
WEFT_PD_KERNEL(pd::Subtract, Binary<Difference>);
WEFT_PD_KERNEL(pd::Multiply, Binary<Product>);
WEFT_PD_KERNEL(pd::Divide, Binary<Quotient>);

template <double (*kF)(double)>
PdList Unary(Operation, const PdList& in) {
  return {Map(in[0], kF)};
}
double ReluOf(double x) { return std::max(x, 0.0); }
double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double TanhOf(double x) { return std::tanh(x); }
WEFT_PD_KERNEL(pd::Relu, Unary<ReluOf>);
WEFT_PD_KERNEL(pd::Sigmoid, Unary<SigmoidOf>);
WEFT_PD_KERNEL(pd::Tanh, Unary<TanhOf>);
// Not rounded to f32 and f64: gradients are compared with small differences.
WEFT_PD_KERNEL(pd::Cast, [](Operation op, const PdList& in) -> PdList {
  const ir::DataType to = op.attrs_of<pd::Cast>().dtype;
  if (to == ir::DataType::kF32 || to == ir::DataType::kF64) return {in[0]};
  const ir::Type number = op.context()->TensorType(to, Shape{});
  return {Map(in[0], [&](double v) {
    return ir::DenseElement(op.context()->DenseAttr(number, ir::ElementBytes(to, v)), 0);
  })};
});
WEFT_PD_KERNEL(pd::Gelu, [](Operation op, const PdList& in) -> PdList {
  const bool approximate = op.attrs_of<pd::Gelu>().approximate;
  return {Map(in[0], [&](double x) {
    const double bent = approximate ? std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x))
                                    : std::erf(x / std::sqrt(2));
    return x / 2 * (1 + bent);
  })};
});
WEFT_PD_KERNEL(pd::Scale, [](Operation op, const PdList& in) -> PdList {
  const auto attrs = op.attrs_of<pd::Scale>();
  const double scale = in[1].data[0], bias = attrs.bias;
  return {Map(in[0], [&](double v) {
    return attrs.bias_after_scale ? v * scale + bias : (v + bias) * scale;
  })};
});

// --- matrix products ---------------------------------------------------------------

PdTensor SwapLast(const PdTensor& x) {
  Ints perm(x.dims.size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  if (perm.size() > 1) std::swap(perm.back(), perm[perm.size() - 2]);
  return TransposePd(x, perm);
}

PdTensor MatMul(PdTensor x, PdTensor y) {
  const bool row = x.dims.size() == 1, column = y.dims.size() == 1;
  if (row) x.dims.insert(x.dims.begin(), 1);
  if (column) y.dims.push_back(1);
  Shape dims =
      Broadcast(Shape(x.dims.begin(), x.dims.end() - 2), Shape(y.dims.begin(), y.dims.end() - 2));
  dims.push_back(x.dims.end()[-2]);
  dims.push_back(y.dims.back());
  PdTensor out = Generate(dims, [&](const Shape& index) {
    double sum = 0;
    Shape i = index, j = index;
    for (int64_t k = 0; k < x.dims.back(); ++k) {
      i.back() = k;
      j.end()[-2] = k;
      sum += At(x, i) * At(y, j);
    }
    return sum;
  });
  if (column) out.dims.pop_back();
  if (row) out.dims.erase(out.dims.end() - (column ? 1 : 2));
  return out;
}
WEFT_PD_KERNEL(pd::MatMul, [](Operation op, const PdList& in) -> PdList {
  const auto attrs = op.attrs_of<pd::MatMul>();
  return {MatMul(attrs.transpose_x ? SwapLast(in[0]) : in[0],
                 attrs.transpose_y ? SwapLast(in[1]) : in[1])};
});

// As ir/dialects/pd/attention.h states it: w is [D, 3, N], bias [3, N].
PdList MultiheadMatmul(Operation op, const PdList& in) {
  const auto attrs = op.attrs_of<pd::MultiheadMatmul>();
  const PdTensor &x = in[0], &w = in[1], &bias = in[2];
  const int64_t batch = x.dims[0], seq = x.dims[1], width = w.dims[2], heads = attrs.head_number;
  const int64_t each = width / heads;
  auto project = [&](int64_t which) {  // [B, H, S, N / H]
    return Generate({batch, heads, seq, each}, [&](const Shape& i) {
      const int64_t column = i[1] * each + i[3];
      double sum = At(bias, {which, column});
      for (int64_t d = 0; d < x.dims[2]; ++d)
        sum += At(x, {i[0], i[2], d}) * At(w, {d, which, column});
      return sum;
    });
  };
  const auto turned = [](const PdTensor& t, bool turn) { return turn ? SwapLast(t) : t; };
  PdTensor logits =
      MatMul(turned(project(0), attrs.transpose_q), turned(project(1), attrs.transpose_k));
  for (double& v : logits.data) v *= attrs.alpha;
  if (in.size() > 3) logits = AddPd(logits, in[3]);
  PdTensor merged = TransposePd(
      MatMul(SoftmaxPd(logits, -1), turned(project(2), attrs.transpose_v)), {0, 2, 1, 3});
  merged.dims = {batch, seq, width};
  return {merged};
}
WEFT_PD_KERNEL(pd::MultiheadMatmul, MultiheadMatmul);

// --- data movement -----------------------------------------------------------------

PdTensor XShape(const PdTensor& x) {
  PdTensor t{x.dims, {}};
  t.dims.insert(t.dims.begin(), 0);
  return t;
}
PdList Reshape(Operation op, const PdList& in) {
  return {{op.result().type().shape(), in[0].data}, XShape(in[0])};
}
WEFT_PD_KERNEL(pd::Reshape, Reshape);
WEFT_PD_KERNEL(pd::Flatten, Reshape);
WEFT_PD_KERNEL(pd::Transpose, [](Operation op, const PdList& in) -> PdList {
  return {TransposePd(in[0], op.attrs_of<pd::Transpose>().perm)};
});
WEFT_PD_KERNEL(pd::Expand, [](Operation op, const PdList& in) -> PdList {
  return {
      Generate(op.result().type().shape(), [&](const Shape& index) { return At(in[0], index); })};
});
WEFT_PD_KERNEL(pd::Concat, [](Operation, const PdList& in) -> PdList {
  const auto axis = static_cast<size_t>(in.back().data[0]);
  Shape dims = in[0].dims;
  for (size_t i = 1; i + 1 < in.size(); ++i) dims[axis] += in[i].dims[axis];
  return {Generate(dims, [&](Shape index) {
    size_t i = 0;
    for (; index[axis] >= in[i].dims[axis]; ++i) index[axis] -= in[i].dims[axis];
    return At(in[i], index);
  })};
});

}  // namespace

PdTensor TransposePd(const PdTensor& x, const Ints& perm) {
  Shape dims;
  for (int64_t p : perm) dims.push_back(x.dims[p]);
  return Generate(dims, [&](const Shape& index) {
    Shape from(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) from[perm[i]] = index[i];
    return At(x, from);
  });
}

PdTensor AddPd(const PdTensor& x, const PdTensor& y) {
  return Generate(Broadcast(x.dims, y.dims),
                  [&](const Shape& index) { return At(x, index) + At(y, index); });
}

PdTensor SoftmaxPd(PdTensor x, int64_t axis) {
  const auto n = static_cast<size_t>(x.dims[axis < 0 ? axis + x.dims.size() : axis]);
  ForEachRow(x.dims, axis, [&](size_t first, size_t stride, size_t) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i)
      sum += x.data[first + i * stride] = std::exp(x.data[first + i * stride]);
    for (size_t i = 0; i < n; ++i) x.data[first + i * stride] /= sum;
  });
  return x;
}

namespace {

TEST(EvaluatePd, ComputesSmallExamplesByHand) {
  ir::IrContext context;
  ir::LoadPdDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 2}));
  const Value y = b.ConstantFloats(std::vector<float>{5, 6, 7, 8}, Shape{2, 2});
  const Value axis = b.Make<pd::Full>({}, {.dtype = ir::DataType::kI32, .shape = {1}, .value = 1});
  const Value joined = b.Make<pd::Concat>({b.Make<ir::CombineOp>({x, y}), axis});
  const Value half = b.Make<pd::Full>({}, {.shape = {1}, .value = 0.5f});
  b.Return({{"product", b.Make<pd::MatMul>({x, y}, {.transpose_y = true})},
            {"joined", joined},
            {"scaled", b.Make<pd::Scale>({x, half}, {.bias = 1, .bias_after_scale = false})},
            {"turned", b.Make<pd::Transpose>({x}, {.perm = {1, 0}})},
            {"softmax", b.Make<pd::Softmax>({b.Make<pd::Add>({x, x})})},
            {"of columns", b.Make<pd::Softmax>({x}, {.axis = 0})}});
  const auto out = EvaluatePd(program, {{{2, 2}, {1, 2, 3, 4}}});
  EXPECT_EQ(out[0].data, (std::vector<double>{17, 23, 39, 53}));
  EXPECT_EQ(out[1].data, (std::vector<double>{1, 2, 5, 6, 3, 4, 7, 8}));
  EXPECT_EQ(out[2].data, (std::vector<double>{1, 1.5, 2, 2.5}));
  EXPECT_EQ(out[3].data, (std::vector<double>{1, 3, 2, 4}));
  EXPECT_NEAR(out[4].data[1], 1 / (1 + std::exp(-2.0)), 1e-12);
  EXPECT_NEAR(out[5].data[2], 1 / (1 + std::exp(-2.0)), 1e-12);
}

}  // namespace
}  // namespace weft::passes
