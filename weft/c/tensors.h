// Tensors of the C API as those of C++, and back.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "weft/c/guard.h"

namespace weft::c {

bool IsDataType(weft_dtype dtype);
size_t SizeOf(DataType dtype);  // of an element, in bytes

// Whether the fields agree with each other; `bytes` is what the tensor says it has. Element counts are those of
// dims, which do not overflow.
absl::StatusOr<Shape> CheckedDims(weft_dtype dtype, const int64_t* dims, size_t rank,
                                  const void* data, size_t num_bytes, const std::string& subject);
template <class Tensor>  // weft_tensor, weft_buffer
absl::StatusOr<Shape> CheckedDims(const Tensor& tensor, const std::string& subject) {
  return CheckedDims(tensor.dtype, tensor.dims, tensor.rank, tensor.data, tensor.num_bytes,
                     subject);
}

// Copies of strings, which tensors of inputs refer to.
using KeptStrings = std::vector<std::unique_ptr<std::vector<std::string>>>;
absl::StatusOr<TensorRef> RefOf(const weft_tensor& tensor, const std::string& subject,
                                KeptStrings* strings);

// A view of an output whose name and elements others own.
weft_tensor ViewOf(const std::string& name, const Tensor& tensor,
                   std::vector<std::vector<weft_string>>* strings);

absl::StatusOr<RunOptions> RunOptionsOf(const weft_run_options* given);

}  // namespace weft::c
