// Ops that fused.elementwise runs in its one loop: beside its kernel, each registers the function of
// kernels/native/simd/elementwise/rows.h that computes it, so that the numbers in the loop are those of the kernel.
//
//   const RegisterElementwise<ops::Sqrt> kSqrt(&MakeSqrt, &SqrtRow);
#pragma once

#include <optional>
#include <span>

#include "kernels/native/native.h"
#include "kernels/native/simd/elementwise/elementwise.h"

namespace weft::kernels::native {

// Shorter rows are sooner copied than they are walked apart from each other.
inline constexpr auto kLongRows = NativeOptions::RowLimits::AtLeast(64);

// An op with the element types of its operands (kNull where not given).
struct RowContext {
  ir::Operation op;
  std::span<const ir::DataType> operands;

  ir::DataType result() const { return op.result().type().dtype(); }
  // `count` operands, all of type `operand`, and a result of type `result`.
  bool Has(size_t count, ir::DataType operand, ir::DataType result_type) const {
    return operands.size() == count && result() == result_type &&
           std::all_of(operands.begin(), operands.end(),
                       [=](ir::DataType dtype) { return dtype == operand; });
  }
};

// None when no row computes the op on these types. Shapes are the caller's affair.
using RowFactory = std::optional<simd::RowFunction> (*)(const RowContext& context);

void AddRow(ir::Opcode opcode, RowFactory factory);

template <class O>
struct RegisterRow {
  explicit RegisterRow(RowFactory row) { AddRow(ir::Opcode::FindOrAdd(O::kInfo.name), row); }
};

template <class O>
struct RegisterElementwise {
  RegisterElementwise(KernelFactory kernel, RowFactory row, const char* file = __builtin_FILE())
      : registered_kernel("native", kernel, kNoKernelTraits, file), registered_row(row) {}
  RegisterKernel<O> registered_kernel;
  RegisterRow<O> registered_row;
};

}  // namespace weft::kernels::native
