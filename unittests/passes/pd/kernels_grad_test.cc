// Loops of the gradients of pd's elementwise ops, matrix products and data movement, each as a sum
// over what the op read. Finite differences judge them: vjp_test.cc.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/base/status.h"
#include "unittests/passes/pd/kernels.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::Operation;
using ir::Shape;

WEFT_PD_KERNEL(pd::ReluGrad, [](Operation, const PdList& in) -> PdList {
  return {
      Generate(in[0].dims, [&](const Shape& i) { return At(in[0], i) > 0 ? At(in[1], i) : 0; })};
});

WEFT_PD_KERNEL(pd::GeluGrad, [](Operation op, const PdList& in) -> PdList {
  const bool approximate = op.attrs_of<pd::GeluGrad>().approximate;
  return {Generate(in[0].dims, [&](const Shape& i) {
    const double x = At(in[0], i);
    double bent = std::erf(x / std::sqrt(2)), slope = std::sqrt(2 / kPi) * std::exp(-x * x / 2);
    if (approximate) {
      bent = std::tanh(std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x));
      slope = (1 - bent * bent) * std::sqrt(2 / kPi) * (1 + 3 * 0.044715 * x * x);
    }
    return At(in[1], i) * ((1 + bent) / 2 + x / 2 * slope);
  })};
});

struct Slopes {
  double x, y;  // of the result in x and in y
};
template <Slopes (*kSlopes)(double x, double y)>
PdList BinaryGrad(Operation, const PdList& in) {
  PdTensor x_grad = Zeros(in[0].dims), y_grad = Zeros(in[1].dims);
  ForEachIndex(in.back().dims, [&](const Shape& i) {
    const Slopes slopes = kSlopes(At(in[0], i), At(in[1], i));
    x_grad.data[OffsetAt(x_grad.dims, i)] += At(in.back(), i) * slopes.x;
    y_grad.data[OffsetAt(y_grad.dims, i)] += At(in.back(), i) * slopes.y;
  });
  return {x_grad, y_grad};
}
Slopes OfSum(double, double) { return {1, 1}; }
Slopes OfDifference(double, double) { return {1, -1}; }
Slopes OfProduct(double x, double y) { return {y, x}; }
Slopes OfQuotient(double x, double y) { return {1 / y, -x / (y * y)}; }
WEFT_PD_KERNEL(pd::AddGrad, BinaryGrad<OfSum>);
WEFT_PD_KERNEL(pd::SubtractGrad, BinaryGrad<OfDifference>);
WEFT_PD_KERNEL(pd::MultiplyGrad, BinaryGrad<OfProduct>);
WEFT_PD_KERNEL(pd::DivideGrad, BinaryGrad<OfQuotient>);

// Vectors as matrices, and the places of the last two dimensions.
PdTensor AsMatrix(PdTensor t, bool is_row) {
  if (t.dims.size() == 1) t.dims.insert(is_row ? t.dims.begin() : t.dims.end(), 1);
  return t;
}
WEFT_PD_KERNEL(pd::MatMulGrad, [](Operation op, const PdList& in) -> PdList {
  const auto attrs = op.attrs_of<pd::MatMulGrad>();
  const bool swap_x = attrs.transpose_x && in[0].dims.size() > 1;
  const bool swap_y = attrs.transpose_y && in[1].dims.size() > 1;
  const PdTensor x = AsMatrix(in[0], true), y = AsMatrix(in[1], false);
  PdTensor x_grad = Zeros(x.dims), y_grad = Zeros(y.dims);
  const size_t rank = std::max(x.dims.size(), y.dims.size());
  const int64_t depth = x.dims.end()[swap_x ? -2 : -1];
  Shape out =
      Broadcast(Shape(x.dims.begin(), x.dims.end() - 2), Shape(y.dims.begin(), y.dims.end() - 2));
  out.push_back(x.dims.end()[swap_x ? -1 : -2]);
  out.push_back(y.dims.end()[swap_y ? -2 : -1]);
  ForEachIndex(out, [&](const Shape& o) {
    const double grad = in[2].data[OffsetAt(out, o)];
    for (int64_t k = 0; k < depth; ++k) {
      Shape i = o, j = o;
      i[rank - 2] = swap_x ? k : o[rank - 2];
      i[rank - 1] = swap_x ? o[rank - 2] : k;
      j[rank - 2] = swap_y ? o[rank - 1] : k;
      j[rank - 1] = swap_y ? k : o[rank - 1];
      x_grad.data[OffsetAt(x.dims, i)] += grad * At(y, j);
      y_grad.data[OffsetAt(y.dims, j)] += grad * At(x, i);
    }
  });
  x_grad.dims = in[0].dims;
  y_grad.dims = in[1].dims;
  return {x_grad, y_grad};
});

PdList FromXShape(Operation, const PdList& in) {
  return {{Shape(in[0].dims.begin() + 1, in[0].dims.end()), in[1].data}};
}
WEFT_PD_KERNEL(pd::ReshapeGrad, FromXShape);
WEFT_PD_KERNEL(pd::FlattenGrad, FromXShape);
WEFT_PD_KERNEL(pd::ExpandGrad, [](Operation, const PdList& in) -> PdList {
  PdTensor grad = Zeros(in[0].dims);
  ForEachIndex(in[2].dims,
               [&](const Shape& i) { grad.data[OffsetAt(grad.dims, i)] += At(in[2], i); });
  return {grad};
});
WEFT_PD_KERNEL(pd::ConcatGrad, [](Operation, const PdList& in) -> PdList {
  const auto axis = static_cast<size_t>(in[in.size() - 2].data[0]);
  PdList grads;
  int64_t before = 0;
  for (size_t part = 0; part + 2 < in.size(); ++part) {
    grads.push_back(Generate(in[part].dims, [&](Shape i) {
      i[axis] += before;
      return At(in.back(), i);
    }));
    before += in[part].dims[axis];
  }
  return grads;
});

}  // namespace
}  // namespace weft::passes
