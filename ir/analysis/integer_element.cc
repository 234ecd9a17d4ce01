#include "ir/analysis/integer_element.h"

#include <utility>

#include "ir/analysis/constant.h"

namespace weft::ir {

std::optional<int64_t> IntegerElement(Attribute dense, int64_t i) {
  const DataType dtype = dense.dense_type().dtype();
  const auto at = static_cast<size_t>(i);
  if (dtype == DataType::kI64) return dense.elements<int64_t>()[at];
  if (dtype == DataType::kU64) {
    const uint64_t element = dense.elements<uint64_t>()[at];
    if (!std::in_range<int64_t>(element)) return std::nullopt;
    return static_cast<int64_t>(element);
  }
  if (!IsInteger(dtype)) return std::nullopt;
  return static_cast<int64_t>(DenseElement(dense, i));
}

}  // namespace weft::ir
