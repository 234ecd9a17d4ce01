#include "passes/targets/litert/cached_attention.h"

#include <algorithm>

#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
namespace litert = ir::litert;

bool Has(ir::Value value, const ir::Shape& dims) {
  return value.type().IsStatic() && value.type().shape() == dims;
}

// The columns [begin, end) that a slice takes of all rows; nothing when it takes others.
struct Columns {
  int64_t begin, end;
};
std::optional<Columns> ColumnsOf(ir::Operation slice) {
  const auto attrs = slice.attrs_of<litert::StridedSlice>();
  const ir::Type from = slice.operand(0).type(), to = slice.result().type();
  if (!from.IsStatic() || !to.IsStatic() || attrs.strides != ir::Ints{1, 1, 1, 1} ||
      attrs.begin.size() != 4)
    return std::nullopt;
  for (int64_t axis = 0; axis < 3; ++axis)
    if (from.dim(axis) != to.dim(axis)) return std::nullopt;
  const int64_t begin = attrs.begin[3] + (attrs.begin[3] < 0 ? from.dim(3) : 0);
  return Columns{begin, begin + to.dim(3)};
}

// sum and what is above it, up to the weights: two slices that share out the columns, in order.
bool FindProducts(CachedAttention* a) {
  std::array<Columns, 2> columns;
  for (const uint32_t i : {0u, 1u}) {
    a->products[i] = SingleUseDef<litert::MatMul>(a->sum.operand(i));
    if (!a->products[i] || !IsFloatProduct(a->products[i], /*adj_y=*/true) ||
        !ir::ProvablySameType(a->products[i].result().type(), a->sum.result().type()))
      return false;
    a->slices[i] = SingleUseDef<litert::StridedSlice>(a->products[i].operand(0));
    const auto found = a->slices[i] ? ColumnsOf(a->slices[i]) : std::nullopt;
    if (!found) return false;
    columns[i] = *found;
  }
  const ir::Value weights = a->slices[0].operand(0);
  a->softmax = weights.DefiningOp();
  if (columns[1].begin == 0) std::swap(columns[0], columns[1]);
  return a->slices[1].operand(0) == weights && weights.use_count() == 2 && a->softmax &&
         a->softmax.Is<ops::Softmax>() && IsOverTheLastAxis(a->softmax) && columns[0].begin == 0 &&
         columns[0].end == columns[1].begin && columns[1].end == weights.type().dim(3);
}

// The axis along which each head has a part of the mask, -1 when all share it; nothing when the mask
// does not broadcast to `dims`, where the heads, or the rows of one head after the other, are along
// heads_axis.
std::optional<int64_t> MaskAxis(ir::Value mask, const ir::Shape& dims, int64_t heads_axis) {
  const ir::Type type = mask.type();
  if (!type.IsStatic() || type.rank() != 4) return std::nullopt;
  for (int64_t i = 0; i < 4; ++i)
    if (type.dim(i) != 1 && type.dim(i) != dims[i]) return std::nullopt;
  return type.dim(heads_axis) == 1 ? -1 : heads_axis;
}

// What is above the softmax: the mask, with reshapes around it or without, and the joined scores.
bool FindMask(CachedAttention* a) {
  const ir::Value logits = a->softmax.operand(0);
  if (!logits.type().IsStatic() || logits.type().rank() != 4) return false;
  const ir::Shape in_rows = logits.type().shape();
  const ir::Shape in_heads = {in_rows[0], a->heads, a->length, in_rows[3]};
  const auto reshape = SingleUseDef<ops::Reshape>(logits);
  a->add = SingleUseDef<ops::Add>(reshape ? reshape.operand(0) : logits);
  const ir::Shape& dims = reshape ? in_heads : in_rows;
  if (!a->add || !Has(a->add.result(), dims)) return false;
  for (const uint32_t i : {0u, 1u}) {
    const ir::Value scores = a->add.operand(1 - i);
    const auto apart = reshape ? SingleUseDef<ops::Reshape>(scores) : ir::Operation();
    if (!Has(scores, dims) || (reshape && !apart)) continue;
    a->concat = SingleUseDef<ops::Concat>(apart ? apart.operand(0) : scores);
    const auto axis = MaskAxis(a->add.operand(i), dims, reshape ? 1 : 2);
    if (!a->concat || !Has(a->concat.result(), in_rows) || !axis) continue;
    a->mask_operand = i, a->mask_axis = *axis;
    return true;
  }
  return false;
}

// The two products that are joined, of the same rows.
bool FindRows(CachedAttention* a) {
  const int64_t axis = a->concat.attrs_of<ops::Concat>().axis;
  if (a->concat.num_operands() != 2 || (axis != 3 && axis != -1)) return false;
  for (const uint32_t i : {0u, 1u}) {
    a->scores[i] = SingleUseDef<litert::MatMul>(a->concat.operand(i));
    if (!a->scores[i] || !IsFloatProduct(a->scores[i], /*adj_y=*/true)) return false;
  }
  a->rows = a->scores[0].operand(0);
  const ir::Type type = a->rows.type();
  return a->scores[1].operand(0) == a->rows && a->rows.use_count() == 2 && type.IsStatic() &&
         type.rank() == 4 && type.dim(1) == 1 && type.dim(2) == a->heads * a->length;
}

// One op for each head's part of x along an axis.
ir::Operation SplitHeads(ir::Rewriter& rewriter, ir::Value x, int64_t axis, int64_t heads) {
  return rewriter.Create<ops::Split>({x}, {.axis = axis}, static_cast<int>(heads));
}

ir::Value OneHead(ir::Rewriter& rewriter, const CachedAttention& a, ir::Value rows,
                  ir::Value mask) {
  std::array<ir::Value, 2> scores, products;
  for (const uint32_t i : {0u, 1u})
    scores[i] = rewriter.Make<litert::MatMul>({rows, a.scores[i].operand(1)}, {.adj_y = true});
  const ir::Value joined = rewriter.Make<ops::Concat>({scores[0], scores[1]}, {.axis = 3});
  const ir::Value weights = rewriter.Make<ops::Softmax>({rewriter.Make<ops::Add>({joined, mask})});
  for (const uint32_t i : {0u, 1u}) {
    const Columns columns = *ColumnsOf(a.slices[i]);
    const ir::Type type = weights.type();
    const ir::Value part = rewriter.Make<litert::StridedSlice>(
        {weights}, {.begin = {0, 0, 0, columns.begin},
                    .end = {type.dim(0), type.dim(1), type.dim(2), columns.end},
                    .strides = {1, 1, 1, 1}});
    products[i] = rewriter.Make<litert::MatMul>({part, a.products[i].operand(1)}, {.adj_y = true});
  }
  return rewriter.Make<ops::Add>({products[0], products[1]});
}

}  // namespace

std::vector<ir::Operation> Sums(ir::Program& program) {
  std::vector<ir::Operation> sums;
  ir::Walk(program, [&](ir::Operation op) {
    if (op.Is<ops::Add>()) sums.push_back(op);
  });
  return sums;
}

std::optional<CachedAttention> FindCachedAttention(ir::Operation sum, int64_t heads) {
  const ir::Type type = sum.result().type();
  if (!type.IsStatic() || type.rank() != 4 || heads < 2 || type.dim(1) != 1 ||
      type.dim(2) % heads != 0)
    return std::nullopt;
  CachedAttention a;
  a.heads = heads, a.length = type.dim(2) / heads, a.sum = sum;
  if (!FindProducts(&a) || !FindMask(&a) || !FindRows(&a)) return std::nullopt;
  return a;
}

ir::Value SplitIntoHeads(ir::Rewriter& rewriter, const CachedAttention& a, const Scaled& rows) {
  const ir::Operation parts = SplitHeads(rewriter, rows.x, 2, a.heads);
  const ir::Value mask = a.add.operand(a.mask_operand);
  const ir::Operation masks =
      a.mask_axis < 0 ? ir::Operation() : SplitHeads(rewriter, mask, a.mask_axis, a.heads);
  std::vector<ir::Value> heads;
  for (uint32_t i = 0; i < parts.num_results(); ++i) {
    const ir::Value scaled = rewriter.Make<ops::Mul>({parts.result(i), rows.factor});
    heads.push_back(OneHead(rewriter, a, scaled, masks ? masks.result(i) : mask));
  }
  return rewriter.Make<ops::Concat>(heads, {.axis = 3});
}

std::optional<Scaled> ScaledAlike(ir::Operation mul) {
  return ScaledBy(mul, [](ir::Value factor) {
    const auto dims = factor.type().dims();
    return dims.size() <= 4 &&
           std::all_of(dims.begin(), dims.end() - !dims.empty(), [](int64_t d) { return d == 1; });
  });
}

}  // namespace weft::passes
