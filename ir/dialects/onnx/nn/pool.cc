#include "ir/dialects/onnx/nn/pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/infer/window.h"

namespace weft::ir::ops {
namespace {

// Of MaxPool, AveragePool and LpPool, which share these attributes.
template <class Attrs>
Window WindowOf(const Attrs& attrs) {
  return {.kernel = attrs.kernel_shape,
          .strides = OrEmpty(attrs.strides),
          .dilations = OrEmpty(attrs.dilations),
          .pads = OrEmpty(attrs.pads),
          .auto_pad = attrs.auto_pad,
          .ceil_mode = attrs.ceil_mode != 0,
          .may_exceed = true};
}

// Result of a pool on [N, C, spatial...].
bool InferPool(InferContext& c, const Window& window, Dims* dims) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 3, SIZE_MAX)) return false;
  *dims = DimsOf(c, 0);
  if (!*dims) return true;
  ir::Shape spatial;
  if (!WindowDims(c, std::span(**dims).subspan(2), window, &spatial)) return false;
  std::copy(spatial.begin(), spatial.end(), (*dims)->begin() + 2);
  return true;
}

}  // namespace

bool MaxPool::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MaxPool>();
  Dims dims;
  if (!InferPool(c, WindowOf(attrs), &dims) || !CheckNumber(c, 0)) return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims) && SetTensor(c, 1, DataType::kI64, dims);
}

bool AveragePool::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<AveragePool>();
  Dims dims;
  if (!InferPool(c, WindowOf(attrs), &dims) || !CheckFloat(c, 0)) return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

namespace {

bool InferGlobalPool(InferContext& c) {
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckRank(c, 0, 3, SIZE_MAX)) return false;
  Dims dims = DimsOf(c, 0);
  if (dims) std::fill(dims->begin() + 2, dims->end(), 1);
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool CheckNorm(InferContext& c, int64_t p) {
  return p >= 1 || c.Fail(fmt::format("p is {} but must be 1 or more", p));
}

}  // namespace

bool GlobalAveragePool::Infer(InferContext& c) { return InferGlobalPool(c); }
bool GlobalMaxPool::Infer(InferContext& c) { return InferGlobalPool(c); }
bool GlobalLpPool::Infer(InferContext& c) {
  return CheckNorm(c, c.attrs_of<GlobalLpPool>().p) && InferGlobalPool(c);
}

bool LpPool::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<LpPool>();
  Dims dims;
  if (!InferPool(c, WindowOf(attrs), &dims) || !CheckNorm(c, attrs.p) || !CheckFloat(c, 0))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

std::optional<ir::Shape> MaxUnpool::Unpooled(std::span<const int64_t> x,
                                             const Attrs<Plain>& attrs) {
  const size_t n = attrs.kernel_shape.size();
  const Ints strides = attrs.strides.value_or(Ints(n, 1)),
             pads = attrs.pads.value_or(Ints(2 * n, 0));
  if (x.size() != n + 2 || strides.size() != n || pads.size() != 2 * n) return std::nullopt;
  ir::Shape dims = {x[0], x[1]};
  for (size_t i = 0; i < n; ++i) {
    if (!IsStaticDim(x[i + 2])) return std::nullopt;
    int64_t dim;
    if (__builtin_mul_overflow(x[i + 2] - 1, strides[i], &dim) ||
        __builtin_add_overflow(dim, attrs.kernel_shape[i], &dim) ||
        __builtin_sub_overflow(dim, pads[i], &dim) ||
        __builtin_sub_overflow(dim, pads[n + i], &dim) || dim < 0)
      return std::nullopt;
    dims.push_back(dim);
  }
  return dims;
}

bool MaxUnpool::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MaxUnpool>();
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckDtype(c, 1, DataType::kI64) ||
      !CheckDtype(c, 2, DataType::kI64) || !CheckRank(c, 0, 3, SIZE_MAX))
    return false;
  const Dims x = DimsOf(c, 0);
  if (!x) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  if (!CheckShape(c, 1, *x) ||
      !CheckVector(c, 2, static_cast<int64_t>(x->size()), "dimensions of x"))
    return false;
  const Dims natural = Unpooled(*x, attrs);
  const bool is_static = std::all_of(x->begin() + 2, x->end(), IsStaticDim);
  if (is_static && !natural) return c.Fail("kernel_shape, strides and pads make no shape of x's");
  if (!c.HasOperand(2)) {
    ir::Shape unknown(x->size(), kUnknownDim);
    std::copy_n(x->begin(), 2, unknown.begin());
    return SetTensor(c, 0, DtypeOf(c, 0), natural ? natural : Dims(unknown));
  }
  Dims dims = ir::Shape(x->size(), kUnknownDim);
  if (!DimsFromOperand(c, 2, &dims)) return false;
  for (size_t i = 0; natural && i < dims->size(); ++i)
    if (IsStaticDim((*dims)[i]) && IsStaticDim((*natural)[i]) && (*dims)[i] < (*natural)[i])
      return c.Fail(
          fmt::format("output_shape is {}, smaller than {}", ToString(*dims), ToString(*natural)));
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

void LoadPoolOps(IrContext& context) {
  AddOps<MaxPool, AveragePool, LpPool, GlobalAveragePool, GlobalMaxPool, GlobalLpPool, MaxUnpool>(
      context);
}

}  // namespace weft::ir::ops
