#include "kernels/runtime/evaluator.h"

#include <new>
#include <utility>

#include "ir/infer.h"
#include "kernels/runtime/registry.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

constexpr size_t kMaxResultBytes = size_t{1} << 30;

// The op's result types for these operands: as stated where that is static, else as inferred from
// the op's own operands. Of an op that sizes its results they may stay unknown.
absl::StatusOr<std::vector<ir::Type>> ResultTypes(ir::Operation op, bool sizes_itself) {
  std::vector<ir::Type> types;
  bool all_static = true;
  for (const ir::Value value : op.results()) {
    types.push_back(value.type());
    all_static &= value.type().IsStatic();
  }
  if (!all_static) {
    const ir::OperationState state{
        .opcode = op.opcode(), .operands = op.operands().vec(), .attrs = op.attrs()};
    std::string error;
    if (!ir::InferResultTypes(op.context(), state, op.num_results(), &types, &error))
      return ir::InvalidArgument(error);
  }
  for (uint32_t i = 0; i < types.size(); ++i)
    if (!sizes_itself) WEFT_RETURN_IF_ERROR(CheckRunnable(types[i], op, "result", i));
  return types;
}

// Memory for one operand or result while a kernel runs.
class Operands {
 public:
  // Copies what kernels could not read where it is.
  TensorView Add(ir::Attribute dense, bool copy) {
    const ir::Type type = dense.dense_type();
    const std::byte* data = dense.bytes().data();
    if (dense.bytes().empty()) return {type.dtype(), type.dims(), const_cast<std::byte*>(data)};
    copy |= reinterpret_cast<uintptr_t>(data) % ir::ElementSize(type.dtype()) != 0;
    if (copy) {
      copies_.emplace_back(dense.num_bytes());
      if (copies_.back().data() == nullptr) throw std::bad_alloc();
      dense.Read(0, {copies_.back().data(), dense.num_bytes()});
      data = copies_.back().data();
    }
    return {type.dtype(), type.dims(), const_cast<std::byte*>(data)};
  }

 private:
  std::vector<AlignedBytes> copies_;
};

ir::Attribute MakeDense(PackedWeights* owner, ir::Type type, ir::WeightBuffer buffer) {
  if (owner != nullptr) return owner->Adopt(type, std::move(buffer));
  ir::IrContext& context = *type.context();
  if (buffer.size > PackedWeights::kSmall) return context.DenseAttrAdopt(type, std::move(buffer));
  const ir::Attribute dense = context.DenseAttr(type, {buffer.data, buffer.size});
  if (buffer.release) buffer.release();
  return dense;
}

absl::StatusOr<KernelContext> MakeContext(ir::Operation op, std::span<const ir::Attribute> operands,
                                          ThreadPool* pool, PackedWeights* packed,
                                          bool sizes_itself) {
  std::vector<ir::Type> input_types;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ir::Attribute dense = operands[i];
    const bool needs_contents = !op.HasTrait(ir::kReadsShapesOnly);
    if (dense && (!dense.Is(ir::AttrKind::kDense) || (needs_contents && dense.IsElided())))
      return ir::InvalidArgument(std::string(op.name()) + ": operand " + std::to_string(i) +
                                 " has no contents");
    input_types.push_back(dense ? dense.dense_type() : ir::Type());
    const bool holds_bytes =
        needs_contents || !HoldsStrings(dense ? dense.dense_type() : ir::Type());
    if (dense && holds_bytes)
      WEFT_RETURN_IF_ERROR(
          CheckRunnable(input_types.back(), op, "operand", static_cast<uint32_t>(i)));
  }
  WEFT_ASSIGN_OR_RETURN(std::vector<ir::Type> result_types, ResultTypes(op, sizes_itself));
  for (const ir::Type type : result_types) {
    if (type && type.NumBytes() > static_cast<int64_t>(kMaxResultBytes))
      return ir::Unsupported(std::string(op.name()) + ": a constant result of type " +
                             type.ToString() + " is too large to fold");
  }
  return KernelContext(op, std::move(input_types), std::move(result_types),
                       {operands.begin(), operands.end()}, pool, packed);
}

// The results of a kernel that sizes them.
absl::StatusOr<std::vector<ir::Attribute>> RunDynamic(const KernelContext& op, Kernel& kernel,
                                                      const KernelArgs& args,
                                                      PackedWeights* owner) {
  ir::IrContext& context = *op.op().context();
  WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, kernel.RunDynamic(args));
  std::vector<ir::Attribute> results;
  for (const Tensor& tensor : tensors) {
    const TensorView view = tensor.view();
    const ir::Type stated = op.result_type(results.size());
    if (stated && !ir::Compatible(context.TensorType(view.dtype, view.dims), stated))
      return op.InvalidArgument("the result is not of type " + stated.ToString());
    if (view.NumBytes() > kMaxResultBytes)
      return ir::Unsupported("a constant result is too large to fold");
    std::byte* data = nullptr;
    ir::WeightBuffer buffer = ir::IrContext::AllocateWeightBuffer(view.NumBytes(), &data);
    if (view.NumBytes() > 0) std::memcpy(data, view.data, view.NumBytes());
    results.push_back(
        MakeDense(owner, context.TensorType(view.dtype, view.dims), std::move(buffer)));
  }
  return results;
}

}  // namespace

absl::StatusOr<std::unique_ptr<KernelEvaluator>> KernelEvaluator::Create(std::string_view provider,
                                                                         PackedWeights* owner) {
  WEFT_ASSIGN_OR_RETURN(std::vector<std::string> providers, ProviderOrder(provider));
  auto pool = std::make_unique<ThreadPool>(1);
  auto evaluator = std::make_unique<KernelEvaluator>(std::move(providers), pool.get(), owner);
  evaluator->own_pool_ = std::move(pool);
  return evaluator;
}

absl::StatusOr<std::vector<ir::Attribute>> KernelEvaluator::Evaluate(
    ir::Operation op, std::span<const ir::Attribute> operands) {
  PackedWeights packed;
  const std::string sizing = SizingProvider(op.opcode(), providers_);
  const bool sizes_itself = !sizing.empty();
  WEFT_ASSIGN_OR_RETURN(const KernelContext context,
                        MakeContext(op, operands, pool_, &packed, sizes_itself));
  WEFT_ASSIGN_OR_RETURN(
      const ChosenKernel chosen,
      MakeKernel(context, sizes_itself ? std::vector<std::string>{sizing} : providers_));

  Operands memory;
  std::vector<TensorView> inputs, outputs;
  for (const ir::Attribute dense : operands)
    inputs.push_back(dense ? memory.Add(dense, chosen.kernel->ReadsPastEnd()) : TensorView());
  const AlignedBytes scratch(chosen.kernel->scratch_bytes());
  if (scratch.data() == nullptr) throw std::bad_alloc();
  if (sizes_itself)
    return RunDynamic(context, *chosen.kernel, {inputs, {}, scratch.data(), pool_}, owner_);
  std::vector<ir::WeightBuffer> buffers;
  bool computes = false;
  for (size_t i = 0; i < context.num_results(); ++i) {
    const ir::Type type = context.result_type(i);
    std::byte* data = nullptr;
    buffers.push_back(
        ir::IrContext::AllocateWeightBuffer(static_cast<size_t>(type.NumBytes()), &data));
    outputs.push_back({type.dtype(), type.dims(), data});
    computes |= buffers.back().size > 0;
  }
  absl::Status status;
  if (computes) status = chosen.kernel->Run({inputs, outputs, scratch.data(), pool_});
  std::vector<ir::Attribute> results;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (status.ok()) {
      results.push_back(MakeDense(owner_, context.result_type(i), std::move(buffers[i])));
    } else if (buffers[i].release) {
      buffers[i].release();
    }
  }
  if (!status.ok()) return status;
  return results;
}

}  // namespace weft::kernels
