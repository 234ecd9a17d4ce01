// Tensors at run time: dense, row-major, at most as long as memory. TensorView points at memory
// that somebody else owns; Tensor owns aligned memory.
//
//   Tensor x(ir::DataType::kF32, {2, 3});  // sizes written down here
//   x.values<float>()[4] = 1;
//   TensorView view = x.view();
//   WEFT_ASSIGN_OR_RETURN(Tensor y, Tensor::Create(type.dtype(), type.shape()));  // sizes of a type
//
// Elements of type kString are objects that own their bytes: data points at the first std::string.
// NumBytes() is 0 then, for nobody may copy them as bytes; CopyElements() copies any elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "ir/type.h"

namespace weft::kernels {

inline constexpr size_t kAlignment = 64;  // of buffers that we allocate

inline int64_t CountElements(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (const int64_t dim : dims) n *= dim;
  return n;
}

// A null view (dtype kNull) stands for an optional operand that is not given.
struct TensorView {
  ir::DataType dtype = ir::DataType::kNull;
  std::span<const int64_t> dims;
  std::byte* data = nullptr;

  explicit operator bool() const { return dtype != ir::DataType::kNull; }
  int64_t NumElements() const { return CountElements(dims); }
  size_t NumBytes() const { return static_cast<size_t>(NumElements()) * ir::ElementSize(dtype); }
  template <class T>
  std::span<T> values() const {
    return {reinterpret_cast<T*>(data), static_cast<size_t>(NumElements())};
  }
};

// Memory aligned to kAlignment, with kAlignment readable bytes behind its end: vector code may read
// (never use) what follows a tensor. Null when there is not enough memory.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, Padded(size)))) {}
  std::byte* data() const { return data_.get(); }
  static size_t Padded(size_t size) { return (size / kAlignment + 2) * kAlignment; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

// From a tensor into one of the same type and size.
void CopyElements(const TensorView& from, const TensorView& to);
// The memory that a tensor takes, that of its strings included.
size_t HeldBytes(const TensorView& tensor);

class Tensor {
 public:
  Tensor() = default;
  // Zeros. InvalidArgument naming a dimension that is a symbol, unknown, or makes the tensor larger than
  // memory can be; Unsupported for elements without a fixed size (strings); ResourceExhausted when
  // there is not enough memory.
  static absl::StatusOr<Tensor> Create(ir::DataType dtype, ir::Shape dims);
  // The same with whatever is in memory, for those that write every element.
  static absl::StatusOr<Tensor> Uninitialized(ir::DataType dtype, ir::Shape dims);
  // Of strings, which Create refuses. InvalidArgument when `dims` asks for another number of them.
  static absl::StatusOr<Tensor> OfStrings(ir::Shape dims, std::vector<std::string> strings);
  // Zeros of sizes that are numbers in the code; aborts where Create refuses.
  Tensor(ir::DataType dtype, std::initializer_list<int64_t> dims);

  ir::DataType dtype() const { return dtype_; }
  const ir::Shape& dims() const { return dims_; }
  int64_t NumElements() const { return CountElements(dims_); }
  TensorView view() const {
    return {dtype_, dims_,
            strings_ ? reinterpret_cast<std::byte*>(strings_->data()) : bytes_.data()};
  }
  template <class T>
  std::span<T> values() const {
    return view().values<T>();
  }

 private:
  ir::DataType dtype_ = ir::DataType::kNull;
  ir::Shape dims_;
  AlignedBytes bytes_;
  std::unique_ptr<std::vector<std::string>> strings_;  // instead of bytes_
};

}  // namespace weft::kernels
