#include "ir/dialects/onnx/infer/quantized.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::ir {

bool CheckOneOf(InferContext& c, size_t i, std::initializer_list<DataType> allowed,
                std::string_view names) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || std::ranges::find(allowed, dtype) != allowed.end()) return true;
  return c.Fail(
      fmt::format("{} is {} but must be {}", OperandName(c, i), DataTypeName(dtype), names));
}

bool CheckByte(InferContext& c, size_t i) {
  return CheckOneOf(c, i, {DataType::kI8, DataType::kU8}, "i8 or u8");
}

bool CheckScalarOr(InferContext& c, size_t i, int64_t* size, std::string_view what) {
  const Dims dims = DimsOf(c, i);
  if (!dims || dims->empty() || *dims == Shape{1}) return true;
  if (!CheckRank(c, i, 0, 1)) return false;
  if (const auto agreed = MergeDim(*size, (*dims)[0])) {
    if (IsStaticDim((*dims)[0])) *size = *agreed;
    return true;
  }
  return c.Fail(fmt::format("{} has {} entries but there are {} {}", OperandName(c, i), (*dims)[0],
                            *size, what));
}

}  // namespace weft::ir
