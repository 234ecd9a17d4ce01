#include <fmt/format.h>

#include <algorithm>

#include "passes/verify/proof/op_meaning.h"

namespace weft::passes {

// The source is valid, so what its tensors require is known.
Tensor* OpMeanings::Made(Tensor* tensor) {
  if (!tensor->of_result) tensor->Check();
  return tensor;
}

std::vector<Tensor*> OpMeanings::Transpose(const ProofOp& op) {
  Tensor& x = *op.operands[0];
  const auto perm = op.attrs.find("perm");
  if (perm != op.attrs.end())
    if (const ir::Attribute known = Chosen(perm->second);
        known && !HasRank(x, known.AsInts().size()))
      return {};
  const std::vector<size_t> axes = Permutation(op, "perm", x.Rank());
  if (!c_.open()) return {};
  return {Made(c_.Make<Transposed>(x, axes))};
}

// Whether the shape is those sizes with 1s in front, which move no element.
bool OpMeanings::OnlyLeads(const std::vector<Term>& sizes, const std::vector<Term>& shape) const {
  if (shape.size() < sizes.size()) return false;
  const auto own = shape.end() - static_cast<std::ptrdiff_t>(sizes.size());
  return std::equal(own, shape.end(), sizes.begin()) &&
         std::all_of(shape.begin(), own, [&](Term size) { return size == c_.terms().Integer(1); });
}

// One -1 is what is left; 0 copies a size.
std::vector<Tensor*> OpMeanings::Reshape(const ProofOp& op) {
  Terms& t = c_.terms();
  Tensor& x = *op.operands[0];
  const std::vector<Term> target = IntegersOf(*op.operands[1], true);
  const bool copies = op.attrs.count("allowzero") == 0 || Integer(op, "allowzero", 0, 1) == 0;
  if (!c_.open()) return {};
  const size_t rank = copies ? x.Rank() : target.size();
  if (!c_.open()) return {};
  if (!copies && OnlyLeads(x.Dims(), target)) return {c_.Make<Expanded>(x, target)};
  std::vector<Term> sizes, rest = {x.NumElements()};
  const bool is_plain = std::all_of(target.begin(), target.end(), [&](Term size) {
    return c_.IsFact(t.AtMost(t.Integer(1), size));
  });
  if (is_plain) return {Made(c_.Make<Reshaped>(x, target))};
  for (size_t i = 0; i < target.size(); ++i) {
    const Term is_zero = t.Equal(target[i], t.Integer(0));
    if (copies && i >= rank) c_.Require(t.Not(is_zero), c_.of_result());
    sizes.push_back(copies && i < rank ? t.If(is_zero, x.Dims()[i], target[i]) : target[i]);
  }
  rest.insert(rest.end(), sizes.begin(), sizes.end());
  for (Term& size : sizes) {
    const Term is_rest = t.Equal(size, t.Integer(-1));
    size = t.If(is_rest, t.Apply(Sort::kInt, "what is left of", rest), size);
    c_.Require(t.AtMost(t.Integer(0), size), c_.of_result());
  }
  return {Made(c_.Make<Reshaped>(x, sizes))};
}

std::vector<Tensor*> OpMeanings::Flatten(const ProofOp& op) {
  Terms& t = c_.terms();
  Tensor& x = *op.operands[0];
  const auto rank = static_cast<int64_t>(x.Rank());
  const int64_t axis = Integer(op, "axis", -rank, rank);
  if (!c_.open()) return {};
  const auto middle = x.Dims().begin() + (axis < 0 ? axis + rank : axis);
  return {Made(c_.Make<Reshaped>(x, std::vector<Term>{t.Product({x.Dims().begin(), middle}),
                                                      t.Product({middle, x.Dims().end()})}))};
}

std::vector<Tensor*> OpMeanings::Expand(const ProofOp& op) {
  Terms& t = c_.terms();
  Tensor& x = *op.operands[0];
  const Term one = t.Integer(1);
  const bool is_wider = result_rank_ && x.Rank() < *result_rank_;  // by the list alone
  std::vector<Term> dims = IntegersOf(*op.operands[1], is_wider), own = x.Dims();
  if (!c_.open()) return {};
  dims.insert(dims.begin(), own.size() - std::min(own.size(), dims.size()), one);
  for (size_t i = 0; i < own.size(); ++i) {
    Term& dim = dims[i + dims.size() - own.size()];
    const Term is_one = t.Equal(own[i], one), repeats_one = t.Equal(dim, one);
    c_.Require(t.Or(t.Equal(own[i], dim), t.Or(is_one, repeats_one)), c_.of_result());
    dim = t.If(is_one, dim, own[i]);
  }
  for (const Term dim : dims) c_.Require(t.AtMost(t.Integer(0), dim), c_.of_result());
  return {c_.Make<Expanded>(x, dims)};
}

// Of a tensor of one number; its sizes are what the program says.
std::vector<Tensor*> OpMeanings::PdExpand(const ProofOp& op) {
  const Term element = op.operands[0]->Uniform();
  if (!element) return AnyFunction(op);
  auto* expanded = static_cast<Leaf*>(Unknown(op.name));
  expanded->uniform = element;
  return {expanded};
}

std::vector<Tensor*> OpMeanings::Concat(const ProofOp& op) {
  if (op.operands.empty()) {
    c_.NeverApply();
    return {};
  }
  const size_t rank = op.operands[0]->Rank();
  const size_t axis = rank == 0 ? 0 : Axis(op, "axis", rank);
  if (rank == 0) HasRank(*op.operands[0], 1);
  for (Tensor* operand : op.operands)
    if (!c_.open() || !HasRank(*operand, rank)) return {};
  return {Made(c_.Make<Joined>(op.operands, axis))};
}

std::vector<Tensor*> OpMeanings::Gather(const ProofOp& op) {
  Tensor &data = *op.operands[0], &indices = *op.operands[1];
  if (data.Rank() == 0) HasRank(data, 1);
  if (!c_.open()) return {};
  const size_t axis = Axis(op, "axis", data.Rank());
  indices.Rank();
  if (!c_.open()) return {};
  return {c_.Make<Gathered>(data, indices, axis)};
}

// Of ops whose elements are some of x, in places that no element of x decides.
std::vector<Tensor*> OpMeanings::Movement(const ProofOp& op) {
  Tensor& x = *op.operands[0];
  std::string key = KeyOf(op);
  for (size_t i = 1; i < op.operands.size(); ++i)
    key += op.operands[i] == nullptr ? " -" : fmt::format(" {}", op.operands[i]->id);
  x.Rank();
  if (!c_.open()) return {};
  return {c_.Make<Moved>(x, key)};
}

// A movement where elements are the nearest ones of x.
std::vector<Tensor*> OpMeanings::Resize(const ProofOp& op) {
  const auto place = op.attrs.find("coordinate_transformation_mode");
  const ir::Attribute mode = place == op.attrs.end() ? ir::Attribute() : Chosen(place->second);
  const bool is_crop = !mode.Is(ir::AttrKind::kString) || mode.AsString() == "tf_crop_and_resize";
  if (is_crop) return AnyFunction(op);  // of roi, too, and it may make other elements
  ProofOp what = op;
  if (what.operands.size() > 1) what.operands[1] = nullptr;
  while (what.operands.back() == nullptr) what.operands.pop_back();
  return IsDefault(op, "mode") ? Movement(what) : AnyFunction(what);
}

// The elements of x in the shape that some function of the operands gives.
std::vector<Tensor*> OpMeanings::View(const ProofOp& op) {
  const Results shaped = AnyFunction(op);
  if (shaped.empty() || !c_.open()) return {};
  shaped[0]->Rank();
  if (!c_.open()) return {};
  return {Made(c_.Make<Reshaped>(*op.operands[0], shaped[0]->Dims()))};
}

std::vector<Tensor*> OpMeanings::Tile(const ProofOp& op) {
  Terms& t = c_.terms();
  Tensor& x = *op.operands[0];
  const std::vector<Term> repeats = IntegersOf(*op.operands[1]);
  if (!c_.open() || !HasRank(x, repeats.size())) return {};
  std::vector<Term> dims;
  for (size_t i = 0; i < repeats.size(); ++i) {
    c_.Require(t.AtMost(t.Integer(0), repeats[i]), c_.of_result());
    dims.push_back(t.Times(x.Dims()[i], repeats[i]));
  }
  return {c_.Make<Tiled>(x, dims)};
}

// Some integers where not all sizes are asked for.
std::vector<Tensor*> OpMeanings::Shape(const ProofOp& op) {
  Terms& t = c_.terms();
  const TypeClass type = c_.TypeNamed("i64", TypeBit(ir::DataType::kI64));
  Tensor& x = *op.operands[0];
  if (IsDefault(op, "start") && IsDefault(op, "end")) {
    x.Rank();
    if (!c_.open()) return {};
    return {c_.Make<IntegerList>(type, x.Dims())};
  }
  if (c_.of_result()) return AnyFunction(op, 1);
  std::vector<Term> sizes;
  const size_t id = c_.num_tensors();
  for (size_t i = c_.Choose(kMaxProofRank + 1, "sizes of a shape"); i > 0; --i)
    sizes.push_back(t.Variable(Sort::kInt, fmt::format("size {} of shape {}", i, id)));
  return {c_.Make<IntegerList>(type, sizes)};
}

}  // namespace weft::passes
