// Values at run time. A value is a tensor, of strings too, a sequence of tensors, or nothing. An optional is its
// element, or nothing when it has none; an operand or input that is not given is nothing, too.
//
//   RuntimeValue x = RuntimeValue::Of(std::move(tensor));
//   RuntimeValue s = RuntimeValue::Of(Sequence({x.owner, x.owner}));
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/tensor.h"

namespace weft::kernels {

// A list of shared tensors that never changes. A list with one tensor more at its end may share what
// it is kept in, so that appending again and again takes constant time each. Not for several threads:
// a session copies the lists that it is given.
class Sequence {
 public:
  using Elements = std::vector<std::shared_ptr<Tensor>>;
  Sequence() = default;
  explicit Sequence(Elements elements)
      : size_(elements.size()), kept_(std::make_shared<Elements>(std::move(elements))) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // These are valid until somebody appends.
  const std::shared_ptr<Tensor>* begin() const {
    return kept_ == nullptr ? nullptr : kept_->data();
  }
  const std::shared_ptr<Tensor>* end() const { return begin() + size_; }
  const std::shared_ptr<Tensor>& operator[](size_t i) const { return begin()[i]; }
  const std::shared_ptr<Tensor>& front() const { return *begin(); }

  Sequence WithLast(std::shared_ptr<Tensor> last) const {
    Sequence longer;
    const bool is_longest = kept_ != nullptr && kept_->size() == size_;
    longer.kept_ = is_longest ? kept_ : std::make_shared<Elements>(begin(), end());
    longer.kept_->push_back(std::move(last));
    longer.size_ = size_ + 1;
    return longer;
  }

 private:
  size_t size_ = 0;
  std::shared_ptr<Elements> kept_;  // and, behind those, what longer lists have
};

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
