#include "ir/dialects/onnx/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/movement.h"

namespace weft::ir::ops {
namespace {

// indices of an op that works along one axis: of the rank of data, and elsewhere no larger.
bool CheckElementIndices(InferContext& c, int64_t axis) {
  const Dims data = DimsOf(c, 0), indices = DimsOf(c, 1);
  if (!CheckIndex(c, 1) || (data && !NormalizeAxis(c, &axis, data->size()))) return false;
  if (!data || !indices) return true;
  if (data->size() != indices->size())
    return c.Fail(
        fmt::format("indices has rank {} but data has rank {}", indices->size(), data->size()));
  for (size_t i = 0; i < data->size(); ++i)
    if (static_cast<int64_t>(i) != axis && IsStaticDim((*data)[i]) && (*indices)[i] > (*data)[i])
      return c.Fail(
          fmt::format("indices {} is larger than data {}", ToString(*indices), ToString(*data)));
  return true;
}

bool SetAllResults(InferContext& c, size_t from, DataType dtype, const Dims& dims) {
  for (size_t i = from; i < c.num_results(); ++i)
    if (!SetTensor(c, i, dtype, dims)) return false;
  return true;
}

}  // namespace

// --- by index ----------------------------------------------------------------------------

bool GatherElements::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckElementIndices(c, c.attrs_of<GatherElements>().axis)) return false;
  return SetTensor(c, 0, DtypeOf(c, 0), DimsOf(c, 1));
}

bool GatherND::Infer(InferContext& c) {
  const int64_t batch = c.attrs_of<GatherND>().batch_dims;
  if (!CheckTensors(c) || !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 0, 1, SIZE_MAX) ||
      !CheckRank(c, 1, 1, SIZE_MAX))
    return false;
  const Dims data = DimsOf(c, 0), indices = DimsOf(c, 1);
  const auto exceeds = [&](const Dims& dims) {
    return dims && batch >= static_cast<int64_t>(dims->size());
  };
  if (batch < 0 || exceeds(data) || exceeds(indices))
    return c.Fail(fmt::format("batch_dims is {}", batch));
  if (!data || !indices || !IsStaticDim(indices->back()))
    return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const int64_t named = indices->back();
  if (named < 1 || named > static_cast<int64_t>(data->size()) - batch)
    return c.Fail(fmt::format("indices {} name {} dimensions but data {} has {}",
                              ToString(*indices), named, ToString(*data),
                              static_cast<int64_t>(data->size()) - batch));
  Shape dims(indices->begin(), indices->end() - 1);
  for (int64_t i = 0; i < batch; ++i) {
    const auto both = MergeDim((*data)[i], (*indices)[i]);
    if (!both)
      return c.Fail(fmt::format("dimension {} of indices {} is not that of data {}", i,
                                ToString(*indices), ToString(*data)));
    dims[i] = *both;
  }
  dims.insert(dims.end(), data->begin() + batch + named, data->end());
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool ScatterElements::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<ScatterElements>();
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) || !CheckElementIndices(c, attrs.axis))
    return false;
  if (attrs.reduction != ScatterReduction::kNone && !CheckNumber(c, 0)) return false;
  if (const Dims indices = DimsOf(c, 1); indices && !CheckShape(c, 2, *indices)) return false;
  return SetTensor(c, 0, dtype, DimsOf(c, 0));
}

bool TensorScatter::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckDtype(c, 2, DataType::kI64) ||
      !CheckRank(c, 0, 2, SIZE_MAX) || !CheckRank(c, 2, 1))
    return false;
  const Dims cache = DimsOf(c, 0);
  if (!cache) return SetTensor(c, 0, dtype, std::nullopt);
  int64_t axis = c.attrs_of<TensorScatter>().axis;
  if (!NormalizeAxis(c, &axis, cache->size())) return false;
  if (axis == 0) return c.Fail("axis is 0, the batch");
  if (const Dims update = DimsOf(c, 1)) {
    Shape expected = *cache;
    if (update->size() == cache->size() && IsStaticDim((*update)[axis]) &&
        (!IsStaticDim(expected[axis]) || (*update)[axis] <= expected[axis]))
      expected[axis] = (*update)[axis];
    if (!CheckShape(c, 1, expected)) return false;
  }
  if (c.HasOperand(2) && !CheckShape(c, 2, {{cache->front()}})) return false;
  return SetTensor(c, 0, dtype, cache);
}

// From the update and the cache behind it, for each place the row that belongs there.
std::vector<Value> TensorScatter::Decompose(Builder& b, std::span<const Value> operands,
                                            const Attrs<Plain>& attrs) {
  const Value cache = operands[0], update = operands[1], starts = OperandOrNull(operands, 2);
  if (!cache.type().HasRank() || !update.type().HasRank()) return {};
  const int64_t axis = NormalAxis(attrs.axis, cache.type().rank());
  const Value size = DimOf(b, cache, axis), rows = DimOf(b, update, axis);
  const Value place = UnsqueezeAt(b, CountTo(b, size), {0});  // [1, places], or of each batch
  Value row = starts ? b.Make<Sub>({place, UnsqueezeAt(b, starts, {1})}) : place;
  if (attrs.mode == CacheMode::kCircular) row = b.Make<Mod>({row, size});
  const Value is_written =
      b.Make<And>({b.Make<GreaterOrEqual>({row, b.ConstantScalar(DataType::kI64, 0)}),
                   b.Make<Less>({row, rows})});
  Value from = b.Make<Where>({is_written, row, b.Make<Add>({place, rows})});
  Ints others;
  std::vector<Value> dims = {DimOf(b, cache, 0)};
  for (int64_t i = 1; i < static_cast<int64_t>(cache.type().rank()); ++i) {
    if (i != axis) others.push_back(i);
    dims.push_back(DimOf(b, cache, i));
  }
  const Value shape = JoinDims(b, dims);
  from = b.Make<Expand>({UnsqueezeAt(b, from, others), shape});
  const Value both = b.Make<Concat>({update, cache}, {.axis = axis});
  return {b.Make<GatherElements>({both, from}, {.axis = axis})};
}

bool OneHot::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckNumber(c, 0) || !CheckNumber(c, 1) || !CheckScalar(c, 1) ||
      !CheckVector(c, 2, 2, "off and on"))
    return false;
  const Dims indices = DimsOf(c, 0);
  if (!indices) return SetTensor(c, 0, DtypeOf(c, 2), std::nullopt);
  int64_t axis = c.attrs_of<OneHot>().axis, depth = kUnknownDim;
  if (!NormalizeAxis(c, &axis, indices->size() + 1)) return false;
  if (const auto value = ShapeOperand(c, 1); value && value->size() == 1) {
    depth = value->front().value;
    if (value->front().is_number && depth < 0) return c.Fail(fmt::format("depth is {}", depth));
  } else if (const auto constant = ConstantDoubles(c.operand(1), 1)) {
    const double number = constant->empty() ? -1 : std::trunc(constant->front());
    if (!(number >= 0 && number < 0x1p62)) return c.Fail(fmt::format("depth is {}", number));
    depth = static_cast<int64_t>(number);
  }
  Shape dims = *indices;
  dims.insert(dims.begin() + axis, depth);
  return SetTensor(c, 0, DtypeOf(c, 2), dims);
}

// --- by place ----------------------------------------------------------------------------

bool Trilu::Infer(InferContext& c) {
  return CheckTensors(c) && CheckRank(c, 0, 2, SIZE_MAX) && CheckDtype(c, 1, DataType::kI64) &&
         CheckScalar(c, 1) && SetSameAs(c, 0, 0);
}

bool ReverseSequence::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<ReverseSequence>();
  const bool batch_first = attrs.batch_axis == 0 && attrs.time_axis == 1;
  if (!batch_first && !(attrs.batch_axis == 1 && attrs.time_axis == 0))
    return c.Fail(fmt::format("batch_axis is {} and time_axis {}, but one is 0 and the other 1",
                              attrs.batch_axis, attrs.time_axis));
  if (!CheckTensors(c) || !CheckRank(c, 0, 2, SIZE_MAX) || !CheckDtype(c, 1, DataType::kI64))
    return false;
  if (const Dims x = DimsOf(c, 0); x && !CheckShape(c, 1, {{(*x)[attrs.batch_axis]}})) return false;
  return SetSameAs(c, 0, 0);
}

namespace {

// The factor of channels is 1 over that of height and width, squared.
bool InferBlocks(InferContext& c, int64_t block, bool to_depth) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 4)) return false;
  const auto area = CheckedMul(block, block);
  if (block < 1 || !area) return c.Fail(fmt::format("blocksize is {}", block));
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  for (size_t i = 1; i < 4; ++i) {
    int64_t& dim = (*dims)[i];
    const int64_t factor = i == 1 ? *area : block;
    if (factor == 1) continue;
    if (!IsStaticDim(dim)) {
      const DimExpr size = DimExpr::OfDim(dim);
      dim = ((i == 1) == to_depth ? size * factor : FloorDiv(size, factor)).ToDim();
    } else if ((i == 1) == to_depth) {
      const auto product = CheckedMul(dim, factor);
      if (!product) return c.Fail(fmt::format("the result is too large in dimension {}", i));
      dim = *product;
    } else {
      if (dim % factor != 0)
        return c.Fail(fmt::format("dimension {} of x {} is no multiple of {}", i,
                                  ToString(*DimsOf(c, 0)), factor));
      dim /= factor;
    }
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

}  // namespace

bool DepthToSpace::Infer(InferContext& c) {
  return InferBlocks(c, c.attrs_of<DepthToSpace>().blocksize, false);
}

bool SpaceToDepth::Infer(InferContext& c) {
  return InferBlocks(c, c.attrs_of<SpaceToDepth>().blocksize, true);
}

bool CenterCropPad::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckIndex(c, 1) || !CheckRank(c, 1, 1)) return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  Ints axes(dims->size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (const auto given = c.attrs_of<CenterCropPad>().axes) {
    axes = *given;
    Ints sorted = axes;
    if (!NormalizeAxes(c, &sorted, dims->size())) return false;
  }
  if (!CheckVector(c, 1, static_cast<int64_t>(axes.size()), "axes")) return false;
  const auto shape = ShapeOperand(c, 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const ShapeEntry size = shape && i < shape->size() ? (*shape)[i] : ShapeEntry();
    if (size.is_number && size.value < 0)
      return c.Fail(fmt::format("shape has the entry {}", size.value));
    (*dims)[NormalAxis(axes[i], dims->size())] = size.value;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

// --- by value ----------------------------------------------------------------------------

bool Compress::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 1, SIZE_MAX) || !CheckDtype(c, 1, DataType::kBool) ||
      !CheckRank(c, 1, 1))
    return false;
  auto axis = c.attrs_of<Compress>().axis;
  if (!axis) return SetTensor(c, 0, DtypeOf(c, 0), Shape{kUnknownDim});
  Dims dims = DimsOf(c, 0);
  if (dims) {
    if (!NormalizeAxis(c, &*axis, dims->size())) return false;
    (*dims)[*axis] = kUnknownDim;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool NonZero::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  const Dims x = DimsOf(c, 0);
  const int64_t rank = x ? static_cast<int64_t>(x->size()) : kUnknownDim;
  return SetTensor(c, 0, DataType::kI64, Shape{rank, kUnknownDim});
}

bool Unique::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  auto axis = c.attrs_of<Unique>().axis;
  Dims dims = DimsOf(c, 0);
  int64_t all = kUnknownDim;
  if (!axis) {
    if (dims) all = ProductOf(*dims).value_or(kUnknownDim);
    dims = Shape{kUnknownDim};
  } else if (dims) {
    if (!NormalizeAxis(c, &*axis, dims->size())) return false;
    all = (*dims)[*axis];
    (*dims)[*axis] = kUnknownDim;
  }
  if (!SetTensor(c, 0, DtypeOf(c, 0), dims)) return false;
  return SetAllResults(c, 1, DataType::kI64, Shape{kUnknownDim}) &&
         (c.num_results() < 3 || SetTensor(c, 2, DataType::kI64, Shape{all}));
}

bool NonMaxSuppression::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 0, DataType::kF32) || !CheckDtype(c, 1, DataType::kF32) ||
      !CheckDtype(c, 2, DataType::kI64) || !CheckDtype(c, 3, DataType::kF32) ||
      !CheckDtype(c, 4, DataType::kF32) || !CheckRank(c, 0, 3) || !CheckRank(c, 1, 3))
    return false;
  for (size_t i = 2; i < 5; ++i)
    if (!CheckScalar(c, i)) return false;
  const int64_t center = c.attrs_of<NonMaxSuppression>().center_point_box;
  if (center != 0 && center != 1) return c.Fail(fmt::format("center_point_box is {}", center));
  const Dims boxes = DimsOf(c, 0), scores = DimsOf(c, 1);
  if (boxes && !MergeDim(boxes->back(), 4))
    return c.Fail(fmt::format("boxes {} have no four numbers", ToString(*boxes)));
  if (boxes && scores &&
      (!MergeDim((*boxes)[0], (*scores)[0]) || !MergeDim((*boxes)[1], (*scores)[2])))
    return c.Fail(
        fmt::format("scores {} do not fit boxes {}", ToString(*scores), ToString(*boxes)));
  return SetTensor(c, 0, DataType::kI64, Shape{kUnknownDim, 3});
}

// Pads every dimension that is too small and then cuts those that are too large.
std::vector<Value> CenterCropPad::Decompose(Builder& b, std::span<const Value> operands,
                                            const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!x.type().HasRank()) return {};
  const size_t rank = x.type().rank();
  std::vector<Value> sizes, wanted;
  for (size_t i = 0; i < rank; ++i) sizes.push_back(DimOf(b, x, i));
  wanted = sizes;
  const size_t count = attrs.axes ? attrs.axes->size() : rank;
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = attrs.axes ? size_t(NormalAxis((*attrs.axes)[i], rank)) : i;
    const Value at = b.ConstantInts({static_cast<int64_t>(i)});
    wanted[axis] = b.Make<Gather>({CastTo(b, operands[1], DataType::kI64), at});
  }
  const Value to = JoinDims(b, wanted), zero = b.ConstantScalar(DataType::kI64, 0),
              two = b.ConstantScalar(DataType::kI64, 2);
  const Value more = b.Make<Sub>({to, JoinDims(b, sizes)});
  const Value pads = b.Make<Max>({more, zero});
  const Value before = b.Make<Div>({pads, two});
  const Value after = b.Make<Sub>({pads, before});
  const Value padded = b.Make<Pad>({x, b.Make<Concat>({before, after}, {.axis = 0})});
  const Value start = b.Make<Div>({b.Make<Max>({b.Make<Neg>({more}), zero}), two});
  return {b.Make<Slice>({padded, start, b.Make<Add>({start, to})})};
}

void LoadIndexingOps(IrContext& context) {
  AddOps<GatherElements, GatherND, ScatterElements, TensorScatter, OneHot, Trilu, ReverseSequence,
         DepthToSpace, SpaceToDepth, CenterCropPad, Compress, NonZero, Unique, NonMaxSuppression>(
      context);
}

}  // namespace weft::ir::ops
