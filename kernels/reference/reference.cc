#include "kernels/reference/reference.h"

#include <algorithm>

#include "ir/element/low_precision.h"

namespace weft::kernels::reference {
namespace {

enum class Types : uint8_t { kAny, kOfOperandsEqual, kEqual };

template <class Accept>
absl::Status CheckTypes(const KernelContext& context, Types types, const Accept& accept) {
  ir::DataType first = ir::DataType::kNull;
  const auto check = [&](ir::Type type) {
    if (!type) return absl::OkStatus();
    const std::string dtype(ir::DataTypeName(type.dtype()));
    if (!accept(type.dtype())) return context.Unsupported("elements of type " + dtype);
    if (first == ir::DataType::kNull) first = type.dtype();
    if (type.dtype() == first || types == Types::kAny) return absl::OkStatus();
    return context.Unsupported("elements of types " + std::string(ir::DataTypeName(first)) +
                               " and " + dtype + " together");
  };
  for (size_t i = 0; i < context.num_inputs(); ++i)
    WEFT_RETURN_IF_ERROR(check(context.input_type(i)));
  for (size_t i = 0; types != Types::kOfOperandsEqual && i < context.num_results(); ++i)
    WEFT_RETURN_IF_ERROR(check(context.result_type(i)));
  return absl::OkStatus();
}

bool IsKernelFloat(ir::DataType dtype) {
  return VisitFloat(dtype, [](auto) {});
}
bool IsKernelNumber(ir::DataType dtype) {
  return VisitNumber(dtype, [](auto) {});
}

}  // namespace

absl::Status AnyTypes(const KernelContext&) { return absl::OkStatus(); }
absl::Status Floats(const KernelContext& context) {
  return CheckTypes(context, Types::kAny, IsKernelFloat);
}
absl::Status SameFloats(const KernelContext& context) {
  return CheckTypes(context, Types::kEqual, IsKernelFloat);
}
absl::Status SameNumbers(const KernelContext& context) {
  return CheckTypes(context, Types::kEqual, IsKernelNumber);
}
absl::Status SameOperands(const KernelContext& context) {
  return CheckTypes(context, Types::kOfOperandsEqual, [](ir::DataType dtype) {
    return dtype == ir::DataType::kBool || IsKernelNumber(dtype);
  });
}

absl::Status CopyResults(const std::vector<Tensor>& results, std::span<const TensorView> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorView from = results[i].view(), &to = outputs[i];
    if (from.dtype != to.dtype ||
        !std::equal(from.dims.begin(), from.dims.end(), to.dims.begin(), to.dims.end()))
      return ir::InvalidArgument("result " + std::to_string(i) + " has shape " +
                                 ir::ToString(from.dims) + ", expected " + ir::ToString(to.dims));
    CopyElements(from, to);
  }
  return absl::OkStatus();
}

double ReadScalar(const TensorView& tensor) { return ReadDoubles(tensor).front(); }

namespace {

// The real and the imaginary part of each.
template <class T>
std::vector<double> ReadParts(const TensorView& complex) {
  const auto* parts = reinterpret_cast<const T*>(complex.data);
  return {parts, parts + 2 * complex.NumElements()};
}

}  // namespace

std::vector<double> ReadDoubles(const TensorView& tensor) {
  if (tensor.dtype == ir::DataType::kC64) return ReadParts<float>(tensor);
  if (tensor.dtype == ir::DataType::kC128) return ReadParts<double>(tensor);
  std::vector<double> values(static_cast<size_t>(tensor.NumElements()));
  const auto read = [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> from = tensor.values<T>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(from[i]);
  };
  if (tensor.dtype == ir::DataType::kBool) {
    read(uint8_t());
  } else if (ir::IsLowPrecision(tensor.dtype)) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = ir::FromLowPrecision(tensor.dtype, tensor.values<uint8_t>()[i]);
  } else {
    WEFT_CHECK(VisitNumber(tensor.dtype, read), "a kernel reads numbers of no numeric type");
  }
  return values;
}

void WriteDoubles(const std::vector<double>& values, const TensorView& tensor) {
  if (ir::IsLowPrecision(tensor.dtype)) {
    for (size_t i = 0; i < values.size(); ++i)
      tensor.values<uint8_t>()[i] = ir::ToLowPrecision(tensor.dtype, values[i]);
    return;
  }
  WEFT_CHECK(VisitNumber(tensor.dtype,
                         [&](auto tag) {
                           using T = decltype(tag);
                           const std::span<T> to = tensor.values<T>();
                           for (size_t i = 0; i < values.size(); ++i)
                             to[i] = FromDouble<T>(values[i]);
                         }),
             "a kernel writes numbers of no numeric type");
}

std::vector<int64_t> ReadInts(const TensorView& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.NumElements()));
  const auto read = [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> from = tensor.values<T>();
    std::copy(from.begin(), from.end(), values.begin());
  };
  if (tensor.dtype == ir::DataType::kBool) {
    read(uint8_t());
  } else {
    WEFT_CHECK(VisitInteger(tensor.dtype, read), "a kernel reads integers of no integer type");
  }
  return values;
}

void SortIndices(std::span<int64_t> indices, const std::function<bool(int64_t, int64_t)>& less) {
  std::stable_sort(indices.begin(), indices.end(), less);
}

}  // namespace weft::kernels::reference
