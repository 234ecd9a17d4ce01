// Values at run time. A value is a tensor, a sequence of tensors, or nothing. An optional is its
// element, or nothing when it has none; an operand or input that is not given is nothing, too.
//
//   RuntimeValue x = RuntimeValue::Of(std::move(tensor));
//   RuntimeValue s = RuntimeValue::Of(Sequence{x.owner, x.owner});
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/tensor.h"

namespace weft::kernels {

// Elements are shared: a sequence with one element more copies pointers.
using Sequence = std::vector<std::shared_ptr<Tensor>>;

struct RuntimeValue {
  TensorView view;                             // of a tensor
  std::shared_ptr<Tensor> owner{};             // of its memory; null: somebody who outlives the run
  std::shared_ptr<const Sequence> sequence{};  // never changes

  static RuntimeValue Of(Tensor tensor) { return Of(std::make_shared<Tensor>(std::move(tensor))); }
  static RuntimeValue Of(std::shared_ptr<Tensor> tensor) {
    const TensorView view = tensor->view();
    return {view, std::move(tensor)};
  }
  static RuntimeValue Of(Sequence sequence) {
    return {.view = {}, .sequence = std::make_shared<const Sequence>(std::move(sequence))};
  }

  bool IsTensor() const { return static_cast<bool>(view); }
  bool IsSequence() const { return sequence != nullptr; }
  explicit operator bool() const { return IsTensor() || IsSequence(); }
};

// The tensor in `value`, which nobody needs any more: a copy unless nobody else owns it.
absl::StatusOr<Tensor> TakeTensor(RuntimeValue&& value);
// The tensor in `value` to keep: a copy where somebody owns it who is not known.
absl::StatusOr<std::shared_ptr<Tensor>> KeepTensor(const RuntimeValue& value);

}  // namespace weft::kernels
