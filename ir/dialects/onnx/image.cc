#include "ir/dialects/onnx/image.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {
namespace {

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;  // operands

bool IsGiven(const InferContext& c, size_t i) { return c.HasOperand(i) && VectorLength(c, i) != 0; }

bool SizesToDims(InferContext& c, Shape* dims) {
  const auto sizes = ShapeOperand(c, kSizes);
  for (size_t i = 0; i < dims->size(); ++i) {
    const ShapeEntry size = sizes && sizes->size() == dims->size() ? (*sizes)[i] : ShapeEntry();
    if (size.is_number && size.value < 0)
      return c.Fail(fmt::format("sizes has the entry {}", size.value));
    (*dims)[i] = size.value;
  }
  return true;
}

// The fraction of each dimension that is resampled; nullopt when that is not known.
std::optional<std::vector<double>> KeptFractions(const InferContext& c, size_t rank) {
  if (c.attrs_of<Resize>().coordinate_transformation_mode != CoordinateMode::kTfCropAndResize)
    return std::vector<double>(rank, 1.0);
  const auto roi = ConstantDoubles(c.operand(kRoi));
  if (!roi || roi->size() != 2 * rank) return std::nullopt;
  std::vector<double> kept(rank);
  for (size_t i = 0; i < rank; ++i) kept[i] = (*roi)[rank + i] - (*roi)[i];
  return kept;
}

bool ScalesToDims(InferContext& c, Shape* dims) {
  const auto scales = ConstantDoubles(c.operand(kScales));
  const auto kept = KeptFractions(c, dims->size());
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t& dim = (*dims)[i];
    const bool known = scales && scales->size() == dims->size();
    if (known && !((*scales)[i] > 0 && std::isfinite((*scales)[i])))
      return c.Fail(fmt::format("scales has the entry {}", (*scales)[i]));
    if (known && kept && (*scales)[i] == 1 && (*kept)[i] == 1) continue;
    if (!known || !kept || !IsStaticDim(dim)) {
      dim = kUnknownDim;
      continue;
    }
    // In f32, as ONNX's own inference and other runtimes have it: 0.7 of 10 is 7, and in f64 it is 6.
    const float size = std::floor(static_cast<float>(dim) * static_cast<float>((*kept)[i]) *
                                  static_cast<float>((*scales)[i]));
    if (!(size >= 0 && size < 0x1p62f))
      return c.Fail(fmt::format("dimension {} of {} cannot be scaled by {}", i, ToString(*dims),
                                (*scales)[i]));
    dim = static_cast<int64_t>(size);
  }
  return true;
}

}  // namespace

bool Resize::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckFloat(c, kRoi) || !CheckDtype(c, kScales, DataType::kF32) ||
      !CheckDtype(c, kSizes, DataType::kI64))
    return false;
  for (size_t i : {kRoi, kScales, kSizes})
    if (!CheckRank(c, i, 1)) return false;
  const bool scales = IsGiven(c, kScales), sizes = IsGiven(c, kSizes);
  if (!scales && !sizes) return c.Fail("has neither scales nor sizes");
  if (scales && sizes) {
    if (VectorLength(c, kScales) > 0 && VectorLength(c, kSizes) > 0)
      return c.Fail("has both scales and sizes");
    return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  }
  const bool crops =
      c.attrs_of<Resize>().coordinate_transformation_mode == CoordinateMode::kTfCropAndResize;
  if (crops && !IsGiven(c, kRoi)) return c.Fail("tf_crop_and_resize has no roi");
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const auto rank = static_cast<int64_t>(dims->size());
  if (!CheckVector(c, scales ? kScales : kSizes, rank, "dimensions of x") ||
      (crops && !CheckVector(c, kRoi, 2 * rank, "starts and ends")) ||
      !(scales ? ScalesToDims(c, &*dims) : SizesToDims(c, &*dims)))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

void LoadImageOps(IrContext& context) { AddOps<Resize>(context); }

}  // namespace weft::ir::ops
