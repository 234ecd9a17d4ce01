#include "ir/dialects/onnx/infer/agreed.h"

#include <fmt/format.h>

namespace weft::ir {
namespace {

std::string SizeText(int64_t dim) {
  return IsStaticDim(dim) ? std::to_string(dim) : ToString({&dim, 1});
}

}  // namespace

bool AgreedDim::Add(InferContext& c, size_t i, int64_t dim) {
  const auto merged = MergeDim(dim_, dim);
  if (!merged)
    return c.Fail(fmt::format("{} has {} {} but {} has {}", OperandName(c, from_), SizeText(dim_),
                              name_, OperandName(c, i), SizeText(dim)));
  if (!IsStaticDim(dim_)) from_ = i;
  dim_ = *merged;
  return true;
}

bool AgreeOnShape(InferContext& c, size_t i, std::span<int64_t> dims) {
  if (!CheckShape(c, i, dims)) return false;
  if (const Dims stated = DimsOf(c, i))
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = MergeDim(c, (*stated)[d], dims[d]).value();
  return true;
}

bool AgreeOnBroadcast(InferContext& c, size_t i, std::span<int64_t> dims) {
  if (!CheckBroadcastsTo(c, i, dims)) return false;
  const Dims stated = DimsOf(c, i);
  for (size_t d = 1; stated && d <= stated->size(); ++d) {
    const int64_t dim = (*stated)[stated->size() - d];
    int64_t& agreed = dims[dims.size() - d];
    // A size that is not known may be 1.
    if (IsStaticDim(dim) && dim != 1) agreed = MergeDim(agreed, dim).value();
  }
  return true;
}

}  // namespace weft::ir
