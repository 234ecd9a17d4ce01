// Einsum as the operator that says the same: a product of matrices or of numbers, a transposition, a sum.
#include "ir/dialects/onnx/infer/einsum.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/reduce.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// Nothing where a rank is not known, or an operand has a label twice (a diagonal).
std::optional<ir::EinsumLabels> Read(const std::string& equation,
                                     std::initializer_list<BoundTensor> operands) {
  std::vector<size_t> ranks;
  for (const BoundTensor& operand : operands) {
    if (!operand.has_rank()) return std::nullopt;
    ranks.push_back(static_cast<size_t>(operand.rank()));
  }
  ir::EinsumLabels labels;
  std::string error;
  if (!ir::ReadEinsum(equation, ranks, &labels, &error)) return std::nullopt;
  for (const Labels& operand : labels.operands)
    for (const int label : operand)
      if (std::count(operand.begin(), operand.end(), label) > 1) return std::nullopt;
  return labels;
}

// Where in `from` the labels of `to` are, which are the same in another order.
Ints Permutation(const Labels& from, const Labels& to) {
  Ints perm;
  for (const int label : to)
    perm.push_back(std::find(from.begin(), from.end(), label) - from.begin());
  return perm;
}

// What the labels of two operands are for, those of the result in its order; nothing where one is
// summed that one operand has alone.
struct Roles {
  Labels batch, left, right, summed;
};
std::optional<Roles> RolesOf(const ir::EinsumLabels& labels) {
  const Labels &a = labels.operands[0], &b = labels.operands[1];
  Roles roles;
  for (const int label : labels.result)
    (!Has(a, label) ? roles.right : !Has(b, label) ? roles.left : roles.batch).push_back(label);
  for (const Labels& operand : labels.operands)
    for (const int label : operand) {
      if (Has(labels.result, label) || Has(roles.summed, label)) continue;
      if (!Has(a, label) || !Has(b, label)) return std::nullopt;
      roles.summed.push_back(label);
    }
  return roles;
}

// Permutations that make a product of matrices of it: of the operands, and of the product.
struct Product {
  Ints left, right, out;
};
bool IsInOrder(const Ints& perm) { return std::is_sorted(perm.begin(), perm.end()); }

// [others, batch, row, k] times [batch, k, column]: MatMul broadcasts the second one to the others.
std::optional<Product> ProductOf(const std::string& equation, const BoundTensor& x,
                                 const BoundTensor& y) {
  const auto labels = Read(equation, {x, y});
  const auto roles = labels ? RolesOf(*labels) : std::nullopt;
  if (!roles || roles->summed.size() != 1 || roles->left.empty() || roles->right.size() != 1)
    return std::nullopt;
  const int k = roles->summed[0], row = roles->left.back(), column = roles->right[0];
  const Labels &a = labels->operands[0], &b = labels->operands[1];
  const int64_t size = x.dim(Permutation(a, {k})[0]);
  if (size == ir::kUnknownDim || size != y.dim(Permutation(b, {k})[0])) return std::nullopt;
  Labels left(roles->left.begin(), roles->left.end() - 1), right = roles->batch;
  left.insert(left.end(), roles->batch.begin(), roles->batch.end());
  Labels product = left;
  for (const int label : {row, k}) left.push_back(label);
  for (const int label : {k, column}) right.push_back(label);
  for (const int label : {row, column}) product.push_back(label);
  return Product{Permutation(a, left), Permutation(b, right), Permutation(product, labels->result)};
}

struct Einsum {
  Tensor x, y, out;
  Let<Product> product;
};
Einsum MatrixProduct(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto einsum = src.Op<ops::Einsum>(AnyAttrs());
  auto out = einsum(x, y);
  src.Require(IsFloat(x));
  auto product = src.Let(
      "one label that is not in the result, of one size, is summed, and y has one of its own",
      [=](const MatchContext& m) { return ProductOf(m[einsum].equation, m[x], m[y]); });
  const auto moved = [&](const Tensor& t, Ints Product::*perm) {
    return res.Op<ops::Transpose>({.perm = product[perm]})(t);
  };
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = product[&Product::out]})(
      res.Op<ops::MatMul>()(moved(x, &Product::left), moved(y, &Product::right)));
  return {x, y, out, product};
}

// The equation with its operands in the other order, where that is a product of matrices in the
// order of the result, or the only one of which one operand has one label of its own.
std::optional<std::string> Swapped(const std::string& equation, const BoundTensor& x,
                                   const BoundTensor& y) {
  const auto labels = Read(equation, {x, y});
  const auto roles = labels ? RolesOf(*labels) : std::nullopt;
  if (!roles || roles->left.size() != 1 || roles->right.empty()) return std::nullopt;
  const Ints at = Permutation(labels->result, {roles->left[0], roles->right[0]});
  if (roles->right.size() == 1 && at[0] < at[1]) return std::nullopt;
  const size_t comma = equation.find(','), arrow = std::min(equation.find("->"), equation.size());
  return equation.substr(comma + 1, arrow - comma - 1) + "," + equation.substr(0, comma) +
         equation.substr(arrow);
}

// Whether the labels are the last ones of the result, in its order.
bool AreLast(const Labels& labels, const Labels& result) {
  return labels.size() <= result.size() &&
         std::equal(labels.rbegin(), labels.rend(), result.rbegin());
}

}  // namespace

// einsum(x, y) => einsum(y, x), whose result has the labels of y before those of x
WEFT_RULE(LowerSwappedEinsum, "canonicalize", kExact,
          .algebra = "einsum(x, y; \"k..,i..->ik\") => einsum(y, x; \"i..,k..->ik\")") {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto einsum = src.Op<ops::Einsum>(AnyAttrs());
  auto out = einsum(x, y);
  auto equation =
      src.Let("x has one label of its own, and y one before it in the result, or several",
              [=](const MatchContext& m) { return Swapped(m[einsum].equation, m[x], m[y]); });
  res.Tensor(out) = res.Op<ops::Einsum>({.equation = equation})(y, x);
}

// einsum(x, y) => matmul(x, y), where nothing moves but constants, which are moved once
WEFT_RULE(LowerEinsumToMatmul, "canonicalize", kReassociates,
          .algebra = "einsum(x, y; \"bij,bjk->bik\") => matmul(x, y)") {
  const Einsum e = MatrixProduct(src, res);
  src.Profitable("nothing moves but constants", [=](const MatchContext& m) {
    const Product& p = m[e.product];
    return IsInOrder(p.out) && (IsInOrder(p.left) || m[e.x].is_constant()) &&
           (IsInOrder(p.right) || m[e.y].is_constant());
  });
}

// einsum(x, y) => transpose(matmul(transpose(x), transpose(y))), for what fuses products
WEFT_RULE(LowerEinsumToTransposes, "fuse-composite", kReassociates,
          .algebra =
              "einsum(x, y; \"bshd,bthd->bhst\") => "
              "matmul(transpose(x, [0, 2, 1, 3]), transpose(y, [0, 2, 3, 1]))") {
  MatrixProduct(src, res);
}

// einsum(x, y; "bi,i->bi") => x * y
WEFT_RULE(LowerEinsumToProduct, "canonicalize", kReassociates,
          .algebra = "einsum(x, y; \"bi,i->bi\") => x * y") {
  auto x = src.Tensor("x"), y = src.Tensor("y");
  auto einsum = src.Op<ops::Einsum>(AnyAttrs());
  auto out = einsum(x, y);
  src.Require(IsFloat(x));
  src.Require("nothing is summed, and the operands broadcast", [=](const MatchContext& m) {
    const auto labels = Read(m[einsum].equation, {m[x], m[y]});
    const auto roles = labels ? RolesOf(*labels) : std::nullopt;
    return roles && roles->summed.empty() && AreLast(labels->operands[0], labels->result) &&
           AreLast(labels->operands[1], labels->result);
  });
  res.Tensor(out) = res.Op<ops::Mul>()(x, y);
}

// einsum(x; "bij->bji") => transpose(x, [0, 2, 1])
WEFT_RULE(LowerEinsumToTranspose, "canonicalize", kReassociates,
          .algebra = "einsum(x; \"bij->bji\") => transpose(x, [0, 2, 1])") {
  auto x = src.Tensor("x");
  auto einsum = src.Op<ops::Einsum>(AnyAttrs());
  auto out = einsum(x);
  auto perm = src.Let("nothing is summed", [=](const MatchContext& m) {
    const auto labels = Read(m[einsum].equation, {m[x]});
    return labels && labels->result.size() == labels->operands[0].size()
               ? std::optional(Permutation(labels->operands[0], labels->result))
               : std::nullopt;
  });
  res.Tensor(out) = res.Op<ops::Transpose>({.perm = perm})(x);
}

// einsum(x; "bij->b") => reduce_sum(x, [1, 2])
WEFT_RULE(LowerEinsumToSum, "canonicalize", kReassociates,
          .algebra = "einsum(x; \"bij->b\") => reduce_sum(x, [1, 2])") {
  auto x = src.Tensor("x");
  auto einsum = src.Op<ops::Einsum>(AnyAttrs());
  auto out = einsum(x);
  src.Require(IsFloat(x));
  auto axes = src.Let("something is summed, and the others keep their order",
                      [=](const MatchContext& m) -> std::optional<Ints> {
                        const auto labels = Read(m[einsum].equation, {m[x]});
                        if (!labels) return std::nullopt;
                        const Labels& all = labels->operands[0];
                        Ints summed;
                        for (size_t i = 0; i < all.size(); ++i)
                          if (!Has(labels->result, all[i])) summed.push_back(int64_t(i));
                        if (summed.empty() || !IsInOrder(Permutation(all, labels->result)))
                          return std::nullopt;
                        return summed;
                      });
  res.Tensor(out) = res.Op<ops::ReduceSum>({.axes = axes, .keepdims = 0})(x);
}

}  // namespace weft::passes
