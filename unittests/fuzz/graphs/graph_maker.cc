#include "unittests/fuzz/graphs/graph_maker.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "ir/analysis/shape_inference.h"
#include "ir/analysis/verifier.h"
#include "ir/base/check.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/session.h"

namespace weft::fuzz {
namespace {

constexpr int kMaxInputs = 16;
constexpr int64_t kMaxElements = 6000;  // of a value
constexpr size_t kMaxRank = 6;

bool IsSmall(ir::Type type) {
  return type && type.IsTensor() && type.IsStatic() && type.rank() <= kMaxRank &&
         type.NumElements() <= kMaxElements && ir::ElementSize(type.dtype()) > 0;
}

kernels::Tensor TensorOf(ir::Attribute dense) {
  const ir::Type type = dense.dense_type();
  kernels::Tensor tensor = *kernels::Tensor::Create(type.dtype(), type.shape());
  if (!dense.bytes().empty())
    std::memcpy(tensor.view().data, dense.bytes().data(), dense.bytes().size());
  return tensor;
}

bool IsInside(ir::Value value, ir::Operation op) {
  for (ir::Operation holder = value.ParentBlock().ParentOp(); holder; holder = holder.ParentOp())
    if (holder == op) return true;
  return false;
}

}  // namespace

GraphMaker::GraphMaker(ir::IrContext& context, uint64_t seed)
    : random_(seed),
      has_control_(seed % 4 == 0),
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

ir::Operation GraphMaker::BeginControl(ir::OperationState state, size_t num_results) {
  state.result_types.assign(num_results, context().UnrankedTensorType(ir::DataType::kNull));
  return builder_.Create(std::move(state));
}

std::vector<ir::Value> GraphMaker::BeginBlock(ir::Operation op, uint32_t region,
                                              const std::vector<ir::Type>& arguments) {
  ir::Rewriter rewriter(program_.get());
  const ir::Block block = rewriter.AppendBlock(op.region(region));
  scopes_.push_back({block, values_.size()});
  builder_.SetInsertionPointToEnd(block);
  std::vector<ir::Value> values;
  for (const ir::Type type : arguments) {
    const auto tensor = MakeTensor(type.dtype(), type.shape(), Contents::kTame, random_);
    WEFT_CHECK(tensor.ok(), "an argument without numbers");
    const kernels::TensorView view = tensor->view();
    values.push_back(Keep(rewriter.AddArgument(block, type),
                          context().DenseAttr(type, {view.data, view.NumBytes()})));
  }
  return values;
}

void GraphMaker::EndBlock(const std::vector<ir::Value>& returned) {
  builder_.Create({.opcode = ir::kOpcodeOf<ir::ReturnOp>, .operands = returned});
  values_.resize(scopes_.back().num_values);
  scopes_.pop_back();
  builder_.SetInsertionPointToEnd(scopes_.empty() ? program_->body() : scopes_.back().block);
}

absl::StatusOr<std::vector<ir::Attribute>> GraphMaker::RunAlone(ir::Operation op) const {
  ir::Program alone(program_->context());
  ir::Builder builder(&alone);
  ir::ValueMap map;
  std::vector<kernels::Tensor> inputs;
  std::unordered_set<uint32_t> known;
  const auto add = [&](ir::Value value) {
    if (!value || !contents_.contains(value.id()) || !known.insert(value.id()).second) return;
    const ir::Attribute dense = contents_.at(value.id());
    if (value.DefiningOp() && value.DefiningOp().Is<ir::ConstantOp>()) {
      map.Set(value, builder.Constant(dense));
      return;
    }
    map.Set(value, builder.AddInput("x" + std::to_string(inputs.size()), value.type()));
    inputs.push_back(TensorOf(dense));
  };
  for (const ir::Value value : op.operands()) add(value);
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    ir::Walk(op.region(i), [&](ir::Operation inner) {
      for (const ir::Value value : inner.operands())
        if (value && !IsInside(value, op)) add(value);
    });
  const ir::Operation copy = ir::CloneOperation(builder, op, map);
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value result : copy.results())
    outputs.emplace_back("y" + std::to_string(outputs.size()), result);
  builder.Return(std::move(outputs));
  WEFT_RETURN_IF_ERROR(ir::Verify(alone));
  WEFT_ASSIGN_OR_RETURN(const auto session,
                        kernels::Session::Create(alone, {.provider = "reference"}));
  std::vector<kernels::TensorView> views;
  for (const kernels::Tensor& input : inputs) views.push_back(input.view());
  WEFT_ASSIGN_OR_RETURN(const std::vector<kernels::Tensor> tensors, session->Run(views));
  std::vector<ir::Attribute> results;
  for (const kernels::Tensor& tensor : tensors) {
    const kernels::TensorView view = tensor.view();
    results.push_back(program_->context()->DenseAttr(
        program_->context()->TensorType(tensor.dtype(), tensor.dims()),
        {view.data, view.NumBytes()}));
  }
  return results;
}

bool GraphMaker::EndControl(ir::Operation op) {
  ir::Rewriter rewriter(program_.get());
  std::vector<ir::Attribute> results;
  bool fits = ir::RefineResultTypes(op, rewriter).ok();
  if (fits) {
    auto computed = RunAlone(op);
    fits = computed.ok();
    if (fits) results = *std::move(computed);
  }
  for (const ir::Attribute result : results) fits = fits && IsSmall(result.dense_type());
  if (!fits) {
    rewriter.Erase(op);
    return false;
  }
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    rewriter.SetType(op.result(i), results[i].dense_type());
    Keep(op.result(i), results[i]);
  }
  return true;
}

bool GraphMaker::AddCopy(ir::Operation op, ir::ValueMap& map) {
  return EndControl(ir::CloneOperation(builder_, op, map));
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
