// Matrix products and convolutions: some functions of both operands, of which a factor of one is a factor.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/context.h"
#include "passes/verify/proof/op_meaning.h"

namespace weft::passes {

// x without the numbers that all of it is multiplied with or divided by, if floats are real numbers.
Tensor* OpMeanings::WithoutFactors(Tensor* x, std::vector<Term>* factors) {
  Terms& t = c_.terms();
  while (const auto* scaled = dynamic_cast<const Elementwise*>(x)) {
    const bool divides = scaled->function() == "onnx.Div";
    if ((!divides && scaled->function() != "onnx.Mul") || scaled->operands().size() != 2) return x;
    Tensor* rest = nullptr;
    for (const size_t i : {1U, 0U}) {
      Tensor *factor = scaled->operands()[i], *other = scaled->operands()[1 - i];
      if (rest != nullptr || (divides && i == 0) || !factor->HasOneElement() ||
          !factor->Uniform() || factor->Rank() > other->Rank() || !c_.ReadsReals())
        continue;
      rest = other;
      const Term number = factor->Uniform();
      factors->push_back(divides ? t.Apply(Sort::kElement, "onnx.Div", {t.Number(1), number})
                                 : number);
    }
    if (rest == nullptr) return x;
    x = rest;
  }
  return x;
}

Tensor* OpMeanings::TimesAll(const std::vector<Term>& factors, Tensor* y) {
  for (const Term factor : factors)
    if (y != nullptr) y = Call("onnx.Mul", {y, NumberLike(*y, factor)});
  return y;
}

// x, of this rank or a higher one, without what has a number for each place of its last axis that all there is
// multiplied with, likewise; what has one element by its sizes is a number.
Tensor* OpMeanings::WithoutLastFactors(Tensor* x, size_t least_rank, std::vector<Term>* numbers,
                                       std::vector<Tensor*>* factors) {
  Terms& t = c_.terms();
  while (const auto* scaled = dynamic_cast<const Elementwise*>(x)) {
    if (scaled->function() != "onnx.Mul" || scaled->operands().size() != 2) return x;
    Tensor *rest = scaled->operands()[0], *factor = scaled->operands()[1];
    const auto is_factor = [&](Tensor* of, Tensor* f) {
      return f->Rank() <= of->Rank() && VariesAlongLast(*f) &&
             (f->HasOneSize() || of->Rank() >= std::max(least_rank, size_t{1}));
    };
    if (!is_factor(rest, factor)) std::swap(rest, factor);
    if (!is_factor(rest, factor) || !c_.ReadsReals()) return x;
    if (factor->HasOneSize())
      numbers->push_back(factor->At(std::vector<Term>(factor->Rank(), t.Integer(0))));
    else
      factors->push_back(factor);
    x = rest->Dims() == x->Dims() ? rest : c_.Make<Expanded>(*rest, x->Dims());
  }
  return x;
}

// (x * s) . w = x . (s * w), with s for each row of w, and x . (w * s) = (x . w) * s, with s for each column.
std::vector<Tensor*> OpMeanings::MatMul(const ProofOp& op) {
  Terms& t = c_.terms();
  ProofOp plain = op;
  std::vector<Term> factors;
  for (size_t i = 0; i < 2; ++i) plain.operands[i] = WithoutFactors(op.operands[i], &factors);
  if (!c_.open()) return {};
  std::vector<Tensor*> of_rows, of_columns;
  Tensor *&x = plain.operands[0], *&w = plain.operands[1];
  x = WithoutLastFactors(x, 1, &factors, &of_rows);
  w = WithoutLastFactors(w, 2, &factors, &of_columns);
  for (Tensor* s : of_rows) {
    if (w == nullptr || !c_.open()) return {};
    std::vector<Term> column = {s->Dims().empty() ? t.Integer(1) : s->Dims().back()};
    if (w->Rank() > 1) column.push_back(t.Integer(1));
    w = Call("onnx.Mul", {w, c_.Make<Reshaped>(*s, column)});
  }
  if (w == nullptr || !c_.open()) return {};
  const Results made = AnyFunction(plain);
  if (made.empty() || !c_.open()) return {};
  if (!c_.of_result())
    for (const Tensor* tensor : {op.operands[1], made[0]})
      c_.Unify(op.operands[0]->type, tensor->type);
  Tensor* y = TimesAll(factors, made[0]);
  for (Tensor* s : of_columns)
    if (y != nullptr) y = Call("onnx.Mul", {y, s});
  return {y};
}

// What strides, dilations and pads are where they are not given is what fused.conv2d has for defaults.
// Factors are not those of the bias, which is added for each channel.
std::vector<Tensor*> OpMeanings::Convolution(const ProofOp& op) {
  Terms& t = c_.terms();
  ProofOp what = op;
  what.attrs.erase("kernel_shape");  // that of w
  if (const auto dilations = what.attrs.find("dilations"); dilations != what.attrs.end()) {
    const ir::Attribute list = Chosen(dilations->second);
    const auto is_one = [](int64_t n) { return n == 1; };
    if (list && list.Is(ir::AttrKind::kInts) &&
        std::all_of(list.AsInts().begin(), list.AsInts().end(), is_one))
      what.attrs.erase(dilations);  // as if it were not given
  }
  const bool is_quantized = op.name == "onnx.QLinearConv";
  const size_t rank = op.operands[0]->Rank();
  std::vector<Term> factors;
  for (size_t i = 0; i < 2 && c_.open() && !is_quantized; ++i)
    what.operands[i] = WithoutFactors(op.operands[i], &factors);
  if (!c_.open()) return {};
  Tensor* bias = factors.empty() ? nullptr : op.operand(2);
  if (bias != nullptr) what.operands[2] = nullptr;
  const Results y = AnyFunction(what, rank);
  if (y.empty() || !c_.open()) return {};
  if (!is_quantized && !c_.of_result())
    for (const Tensor* tensor : {op.operands[1], y[0]})
      c_.Unify(op.operands[0]->type, tensor->type);
  Tensor* scaled = TimesAll(factors, y[0]);
  if (bias == nullptr || scaled == nullptr || !HasRank(*bias, 1)) return {scaled};
  std::vector<Term> column(std::max<size_t>(rank, 2) - 1, t.Integer(1));
  column[0] = bias->Dims()[0];
  return {Call("onnx.Add", {scaled, c_.Make<Reshaped>(*bias, column)})};
}

// Of a rank of 2 or more; a vector stays as it is.
Tensor* OpMeanings::Turned(Tensor* x, bool batch, bool columns) {
  const size_t rank = x->Rank();
  if (rank < 2 || (!batch && !columns) || !c_.open()) return x;
  std::vector<size_t> perm(rank);
  std::iota(perm.begin(), perm.end(), size_t{0});
  if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (columns) std::swap(perm[rank - 2], perm[rank - 1]);
  return Permuted(x, perm);
}

std::vector<Tensor*> OpMeanings::FusedMatMul(const ProofOp& op) {
  if (!c_.ReadsReals()) return AnyFunction(op);
  Tensor* operands[2] = {op.operands[0], op.operands[1]};
  for (const size_t i : {0U, 1U}) {
    const bool batch = Integer(op, i == 0 ? "transBatchA" : "transBatchB", 0, 1) != 0;
    const bool columns = Integer(op, i == 0 ? "transA" : "transB", 0, 1) != 0;
    if (c_.open()) operands[i] = Turned(operands[i], batch, columns);
  }
  if (!c_.open()) return {};
  return {Times(op, "alpha", Call("onnx.MatMul", {operands[0], operands[1]}))};
}

std::vector<Tensor*> OpMeanings::BatchMatMul(const ProofOp& op) {
  Tensor* operands[2] = {op.operands[0], op.operands[1]};
  for (const size_t i : {0U, 1U}) {
    const std::string_view name = i == 0 ? "perm_a" : "perm_b";
    if (IsDefault(op, name)) continue;
    ProofOp transpose{.def = context_.FindOp("onnx.Transpose"), .name = "onnx.Transpose"};
    transpose.attrs["perm"] = op.attrs.find(name)->second;
    transpose.operands = {operands[i]};
    const Results moved = transpose.def == nullptr ? Results() : Transpose(transpose);
    if (moved.empty() || !c_.open()) return {};
    operands[i] = moved[0];
  }
  Tensor* y = Times(op, "scale", Call("onnx.MatMul", {operands[0], operands[1]}));
  if (Tensor* addend = op.operand(2); addend != nullptr && y != nullptr)
    y = Call("onnx.Add", {y, addend});
  return {y};
}

// By no activation, Relu or Clip.
std::vector<Tensor*> OpMeanings::FusedConv(const ProofOp& op) {
  ProofOp conv = op;
  conv.attrs.erase("activation");
  conv.attrs.erase("activation_params");
  Tensor* y = Call("onnx.Conv", {op.operands[0], op.operands[1], op.operand(2)}, conv);
  if (Tensor* z = op.operand(3); z != nullptr && y != nullptr) y = Call("onnx.Add", {y, z});
  if (y == nullptr || IsDefault(op, "activation")) return {y};
  const ProofAttr& given = op.attrs.find("activation")->second;
  const auto params = op.attrs.find("activation_params");
  if (given.of_op != nullptr && params != op.attrs.end() && params->second.of_op == given.of_op)
    return {ActivatedBy(*given.of_op, y)};
  const ir::Attribute activation = Chosen(given);
  const bool is_known = activation.Is(ir::AttrKind::kString);
  if (is_known && activation.AsString() == "Relu") return {Call("onnx.Relu", {y})};
  if (is_known && activation.AsString() == "Clip") return {Clipped(op, y)};
  c_.Fail(fmt::format("{} may have any activation", op.name));
  return {};
}

// By an activation whose numbers are given as they are there.
std::vector<Tensor*> OpMeanings::FusedGemm(const ProofOp& op) {
  constexpr std::string_view kPrefix = "activation_";
  ProofOp gemm = op;
  std::erase_if(gemm.attrs, [](const auto& attr) { return attr.first.starts_with("activation"); });
  Tensor* y = Call("onnx.Gemm", {op.operands[0], op.operands[1], op.operand(2)}, gemm);
  if (y == nullptr || IsDefault(op, "activation")) return {y};
  const ProofOp* activation = op.attrs.find("activation")->second.of_op;
  bool is_known = activation != nullptr && activation->def != nullptr;
  if (is_known)
    for (const ir::FieldDef& field : activation->def->fields) {
      const auto here = op.attrs.find(fmt::format("{}{}", kPrefix, field.name.str())),
                 there = activation->attrs.find(field.name.str());
      is_known &= here != op.attrs.end() && there != activation->attrs.end() &&
                  TextOf(here->second) == TextOf(there->second);
    }
  if (is_known) return {ActivatedBy(*activation, y)};
  c_.Fail(fmt::format("{} may have any activation", op.name));
  return {};
}

}  // namespace weft::passes
