// split-qkv-matmul: a product whose columns are taken apart afterwards, as the joined projection of
// attention is, becomes one product for each part. Seed: ascend_knowledge_base.md, SplitQKVMatmul.
//
//   t = transpose(reshape(x . w + b, [.., 3, heads, d]), [2, ..]); gather(t, 0), gather(t, 1), ...
//     =>  transpose(reshape(x . w[:, :n] + b[:n], [.., heads, d]), ..), ...
//
// The part must be the outermost of the dimensions that the columns become: those of [heads, 3, d]
// are no blocks of columns. A pass and not a rule: the numbers of parts and of elementwise ops are
// free. The reverse of merging products with one operand in common.
#include <algorithm>
#include <optional>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/ascend/constant_slice.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

struct Projection {
  ir::Operation matmul, reshape, transpose;
  std::vector<ir::Operation> elementwise;  // between matmul and reshape, in this order
  std::vector<ir::Operation> gathers;      // number i takes part i
  int64_t columns = 0;
  size_t axis = 0;  // of the reshaped value: the part
};

// Which operand of a binary op goes on when the other is a constant; nothing when neither is.
std::optional<uint32_t> RunningOperand(ir::Operation op) {
  if (!op.Is<ops::Add>() && !op.Is<ops::Sub>() && !op.Is<ops::Mul>() && !op.Is<ops::Div>())
    return std::nullopt;
  if (ir::Contents(op.operand(1)) && !ir::Contents(op.operand(0))) return 0;
  if (ir::Contents(op.operand(0)) && !ir::Contents(op.operand(1))) return 1;
  return std::nullopt;
}

// Gathers that take every part once, and nobody else.
bool FindGathers(Projection* p, int64_t parts) {
  if (p->transpose.result().use_count() != static_cast<uint32_t>(parts)) return false;
  p->gathers.assign(static_cast<size_t>(parts), {});
  for (ir::OpOperand use : p->transpose.result().uses()) {
    const ir::Operation gather = use.owner();
    if (!gather.Is<ops::Gather>() || use.index() != 0) return false;
    const int64_t axis = gather.attrs_of<ops::Gather>().axis;
    const auto index = ir::ConstantInts(gather.operand(1));
    if (!index || gather.operand(1).type().rank() != 0 ||
        (axis != 0 && axis != -static_cast<int64_t>(p->transpose.result().type().rank())))
      return false;
    const int64_t i = index->front() < 0 ? index->front() + parts : index->front();
    if (i < 0 || i >= parts || p->gathers[static_cast<size_t>(i)]) return false;
    p->gathers[static_cast<size_t>(i)] = gather;
  }
  return true;
}

// The ops above the reshape, up to the product.
bool FindProduct(Projection* p) {
  ir::Value value = p->reshape.operand(0);
  for (;;) {
    const ir::Operation op = value.DefiningOp();
    if (!op || !value.HasOneUse() ||
        !ir::ProvablySameType(value.type(), p->reshape.operand(0).type()))
      return false;
    if (op.Is<ops::MatMul>()) {
      p->matmul = op;
      break;
    }
    const auto running = RunningOperand(op);
    if (!running) return false;
    p->elementwise.insert(p->elementwise.begin(), op);
    value = op.operand(*running);
  }
  const ir::Attribute weights = ir::Contents(p->matmul.operand(1));
  if (!weights || weights.dense_type().rank() < 2) return false;
  p->columns = weights.dense_type().dims().back();
  return true;
}

// Whether a 0 in the target copies the number of columns, which the split changes.
bool CopiesColumns(const Projection& p) {
  const ir::Type product = p.reshape.operand(0).type();
  if (p.reshape.attrs_of<ops::Reshape>().allowzero != 0) return false;
  const ir::Ints target = *ir::ConstantInts(p.reshape.operand(1));
  for (size_t i = 0; i < p.axis; ++i)
    if (target[i] == 0 && (!product.HasRank() || i + 1 >= product.rank())) return true;
  return false;
}

std::optional<Projection> ProjectionOf(ir::Operation transpose) {
  Projection p{.transpose = transpose};
  const auto perm = transpose.attrs_of<ops::Transpose>().perm;
  const ir::Value split = transpose.operand(0);
  p.reshape = split.DefiningOp();
  if (!perm || perm->empty() || !p.reshape || !p.reshape.Is<ops::Reshape>() || !split.HasOneUse() ||
      !ir::ConstantInts(p.reshape.operand(1)) || !split.type().HasRank())
    return std::nullopt;
  p.axis = static_cast<size_t>(perm->front());
  const auto inner = split.type().dims().subspan(p.axis);
  if (!std::all_of(inner.begin(), inner.end(), [](int64_t d) { return d > 0; }) || inner[0] < 2 ||
      !FindProduct(&p) || !FindGathers(&p, inner[0]))
    return std::nullopt;
  int64_t columns = 1;
  for (const int64_t d : inner)
    if (__builtin_mul_overflow(columns, d, &columns)) return std::nullopt;
  if (columns != p.columns || CopiesColumns(p)) return std::nullopt;
  return p;
}

// Columns of part i, of a constant that has all of them; else the constant itself.
ir::Value PartOf(ir::Rewriter& rewriter, ir::Value constant, const Projection& p, size_t i) {
  const ir::Attribute dense = ir::Contents(constant);
  ir::Shape sizes = dense.dense_type().shape();
  if (sizes.empty() || sizes.back() != p.columns) return constant;
  ir::Shape begins(sizes.size(), 0);
  sizes.back() = p.columns / static_cast<int64_t>(p.gathers.size());
  begins.back() = static_cast<int64_t>(i) * sizes.back();
  return rewriter.Constant(SliceConstant(dense, begins, sizes));
}

ir::Value Rebuilt(ir::Rewriter& rewriter, const Projection& p, size_t i) {
  ir::Value y = rewriter.Make<ops::MatMul>(
      {p.matmul.operand(0), PartOf(rewriter, p.matmul.operand(1), p, i)});
  for (const ir::Operation op : p.elementwise) {
    const uint32_t running = *RunningOperand(op);
    const ir::Value part = PartOf(rewriter, op.operand(1 - running), p, i);
    ir::OperationState state{.opcode = op.opcode(),
                             .operands = running == 0 ? std::vector{y, part} : std::vector{part, y},
                             .attrs = op.attrs(),
                             .result_types = {y.type()}};
    y = rewriter.Create(std::move(state)).result();
  }
  // Dimensions before the part are as they were written: they may be 0 or -1. Those behind it are
  // known.
  ir::Ints shape = *ir::ConstantInts(p.reshape.operand(1));
  const auto dims = p.reshape.result().type().dims();
  std::copy(dims.begin() + static_cast<std::ptrdiff_t>(p.axis), dims.end(),
            shape.begin() + static_cast<std::ptrdiff_t>(p.axis));
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(p.axis));
  y = rewriter.Make<ops::Reshape>({y, rewriter.ConstantInts(shape)},
                                  {.allowzero = p.reshape.attrs_of<ops::Reshape>().allowzero});
  ir::Ints perm = *p.transpose.attrs_of<ops::Transpose>().perm;
  perm.erase(perm.begin());
  for (int64_t& axis : perm) axis -= axis > static_cast<int64_t>(p.axis);
  return rewriter.Make<ops::Transpose>({y}, {.perm = perm});
}

class SplitQkvMatmul : public Pass {
 public:
  SplitQkvMatmul()
      : Pass("split-qkv-matmul", "a product taken apart becomes one for each part",
             {.seed = "ascend"}) {}

  absl::Status Run(ir::Program& program) override {
    std::vector<ir::Operation> transposes;
    ir::Walk(program, [&](ir::Operation op) {
      if (op.Is<ops::Transpose>()) transposes.push_back(op);
    });
    ir::Rewriter rewriter(&program);
    for (const ir::Operation transpose : transposes)
      if (const auto projection = ProjectionOf(transpose)) Split(rewriter, *projection);
    return absl::OkStatus();
  }

 private:
  void Split(ir::Rewriter& rewriter, const Projection& p) {
    for (size_t i = 0; i < p.gathers.size(); ++i) {
      rewriter.SetInsertionPoint(p.gathers[i]);
      rewriter.set_location(p.gathers[i].location());
      rewriter.Replace(p.gathers[i], {Rebuilt(rewriter, p, i)});
    }
    rewriter.EraseWithDeadOperands(p.transpose);
    Count("products split");
    MarkChanged();
  }
};
WEFT_REGISTER_PASS(SplitQkvMatmul);

}  // namespace
}  // namespace weft::passes
