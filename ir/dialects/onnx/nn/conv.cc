#include "ir/dialects/onnx/nn/conv.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/infer/window.h"

namespace weft::ir::ops {
namespace {

// x, w and b are floats of one type; x and w have spatial dimensions.
bool CheckConvOperands(InferContext& c, DataType* dtype) {
  return CheckTensors(c) && SameDtype(c, {0, 1, 2}, dtype) && CheckFloat(c, 0) &&
         CheckRank(c, 0, 3, SIZE_MAX) && CheckRank(c, 1, 3, SIZE_MAX);
}

}  // namespace

bool Conv::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckConvOperands(c, &dtype)) return false;
  const Dims x = DimsOf(c, 0), w = DimsOf(c, 1);
  if (!x || !w) return SetTensor(c, 0, dtype, std::nullopt);
  if (x->size() != w->size())
    return c.Fail(fmt::format("x has rank {} but w has rank {}", x->size(), w->size()));
  const auto attrs = c.attrs_of<Conv>();
  if (!CheckConvChannels(c, (*x)[1], *w, attrs.group) || !CheckShape(c, 2, {w->data(), 1}))
    return false;
  const Ints kernel(w->begin() + 2, w->end());
  if (attrs.kernel_shape) {
    bool same = attrs.kernel_shape->size() == kernel.size();
    for (size_t i = 0; same && i < kernel.size(); ++i)
      same = (*attrs.kernel_shape)[i] >= 0 && MergeDim(kernel[i], (*attrs.kernel_shape)[i]);
    if (!same)
      return c.Fail(fmt::format("kernel_shape is {} but w has {}", IntsText(*attrs.kernel_shape),
                                ToString(kernel)));
  }
  ir::Shape dims = {(*x)[0], (*w)[0]};
  ir::Shape spatial(kernel.size(), kUnknownDim);
  const Window window = {.kernel = attrs.kernel_shape.value_or(kernel),
                         .strides = OrEmpty(attrs.strides),
                         .dilations = OrEmpty(attrs.dilations),
                         .pads = OrEmpty(attrs.pads),
                         .auto_pad = attrs.auto_pad,
                         .kernel_of_operand = true};
  if (!WindowDims(c, std::span(*x).subspan(2), window, &spatial)) return false;
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return SetTensor(c, 0, dtype, dims);
}

double Conv::Flops(Operation op) {
  const Type w = op.operand(1).type();
  return 2.0 * static_cast<double>(op.result(0).type().NumElements()) *
         static_cast<double>(w.NumElements()) / std::max(static_cast<double>(w.dim(0)), 1.0);
}

namespace {

constexpr int64_t kMaxEntry = INT32_MAX;  // so that sums and products below fit int64

// Fails unless the list is absent or has n entries of at least `min`.
bool CheckList(InferContext& c, std::string_view name, const std::optional<Ints>& list, size_t n,
               int64_t min) {
  if (!list) return true;
  if (list->size() != n)
    return c.Fail(fmt::format("{} has {} entries but needs {}", name, list->size(), n));
  for (int64_t entry : *list)
    if (entry < min || entry > kMaxEntry)
      return c.Fail(fmt::format("{} has the entry {}", name, entry));
  return true;
}

int64_t Entry(const std::optional<Ints>& list, size_t i, int64_t fallback) {
  return list ? (*list)[i] : fallback;
}

// Fails unless kernel_shape is absent or may be that of w.
bool CheckKernelShape(InferContext& c, const std::optional<Ints>& kernel_shape, const Shape& w) {
  const Ints kernel(w.begin() + 2, w.end());
  if (!kernel_shape) return true;
  bool same = kernel_shape->size() == kernel.size();
  for (size_t i = 0; same && i < kernel.size(); ++i)
    same = (*kernel_shape)[i] >= 1 && MergeDim(kernel[i], (*kernel_shape)[i]).has_value();
  return same || c.Fail(fmt::format("kernel_shape is {} but w has {}", IntsText(*kernel_shape),
                                    ToString(kernel)));
}

}  // namespace

ConvTranspose::Extent ConvTranspose::ExtentAlong(const Attrs<Plain>& attrs, size_t i, int64_t size,
                                                 int64_t kernel) {
  const int64_t stride = Entry(attrs.strides, i, 1);
  const int64_t full = stride * (size - 1) + Entry(attrs.output_padding, i, 0) +
                       (kernel - 1) * Entry(attrs.dilations, i, 1) + 1;
  const bool same = attrs.auto_pad == AutoPad::kSameUpper || attrs.auto_pad == AutoPad::kSameLower;
  if (attrs.output_shape || same) {
    const int64_t out = attrs.output_shape ? (*attrs.output_shape)[i] : size * stride;
    const int64_t total = std::max<int64_t>(full - out, 0), half = total / 2;
    return {out, attrs.auto_pad == AutoPad::kSameUpper ? half : total - half};
  }
  if (attrs.auto_pad == AutoPad::kValid || !attrs.pads) return {full, 0};
  const int64_t begin = (*attrs.pads)[i], end = (*attrs.pads)[attrs.pads->size() / 2 + i];
  return {full - begin - end, begin};
}

namespace {

// The result's size along a dimension that is no number: linear in it, so two sizes tell.
int64_t ComputedExtent(const ConvTranspose::Attrs<Plain>& attrs, size_t i, int64_t size,
                       int64_t kernel) {
  if (!IsStaticDim(kernel) || kernel > kMaxEntry) return kUnknownDim;
  const int64_t one = ConvTranspose::ExtentAlong(attrs, i, 1, kernel).size;
  const int64_t two = ConvTranspose::ExtentAlong(attrs, i, 2, kernel).size;
  return ((DimExpr::OfDim(size) - 1) * (two - one) + one).ToDim();
}

}  // namespace

Dims ConvTranspose::InferDims(InferContext& c, const Attrs<Plain>& attrs, const Shape& x,
                              const Shape& w) {
  const auto fail = [&](const std::string& why) -> Dims {
    c.Fail(why);
    return std::nullopt;
  };
  if (x.size() != w.size())
    return fail(fmt::format("x has rank {} but w has rank {}", x.size(), w.size()));
  const size_t n = x.size() - 2;
  if (attrs.group < 1 || attrs.group > kMaxEntry)
    return fail(fmt::format("group is {}", attrs.group));
  if (!MergeDim(x[1], w[0]))
    return fail(fmt::format("x has {} channels but w reads {}", x[1], w[0]));
  if (IsStaticDim(w[0]) && w[0] % attrs.group != 0)
    return fail(fmt::format("w reads {} channels, no multiple of group {}", w[0], attrs.group));
  if (!CheckKernelShape(c, attrs.kernel_shape, w) ||
      !CheckList(c, "strides", attrs.strides, n, 1) ||
      !CheckList(c, "dilations", attrs.dilations, n, 1) ||
      !CheckList(c, "pads", attrs.pads, 2 * n, 0) ||
      !CheckList(c, "output_padding", attrs.output_padding, n, 0) ||
      !CheckList(c, "output_shape", attrs.output_shape, n, 0))
    return std::nullopt;
  const int64_t per_group[] = {w[1], attrs.group};
  const auto outputs = ProductOf(per_group);
  if (!outputs) return fail("w writes too many channels");
  Shape dims = {x[0], *outputs};
  if (!CheckShape(c, 2, {&dims[1], 1})) return std::nullopt;
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = x[i + 2], kernel = Entry(attrs.kernel_shape, i, w[i + 2]);
    const bool known = IsStaticDim(size) && IsStaticDim(kernel);
    if (known && (size > kMaxEntry || kernel > kMaxEntry)) return fail("x or w is too large");
    dims.push_back(attrs.output_shape ? (*attrs.output_shape)[i]
                   : known            ? ExtentAlong(attrs, i, size, kernel).size
                                      : ComputedExtent(attrs, i, size, kernel));
    if (known && (dims.back() < 0 || kernel == 0))
      return fail(fmt::format("pads leave nothing of spatial dimension {}", i));
  }
  return dims;
}

bool ConvTranspose::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckConvOperands(c, &dtype)) return false;
  const Dims x = DimsOf(c, 0), w = DimsOf(c, 1);
  if (!x || !w) return SetTensor(c, 0, dtype, std::nullopt);
  const Dims dims = InferDims(c, c.attrs_of<ConvTranspose>(), *x, *w);
  return dims && SetTensor(c, 0, dtype, *dims);
}

double ConvTranspose::Flops(Operation op) {
  const Type w = op.operand(1).type();
  return 2.0 * static_cast<double>(op.operand(0).type().NumElements()) *
         static_cast<double>(w.NumElements()) / std::max(static_cast<double>(w.dim(0)), 1.0);
}

bool Col2Im::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Col2Im>();
  if (!CheckTensors(c) || !CheckRank(c, 0, 3)) return false;
  Dims image, block;
  if (!DimsFromOperand(c, 1, &image) || !DimsFromOperand(c, 2, &block)) return false;
  if (image && block && image->size() != block->size())
    return c.Fail(fmt::format("image_shape has {} entries but block_shape has {}", image->size(),
                              block->size()));
  if (!image) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const size_t n = image->size();
  if (n < 1) return c.Fail("image_shape has no entries");
  if (!CheckList(c, "strides", attrs.strides, n, 1) ||
      !CheckList(c, "dilations", attrs.dilations, n, 1) ||
      !CheckList(c, "pads", attrs.pads, 2 * n, 0))
    return false;
  const Shape x = DimsOf(c, 0).value_or(Shape(3, kUnknownDim));
  Shape dims = {x[0], kUnknownDim};
  dims.insert(dims.end(), image->begin(), image->end());
  if (block && std::all_of(block->begin(), block->end(), IsStaticDim)) {
    Shape spatial;
    const Window window = {.kernel = *block,
                           .strides = OrEmpty(attrs.strides),
                           .dilations = OrEmpty(attrs.dilations),
                           .pads = OrEmpty(attrs.pads)};
    if (!WindowDims(c, *image, window, &spatial)) return false;
    const auto blocks = ProductOf(spatial), elements = ProductOf(*block);
    if (!blocks || !elements) return c.Fail("image_shape or block_shape is too large");
    if (!MergeDim(x[2], *blocks))
      return c.Fail(fmt::format("x has {} blocks but the image has {}", x[2], *blocks));
    if (IsStaticDim(x[1]) && x[1] % *elements != 0)
      return c.Fail(
          fmt::format("x has {} rows, no multiple of the {} elements of a block", x[1], *elements));
    if (IsStaticDim(x[1])) dims[1] = x[1] / *elements;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool DeformConv::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3, 4}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 3, SIZE_MAX) || !CheckRank(c, 1, 3, SIZE_MAX))
    return false;
  const Dims x = DimsOf(c, 0), w = DimsOf(c, 1);
  if (!x || !w) return SetTensor(c, 0, dtype, std::nullopt);
  if (x->size() != w->size())
    return c.Fail(fmt::format("x has rank {} but w has rank {}", x->size(), w->size()));
  const auto attrs = c.attrs_of<DeformConv>();
  if (!CheckConvChannels(c, (*x)[1], *w, attrs.group) ||
      !CheckKernelShape(c, attrs.kernel_shape, *w) || !CheckShape(c, 3, {w->data(), 1}))
    return false;
  const int64_t groups = attrs.offset_group;
  if (groups < 1 || groups > kMaxEntry || (IsStaticDim((*x)[1]) && (*x)[1] % groups != 0))
    return c.Fail(fmt::format("offset_group is {} for {} channels", groups, (*x)[1]));
  Shape dims = {(*x)[0], (*w)[0]}, spatial(w->size() - 2, kUnknownDim);
  const Ints kernel = attrs.kernel_shape.value_or(Ints(w->begin() + 2, w->end()));
  const Window window = {.kernel = kernel,
                         .strides = OrEmpty(attrs.strides),
                         .dilations = OrEmpty(attrs.dilations),
                         .pads = OrEmpty(attrs.pads),
                         .kernel_of_operand = true};
  if (!WindowDims(c, std::span(*x).subspan(2), window, &spatial)) return false;
  if (!std::all_of(kernel.begin(), kernel.end(), IsStaticDim))
    return SetTensor(c, 0, dtype, Shape(x->size(), kUnknownDim));
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  Shape factors = kernel;
  factors.push_back(groups);
  const auto masks = ProductOf(factors);
  factors.push_back(static_cast<int64_t>(kernel.size()));
  const auto offsets = ProductOf(factors);
  if (!masks || !offsets) return c.Fail("the kernel is too large");
  Shape places = dims;
  places[1] = *offsets;
  if (!CheckShape(c, 2, places)) return false;
  places[1] = *masks;
  return CheckShape(c, 4, places) && SetTensor(c, 0, dtype, dims);
}

double DeformConv::Flops(Operation op) { return Conv::Flops(op); }

void LoadConvOps(IrContext& context) { AddOps<Conv, ConvTranspose, Col2Im, DeformConv>(context); }

}  // namespace weft::ir::ops
