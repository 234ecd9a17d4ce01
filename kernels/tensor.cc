#include "kernels/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "ir/base/check.h"

namespace weft::kernels {
namespace {

std::string Subject(ir::DataType dtype, const ir::Shape& dims) {
  return fmt::format("a tensor of {} {}", ir::DataTypeName(dtype), ir::ToString(dims));
}

absl::Status CheckSizes(ir::DataType dtype, const ir::Shape& dims) {
  const auto element = static_cast<int64_t>(ir::ElementSize(dtype));
  if (element == 0)
    return ir::Unsupported(Subject(dtype, dims) + ": its elements have no fixed size");
  // Half of what a pointer can reach, so that alignment and padding cannot overflow.
  int64_t room = std::numeric_limits<int64_t>::max() / 2 / element;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[i];
    if (!ir::IsStaticDim(dim))
      return ir::InvalidArgument(fmt::format(
          "{}: dimension {} is {}, and a tensor needs the size it has in this run: put a number in "
          "its place, or fix it in the program with ir::SetDim or ir::SetInputShape",
          Subject(dtype, dims), i,
          ir::IsSymbolicDim(dim) ? fmt::format("the symbol {}", ir::SymbolName(dim)) : "unknown"));
    if (dim > room) return ir::InvalidArgument(Subject(dtype, dims) + ": more than memory can be");
    if (dim > 1) room /= dim;
  }
  return absl::OkStatus();
}

}  // namespace

void CopyElements(const TensorView& from, const TensorView& to) {
  if (from.dtype == ir::DataType::kString) {
    const std::span<std::string> strings = from.values<std::string>();
    std::copy(strings.begin(), strings.end(), to.values<std::string>().begin());
  } else if (from.NumBytes() > 0) {
    std::memcpy(to.data, from.data, from.NumBytes());
  }
}

size_t HeldBytes(const TensorView& tensor) {
  if (tensor.dtype != ir::DataType::kString) return tensor.NumBytes();
  size_t bytes = 0;
  for (const std::string& s : tensor.values<std::string>()) bytes += sizeof(std::string) + s.size();
  return bytes;
}

absl::StatusOr<Tensor> Tensor::OfStrings(ir::Shape dims, std::vector<std::string> strings) {
  size_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<size_t>(dim), &count))
      return ir::InvalidArgument(Subject(ir::DataType::kString, dims) + " cannot be");
  }
  if (count != strings.size())
    return ir::InvalidArgument(fmt::format("{} cannot hold {} strings",
                                           Subject(ir::DataType::kString, dims), strings.size()));
  Tensor tensor;
  tensor.dtype_ = ir::DataType::kString;
  tensor.dims_ = std::move(dims);
  tensor.strings_ = std::make_unique<std::vector<std::string>>(std::move(strings));
  return tensor;
}

absl::StatusOr<Tensor> Tensor::Uninitialized(ir::DataType dtype, ir::Shape dims) {
  WEFT_RETURN_IF_ERROR(CheckSizes(dtype, dims));
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.dims_ = std::move(dims);
  tensor.bytes_ = AlignedBytes(tensor.view().NumBytes());
  if (tensor.bytes_.data() == nullptr)
    return absl::ResourceExhaustedError(Subject(dtype, tensor.dims_) + ": out of memory");
  return tensor;
}

absl::StatusOr<Tensor> Tensor::Create(ir::DataType dtype, ir::Shape dims) {
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Uninitialized(dtype, std::move(dims)));
  std::memset(tensor.bytes_.data(), 0, AlignedBytes::Padded(tensor.view().NumBytes()));
  return tensor;
}

Tensor::Tensor(ir::DataType dtype, std::initializer_list<int64_t> dims) {
  absl::StatusOr<Tensor> tensor = Create(dtype, dims);
  WEFT_CHECK(tensor.ok(), ir::Message(tensor.status()));
  *this = *std::move(tensor);
}

}  // namespace weft::kernels
