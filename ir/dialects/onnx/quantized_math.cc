#include "ir/dialects/onnx/quantized_math.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/quantized.h"
#include "ir/dialects/onnx/infer/window.h"

namespace weft::ir::ops {
namespace {

// Fails unless operand i may be a scalar, a vector of rows (columns) of `matrix`, or have the shape of
// `matrix` with one element per row (column).
bool CheckPerLine(InferContext& c, size_t i, size_t matrix, bool rows) {
  const Dims dims = DimsOf(c, i), m = DimsOf(c, matrix);
  if (!dims || !m || dims->size() <= 1) {
    const bool has_line = m && (m->size() >= 2 || (!rows && m->size() == 1));
    int64_t size = !m ? kUnknownDim : has_line ? (*m)[m->size() - (rows ? 2 : 1)] : 1;
    return CheckScalarOr(c, i, &size, rows ? "rows" : "columns");
  }
  if (dims->size() != m->size())
    return c.Fail(fmt::format("{} has rank {} but {} has rank {}", OperandName(c, i), dims->size(),
                              OperandName(c, matrix), m->size()));
  Shape expected = *m;
  expected[expected.size() - (rows ? 1 : 2)] = 1;
  return CheckShape(c, i, expected);
}

// The window of a convolution of operands x and w, which are numbers of operands; sets *dims.
bool InferIntegerConv(InferContext& c, size_t x_at, size_t w_at, const Conv::Attrs<Plain>& attrs,
                      Dims* dims) {
  if (!CheckRank(c, x_at, 3, SIZE_MAX) || !CheckRank(c, w_at, 3, SIZE_MAX)) return false;
  const Dims x = DimsOf(c, x_at), w = DimsOf(c, w_at);
  if (!x || !w) return true;
  if (x->size() != w->size())
    return c.Fail(fmt::format("x has rank {} but w has rank {}", x->size(), w->size()));
  if (!CheckConvChannels(c, (*x)[1], *w, attrs.group)) return false;
  const Ints kernel(w->begin() + 2, w->end());
  if (attrs.kernel_shape && !std::equal(kernel.begin(), kernel.end(), attrs.kernel_shape->begin(),
                                        attrs.kernel_shape->end(), [](int64_t a, int64_t b) {
                                          return b >= 0 && MergeDim(a, b).has_value();
                                        }))
    return c.Fail(fmt::format("kernel_shape is {} but w has {}", IntsText(*attrs.kernel_shape),
                              ToString(kernel)));
  Shape spatial(kernel.size(), kUnknownDim);
  const Window window = {.kernel = attrs.kernel_shape.value_or(kernel),
                         .strides = OrEmpty(attrs.strides),
                         .dilations = OrEmpty(attrs.dilations),
                         .pads = OrEmpty(attrs.pads),
                         .auto_pad = attrs.auto_pad,
                         .kernel_of_operand = true};
  if (!WindowDims(c, std::span(*x).subspan(2), window, &spatial)) return false;
  *dims = Shape{(*x)[0], (*w)[0]};
  (*dims)->insert((*dims)->end(), spatial.begin(), spatial.end());
  return true;
}

double ConvFlops(Operation op, uint32_t w_at) {
  const Type w = op.operand(w_at).type();
  return 2.0 * static_cast<double>(op.result(0).type().NumElements()) *
         static_cast<double>(w.NumElements()) / std::max(static_cast<double>(w.dim(0)), 1.0);
}

bool InferProduct(InferContext& c, size_t a, size_t b, Dims* dims) {
  const Dims x = DimsOf(c, a), y = DimsOf(c, b);
  if (!CheckRank(c, a, 1, SIZE_MAX) || !CheckRank(c, b, 1, SIZE_MAX)) return false;
  return !x || !y || MatMulDims(c, *x, *y, dims);
}

}  // namespace

bool MatMulInteger::Infer(InferContext& c) {
  DataType a, b;
  Dims dims;
  if (!CheckTensors(c) || !CheckByte(c, 0) || !CheckByte(c, 1) || !SameDtype(c, {0, 2}, &a) ||
      !SameDtype(c, {1, 3}, &b) || !InferProduct(c, 0, 1, &dims) || !CheckPerLine(c, 2, 0, true) ||
      !CheckPerLine(c, 3, 1, false))
    return false;
  return SetTensor(c, 0, DataType::kI32, dims);
}

bool QLinearMatMul::Infer(InferContext& c) {
  DataType a, b, scale;
  Dims dims;
  if (!CheckTensors(c) || !CheckByte(c, 0) || !CheckByte(c, 3) || !CheckByte(c, 7) ||
      !SameDtype(c, {0, 2}, &a) || !SameDtype(c, {3, 5}, &b) || !SameDtype(c, {1, 4, 6}, &scale) ||
      !CheckFloat(c, 1) || !InferProduct(c, 0, 3, &dims))
    return false;
  for (size_t i : {1, 2})
    if (!CheckPerLine(c, i, 0, true)) return false;
  for (size_t i : {4, 5})
    if (!CheckPerLine(c, i, 3, false)) return false;
  // A vector is one row.
  int64_t rows = !dims ? kUnknownDim : dims->size() >= 2 ? (*dims)[dims->size() - 2] : 1;
  for (size_t i : {6, 7}) {
    if (c.Ranked(i) && c.operand_type(i).rank() > 1) {
      Dims expected = dims;
      if (!expected || expected->empty()) continue;
      expected->back() = 1;
      if (!CheckShape(c, i, *expected)) return false;
    } else if (!CheckScalarOr(c, i, &rows, "rows")) {
      return false;
    }
  }
  return SetTensor(c, 0, DtypeOf(c, 7), dims);
}

bool ConvInteger::Infer(InferContext& c) {
  DataType x, w;
  Dims dims;
  if (!CheckTensors(c) || !CheckByte(c, 0) || !CheckByte(c, 1) || !SameDtype(c, {0, 2}, &x) ||
      !SameDtype(c, {1, 3}, &w) || !CheckScalar(c, 2) ||
      !InferIntegerConv(c, 0, 1, c.attrs_of<ConvInteger>(), &dims))
    return false;
  int64_t outputs = c.Ranked(1) ? (*DimsOf(c, 1))[0] : kUnknownDim;
  return CheckScalarOr(c, 3, &outputs, "output channels") && SetTensor(c, 0, DataType::kI32, dims);
}
double ConvInteger::Flops(Operation op) { return ConvFlops(op, 1); }

bool QLinearConv::Infer(InferContext& c) {
  DataType x, w;
  Dims dims;
  if (!CheckTensors(c) || !CheckByte(c, 0) || !CheckByte(c, 3) || !CheckByte(c, 7) ||
      !SameDtype(c, {0, 2}, &x) || !SameDtype(c, {3, 5}, &w))
    return false;
  for (size_t i : {1, 4, 6})
    if (!CheckDtype(c, i, DataType::kF32)) return false;
  for (size_t i : {1, 2, 6, 7})
    if (!CheckScalar(c, i)) return false;
  if (!CheckDtype(c, 8, DataType::kI32) ||
      !InferIntegerConv(c, 0, 3, c.attrs_of<QLinearConv>(), &dims))
    return false;
  int64_t outputs = c.Ranked(3) ? (*DimsOf(c, 3))[0] : kUnknownDim;
  for (size_t i : {4, 5})
    if (!CheckScalarOr(c, i, &outputs, "output channels")) return false;
  return CheckShape(c, 8, {&outputs, 1}) && SetTensor(c, 0, DtypeOf(c, 7), dims);
}
double QLinearConv::Flops(Operation op) { return ConvFlops(op, 3); }

void LoadQuantizedMathOps(IrContext& context) {
  AddOps<MatMulInteger, QLinearMatMul, ConvInteger, QLinearConv>(context);
}

}  // namespace weft::ir::ops
