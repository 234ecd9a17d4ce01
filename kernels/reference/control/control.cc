#include "kernels/reference/control/control.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::kernels::reference {

absl::StatusOr<bool> ReadCondition(const TensorView& tensor) {
  if (tensor.dtype != ir::DataType::kBool || tensor.NumElements() != 1)
    return ir::InvalidArgument("the condition is " + std::string(ir::DataTypeName(tensor.dtype)) +
                               ir::ToString(tensor.dims) + ", expected one bool");
  return static_cast<bool>(tensor.data[0]);
}

// Doubles, so that the work is linear.
absl::Status ScanOutput::Grow(size_t bytes) {
  if (bytes <= capacity_) return absl::OkStatus();
  const size_t capacity = std::max(bytes, 2 * capacity_);
  void* const grown = std::realloc(bytes_.get(), capacity);
  if (grown == nullptr)
    return absl::ResourceExhaustedError("not enough memory for the outputs of a loop");
  (void)bytes_.release();
  bytes_.reset(static_cast<std::byte*>(grown));
  capacity_ = capacity;
  return absl::OkStatus();
}

absl::Status ScanOutput::Add(const TensorView& value, size_t* total) {
  if (count_ == 0) {
    dtype_ = value.dtype;
    dims_.assign(value.dims.begin(), value.dims.end());
  } else if (value.dtype != dtype_ ||
             !std::equal(value.dims.begin(), value.dims.end(), dims_.begin(), dims_.end())) {
    return ir::InvalidArgument("a scan output has shape " + ir::ToString(dims_) + ", and " +
                               ir::ToString(value.dims) + " in iteration " +
                               std::to_string(count_));
  }
  const size_t bytes = HeldBytes(value);
  if (bytes > kMaxDynamicBytes - *total)
    return ir::InvalidArgument("the scan outputs of " + std::to_string(count_) +
                               " iterations and one more would take more than " +
                               std::to_string(kMaxDynamicBytes >> 30) + " GiB");
  *total += bytes;
  ++count_;
  if (dtype_ == ir::DataType::kString) {
    const std::span<std::string> strings = value.values<std::string>();
    strings_.insert(strings_.end(), strings.begin(), strings.end());
    return absl::OkStatus();
  }
  WEFT_RETURN_IF_ERROR(Grow(size_ + bytes));
  if (bytes > 0) std::memcpy(bytes_.get() + size_, value.data, bytes);
  size_ += bytes;
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ScanOutput::JoinStrings(ir::Shape dims, size_t outer) const {
  const auto count = static_cast<size_t>(count_);
  const size_t row = strings_.empty() ? 0 : strings_.size() / count / outer;
  std::vector<std::string> joined;
  joined.reserve(strings_.size());
  for (size_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < count && row > 0; ++i) {
      const auto from =
          static_cast<std::ptrdiff_t>(((prepend_ ? count - 1 - i : i) * outer + o) * row);
      joined.insert(joined.end(), strings_.begin() + from,
                    strings_.begin() + from + static_cast<std::ptrdiff_t>(row));
    }
  }
  return Tensor::OfStrings(std::move(dims), std::move(joined));
}

absl::StatusOr<Tensor> ScanOutput::Finish(ir::Type element) const {
  ir::Shape dims = dims_;
  ir::DataType dtype = dtype_;
  if (count_ == 0) {
    if (!element || !element.IsTensor() || element.dtype() == ir::DataType::kNull)
      return ir::Unsupported("a loop that does not run once has a scan output of unknown type");
    dtype = element.dtype();
    dims = element.HasRank() ? element.shape() : ir::Shape();
    for (int64_t& dim : dims) dim = ir::IsStaticDim(dim) ? dim : 0;
  }
  const auto rank = static_cast<int64_t>(dims.size()) + 1;
  if (axis_ < -rank || axis_ >= rank)
    return ir::InvalidArgument("axis " + std::to_string(axis_) +
                               " is outside of a scan output of rank " + std::to_string(rank));
  const auto axis = static_cast<size_t>(axis_ < 0 ? axis_ + rank : axis_);
  const size_t outer =
      static_cast<size_t>(CountElements(std::span<const int64_t>(dims).first(axis)));
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), count_);
  if (dtype == ir::DataType::kString) return JoinStrings(std::move(dims), outer);
  WEFT_ASSIGN_OR_RETURN(Tensor result, CreateDynamic(dtype, std::move(dims)));
  if (size_ == 0) return result;
  const auto count = static_cast<size_t>(count_);
  const size_t row = size_ / count / outer;  // bytes of a value behind the axis
  for (size_t i = 0; i < count; ++i) {
    const size_t at = prepend_ ? count - 1 - i : i;
    for (size_t o = 0; o < outer; ++o)
      std::memcpy(result.view().data + (o * count + at) * row, bytes_.get() + (i * outer + o) * row,
                  row);
  }
  return result;
}

absl::StatusOr<std::vector<RuntimeValue>> LoopResults(const RegionProgram& body,
                                                      std::vector<RuntimeValue> inputs,
                                                      size_t first, size_t num_carried,
                                                      const std::vector<ScanOutput>& scans,
                                                      bool has_run) {
  std::vector<ir::Type> outputs(body.num_outputs());
  if (!has_run && !scans.empty()) {
    WEFT_ASSIGN_OR_RETURN(outputs, body.OutputTypes(inputs));
  }
  std::vector<RuntimeValue> results;
  for (size_t k = 0; k < num_carried; ++k) results.push_back(std::move(inputs[first + k]));
  for (size_t s = 0; s < scans.size(); ++s) {
    WEFT_ASSIGN_OR_RETURN(Tensor joined,
                          scans[s].Finish(outputs[outputs.size() - scans.size() + s]));
    results.push_back(RuntimeValue::Of(std::move(joined)));
  }
  return results;
}

absl::Status KeepApart(const std::shared_ptr<Tensor>& reused, RuntimeValue* value) {
  if (value->owner != reused) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(Tensor copy, TakeTensor({value->view, nullptr}));
  *value = RuntimeValue::Of(std::move(copy));
  return absl::OkStatus();
}

}  // namespace weft::kernels::reference
