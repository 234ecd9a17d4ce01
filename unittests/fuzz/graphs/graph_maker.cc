#include "unittests/fuzz/graphs/graph_maker.h"

#include <algorithm>
#include <utility>

#include "ir/analysis/verifier.h"
#include "ir/base/check.h"
#include "ir/rewriter.h"
#include "kernels/runtime/evaluator.h"

namespace weft::fuzz {
namespace {

constexpr int kMaxInputs = 16;
constexpr int64_t kMaxElements = 6000;  // of a value
constexpr size_t kMaxRank = 6;

bool IsSmall(ir::Type type) {
  return type && type.IsTensor() && type.IsStatic() && type.rank() <= kMaxRank &&
         type.NumElements() <= kMaxElements && ir::ElementSize(type.dtype()) > 0;
}

}  // namespace

GraphMaker::GraphMaker(ir::IrContext& context, uint64_t seed)
    : random_(seed),
      program_(std::make_unique<ir::Program>(&context)),
      builder_(program_.get()),
      evaluator_(*kernels::KernelEvaluator::Create("reference")) {}

ir::Value GraphMaker::Keep(ir::Value value, ir::Attribute contents) {
  values_.push_back(value);
  contents_[value.id()] = contents;
  return value;
}

ir::Value GraphMaker::AddInput(ir::Type type) {
  const auto tensor = MakeTensor(type.dtype(), type.shape(), Contents::kTame, random_);
  if (!tensor.ok()) return {};
  const kernels::TensorView view = tensor->view();
  return Keep(builder_.AddInput("x" + std::to_string(num_inputs_++), type),
              context().DenseAttr(type, {view.data, view.NumBytes()}));
}

ir::Value GraphMaker::AddConstant(ir::Type type) {
  constexpr Contents kKinds[] = {Contents::kTame, Contents::kTame, Contents::kLattice};
  const auto tensor = MakeTensor(type.dtype(), type.shape(), random_.Pick(kKinds), random_);
  if (!tensor.ok()) return {};
  const kernels::TensorView view = tensor->view();
  return AddConstant(context().DenseAttr(type, {view.data, view.NumBytes()}));
}

ir::Value GraphMaker::AddConstant(ir::Attribute dense) {
  return Keep(builder_.Constant(dense), dense);
}

ir::Value GraphMaker::AddInts(const std::vector<int64_t>& ints, bool scalar) {
  scalar = scalar && !ints.empty();
  const ir::Shape dims = scalar ? ir::Shape{} : ir::Shape{static_cast<int64_t>(ints.size())};
  const std::span<const int64_t> values(ints.data(), scalar ? 1 : ints.size());
  return AddConstant(context().DenseAttrOf(context().TensorType(ir::DataType::kI64, dims), values));
}

ir::Value GraphMaker::AddLeaf(ir::Type type) {
  return num_inputs_ < kMaxInputs && random_.Chance(50) ? AddInput(type) : AddConstant(type);
}

ir::Value GraphMaker::LeafOrValue(ir::Type type) {
  std::vector<ir::Value> fitting;
  for (const ir::Value value : values_)
    if (value.type() == type) fitting.push_back(value);
  return !fitting.empty() && random_.Chance(75) ? random_.Pick(fitting) : AddLeaf(type);
}

ir::Value GraphMaker::PickValue() {
  const size_t size = values_.size();
  return values_[random_.Chance(60) ? size - 1 - random_.Below(std::min<size_t>(size, 4))
                                    : random_.Below(size)];
}

ir::Value GraphMaker::PickOfType(ir::DataType dtype) {
  std::vector<ir::Value> fitting;
  for (const ir::Value value : values_)
    if (value.type().dtype() == dtype) fitting.push_back(value);
  return fitting.empty() ? ir::Value() : random_.Pick(fitting);
}

bool GraphMaker::AddOp(ir::OperationState state, size_t num_results, ir::Operation* added) {
  std::vector<ir::Attribute> operands;
  for (const ir::Value value : state.operands)
    operands.push_back(value ? ContentsOf(value) : ir::Attribute());
  std::string why_not;
  ir::Operation op;
  if (!builder_.TryCreate(std::move(state), num_results, &op, &why_not)) return false;
  bool fits = ir::VerifyOperation(op).ok();
  for (const ir::Value result : op.results()) fits = fits && IsSmall(result.type());
  std::vector<ir::Attribute> results;
  if (fits) {
    const auto computed = evaluator_->Evaluate(op, operands);
    fits = computed.ok();
    if (fits) results = *computed;
  }
  if (!fits) {
    ir::Rewriter(program_.get()).Erase(op);
    return false;
  }
  for (uint32_t i = 0; i < op.num_results(); ++i) Keep(op.result(i), results[i]);
  *added = op;
  return true;
}

std::unique_ptr<ir::Program> GraphMaker::Finish() {
  constexpr size_t kMaxOutputs = 16;  // what no output needs is dead
  std::vector<ir::Value> unread, others;
  for (const ir::Value value : values_) {
    if (!value.DefiningOp() || value.DefiningOp().num_operands() == 0) continue;  // leaves
    (value.use_count() == 0 ? unread : others).push_back(value);
  }
  while (unread.size() > kMaxOutputs - 2)
    unread.erase(unread.begin() + static_cast<std::ptrdiff_t>(random_.Below(unread.size())));
  for (size_t i = 0; i < 2 && !others.empty(); ++i)
    if (const ir::Value value = random_.Pick(others);
        !std::count(unread.begin(), unread.end(), value))
      unread.push_back(value);
  if (unread.empty()) unread.push_back(values_.back());
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value value : unread)
    outputs.emplace_back("y" + std::to_string(outputs.size()), value);
  builder_.Return(std::move(outputs));
  const absl::Status valid = ir::Verify(*program_);
  WEFT_CHECK(valid.ok(), ir::Message(valid));
  return std::move(program_);
}

ir::Shape RandomShape(Random& random) {
  constexpr int64_t kSizes[] = {1, 1, 2, 2, 2, 3, 3, 3, 5, 5};
  ir::Shape shape(random.Below(5));
  for (int64_t& size : shape) size = random.Chance(2) ? 0 : random.Pick(kSizes);
  return shape;
}

}  // namespace weft::fuzz
