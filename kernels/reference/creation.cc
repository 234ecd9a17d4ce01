// Ops that make tensors out of little.
#include "ir/dialects/onnx/creation.h"

#include <algorithm>

#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

absl::StatusOr<Tensor> CreateRange(ir::DataType dtype, std::optional<int64_t> size) {
  if (!size) return ir::InvalidArgument("start, limit and delta make no range");
  return CreateDynamic(dtype, {*size});
}

absl::StatusOr<std::vector<Tensor>> Range(const AttrsOf<ops::Range>&, const KernelArgs& args) {
  const ir::DataType dtype = args.inputs[0].dtype;
  std::vector<Tensor> results(1);
  if (ir::IsInteger(dtype)) {
    const int64_t start = ReadInts(args.inputs[0]).front(),
                  limit = ReadInts(args.inputs[1]).front();
    const int64_t delta = ReadInts(args.inputs[2]).front();
    WEFT_ASSIGN_OR_RETURN(results[0], CreateRange(dtype, ops::RangeSize(start, limit, delta)));
    VisitInteger(dtype, [&](auto tag) {
      using T = decltype(tag);
      uint64_t value = static_cast<uint64_t>(start);
      for (T& y : results[0].values<T>()) {
        y = static_cast<T>(value);
        value += static_cast<uint64_t>(delta);
      }
    });
    return results;
  }
  const double start = ReadScalar(args.inputs[0]), delta = ReadScalar(args.inputs[2]);
  WEFT_ASSIGN_OR_RETURN(
      results[0], CreateRange(dtype, ops::RangeSize(start, ReadScalar(args.inputs[1]), delta)));
  VisitFloat(dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> y = results[0].values<T>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = T(start + static_cast<double>(i) * delta);
  });
  return results;
}
absl::Status CheckRange(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  // Of 64 bits without a sign, not every number is one of int64_t.
  if (!VisitNumber(dtype, [](auto) {}) || dtype == ir::DataType::kU64)
    return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  for (size_t i = 0; i < 3; ++i)
    if (context.input_type(i).dtype() != dtype || context.input_type(i).NumElements() != 1)
      return context.InvalidArgument("needs three numbers of one type");
  return absl::OkStatus();
}
const RegisterSizing<ops::Range> kRange(&Range, &CheckRange);

absl::Status EyeLike(const AttrsOf<ops::EyeLike>& attrs, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  const int64_t rows = y.dims[0], columns = y.dims[1];
  const int64_t k = std::clamp<int64_t>(attrs.k, -rows, columns);  // beyond, all is zero
  std::memset(y.data, 0, y.NumBytes());
  const auto write = [&](auto tag) {
    using T = decltype(tag);
    for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < columns; ++i)
      args.output<T>(0)[i * columns + i + k] = T(1);
  };
  if (y.dtype == ir::DataType::kBool) write(uint8_t());
  VisitNumber(y.dtype, write);
  return absl::OkStatus();
}
absl::Status CheckEyeLike(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  if (dtype != ir::DataType::kBool && !VisitNumber(dtype, [](auto) {}))
    return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  if (context.result_type(0).rank() != 2 ||
      context.result_type(0).shape() != context.input_type(0).shape())
    return context.InvalidArgument("needs a matrix and a result of its shape");
  return absl::OkStatus();
}
const RegisterReference<ops::EyeLike> kEyeLike(&EyeLike, &CheckEyeLike);

absl::Status Size(const AttrsOf<ops::Size>&, const KernelArgs& args) {
  *args.output<int64_t>(0) = args.inputs[0].NumElements();
  return absl::OkStatus();
}
absl::Status CheckSize(const KernelContext& context) {
  if (context.result_type(0).dtype() != ir::DataType::kI64 || context.result_type(0).rank() != 0)
    return context.InvalidArgument("the result is not one i64 number");
  return absl::OkStatus();
}
const RegisterReference<ops::Size> kSize(&Size, &CheckSize);

}  // namespace
}  // namespace weft::kernels::reference
