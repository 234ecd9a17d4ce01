#include "ir/dialects/onnx/nn/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {
namespace {

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;  // operands

bool IsGiven(const InferContext& c, size_t i) { return c.HasOperand(i) && VectorLength(c, i) != 0; }

// sizes and scales have an entry for each of `axes`, dimensions of x.
bool SizesToDims(InferContext& c, const Ints& axes, Shape* dims) {
  const auto sizes = ShapeOperand(c, kSizes);
  const AspectRatioPolicy policy = c.attrs_of<Resize>().keep_aspect_ratio_policy;
  std::vector<double> ratios;
  const Shape in = *dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    const ShapeEntry size = sizes && sizes->size() == axes.size() ? (*sizes)[i] : ShapeEntry();
    if (size.is_number && size.value < 0)
      return c.Fail(fmt::format("sizes has the entry {}", size.value));
    (*dims)[axes[i]] = size.value;
    if (size.is_number && IsStaticDim(in[axes[i]]) && in[axes[i]] > 0)
      ratios.push_back(static_cast<double>(size.value) / static_cast<double>(in[axes[i]]));
  }
  if (policy == AspectRatioPolicy::kStretch) return true;
  const auto factor =
      ratios.size() == axes.size() ? AspectRatioFactor(policy, ratios) : std::nullopt;
  for (int64_t axis : axes) {
    (*dims)[axis] = kUnknownDim;
    if (!factor) continue;
    const double size = std::floor(*factor * static_cast<double>(in[axis]) + 0.5);
    if (!(size < 0x1p62)) return c.Fail("sizes are too large");
    (*dims)[axis] = static_cast<int64_t>(size);
  }
  return true;
}

// The fraction of each of n axes that is resampled; nullopt when that is not known.
std::optional<std::vector<double>> KeptFractions(const InferContext& c, size_t n) {
  if (c.attrs_of<Resize>().coordinate_transformation_mode != CoordinateMode::kTfCropAndResize)
    return std::vector<double>(n, 1.0);
  const auto roi = ConstantDoubles(c.operand(kRoi));
  if (!roi || roi->size() != 2 * n) return std::nullopt;
  std::vector<double> kept(n);
  for (size_t i = 0; i < n; ++i) kept[i] = (*roi)[n + i] - (*roi)[i];
  return kept;
}

// floor(dim * scale) for a scale that is a small integer over a small power of two, like 2 or 0.5.
std::optional<int64_t> Scaled(int64_t dim, double scale) {
  constexpr int64_t kDivisor = 1 << 8;
  const double numerator = scale * kDivisor;
  if (numerator != std::floor(numerator) || numerator > 0x1p20) return std::nullopt;
  const DimExpr size = FloorDiv(DimExpr::OfDim(dim) * static_cast<int64_t>(numerator), kDivisor);
  return size.known() ? std::optional(size.ToDim()) : std::nullopt;
}

bool ScalesToDims(InferContext& c, const Ints& axes, Shape* dims) {
  const auto scales = ConstantDoubles(c.operand(kScales));
  const auto kept = KeptFractions(c, axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t& dim = (*dims)[axes[i]];
    const bool known = scales && scales->size() == axes.size();
    if (known && !((*scales)[i] > 0 && std::isfinite((*scales)[i])))
      return c.Fail(fmt::format("scales has the entry {}", (*scales)[i]));
    if (known && kept && (*scales)[i] == 1 && (*kept)[i] == 1) continue;
    if (const auto exact =
            known && kept && (*kept)[i] == 1 ? Scaled(dim, (*scales)[i]) : std::nullopt) {
      dim = *exact;
      continue;
    }
    if (!known || !kept || !IsStaticDim(dim)) {
      dim = kUnknownDim;
      continue;
    }
    // In f32, as ONNX's own inference and other runtimes have it: 0.7 of 10 is 7, and in f64 it is 6.
    const float size = std::floor(static_cast<float>(dim) * static_cast<float>((*kept)[i]) *
                                  static_cast<float>((*scales)[i]));
    if (!(size >= 0 && size < 0x1p62f))
      return c.Fail(fmt::format("dimension {} of {} cannot be scaled by {}", axes[i],
                                ToString(*dims), (*scales)[i]));
    dim = static_cast<int64_t>(size);
  }
  return true;
}

// The dimensions of x that are resampled; fails on one that x does not have, or twice.
bool ResizedAxes(InferContext& c, size_t rank, Ints* axes) {
  const auto given = c.attrs_of<Resize>().axes;
  for (size_t i = 0; !given && i < rank; ++i) axes->push_back(static_cast<int64_t>(i));
  if (!given) return true;
  std::vector<bool> seen(rank);
  for (int64_t axis : *given) {
    if (!NormalizeAxis(c, &axis, rank)) return false;
    if (seen[axis]) return c.Fail(fmt::format("axes has {} twice", axis));
    seen[axis] = true;
    axes->push_back(axis);
  }
  return true;
}

}  // namespace

std::optional<double> AspectRatioFactor(AspectRatioPolicy policy,
                                        const std::vector<double>& ratios) {
  if (policy == AspectRatioPolicy::kStretch || ratios.empty()) return std::nullopt;
  return policy == AspectRatioPolicy::kNotLarger ? *std::min_element(ratios.begin(), ratios.end())
                                                 : *std::max_element(ratios.begin(), ratios.end());
}

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
  Ints axes;
  if (!ResizedAxes(c, dims->size(), &axes)) return false;
  const auto count = static_cast<int64_t>(axes.size());
  const std::string_view what = c.attrs_of<Resize>().axes ? "axes" : "dimensions of x";
  if (!CheckVector(c, scales ? kScales : kSizes, count, what) ||
      (crops && !CheckVector(c, kRoi, 2 * count, "starts and ends")) ||
      !(scales ? ScalesToDims(c, axes, &*dims) : SizesToDims(c, axes, &*dims)))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

void LoadImageOps(IrContext& context) { AddOps<Resize>(context); }

}  // namespace weft::ir::ops
