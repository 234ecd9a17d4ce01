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

}  // namespace weft::ir
