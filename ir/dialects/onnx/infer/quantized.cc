#include "ir/dialects/onnx/infer/quantized.h"

#include <fmt/format.h>

namespace weft::ir {

bool CheckByte(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || dtype == DataType::kI8 || dtype == DataType::kU8) return true;
  return c.Fail(
      fmt::format("{} is {} but must be i8 or u8", OperandName(c, i), DataTypeName(dtype)));
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
