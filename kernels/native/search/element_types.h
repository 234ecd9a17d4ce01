// The C++ types of elements, for kernels that compare them.
#pragma once

#include <cstdint>

#include "ir/type.h"
#include "kernels/native/simd/search/keys.h"

namespace weft::kernels::native {

// Calls visit(T()) with a type of which simd::OrderedKeys knows the order; false when there is none.
template <class Visit>
bool VisitOrdered(ir::DataType dtype, const Visit& visit) {
  switch (dtype) {
    case ir::DataType::kF32:
      return visit(float()), true;
    case ir::DataType::kF64:
      return visit(double()), true;
    case ir::DataType::kF16:
      return visit(simd::Half()), true;
    case ir::DataType::kBF16:
      return visit(simd::BFloat()), true;
    case ir::DataType::kI8:
      return visit(int8_t()), true;
    case ir::DataType::kU8:
      return visit(uint8_t()), true;
    case ir::DataType::kI16:
      return visit(int16_t()), true;
    case ir::DataType::kU16:
      return visit(uint16_t()), true;
    case ir::DataType::kI32:
      return visit(int32_t()), true;
    case ir::DataType::kU32:
      return visit(uint32_t()), true;
    case ir::DataType::kI64:
      return visit(int64_t()), true;
    case ir::DataType::kU64:
      return visit(uint64_t()), true;
    default:
      return false;
  }
}

}  // namespace weft::kernels::native
