#include "weft/c/tensors.h"

#include <span>

#include "ir/type.h"
#include "weft/c/interrupt.h"

namespace weft::c {

static_assert(WEFT_F32 == static_cast<int>(DataType::kF32) &&
              WEFT_STRING == static_cast<int>(DataType::kString) &&
              WEFT_F64 == static_cast<int>(DataType::kF64) &&
              WEFT_BF16 == static_cast<int>(DataType::kBF16) &&
              WEFT_F8E5M2FNUZ == static_cast<int>(DataType::kF8E5M2FNUZ) &&
              WEFT_I2 == static_cast<int>(DataType::kI2));

bool IsDataType(weft_dtype dtype) { return dtype >= WEFT_F32 && dtype <= WEFT_I2; }

size_t SizeOf(DataType dtype) {
  return dtype == DataType::kString ? sizeof(weft_string) : ir::ElementSize(dtype);
}

absl::StatusOr<Shape> CheckedDims(weft_dtype dtype, const int64_t* given, size_t rank,
                                  const void* data, size_t num_bytes, const std::string& subject) {
  if (!IsDataType(dtype))
    return ir::InvalidArgument(fmt::format("{} has dtype {}, which is none", subject, dtype));
  if (rank > 0) WEFT_RETURN_IF_ERROR(CheckNotNull(given, (subject + ": dims").c_str()));
  Shape dims(given, given + rank);
  uint64_t bytes = SizeOf(static_cast<DataType>(dtype));
  bool too_large = false, empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0)
      return ir::InvalidArgument(fmt::format("{} has a dimension of size {}", subject, dim));
    empty |= dim == 0;
    too_large |= __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes);
  }
  if (empty) bytes = 0;
  if ((too_large && !empty) || bytes != num_bytes)
    return ir::InvalidArgument(
        fmt::format("{} has {} bytes, but {} {} needs {}", subject, num_bytes,
                    ir::DataTypeName(static_cast<DataType>(dtype)), ir::ToString(dims),
                    too_large ? "more than there are" : std::to_string(bytes)));
  if (bytes > 0) WEFT_RETURN_IF_ERROR(CheckNotNull(data, (subject + ": data").c_str()));
  return dims;
}

absl::StatusOr<TensorRef> RefOf(const weft_tensor& tensor, const std::string& subject,
                                KeptStrings* kept) {
  WEFT_ASSIGN_OR_RETURN(Shape dims, CheckedDims(tensor, subject));
  const auto dtype = static_cast<DataType>(tensor.dtype);
  if (dtype != DataType::kString)
    return TensorRef(dtype, const_cast<void*>(tensor.data), std::move(dims));
  const std::span given(static_cast<const weft_string*>(tensor.data),
                        tensor.num_bytes / sizeof(weft_string));
  auto strings = std::make_unique<std::vector<std::string>>();
  for (const weft_string& string : given) {
    if (string.num_bytes > 0) WEFT_RETURN_IF_ERROR(CheckNotNull(string.data, "a string"));
    strings->emplace_back(string.num_bytes > 0 ? string.data : "", string.num_bytes);
  }
  TensorRef ref(DataType::kString, strings->data(), std::move(dims));
  kept->push_back(std::move(strings));
  return ref;
}

weft_tensor ViewOf(const std::string& name, const Tensor& tensor,
                   std::vector<std::vector<weft_string>>* strings) {
  weft_tensor view = {};
  view.size = sizeof(view);
  view.name = name.c_str();
  view.dims = tensor.dims().data();
  view.rank = tensor.dims().size();
  view.dtype = static_cast<weft_dtype>(tensor.dtype());
  view.data = tensor.view().data;
  view.num_bytes = static_cast<size_t>(tensor.NumElements()) * SizeOf(tensor.dtype());
  if (tensor.dtype() == DataType::kString) {
    std::vector<weft_string>& views = strings->emplace_back();
    for (const std::string& string : tensor.values<std::string>())
      views.push_back({string.c_str(), string.size()});
    view.data = views.data();
  }
  return view;
}

absl::StatusOr<RunOptions> RunOptionsOf(const weft_run_options* given) {
  WEFT_ASSIGN_OR_RETURN(const weft_run_options read, Read(given, "weft_run_options"));
  RunOptions options{.stop = StopOf(read.stop, read.user_data)};
  if (read.stop_at_interrupt != 0)
    options.stop = [asked = std::move(options.stop), watch = std::make_shared<InterruptWatch>()] {
      return (asked && asked()) || watch->interrupted();
    };
  return options;
}

}  // namespace weft::c
