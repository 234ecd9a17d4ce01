// What is known of the shapes alone of ops that are not followed: for constraints that follow from others.
#include <fmt/format.h>

#include <algorithm>

#include "passes/verify/proof/op_meaning.h"

namespace weft::passes {

// Elements that move have shapes that are followed, and what is elementwise; of others there is a table.
std::vector<Tensor*> OpMeanings::ShapesOf(const ProofOp& op) {
  using M = OpMeanings;
  static const auto* moves = new std::map<std::string_view, Function>{
      {"onnx.Identity", &M::Identity},    {"onnx.Transpose", &M::Transpose},
      {"pd.transpose", &M::Transpose},    {"onnx.Reshape", &M::Reshape},
      {"pd.reshape", &M::Reshape},        {"onnx.Flatten", &M::Flatten},
      {"onnx.Expand", &M::Expand},        {"onnx.Concat", &M::Concat},
      {"onnx.Gather", &M::Gather},        {"onnx.Tile", &M::Tile},
      {"builtin.constant", &M::Constant},
  };
  using Say = void (OpMeanings::*)(const ProofOp&, const Results&);
  static const auto* shapes =
      new std::map<std::string_view, Say>{{"onnx.MatMul", &M::SayProductShape},
                                          {"pd.matmul", &M::SayProductShape},
                                          {"onnx.Softmax", &M::SaySameShape},
                                          {"onnx.LogSoftmax", &M::SaySameShape},
                                          {"pd.softmax", &M::SaySameShape},
                                          {"onnx.Split", &M::SayPartShapes},
                                          {"onnx.Slice", &M::SayPartShapes},
                                          {"fused.attention", &M::SayAttentionShape},
                                          {"onnx.Unsqueeze", &M::SayViewShape},
                                          {"onnx.Squeeze", &M::SayViewShape},
                                          {"fused.layer_norm", &M::SaySameShape},
                                          {"fused.rms_norm", &M::SaySameShape},
                                          {"onnx.LayerNormalization", &M::SaySameShape},
                                          {"onnx.RMSNormalization", &M::SaySameShape},
                                          {"onnx.BatchNormalization", &M::SayBatchNormShape},
                                          {"onnx.InstanceNormalization", &M::SayBatchNormShape},
                                          {"onnx.Gemm", &M::SayGemmShape},
                                          {"fused.linear", &M::SayLinearShape},
                                          {"onnx.Conv", &M::SayConvShape},
                                          {"onnx.ConvTranspose", &M::SayConvShape},
                                          {"fused.conv2d", &M::SayConv2dShape},
                                          {"fused.conv_transpose2d", &M::SayConv2dShape}};
  SayIntegers(op);
  if (!c_.open()) return {};
  if (const auto move = moves->find(op.name); move != moves->end())
    return (this->*move->second)(op);
  if (op.def == nullptr || op.def->Has(ir::kElementwise)) return AnyElementwise(op);
  Results results;
  for (size_t i = 0; i < op.num_results; ++i)
    results.push_back(Unknown(fmt::format("{}:{}", op.name, i)));
  const auto shape = shapes->find(op.name);
  if (shape != shapes->end()) (this->*shape->second)(op, results);
  return results;
}

// Operands that are axes, shapes and the like are of whole numbers.
void OpMeanings::SayIntegers(const ProofOp& op) {
  constexpr std::string_view kWithLists[] = {"onnx.Reshape",   "onnx.Expand",  "onnx.Tile",
                                             "onnx.Unsqueeze", "onnx.Squeeze", "onnx.Slice",
                                             "onnx.Split"};
  if (std::find(std::begin(kWithLists), std::end(kWithLists), op.name) == std::end(kWithLists))
    return;
  for (size_t i = 1; i < op.operands.size(); ++i)
    if (op.operands[i] != nullptr) c_.Restrict(op.operands[i]->type, TypesThat(&ir::IsInteger));
}

void OpMeanings::SayEqual(Term a, Term b) {
  if (c_.open()) c_.Assume(c_.terms().Equal(a, b));
}

// The sizes of both at these places from the end are equal.
void OpMeanings::SaySameSize(Tensor& a, size_t a_from_end, Tensor& b, size_t b_from_end) {
  const std::vector<Term> x = a.Dims(), y = b.Dims();
  if (c_.open() && a_from_end <= x.size() && b_from_end <= y.size())
    SayEqual(x[x.size() - a_from_end], y[y.size() - b_from_end]);
}

void OpMeanings::SaySameShape(const ProofOp& op, const Results& results) {
  Tensor& x = *op.operands[0];
  if (!HasRank(*results[0], x.Rank())) return;
  for (size_t i = 1; i <= x.Rank(); ++i) SaySameSize(*results[0], i, x, i);
}

// Of matrices; vectors are left alone.
void OpMeanings::SayProductShape(const ProofOp& op, const Results& results) {
  Terms& t = c_.terms();
  Tensor &a = *op.operands[0], &b = *op.operands[1], &y = *results[0];
  c_.Unify(a.type, b.type);
  c_.Unify(a.type, y.type);
  const bool is_turned =
      op.name == "pd.matmul" && !(IsDefault(op, "transpose_x") && IsDefault(op, "transpose_y"));
  const size_t m = a.Rank(), n = b.Rank(), rank = std::max(m, n);
  if (!c_.open() || is_turned || m < 2 || n < 2 || !HasRank(y, rank)) return;
  SaySameSize(a, 1, b, 2);
  SaySameSize(y, 2, a, 2);
  SaySameSize(y, 1, b, 1);
  const std::vector<Term> x = a.Dims(), w = b.Dims(), out = y.Dims();
  const Term one = t.Integer(1);
  for (size_t from_end = 3; from_end <= rank && c_.open(); ++from_end) {
    const Term size = out[rank - from_end];
    const Term of_a = from_end <= m ? x[m - from_end] : one;
    const Term of_b = from_end <= n ? w[n - from_end] : one;
    c_.Assume(t.Or(t.And(t.Equal(of_a, one), t.Equal(size, of_b)),
                   t.And(t.Equal(size, of_a), t.Or(t.Equal(of_b, one), t.Equal(of_a, of_b)))));
  }
}

void OpMeanings::SayGemmShape(const ProofOp& op, const Results& results) {
  Tensor &a = *op.operands[0], &b = *op.operands[1], &y = *results[0];
  for (Tensor* tensor : {&a, &b, &y}) {
    if (!c_.open() || !HasRank(*tensor, 2)) return;
    c_.Unify(a.type, tensor->type);
  }
  const size_t rows_of_a = Integer(op, "transA", 0, 1) != 0 ? 1 : 2;
  if (!c_.open()) return;
  const size_t columns_of_b = Integer(op, "transB", 0, 1) != 0 ? 2 : 1;
  SaySameSize(a, 3 - rows_of_a, b, 3 - columns_of_b);
  SaySameSize(y, 2, a, rows_of_a);
  SaySameSize(y, 1, b, columns_of_b);
}

void OpMeanings::SayLinearShape(const ProofOp& op, const Results& results) {
  Tensor &x = *op.operands[0], &w = *op.operands[1], &y = *results[0];
  if (!HasRank(w, 2) || !HasRank(y, x.Rank())) return;
  for (const Tensor* tensor : {&w, &y}) c_.Unify(x.type, tensor->type);
  if (!c_.open()) return;
  const size_t columns = Integer(op, "transpose_w", 0, 1) != 0 ? 2 : 1;
  SaySameSize(x, 1, w, 3 - columns);
  SaySameSize(y, 1, w, columns);
  for (size_t i = 2; i <= x.Rank(); ++i) SaySameSize(y, i, x, i);
}

// Of ranks from 3 on; what the window leaves is not followed. w begins with the channels of the result, or, of a
// transposed convolution, of x.
void OpMeanings::SayConvShape(const ProofOp& op, const Results& results) {
  Tensor &x = *op.operands[0], &w = *op.operands[1], &y = *results[0];
  const size_t rank = x.Rank();
  if (rank < 3) c_.NeverApply();
  if (!c_.open() || !HasRank(w, rank) || !HasRank(y, rank)) return;
  for (const Tensor* tensor : {&w, &y}) c_.Unify(x.type, tensor->type);
  SaySameSize(y, rank, x, rank);
  SaySameSize(op.name == "onnx.ConvTranspose" ? x : y, rank - 1, w, rank);
}

void OpMeanings::SayConv2dShape(const ProofOp& op, const Results& results) {
  Tensor &x = *op.operands[0], &w = *op.operands[1], &y = *results[0];
  for (Tensor* tensor : {&x, &w, &y}) {
    if (!c_.open() || !HasRank(*tensor, 4)) return;
    c_.Unify(x.type, tensor->type);
  }
  SaySameSize(y, 4, x, 4);
  SaySameSize(op.name == "fused.conv_transpose2d" ? x : y, 1, w, 4);
  if (Tensor* residual = op.operand(3); residual != nullptr && c_.open() && HasRank(*residual, 4))
    for (size_t i = 1; i <= 4; ++i) SaySameSize(*residual, i, y, i);
}

// One number per channel in each of the other operands.
void OpMeanings::SayBatchNormShape(const ProofOp& op, const Results& results) {
  Tensor& x = *op.operands[0];
  SaySameShape(op, results);
  if (!c_.open()) return;
  if (x.Rank() < 2) return c_.NeverApply();
  for (size_t i = 1; i < op.operands.size(); ++i) {
    if (!c_.open() || op.operands[i] == nullptr || !HasRank(*op.operands[i], 1)) return;
    SaySameSize(*op.operands[i], 1, x, x.Rank() - 1);
  }
}

// Of parts along one axis, all others have the sizes of the whole.
void OpMeanings::SayPartShapes(const ProofOp& op, const Results& results) {
  Tensor& x = *op.operands[0];
  const auto rank = static_cast<int64_t>(x.Rank());
  int64_t axis = -1;
  if (op.name == "onnx.Split" && rank > 0) {
    axis = static_cast<int64_t>(Axis(op, "axis", x.Rank()));
  } else if (const auto known = WholeNumber(op.operand(3), -rank, rank - 1)) {
    axis = *known + (*known < 0 ? rank : 0);
    if (axis < 0 || axis >= rank) c_.NeverApply();
  }
  for (Tensor* part : results) {
    if (!c_.open() || !HasRank(*part, x.Rank())) return;
    c_.Unify(x.type, part->type);
    for (int64_t i = 0; i < rank && axis >= 0; ++i)
      if (i != axis)
        SayEqual(part->Dims()[static_cast<size_t>(i)], x.Dims()[static_cast<size_t>(i)]);
  }
  if (!c_.open() || axis < 0) return;
  if (op.name == "onnx.Slice") return SaySliceShape(op, results, static_cast<size_t>(axis));
  Term sum = c_.terms().Integer(0);
  for (Tensor* part : results) sum = c_.terms().Plus(sum, part->Dims()[static_cast<size_t>(axis)]);
  SayEqual(sum, x.Dims()[static_cast<size_t>(axis)]);
}

// An operand of one number, if that is known.
std::optional<int64_t> OpMeanings::WholeNumber(Tensor* operand, int64_t least, int64_t most) {
  if (operand == nullptr) return std::nullopt;
  if (chooses_numbers_) {
    if (!c_.open() || !HasRank(*operand, 1)) return std::nullopt;
    SayEqual(operand->Dims()[0], c_.terms().Integer(1));
  }
  if (!operand->whole_number && chooses_numbers_ && least <= most)
    operand->whole_number =
        least + static_cast<int64_t>(c_.Choose(static_cast<size_t>(most - least + 1),
                                               fmt::format("number of tensor {}", operand->id)));
  return operand->whole_number;
}

// From a known place in known steps, along one axis.
void OpMeanings::SaySliceShape(const ProofOp& op, const Results& results, size_t axis) {
  Terms& t = c_.terms();
  constexpr int64_t kMost = 2;
  const auto start = WholeNumber(op.operand(1), 0, kMost);
  const auto step = op.operand(4) == nullptr ? 1 : WholeNumber(op.operand(4), 1, kMost);
  Tensor* ends = op.operand(2);
  if (!start || !step || ends == nullptr || *start < 0 || *step < 1) return;
  if (!c_.open() || !HasRank(*ends, 1)) return;
  const Term size = op.operands[0]->Dims()[axis], zero = t.Integer(0);
  auto& list = integers_[ends];
  if (list.empty()) list = {t.Apply(Sort::kInt, "value", {ends->At({zero})})};
  SayEqual(ends->Dims()[0], t.Integer(1));
  const Term end = ends->whole_number ? t.Integer(*ends->whole_number) : list[0];
  const Term counted = t.If(t.Less(end, zero), t.Plus(end, size), end);
  const Term stop = t.If(t.Less(size, counted), size, counted);
  const Term more = t.Plus(t.Minus(stop, t.Integer(*start)), t.Integer(*step - 1));
  const Term count = t.Quotient(more, t.Integer(*step));
  SayEqual(results[0]->Dims()[axis], t.If(t.Less(count, zero), zero, count));
}

// With one axis more, or less, where that is known.
void OpMeanings::SayViewShape(const ProofOp& op, const Results& results) {
  Tensor& x = *op.operands[0];
  c_.Unify(x.type, results[0]->type);
  const bool adds = op.name == "onnx.Unsqueeze";
  Tensor &shorter = adds ? x : *results[0], &longer = adds ? *results[0] : x;
  if (op.operand(1) == nullptr || (!chooses_numbers_ && !op.operand(1)->whole_number)) return;
  const auto rank = static_cast<int64_t>(adds ? shorter.Rank() + 1 : longer.Rank());
  const auto number = WholeNumber(op.operand(1), -rank, rank - 1);
  if (!number || !c_.open()) return;
  int64_t axis = *number;
  if (axis < 0) axis += rank;
  // Of ranks up to that of proofs.
  if (axis < 0 || axis >= rank || rank > static_cast<int64_t>(kMaxProofRank)) c_.NeverApply();
  if (!c_.open()) return;
  if (!HasRank(longer, static_cast<size_t>(rank)) ||
      !HasRank(shorter, static_cast<size_t>(rank) - 1))
    return;
  const auto at = static_cast<size_t>(axis);
  SayEqual(longer.Dims()[at], c_.terms().Integer(1));
  for (size_t i = 0; i + 1 < static_cast<size_t>(rank); ++i)
    SayEqual(shorter.Dims()[i], longer.Dims()[i < at ? i : i + 1]);
}

// Batches and heads, which may not differ: what inference proves.
void OpMeanings::SayHeads(const ProofOp& op, size_t heads) {
  Terms& t = c_.terms();
  Tensor &q = *op.operands[0], &k = *op.operands[1], &v = *op.operands[2];
  SaySameSize(q, 4, k, 4);
  SaySameSize(q, 4, v, 4);
  SaySameSize(k, heads, v, heads);
  if (!c_.open()) return;
  const Term of_q = q.Dims()[4 - heads], of_k = k.Dims()[4 - heads];
  c_.Assume(t.Or(t.Equal(of_q, of_k), t.And(t.AtMost(t.Integer(1), of_k),
                                            t.Equal(t.Remainder(of_q, of_k), t.Integer(0)))));
}

// It broadcasts to the scores, [batches, heads, queries, keys]. Proofs need not know, and its rank would be a choice.
void OpMeanings::SayMask(const ProofOp& op, size_t operand, size_t heads, size_t sequence) {
  Terms& t = c_.terms();
  Tensor* mask = op.operand(operand);
  if (mask == nullptr || !c_.open() || !chooses_numbers_) return;
  const std::vector<Term>&q = op.operands[0]->Dims(), &k = op.operands[1]->Dims();
  const Term scores[] = {q[0], q[4 - heads], q[4 - sequence], k[4 - sequence]};
  const std::vector<Term> dims = mask->Dims();
  if (dims.size() > 4) return c_.NeverApply();
  for (size_t i = 0; i < dims.size() && c_.open(); ++i)
    c_.Assume(t.Or(t.Equal(dims[i], t.Integer(1)), t.Equal(dims[i], scores[i + 4 - dims.size()])));
}

void OpMeanings::SayAttentionShape(const ProofOp& op, const Results& results) {
  Tensor &q = *op.operands[0], &k = *op.operands[1], &v = *op.operands[2], &y = *results[0];
  for (Tensor* tensor : {&q, &k, &v, &y})
    if (!c_.open() || !HasRank(*tensor, 4)) return;
  const auto layout = op.attrs.find("layout");
  const ir::Attribute value = layout == op.attrs.end() ? ir::Attribute() : Chosen(layout->second);
  const bool is_bshd = value.Is(ir::AttrKind::kString) && value.AsString() == "bshd";
  if (!IsDefault(op, "layout") && !is_bshd) return;
  const size_t heads = is_bshd ? 2 : 3, sequence = is_bshd ? 3 : 2;
  SayHeads(op, heads);
  if (accepts_only_) return;
  SayMask(op, 3, heads, sequence);
  if (op.operand(4) != nullptr) c_.Restrict(op.operand(4)->type, TypeBit(ir::DataType::kBool));
  SayMask(op, 4, heads, sequence);
  if (op.operand(3) != nullptr) c_.Unify(q.type, op.operand(3)->type);
  for (const Tensor* tensor : {&k, &v, &y}) c_.Unify(q.type, tensor->type);
  SaySameSize(q, 4, y, 4);
  SaySameSize(q, 1, k, 1);
  SaySameSize(y, 1, v, 1);
  SaySameSize(k, sequence, v, sequence);
  SaySameSize(y, heads, q, heads);
  SaySameSize(y, sequence, q, sequence);
}

}  // namespace weft::passes
