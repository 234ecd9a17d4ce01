// Reference kernels: the oracle. Plain loops over one element at a time that accumulate in double
// (or in 64-bit integers) and round once, into the result. Slow, and allowed to allocate.
//
//   absl::Status Sqrt(const AttrsOf<ir::ops::Sqrt>&, const KernelArgs& args) {
//     MapFloats(args.inputs[0], args.outputs[0], [](double x) { return std::sqrt(x); });
//     return absl::OkStatus();
//   }
//   const RegisterReference<ir::ops::Sqrt> kSqrt(&Sqrt, &SameFloats);
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/float16.h"
#include "kernels/kernel.h"
#include "kernels/shape_math.h"

namespace weft::kernels::reference {

// --- registration -------------------------------------------------------------

// Templates with one instance for each op: hidden, since a library or plugin that exported its own would be larger for names
// that nobody looks up.

template <class O>
using AttrsOf = typename O::template Attrs<ir::Plain>;
template <class O>
using Function = absl::Status (*)(const AttrsOf<O>&, const KernelArgs&);
// Ok, or Unsupported for types or attributes that the function cannot do.
using Check = absl::Status (*)(const KernelContext&);

template <class O>
class [[gnu::visibility("hidden")]] FunctionKernel final : public Kernel {
 public:
  FunctionKernel(AttrsOf<O> attrs, Function<O> function)
      : attrs_(std::move(attrs)), function_(function) {}
  absl::Status Run(const KernelArgs& args) override {
    absl::Status status = function_(attrs_, args);
    return status.ok() ? status : ir::Annotate(status, O::kInfo.name);
  }
  std::string_view name() const override { return "reference"; }

 private:
  const AttrsOf<O> attrs_;
  const Function<O> function_;
};

template <class O>
class [[gnu::visibility("hidden")]] RegisterReference {
 public:
  RegisterReference(Function<O> function, Check check, const char* file = __builtin_FILE()) {
    function_ = function;
    check_ = check;
    AddKernelFactory(ir::Opcode::FindOrAdd(O::kInfo.name), "reference", &Make, kNoKernelTraits,
                     file);
  }

 private:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelContext& context) {
    WEFT_RETURN_IF_ERROR(check_(context));
    return std::make_unique<FunctionKernel<O>>(context.attrs_of<O>(), function_);
  }
  static inline Function<O> function_ = nullptr;
  static inline Check check_ = nullptr;
};

// Of an op whose result sizes depend on the values of its operands: all its results.
template <class O>
using SizingFunction = absl::StatusOr<std::vector<Tensor>> (*)(const AttrsOf<O>&,
                                                               const KernelArgs&);
// Copies into `outputs`; InvalidArgument where one has another type or shape.
absl::Status CopyResults(const std::vector<Tensor>& results, std::span<const TensorView> outputs);

template <class O>
class [[gnu::visibility("hidden")]] SizingKernel final : public Kernel {
 public:
  SizingKernel(AttrsOf<O> attrs, size_t num_results, SizingFunction<O> function)
      : attrs_(std::move(attrs)), num_results_(num_results), function_(function) {}
  // Where the sizes are stated.
  absl::Status Run(const KernelArgs& args) override {
    WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> results, RunDynamic(args));
    absl::Status status = CopyResults(results, args.outputs);
    return status.ok() ? status : ir::Annotate(status, O::kInfo.name);
  }
  absl::StatusOr<std::vector<Tensor>> RunDynamic(const KernelArgs& args) override {
    absl::StatusOr<std::vector<Tensor>> results = function_(attrs_, args);
    if (!results.ok()) return ir::Annotate(results.status(), O::kInfo.name);
    results->resize(num_results_);
    return results;
  }
  std::string_view name() const override { return "reference"; }

 private:
  const AttrsOf<O> attrs_;
  const size_t num_results_;
  const SizingFunction<O> function_;
};

// `check` must not look at result types.
template <class O>
class [[gnu::visibility("hidden")]] RegisterSizing {
 public:
  RegisterSizing(SizingFunction<O> function, Check check, const char* file = __builtin_FILE()) {
    function_ = function;
    check_ = check;
    AddKernelFactory(ir::Opcode::FindOrAdd(O::kInfo.name), "reference", &Make, kSizesResults, file);
  }

 private:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelContext& context) {
    WEFT_RETURN_IF_ERROR(check_(context));
    return std::make_unique<SizingKernel<O>>(context.attrs_of<O>(), context.num_results(),
                                             function_);
  }
  static inline SizingFunction<O> function_ = nullptr;
  static inline Check check_ = nullptr;
};

absl::Status AnyTypes(const KernelContext& context);
absl::Status Floats(const KernelContext& context);  // of any float types; inference sees which fit
absl::Status SameFloats(const KernelContext& context);   // all operands and results: one float type
absl::Status SameNumbers(const KernelContext& context);  // likewise, float or integer
absl::Status SameOperands(const KernelContext& context);  // operands of one type, bool too

// --- elements -----------------------------------------------------------------

struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(double value) : bits(FloatToHalf(static_cast<float>(value))) {}
  explicit operator double() const { return HalfToFloat(bits); }
};
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(double value) : bits(FloatToBFloat16(static_cast<float>(value))) {}
  explicit operator double() const { return BFloat16ToFloat(bits); }
};

template <class T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// An integer in 64 bits, for arithmetic that wraps.
template <class T>
uint64_t SignExtended(T x) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(x));
  else
    return x;
}

// Calls visit(T()) with the C++ type of the element type; false when it is none of these.
template <class Visit>
bool VisitFloat(ir::DataType dtype, const Visit& visit) {
  switch (dtype) {
    case ir::DataType::kF32:
      visit(float());
      return true;
    case ir::DataType::kF64:
      visit(double());
      return true;
    case ir::DataType::kF16:
      visit(Float16());
      return true;
    case ir::DataType::kBF16:
      visit(BFloat16());
      return true;
    default:
      return false;
  }
}
template <class Visit>
bool VisitInteger(ir::DataType dtype, const Visit& visit) {
  switch (dtype) {
    case ir::DataType::kI8:
      visit(int8_t());
      return true;
    case ir::DataType::kU8:
      visit(uint8_t());
      return true;
    case ir::DataType::kI16:
      visit(int16_t());
      return true;
    case ir::DataType::kU16:
      visit(uint16_t());
      return true;
    case ir::DataType::kI32:
      visit(int32_t());
      return true;
    case ir::DataType::kU32:
      visit(uint32_t());
      return true;
    case ir::DataType::kI64:
      visit(int64_t());
      return true;
    case ir::DataType::kU64:
      visit(uint64_t());
      return true;
    default:
      return false;
  }
}
template <class Visit>
bool VisitNumber(ir::DataType dtype, const Visit& visit) {
  return VisitFloat(dtype, visit) || VisitInteger(dtype, visit);
}

// Floats outside an integer type, which ONNX leaves undefined, give its nearest value, and NaN 0.
template <class To>
To FromDouble(double value) {
  if constexpr (kIsFloat<To>) {
    return To(value);
  } else {
    if (std::isnan(value)) return 0;
    constexpr To kLowest = std::numeric_limits<To>::lowest(), kMax = std::numeric_limits<To>::max();
    if (value <= static_cast<double>(kLowest)) return kLowest;
    if (value >= static_cast<double>(kMax)) return kMax;
    return static_cast<To>(value);
  }
}

// Any real element type to and from double (bool is 0 or 1; 64-bit integers may round), as
// FromDouble says. One of low precision saturates.
std::vector<double> ReadDoubles(const TensorView& tensor);
void WriteDoubles(const std::vector<double>& values, const TensorView& tensor);
// The one number in a tensor of one element, of any real type.
double ReadScalar(const TensorView& tensor);
// Integers and bool.
std::vector<int64_t> ReadInts(const TensorView& tensor);

// Of equal ones the first stays first. One sort for the elements of every type.
void SortIndices(std::span<int64_t> indices, const std::function<bool(int64_t, int64_t)>& less);

// y[i] = f(x[i]) in double, for float tensors of one type and size.
template <class F>
void MapFloats(const TensorView& x, const TensorView& y, const F& f) {
  VisitFloat(x.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> in = x.values<T>(), out = y.values<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = T(f(static_cast<double>(in[i])));
  });
}

// --- indices --------------------------------------------------------------------

// Walks the indices of `shape` in row-major order, keeping an offset per operand:
//   for (Odometer<2> at(shape, {&a_strides, &b_strides}); !at.done(); at.Next()) use(at.offset[0]);
template <int kOperands>
class Odometer {
 public:
  Odometer(std::span<const int64_t> shape, const Dims (&strides)[kOperands])
      : shape_(shape), index_(static_cast<int>(shape.size()), 0) {
    for (int o = 0; o < kOperands; ++o) strides_[o] = strides[o];
    left_ = NumElements(shape);
  }
  bool done() const { return left_ == 0; }
  void Next() {
    --left_;
    for (int axis = static_cast<int>(shape_.size()) - 1; axis >= 0; --axis) {
      ++index_[axis];
      for (int o = 0; o < kOperands; ++o) offset[o] += strides_[o][axis];
      if (index_[axis] < shape_[axis]) return;
      index_[axis] = 0;
      for (int o = 0; o < kOperands; ++o) offset[o] -= strides_[o][axis] * shape_[axis];
    }
  }
  int64_t offset[kOperands] = {};

 private:
  std::span<const int64_t> shape_;
  Dims index_;
  Dims strides_[kOperands];
  int64_t left_;
};

// A tensor seen as [outer, extent of axis, inner]: rows() lists of `extent` elements that are `inner`
// apart and begin at RowStart(row).
struct AxisView {
  int64_t outer = 1, extent = 1, inner = 1;
  int64_t rows() const { return outer * inner; }
  int64_t RowStart(int64_t row) const { return row / inner * extent * inner + row % inner; }
  AxisView(std::span<const int64_t> dims, int64_t axis) {
    axis = ir::NormalAxis(axis, dims.size());
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
      (i < axis ? outer : i == axis ? extent : inner) *= dims[i];
  }
};

// y[i] = x[map(i)], for elements of any type: map(axis, index of y) is an index of x, or -1 for `fill`.
template <class Map>
void CopyMapped(const TensorView& x, const TensorView& y, const std::byte* fill, const Map& map) {
  const Dims strides = RowMajorStrides(x.dims);
  const auto size = static_cast<int64_t>(ir::ElementSize(y.dtype));
  for (int64_t i = 0; i < y.NumElements(); ++i) {
    int64_t rest = i, from = 0;
    for (int axis = static_cast<int>(y.dims.size()) - 1; axis >= 0 && from >= 0; --axis) {
      const int64_t at = map(axis, rest % y.dims[axis]);
      rest /= y.dims[axis];
      from = at < 0 ? -1 : from + at * strides[axis];
    }
    std::memcpy(y.data + i * size, from < 0 ? fill : x.data + from * size, size);
  }
}

}  // namespace weft::kernels::reference
