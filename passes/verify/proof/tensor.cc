#include "passes/verify/proof/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::passes {
namespace {

Term PositionOf(Terms& t, const std::vector<Term>& index, const std::vector<Term>& dims) {
  Term position = t.Integer(0);
  for (size_t i = 0; i < dims.size(); ++i) position = t.Plus(t.Times(position, dims[i]), index[i]);
  return position;
}

std::vector<Term> IndexOf(Terms& t, Term position, const std::vector<Term>& dims) {
  std::vector<Term> index(dims.size());
  Term stride = t.Integer(1);
  for (size_t i = dims.size(); i-- > 0;) {
    const Term row = t.Quotient(position, stride);
    index[i] = t.IsInteger(dims[i], 1) ? t.Integer(0) : i == 0 ? row : t.Remainder(row, dims[i]);
    stride = t.Times(stride, dims[i]);
  }
  return index;
}

// Those of an operand of lower rank, which lies at the end.
std::vector<Term> OperandIndex(Terms& t, Tensor& operand, const std::vector<Term>& dims,
                               const std::vector<Term>& index) {
  const std::vector<Term>& own = operand.Dims();
  std::vector<Term> result(own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    const size_t at = i + dims.size() - own.size();
    result[i] = BroadcastIndex(t, own[i], dims[at], index[at]);
  }
  return result;
}

}  // namespace

Term BroadcastIndex(Terms& t, Term dim, Term result_dim, Term index) {
  if (dim == result_dim) return index;
  return t.If(t.Equal(dim, t.Integer(1)), t.Integer(0), index);
}

bool VariesAlongLast(Tensor& tensor) {
  const std::vector<Term>& dims = tensor.Dims();
  return dims.empty() || std::all_of(dims.begin(), dims.end() - 1,
                                     [&](Term dim) { return tensor.c.terms().IsInteger(dim, 1); });
}

Term Whole(Terms& t, const Tensor* tensor) {
  return t.Variable(Sort::kElement,
                    tensor == nullptr ? "nothing" : "all of " + std::to_string(tensor->id));
}

Term Tensor::AtPosition(Term position) { return At(IndexOf(c.terms(), position, Dims())); }
bool Tensor::HasOneSize() { return c.terms().IsInteger(c.terms().Product(Dims()), 1); }
Term Tensor::NumElements() { return c.terms().Product(Dims()); }

Leaf::Leaf(Case& owner, TypeClass type, std::string name, std::optional<size_t> rank)
    : Tensor(owner, type), name_(std::move(name)) {
  if (rank) MakeDims(*rank);
  c.NoteElements(name_, type);
  c.NoteElements(name_ + " by position", type);
}

size_t Leaf::Rank() {
  if (!rank_) MakeDims(c.Choose(kMaxProofRank + 1, "rank of " + name_));
  return *rank_;
}
const std::vector<Term>& Leaf::Dims() {
  Rank();
  return dims_;
}
bool Leaf::SetRank(size_t rank) {
  if (!rank_ && !c.of_result() && rank <= kMaxProofRank) MakeDims(rank);
  return Rank() == rank;
}

void Leaf::MakeDims(size_t rank) {
  Terms& t = c.terms();
  rank_ = rank;
  for (size_t i = 0; i < rank; ++i) {
    const Term size = t.Variable(Sort::kInt, name_ + ".size" + std::to_string(i));
    const bool is_choice = unit_sizes || only_last;
    const bool is_one = one_element || (only_last && i + 1 < rank) ||
                        (is_choice && c.Choose(2, "whether " + name_ + " has sizes of 1") == 1);
    dims_.push_back(is_one ? t.Integer(1) : size);
    if (is_one) continue;
    c.Assume(t.AtMost(t.Integer(0), size));
    if (only_last) c.Assume(t.Not(t.Equal(size, t.Integer(1))));
  }
}

Term Leaf::At(const std::vector<Term>& index) {
  if (uniform) return uniform;
  if (c.by_position()) return AtPosition(PositionOf(c.terms(), index, Dims()));
  if (index.empty()) return c.terms().Variable(Sort::kElement, name_);
  return c.terms().Apply(Sort::kElement, name_, index);
}
Term Leaf::AtPosition(Term position) {
  if (uniform) return uniform;
  if (!c.by_position()) return Tensor::AtPosition(position);
  return c.terms().Apply(Sort::kElement, name_ + " by position", {position});
}

Term IntegerList::At(const std::vector<Term>& index) {
  Terms& t = c.terms();
  const auto element = [&](Term integer) { return t.Apply(Sort::kElement, "integer", {integer}); };
  Term result = t.Variable(Sort::kElement, "none of a list");
  for (size_t i = integers.size(); i-- > 0;)
    result =
        t.If(t.Equal(index[0], t.Integer(static_cast<int64_t>(i))), element(integers[i]), result);
  return result;
}

namespace {

std::vector<Term> Permuted(const std::vector<Term>& dims, const std::vector<size_t>& perm) {
  std::vector<Term> permuted;
  permuted.reserve(perm.size());
  for (const size_t axis : perm) permuted.push_back(dims[axis]);
  return permuted;
}

// Parts that are themselves joined along the axis, by theirs.
std::vector<Tensor*> Parts(const std::vector<Tensor*>& tensors, size_t axis) {
  std::vector<Tensor*> parts;
  for (Tensor* tensor : tensors) {
    const auto* joined = dynamic_cast<const Joined*>(tensor);
    if (joined != nullptr && joined->axis() == axis) {
      parts.insert(parts.end(), joined->parts().begin(), joined->parts().end());
    } else {
      parts.push_back(tensor);
    }
  }
  return parts;
}

std::vector<Term> JoinedDims(Terms& t, const std::vector<Tensor*>& parts, size_t axis) {
  std::vector<Term> dims = parts[0]->Dims();
  for (size_t i = 1; i < parts.size(); ++i) dims[axis] = t.Plus(dims[axis], parts[i]->Dims()[axis]);
  return dims;
}

std::vector<Term> GatheredDims(Tensor& data, Tensor& indices, size_t axis) {
  std::vector<Term> dims = data.Dims();
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(at, indices.Dims().begin(), indices.Dims().end());
  return dims;
}

// One for each dimension of x.
std::vector<Term> Functions(Terms& t, Tensor& x, const std::string& name,
                            const std::vector<Term>& arguments) {
  std::vector<Term> values;
  for (size_t i = 0; i < x.Rank(); ++i)
    values.push_back(t.Apply(Sort::kInt, fmt::format("{} {}", name, i), arguments));
  return values;
}

}  // namespace

Transposed::Transposed(Case& owner, Tensor& x, std::vector<size_t> perm)
    : Shaped(owner, x.type, Permuted(x.Dims(), perm)), x_(x), perm_(std::move(perm)) {}

Term Transposed::At(const std::vector<Term>& index) {
  std::vector<Term> from(index.size());
  for (size_t i = 0; i < perm_.size(); ++i) from[perm_[i]] = index[i];
  return x_.At(from);
}
// Where only sizes of 1 move, the elements stay in row order.
Term Transposed::AtPosition(Term position) {
  size_t last = 0;
  for (const size_t axis : perm_) {
    if (c.terms().IsInteger(x_.Dims()[axis], 1)) continue;
    if (axis < last) return Tensor::AtPosition(position);
    last = axis;
  }
  return x_.AtPosition(position);
}

Term Reshaped::At(const std::vector<Term>& index) {
  return x_.AtPosition(PositionOf(c.terms(), index, Dims()));
}
void Reshaped::Check() {
  Terms& t = c.terms();
  if (of_result && c.HasProvedSize(*this, x_.NumElements())) return;
  c.Require(t.Equal(t.Product(Dims()), x_.NumElements()), of_result);
}

Term Expanded::At(const std::vector<Term>& index) {
  return x_.At(OperandIndex(c.terms(), x_, Dims(), index));
}

Term Tiled::At(const std::vector<Term>& index) {
  Terms& t = c.terms();
  std::vector<Term> from;
  for (size_t i = 0; i < index.size(); ++i) {
    const Term dim = x_.Dims()[i];
    from.push_back(t.If(t.Equal(dim, Dims()[i]), index[i], t.Remainder(index[i], dim)));
  }
  return x_.At(from);
}

Joined::Joined(Case& owner, const std::vector<Tensor*>& parts, size_t axis)
    : Shaped(owner, parts[0]->type, JoinedDims(owner.terms(), parts, axis)),
      parts_(Parts(parts, axis)),
      axis_(axis) {}

void Joined::Check() {
  for (Tensor* part : parts_)
    for (size_t i = 0; i < Rank(); ++i)
      if (i != axis_) c.Require(c.terms().Equal(part->Dims()[i], Dims()[i]), of_result);
}

Term Joined::At(const std::vector<Term>& index) {
  Terms& t = c.terms();
  Term end = t.Integer(0);
  std::vector<Term> elements, ends;
  for (Tensor* part : parts_) {
    std::vector<Term> from = index;
    from[axis_] = t.Minus(index[axis_], end);
    elements.push_back(part->At(from));
    ends.push_back(end = t.Plus(end, part->Dims()[axis_]));
  }
  Term result = elements.back();
  for (size_t i = parts_.size() - 1; i-- > 0;)
    result = t.If(t.Less(index[axis_], ends[i]), elements[i], result);
  return result;
}

Gathered::Gathered(Case& owner, Tensor& data, Tensor& indices, size_t axis)
    : Shaped(owner, data.type, GatheredDims(data, indices, axis)),
      data_(data),
      indices_(indices),
      axis_(axis) {}

Term Gathered::At(const std::vector<Term>& index) {
  Terms& t = c.terms();
  const auto from = index.begin() + static_cast<std::ptrdiff_t>(axis_);
  const auto to = from + static_cast<std::ptrdiff_t>(indices_.Rank());
  const Term entry =
      t.Apply(Sort::kInt, "entry", {indices_.At(std::vector<Term>(from, to)), data_.Dims()[axis_]});
  std::vector<Term> place(index.begin(), from);
  place.push_back(entry);
  place.insert(place.end(), to, index.end());
  return data_.At(place);
}

Moved::Moved(Case& owner, Tensor& x, std::string key)
    : Shaped(owner, x.type, Functions(owner.terms(), x, "size of " + key, x.Dims())),
      x_(x),
      key_(std::move(key)) {}

Term Moved::At(const std::vector<Term>& index) {
  std::vector<Term> arguments = index;
  arguments.insert(arguments.end(), x_.Dims().begin(), x_.Dims().end());
  return x_.At(Functions(c.terms(), x_, "place of " + key_, arguments));
}

Elementwise::Elementwise(Case& owner, TypeClass type, std::string function,
                         std::vector<Tensor*> operands, std::vector<Term> everywhere,
                         bool commutative)
    : Tensor(owner, type),
      operands_(std::move(operands)),
      function_(std::move(function)),
      everywhere_(std::move(everywhere)),
      commutative_(commutative && operands_.size() == 2 && everywhere_.empty()) {
  if (commutative_) c.NoteCommutative(function_);
}

size_t Elementwise::Rank() {
  size_t rank = 0;
  for (Tensor* operand : operands_) rank = std::max(rank, operand->Rank());
  return rank;
}
bool Elementwise::SetRank(size_t rank) {
  return operands_.size() == 1 ? operands_[0]->SetRank(rank) : Rank() == rank;
}

// A tensor of the source has broadcast the same operands.
void Elementwise::Check() {
  if (operands_.size() == 1) return;
  for (const auto& tensor : c.tensors()) {
    const auto* other = dynamic_cast<const Elementwise*>(tensor.get());
    if (of_result && other != nullptr && !other->of_result && other->operands_ == operands_) return;
  }
  Dims();
}

const std::vector<Term>& Elementwise::Dims() {
  if (operands_.size() == 1) return operands_[0]->Dims();
  if (dims_) return *dims_;
  Terms& t = c.terms();
  const Term one = t.Integer(1);
  const size_t rank = Rank();
  std::vector<Term> dims(rank, one);
  for (Tensor* operand : operands_) {
    const std::vector<Term>& own = operand->Dims();
    for (size_t i = 0; i < own.size(); ++i) {
      Term& dim = dims[i + rank - own.size()];
      if (dim == own[i] || t.IsInteger(own[i], 1)) continue;
      if (!t.IsInteger(dim, 1)) {
        const Term is_one = t.Equal(dim, one);
        c.Require(t.Or(t.Equal(dim, own[i]), t.Or(is_one, t.Equal(own[i], one))), of_result);
        dim = t.If(is_one, own[i], dim);
      } else {
        dim = own[i];
      }
    }
  }
  dims_ = std::move(dims);
  return *dims_;
}

Term Elementwise::Apply(std::vector<Term> elements) {
  if (commutative_ && elements[1] < elements[0]) std::swap(elements[0], elements[1]);
  elements.insert(elements.end(), everywhere_.begin(), everywhere_.end());
  return c.terms().Apply(Sort::kElement, function_, std::move(elements));
}

Term Elementwise::At(const std::vector<Term>& index) {
  std::vector<Term> elements;
  for (Tensor* operand : operands_)
    elements.push_back(operand->At(OperandIndex(c.terms(), *operand, Dims(), index)));
  return Apply(std::move(elements));
}

Term Elementwise::AtPosition(Term position) {
  std::vector<Term> elements;
  for (Tensor* operand : operands_) {
    if (const Term uniform = operand->Uniform()) {
      elements.push_back(uniform);
    } else if (operand->Dims() == Dims()) {
      elements.push_back(operand->AtPosition(position));
    } else {
      return Tensor::AtPosition(position);
    }
  }
  return Apply(std::move(elements));
}

Term Elementwise::NumElements() {
  return operands_.size() == 1 ? operands_[0]->NumElements() : Tensor::NumElements();
}

bool Elementwise::IsTwin(const Tensor& other) const {
  const auto* twin = dynamic_cast<const Elementwise*>(&other);
  if (twin == nullptr || twin->function_ != function_ || twin->everywhere_ != everywhere_)
    return false;
  if (twin->operands_ == operands_) return true;
  return commutative_ && twin->operands_ == std::vector<Tensor*>{operands_[1], operands_[0]};
}

namespace {

Term IsTrue(Terms& t, Term element) {
  const TermNode node = t[element];
  if (node.kind == TermNode::kNumber) return t.Bool(node.number != 0);
  if (node.kind == TermNode::kApply && node.name == "onnx.Not")
    return t.Not(IsTrue(t, node.arguments[0]));
  if (node.kind == TermNode::kIf) {
    const std::vector<Term>& of = node.arguments;
    return t.If(of[0], IsTrue(t, of[1]), IsTrue(t, of[2]));
  }
  return t.Apply(Sort::kBool, "is true", {element});
}

}  // namespace

Term Selected::Apply(std::vector<Term> elements) {
  Terms& t = c.terms();
  return t.If(IsTrue(t, elements[0]), elements[1], elements[2]);
}

Converted::Converted(Case& owner, Tensor& x, TypeClass to, std::string function)
    : Elementwise(owner, to, std::move(function), {&x}, {}, false), x_(x) {}

Tensor& Converted::Source() {
  auto* before = dynamic_cast<Converted*>(&x_);
  if (before != nullptr && c.CastsCompose(before->x_.type, before->type, type)) return before->x_;
  return x_;
}
Term Converted::At(const std::vector<Term>& index) {
  Tensor& source = Source();
  return c.SameType(source.type, type) ? source.At(index) : Apply({source.At(index)});
}
Term Converted::AtPosition(Term position) {
  Tensor& source = Source();
  return c.SameType(source.type, type) ? source.AtPosition(position)
                                       : Apply({source.AtPosition(position)});
}

}  // namespace weft::passes
