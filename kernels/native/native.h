// What the native kernels share: kernels made of a lambda around a function of kernels/native/simd.
//
//   absl::StatusOr<std::unique_ptr<Kernel>> MakeSqrt(const KernelContext& context) {
//     if (!context.AllFloat32()) return context.Unsupported("only f32");
//     const int64_t n = context.result_type(0).NumElements();
//     return MakeNative("sqrt", {.may_overwrite = 1}, [n](const KernelArgs& args) {
//       simd::Unary(simd::UnaryOp::kSqrt, {}, args.input<float>(0), args.output<float>(0), n,
//                  *args.pool);
//     });
//   }
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/native/simd/gemm.h"
#include "kernels/shape_math.h"

namespace weft::kernels::native {

using Made = absl::StatusOr<std::unique_ptr<Kernel>>;

struct NativeOptions {
  uint32_t may_overwrite = 0;  // bit i: the result may lie in the memory of operand i
  uint32_t packed = 0;         // bit i: Run does not read operand i
  size_t scratch_bytes = 0;
  bool spaces_rows = false;
  bool reads_past_end = false;
  // Rows that Run reads, by args.spacings, though they lie apart. The default allows none: dense operands only.
  struct RowLimits {
    int64_t least = 1, most = 0;  // elements of a row
    int64_t stride_multiple = 1;  // what the distance from row to row is a multiple of
    static constexpr RowLimits AtLeast(int64_t row) {
      return {.least = row, .most = std::numeric_limits<int64_t>::max()};
    }
  };
  std::vector<RowLimits> spaced_rows = {};         // by operand
  std::vector<Placement> results_in_operand = {};  // Kernel::PlacementInOperand, by result
};

template <class F>
class NativeKernel final : public Kernel {
 public:
  NativeKernel(std::string_view name, const NativeOptions& options, F run)
      : name_(name), options_(options), run_(std::move(run)) {}
  absl::Status Run(const KernelArgs& args) override {
    if constexpr (std::is_void_v<decltype(run_(args))>) {
      run_(args);
      return absl::OkStatus();
    } else {
      return run_(args);
    }
  }
  std::string_view name() const override { return name_; }
  size_t scratch_bytes() const override { return options_.scratch_bytes; }
  bool MayOverwrite(size_t operand) const override {
    return operand < 32 && (options_.may_overwrite >> operand & 1) != 0;
  }
  bool Reads(size_t operand) const override {
    return operand >= 32 || (options_.packed >> operand & 1) == 0;
  }
  std::optional<Placement> PlacementInOperand(size_t result) const override {
    if (result >= options_.results_in_operand.size()) return std::nullopt;
    return options_.results_in_operand[result];
  }
  bool SpacesRows() const override { return options_.spaces_rows; }
  bool ReadsSpaced(size_t operand, const RowSpacing& rows) const override {
    if (operand >= options_.spaced_rows.size()) return false;
    const NativeOptions::RowLimits& limits = options_.spaced_rows[operand];
    return rows.row >= limits.least && rows.row <= limits.most &&
           rows.stride % limits.stride_multiple == 0;
  }
  bool ReadsPastEnd() const override { return options_.reads_past_end; }

 private:
  const std::string_view name_;  // a literal
  const NativeOptions options_;
  const F run_;
};

template <class F>
std::unique_ptr<Kernel> MakeNative(std::string_view name, const NativeOptions& options, F run) {
  return std::make_unique<NativeKernel<F>>(name, options, std::move(run));
}

// The elements of an f32 constant.
inline std::vector<float> ConstantFloats(ir::Attribute dense) {
  std::vector<float> floats(dense.num_bytes() / sizeof(float));
  dense.Read(0, std::as_writable_bytes(std::span(floats)));
  return floats;
}

// Where they are packed from: memory, or what reads them from a file or computes them.
inline simd::WeightSource SourceOf(ir::Attribute dense) {
  if (dense.IsInMemory()) {
    const auto* const data = reinterpret_cast<const float*>(dense.bytes().data());
    if (reinterpret_cast<uintptr_t>(data) % alignof(float) == 0) return data;
  }
  return simd::WeightSource([dense](int64_t first, std::span<float> to) {
    dense.Read(static_cast<size_t>(first) * sizeof(float), std::as_writable_bytes(to));
  });
}

// The strides of operand i in a run. `dense`: those that it has where its rows do not lie apart; 0 where it broadcasts.
inline Dims OperandStrides(const KernelArgs& args, size_t i, const Dims& dense) {
  if (args.spacing(i).row == 0) return dense;
  const Dims spaced = *SpacedStrides(args.inputs[i].dims, args.spacing(i));
  const int missing = dense.size() - spaced.size();
  Dims strides = dense;
  for (int axis = 0; axis < spaced.size(); ++axis)
    if (dense[missing + axis] != 0) strides[missing + axis] = spaced[axis];
  return strides;
}

// A tensor seen as [outer, extent of the axes first to last, inner].
struct AxisView {
  int64_t outer = 1, extent = 1, inner = 1;
  AxisView(std::span<const int64_t> dims, int64_t first, int64_t last) {
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
      (i < first ? outer : i <= last ? extent : inner) *= dims[i];
  }
  AxisView(std::span<const int64_t> dims, int64_t axis)
      : AxisView(dims, ir::NormalAxis(axis, dims.size()), ir::NormalAxis(axis, dims.size())) {}
};

}  // namespace weft::kernels::native
