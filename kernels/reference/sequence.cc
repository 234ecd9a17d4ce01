// Sequences of tensors, and optionals.
#include "ir/dialects/onnx/sequence.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/reference/reference.h"
#include "kernels/reference/value_kernel.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Tensors take memory of their own even where they have no elements.
constexpr int64_t kMaxSequenceLength = 1 << 22;

template <class O>
using ValueFunction = absl::StatusOr<RuntimeValue> (*)(const AttrsOf<O>&,
                                                       const std::vector<RuntimeValue>&);

template <class O>
class OneValueKernel final : public ValueKernel {
 public:
  OneValueKernel(const KernelContext& context, ValueFunction<O> function)
      : ValueKernel(context), attrs_(context.attrs_of<O>()), function_(function) {}

 private:
  absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) override {
    absl::StatusOr<RuntimeValue> result = function_(attrs_, ValuesFrom(args, 0));
    if (!result.ok()) return ir::Annotate(result.status(), O::kInfo.name);
    return std::vector<RuntimeValue>{*std::move(result)};
  }

  const AttrsOf<O> attrs_;
  const ValueFunction<O> function_;
};

template <class O>
class RegisterValue {
 public:
  explicit RegisterValue(ValueFunction<O> function, const char* file = __builtin_FILE()) {
    function_ = function;
    AddKernelFactory(ir::Opcode::FindOrAdd(O::kInfo.name), "reference", &Make, kValueKernel, file);
  }

 private:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelContext& context) {
    return std::make_unique<OneValueKernel<O>>(context, function_);
  }
  static inline ValueFunction<O> function_ = nullptr;
};

absl::StatusOr<const Sequence*> SequenceIn(const RuntimeValue& value) {
  if (value.IsSequence()) return value.sequence.get();
  return ir::InvalidArgument("its first operand is no sequence");
}

// One integer of either type, as 0 <= position < end where negative ones count from `size`.
absl::StatusOr<size_t> ReadPosition(const RuntimeValue& value, size_t size, size_t end) {
  const TensorView& tensor = value.view;
  if ((tensor.dtype != ir::DataType::kI64 && tensor.dtype != ir::DataType::kI32) ||
      tensor.NumElements() != 1)
    return ir::InvalidArgument("the position is not one i64 or i32");
  const int64_t given = ReadInts(tensor)[0];
  const int64_t at = given < 0 ? given + static_cast<int64_t>(size) : given;
  if (at < 0 || at >= static_cast<int64_t>(end))
    return ir::InvalidArgument("position " + std::to_string(given) +
                               " is outside of a sequence of " + std::to_string(size));
  return static_cast<size_t>(at);
}

absl::Status CheckLength(size_t length) {
  if (length <= static_cast<size_t>(kMaxSequenceLength)) return absl::OkStatus();
  return ir::InvalidArgument("a sequence of " + std::to_string(length) + " tensors, more than " +
                             std::to_string(kMaxSequenceLength));
}

// --- sequences ------------------------------------------------------------------------

absl::StatusOr<RuntimeValue> SequenceEmpty(const AttrsOf<ops::SequenceEmpty>&,
                                           const std::vector<RuntimeValue>&) {
  return RuntimeValue::Of(Sequence());
}
const RegisterValue<ops::SequenceEmpty> kSequenceEmpty(&SequenceEmpty);

// `first` is the first element; null for none.
absl::Status CheckElement(const Tensor* first, const TensorView& tensor) {
  if (!tensor) return ir::InvalidArgument("an element is no tensor");
  if (first == nullptr || first->dtype() == tensor.dtype) return absl::OkStatus();
  return ir::InvalidArgument("an element is " + std::string(ir::DataTypeName(tensor.dtype)) +
                             " in a sequence of " + std::string(ir::DataTypeName(first->dtype())));
}

absl::StatusOr<RuntimeValue> SequenceConstruct(const AttrsOf<ops::SequenceConstruct>&,
                                               const std::vector<RuntimeValue>& inputs) {
  Sequence::Elements made;
  for (const RuntimeValue& input : inputs) {
    WEFT_RETURN_IF_ERROR(CheckElement(made.empty() ? nullptr : made[0].get(), input.view));
    WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Tensor> kept, KeepTensor(input));
    made.push_back(std::move(kept));
  }
  return RuntimeValue::Of(Sequence(std::move(made)));
}
const RegisterValue<ops::SequenceConstruct> kSequenceConstruct(&SequenceConstruct);

absl::StatusOr<RuntimeValue> SequenceInsert(const AttrsOf<ops::SequenceInsert>&,
                                            const std::vector<RuntimeValue>& inputs) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* const from, SequenceIn(inputs[0]));
  WEFT_RETURN_IF_ERROR(CheckElement(from->empty() ? nullptr : from->front().get(), inputs[1].view));
  WEFT_RETURN_IF_ERROR(CheckLength(from->size() + 1));
  size_t at = from->size();
  if (inputs.size() > 2 && inputs[2]) {
    WEFT_ASSIGN_OR_RETURN(at, ReadPosition(inputs[2], from->size(), from->size() + 1));
  }
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Tensor> kept, KeepTensor(inputs[1]));
  if (at == from->size()) return RuntimeValue::Of(from->WithLast(std::move(kept)));
  Sequence::Elements made;
  made.reserve(from->size() + 1);
  made.insert(made.end(), from->begin(), from->begin() + at);
  made.push_back(std::move(kept));
  made.insert(made.end(), from->begin() + at, from->end());
  return RuntimeValue::Of(Sequence(std::move(made)));
}
const RegisterValue<ops::SequenceInsert> kSequenceInsert(&SequenceInsert);

absl::StatusOr<RuntimeValue> SequenceErase(const AttrsOf<ops::SequenceErase>&,
                                           const std::vector<RuntimeValue>& inputs) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* const from, SequenceIn(inputs[0]));
  if (from->empty()) return ir::InvalidArgument("an empty sequence has nothing to erase");
  size_t at = from->size() - 1;
  if (inputs.size() > 1 && inputs[1]) {
    WEFT_ASSIGN_OR_RETURN(at, ReadPosition(inputs[1], from->size(), from->size()));
  }
  Sequence::Elements made(from->begin(), from->end());
  made.erase(made.begin() + static_cast<std::ptrdiff_t>(at));
  return RuntimeValue::Of(Sequence(std::move(made)));
}
const RegisterValue<ops::SequenceErase> kSequenceErase(&SequenceErase);

absl::StatusOr<RuntimeValue> SequenceAt(const AttrsOf<ops::SequenceAt>&,
                                        const std::vector<RuntimeValue>& inputs) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* const from, SequenceIn(inputs[0]));
  WEFT_ASSIGN_OR_RETURN(const size_t at, ReadPosition(inputs[1], from->size(), from->size()));
  return RuntimeValue::Of((*from)[at]);
}
const RegisterValue<ops::SequenceAt> kSequenceAt(&SequenceAt);

absl::StatusOr<RuntimeValue> SequenceLength(const AttrsOf<ops::SequenceLength>&,
                                            const std::vector<RuntimeValue>& inputs) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* const from, SequenceIn(inputs[0]));
  Tensor length(ir::DataType::kI64, {});
  length.values<int64_t>()[0] = static_cast<int64_t>(from->size());
  return RuntimeValue::Of(std::move(length));
}
const RegisterValue<ops::SequenceLength> kSequenceLength(&SequenceLength);

// --- to and from tensors ----------------------------------------------------------------

absl::StatusOr<int64_t> CheckedAxis(int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (axis >= -r && axis < r) return ir::NormalAxis(axis, rank);
  return ir::InvalidArgument("axis " + std::to_string(axis) + " is outside of a tensor of rank " +
                             std::to_string(rank));
}

// What `split` says about an axis of that size.
absl::StatusOr<std::vector<int64_t>> PartSizes(const RuntimeValue& split, int64_t size) {
  const bool is_list = split && !split.view.dims.empty();
  if (is_list) {
    std::vector<int64_t> sizes = ReadInts(split.view);
    int64_t left = size;
    for (const int64_t part : sizes) {
      if (part < 0 || part > left)
        return ir::InvalidArgument("split has the entry " + std::to_string(part) + " where " +
                                   std::to_string(left) + " are left");
      left -= part;
    }
    if (left != 0)
      return ir::InvalidArgument("split leaves " + std::to_string(left) + " of " +
                                 std::to_string(size));
    return sizes;
  }
  const int64_t part = split ? ReadInts(split.view)[0] : 1;
  if (part < 1)
    return ir::InvalidArgument("split is " + std::to_string(part) + ", expected 1 or more");
  const int64_t count = size / part + (size % part != 0);
  WEFT_RETURN_IF_ERROR(CheckLength(static_cast<size_t>(count)));
  std::vector<int64_t> sizes(static_cast<size_t>(count), part);
  if (size % part != 0) sizes.back() = size % part;
  return sizes;
}

absl::StatusOr<RuntimeValue> SplitToSequence(const AttrsOf<ops::SplitToSequence>& attrs,
                                             const std::vector<RuntimeValue>& inputs) {
  const TensorView& x = inputs[0].view;
  const RuntimeValue split = inputs.size() > 1 ? inputs[1] : RuntimeValue();
  WEFT_ASSIGN_OR_RETURN(const int64_t axis, CheckedAxis(attrs.axis, x.dims.size()));
  const AxisView view(x.dims, axis);
  WEFT_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, PartSizes(split, view.extent));
  WEFT_RETURN_IF_ERROR(CheckLength(sizes.size()));
  const size_t unit = static_cast<size_t>(view.inner) * ir::ElementSize(x.dtype);
  Sequence::Elements parts;
  size_t begin = 0;
  for (const int64_t size : sizes) {
    ir::Shape dims(x.dims.begin(), x.dims.end());
    dims[static_cast<size_t>(axis)] = size;
    if (!split && attrs.keepdims == 0) dims.erase(dims.begin() + axis);
    WEFT_ASSIGN_OR_RETURN(Tensor part, Tensor::Create(x.dtype, std::move(dims)));
    const size_t row = static_cast<size_t>(size) * unit;
    const size_t all = static_cast<size_t>(view.extent) * unit;
    for (size_t o = 0; row > 0 && o < static_cast<size_t>(view.outer); ++o)
      std::memcpy(part.view().data + o * row, x.data + o * all + begin, row);
    begin += row;
    parts.push_back(std::make_shared<Tensor>(std::move(part)));
  }
  return RuntimeValue::Of(Sequence(std::move(parts)));
}
const RegisterValue<ops::SplitToSequence> kSplitToSequence(&SplitToSequence);

// The dims of the joined tensor, whose axis `axis` is new or not.
absl::StatusOr<ir::Shape> JoinedDims(const Sequence& from, int64_t axis, bool is_new) {
  ir::Shape dims = from[0]->dims();
  if (is_new) dims.insert(dims.begin() + axis, 0);
  int64_t& size = dims[static_cast<size_t>(axis)];
  size = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    ir::Shape other = from[i]->dims();
    bool fits =
        from[i]->dtype() == from[0]->dtype() && other.size() + (is_new ? 1 : 0) == dims.size();
    if (fits && is_new) other.insert(other.begin() + axis, 1);
    for (size_t d = 0; fits && d < dims.size(); ++d)
      fits = other[d] == dims[d] || static_cast<int64_t>(d) == axis;
    if (!fits)
      return ir::InvalidArgument("element " + std::to_string(i) + " is " +
                                 ir::ToString(from[i]->dims()) + " but element 0 is " +
                                 ir::ToString(from[0]->dims()));
    if (__builtin_add_overflow(size, other[static_cast<size_t>(axis)], &size))
      return ir::InvalidArgument("the result is too large");
  }
  return dims;
}

absl::StatusOr<RuntimeValue> ConcatFromSequence(const AttrsOf<ops::ConcatFromSequence>& attrs,
                                                const std::vector<RuntimeValue>& inputs) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* const from, SequenceIn(inputs[0]));
  if (from->empty()) return ir::InvalidArgument("an empty sequence has nothing to join");
  const bool is_new = attrs.new_axis == 1;
  WEFT_ASSIGN_OR_RETURN(const int64_t axis,
                        CheckedAxis(attrs.axis, from->front()->dims().size() + is_new));
  WEFT_ASSIGN_OR_RETURN(ir::Shape dims, JoinedDims(*from, axis, is_new));
  WEFT_ASSIGN_OR_RETURN(Tensor joined, CreateDynamic(from->front()->dtype(), std::move(dims)));
  const AxisView view(joined.dims(), axis);
  const auto outer = static_cast<size_t>(view.outer);
  const size_t all = joined.view().NumBytes() / std::max<size_t>(1, outer);
  size_t begin = 0;
  for (const std::shared_ptr<Tensor>& tensor : *from) {
    const size_t row = tensor->view().NumBytes() / std::max<size_t>(1, outer);
    for (size_t o = 0; row > 0 && o < outer; ++o)
      std::memcpy(joined.view().data + o * all + begin, tensor->view().data + o * row, row);
    begin += row;
  }
  return RuntimeValue::Of(std::move(joined));
}
const RegisterValue<ops::ConcatFromSequence> kConcatFromSequence(&ConcatFromSequence);

// --- optionals --------------------------------------------------------------------------

absl::StatusOr<RuntimeValue> MakeOptional(const AttrsOf<ops::OptionalOp>&,
                                          const std::vector<RuntimeValue>& inputs) {
  return inputs.empty() ? RuntimeValue() : inputs[0];
}
const RegisterValue<ops::OptionalOp> kOptional(&MakeOptional);

absl::StatusOr<RuntimeValue> OptionalGetElement(const AttrsOf<ops::OptionalGetElement>&,
                                                const std::vector<RuntimeValue>& inputs) {
  if (!inputs[0]) return ir::InvalidArgument("the optional has no element");
  return inputs[0];
}
const RegisterValue<ops::OptionalGetElement> kOptionalGetElement(&OptionalGetElement);

absl::StatusOr<RuntimeValue> OptionalHasElement(const AttrsOf<ops::OptionalHasElement>&,
                                                const std::vector<RuntimeValue>& inputs) {
  Tensor has(ir::DataType::kBool, {});
  has.view().data[0] = std::byte{!inputs.empty() && inputs[0]};
  return RuntimeValue::Of(std::move(has));
}
const RegisterValue<ops::OptionalHasElement> kOptionalHasElement(&OptionalHasElement);

}  // namespace
}  // namespace weft::kernels::reference
