#include "passes/fusion/matmul_forms.h"

#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "passes/fusion/constant_join.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Attribute;
using ir::Ints;
using ir::Value;
using Products = std::vector<Product>;

// One number for each of `columns`, the same for all rows of a product of that rank.
bool IsRow(Attribute dense, int64_t columns, size_t rank) {
  const ir::Type type = dense.dense_type();
  return type.rank() >= 1 && type.rank() <= rank && type.dims().back() == columns &&
         type.NumElements() == columns;
}

bool Transposes(ir::Operation op, bool weights) {
  if (!op.Is<ops::Gemm>()) return false;
  const auto attrs = op.attrs_of<ops::Gemm>();
  return (weights ? attrs.transB : attrs.transA) != 0;
}

// The dimension of the weights that counts the columns of the product.
size_t ColumnAxis(const Product& p) {
  return p.weights.dense_type().rank() - (Transposes(p.op, /*weights=*/true) ? 2 : 1);
}
int64_t Columns(const Product& p) { return p.weights.dense_type().dims()[ColumnAxis(p)]; }

// The dimension of x that counts the rows of the product.
size_t RowAxis(const Product& p) {
  return p.op.operand(0).type().rank() - (Transposes(p.op, /*weights=*/false) ? 1 : 2);
}

// `p` with its only user, if that adds a constant to every row.
void FindBiasAdd(Product* p) {
  const Value y = p->op.result();
  if (!y.HasOneUse()) return;
  const ir::OpOperand use = y.first_use();
  const ir::Operation add = use.owner();
  if (!add.Is<ops::Add>() || !(add.block() == p->op.block())) return;
  const Attribute bias = ir::Contents(add.operand(1 - use.index()));
  if (!bias || !IsRow(bias, Columns(*p), y.type().rank()) || add.result().type() != y.type())
    return;
  p->bias_add = add;
  p->bias = bias;
}

// Without a bias all around, what is added stays behind the products. (A Gemm that adds one never
// meets one that does not: their keys differ.)
void KeepBiasesIf(bool joinable, Products* products) {
  if (joinable) return;
  for (Product& p : *products) p.bias_add = {}, p.bias = {};
}
bool AllHaveBias(const Products& products) {
  return std::all_of(products.begin(), products.end(),
                     [](const Product& p) { return static_cast<bool>(p.bias); });
}
bool AllHaveSameBias(const Products& products) {
  return std::all_of(products.begin(), products.end(),
                     [&](const Product& p) { return p.bias == products.front().bias; });
}

// Equal dims mean the same only when none is unknown.
bool AppendDims(std::span<const int64_t> dims, size_t without, Ints* key) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i == without) continue;
    if (dims[i] == ir::kUnknownDim) return false;
    key->push_back(dims[i]);
  }
  return true;
}

std::vector<Attribute> AllWeights(const Products& products) {
  std::vector<Attribute> all;
  for (const Product& p : products) all.push_back(p.weights);
  return all;
}

// The product like the first one of these operands. `bias`, if given, is added as it was.
Value MakeProduct(ir::Rewriter& rewriter, const Product& like, Value x, Value weights, Value bias) {
  if (like.op.Is<ops::Gemm>()) {
    const auto attrs = like.op.attrs_of<ops::Gemm>();
    const Value inside = like.bias_add ? Value() : bias;
    const Value y = rewriter.Make<ops::Gemm>(
        {x, weights, inside},
        {.alpha = attrs.alpha, .beta = attrs.beta, .transA = attrs.transA, .transB = attrs.transB});
    return bias && !inside ? rewriter.Make<ops::Add>({y, bias}) : y;
  }
  const Value y = rewriter.Make<ops::MatMul>({x, weights});
  return bias ? rewriter.Make<ops::Add>({y, bias}) : y;
}

std::vector<Value> SplitUp(ir::Rewriter& rewriter, Value y, size_t axis, const Ints& sizes) {
  return rewriter
      .Create<ops::Split>({y, rewriter.ConstantInts(sizes)}, {.axis = static_cast<int64_t>(axis)},
                          static_cast<int>(sizes.size()))
      .results()
      .vec();
}

// --- x . w1, x . w2 ----------------------------------------------------------

std::optional<Ints> SharedInputKey(const Product& p) {
  Ints key = {p.op.operand(0).id()};
  AppendDims(p.weights.dense_type().dims(), ColumnAxis(p), &key);
  return key;
}

std::vector<Value> JoinWeights(ir::Rewriter& rewriter, Products& products) {
  KeepBiasesIf(AllHaveBias(products), &products);
  const Product& first = products.front();
  const Value weights = rewriter.Constant(JoinConstants(AllWeights(products), ColumnAxis(first)));
  Value bias;
  Ints sizes;
  std::vector<Attribute> rows;
  int64_t columns = 0;
  for (const Product& p : products) {
    sizes.push_back(Columns(p));
    columns += Columns(p);
    rows.push_back(p.bias);
  }
  if (first.bias) bias = rewriter.Constant(StackConstants(rows, Ints{columns}));
  const Value y = MakeProduct(rewriter, first, first.op.operand(0), weights, bias);
  return SplitUp(rewriter, y, y.type().rank() - 1, sizes);
}

// --- x1 . w, x2 . w ----------------------------------------------------------

std::optional<Ints> SharedWeightsKey(const Product& p) {
  const ir::Type x = p.op.operand(0).type();
  if (!x.HasRank() || x.rank() < 2 || p.weights.dense_type().rank() != 2) return std::nullopt;
  const size_t axis = RowAxis(p);
  Ints key = {p.weights.id(), p.op.HasOperand(2) ? p.bias.id() : 0};
  if (!ir::IsStaticDim(x.dims()[axis]) || !AppendDims(x.dims(), axis, &key)) return std::nullopt;
  return key;
}

std::vector<Value> JoinInputs(ir::Rewriter& rewriter, Products& products) {
  KeepBiasesIf(AllHaveSameBias(products), &products);
  const Product& first = products.front();
  std::vector<Value> inputs;
  Ints sizes;
  for (const Product& p : products) {
    inputs.push_back(p.op.operand(0));
    sizes.push_back(inputs.back().type().dims()[RowAxis(p)]);
  }
  const Value x =
      rewriter.Make<ops::Concat>(inputs, {.axis = static_cast<int64_t>(RowAxis(first))});
  const Value bias = first.bias ? rewriter.Constant(first.bias) : Value();
  const Value y = MakeProduct(rewriter, first, x, rewriter.Constant(first.weights), bias);
  return SplitUp(rewriter, y, y.type().rank() - 2, sizes);
}

// --- x1 . w1, x2 . w2 --------------------------------------------------------

std::optional<Ints> BatchedKey(const Product& p) {
  constexpr size_t kHighestRank = 16;  // one more dimension is no trouble
  const ir::Type x = p.op.operand(0).type(), w = p.weights.dense_type();
  if (!p.op.Is<ops::MatMul>() || !x.HasRank() || x.rank() < 2 || x.rank() > kHighestRank ||
      w.rank() > x.rank())
    return std::nullopt;
  Ints key = {x.id(), w.id()};
  if (!AppendDims(x.dims(), x.rank(), &key)) return std::nullopt;
  return key;
}

// Along a batch dimension of both operands there is nothing to insert and to remove again.
bool HasOwnBatch(const Product& p) {
  const ir::Type x = p.op.operand(0).type(), w = p.weights.dense_type();
  return x.rank() > 2 && w.rank() == x.rank() && x.dims()[0] > 0 && x.dims()[0] == w.dims()[0];
}

// Rows of the result's rank: a bias counts once for every entry of its product's batch.
Value StackBiases(ir::Rewriter& rewriter, const Products& products, int64_t batch, size_t rank) {
  if (!products.front().bias) return {};
  std::vector<Attribute> rows;
  for (const Product& p : products) rows.insert(rows.end(), static_cast<size_t>(batch), p.bias);
  Ints dims(rank, 1);
  dims.front() = static_cast<int64_t>(rows.size());
  dims.back() = Columns(products.front());
  return rewriter.Constant(StackConstants(rows, dims));
}

std::vector<Value> Stack(ir::Rewriter& rewriter, Products& products) {
  KeepBiasesIf(AllHaveBias(products), &products);
  const Product& first = products.front();
  const bool own_batch = HasOwnBatch(first);
  const auto count = static_cast<int64_t>(products.size());
  std::vector<Value> inputs;
  for (const Product& p : products) {
    const Value x = p.op.operand(0);
    inputs.push_back(own_batch ? x
                               : rewriter.Make<ops::Unsqueeze>({x, rewriter.ConstantInts({0})}));
  }
  const size_t rank = inputs.front().type().rank();
  Ints dims = first.weights.dense_type().shape();
  const int64_t batch = own_batch ? dims.front() : 1;
  if (own_batch) dims.erase(dims.begin());
  dims.insert(dims.begin(), rank - 1 - dims.size(), 1);
  dims.insert(dims.begin(), count * batch);
  const Value weights = rewriter.Constant(StackConstants(AllWeights(products), dims));
  const Value x = rewriter.Make<ops::Concat>(inputs, {.axis = 0});
  const Value bias = StackBiases(rewriter, products, batch, rank);
  const Value y = MakeProduct(rewriter, first, x, weights, bias);
  std::vector<Value> parts = SplitUp(rewriter, y, 0, Ints(products.size(), batch));
  if (!own_batch)
    for (Value& part : parts)
      part = rewriter.Make<ops::Squeeze>({part, rewriter.ConstantInts({0})});
  return parts;
}

}  // namespace

std::optional<Product> ProductOf(ir::Operation op) {
  if (!op.Is<ops::MatMul>() && !op.Is<ops::Gemm>()) return std::nullopt;
  Product p{.op = op, .weights = ir::Contents(op.operand(1))};
  if (!p.weights || p.weights.dense_type().rank() < 2 || !op.result().type().HasRank())
    return std::nullopt;
  if (!op.HasOperand(2)) {
    FindBiasAdd(&p);
    return p;
  }
  p.bias = ir::Contents(op.operand(2));
  if (!p.bias || !IsRow(p.bias, Columns(p), 2)) return std::nullopt;
  return p;
}

const MatmulForm kSharedInput = {"products of one input joined", &SharedInputKey, &JoinWeights};
const MatmulForm kSharedWeights = {"products with the same weights joined", &SharedWeightsKey,
                                   &JoinInputs};
const MatmulForm kBatched = {"products of one shape joined", &BatchedKey, &Stack};

}  // namespace weft::passes
