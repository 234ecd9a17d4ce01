#include "kernels/runtime/plan_builder.h"

#include <algorithm>
#include <new>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/base/large_memory.h"
#include "ir/dialects/builtin.h"
#include "ir/origin/origin.h"

namespace weft::kernels {
namespace {

std::string Describe(ir::Operation op) {
  std::string text(op.name());
  if (!op.location().empty()) text += " (" + std::string(op.location().str()) + ")";
  return text;
}

}  // namespace

PlanBuilder::PlanBuilder(std::unique_ptr<ir::Program> program, const PlanResources& resources,
                         std::span<const BoundPorts> bound)
    : resources_(resources),
      plan_(new Plan()),
      program_(program.get()),
      inplace_(*program),
      bound_(bound) {
  plan_->program_ = std::move(program);
  plan_->pool_ = resources.pool;
  plan_->profile_ = resources.profile;
  plan_->stop_ = resources.stop;
}

absl::StatusOr<std::unique_ptr<Plan>> PlanBuilder::Build() {
  WEFT_RETURN_IF_ERROR(AddInputs());
  for (const ir::Operation op : program_->body()) WEFT_RETURN_IF_ERROR(AddOp(op));
  FindLifetimes();
  PlaceOutputs();
  WritePartsInPlace();
  ReadPartsInPlace();
  ShareInPlace();
  BindOutputs();
  StageInputs();
  WEFT_RETURN_IF_ERROR(AllocateArena());
  FillViews();
  AddOutputCopies();
  return std::move(plan_);
}

// --- tensors and steps ------------------------------------------------------

int PlanBuilder::AddRoot(Root root) {
  roots_.push_back(root);
  return static_cast<int>(roots_.size()) - 1;
}

int PlanBuilder::AddTensor(ir::Value value, int root) {
  tensors_.push_back({value.type(), root});
  const int tensor = static_cast<int>(tensors_.size()) - 1;
  tensor_of_value_[value.id()] = tensor;
  return tensor;
}

int PlanBuilder::TensorOf(ir::Value value) const {
  if (!value) return -1;
  const auto it = tensor_of_value_.find(value.id());
  WEFT_CHECK(it != tensor_of_value_.end(), "an op uses a value that is defined after it");
  return it->second;
}

int PlanBuilder::FindRoot(int root) const {
  while (roots_[root].merged_into >= 0) root = roots_[root].merged_into;
  return root;
}

int PlanBuilder::FindWhole(int root) const {
  for (root = FindRoot(root); roots_[root].part_of >= 0;) root = FindRoot(roots_[root].part_of);
  return root;
}

absl::Status PlanBuilder::AddInputs() {
  const ir::Block body = program_->body();
  for (uint32_t i = 0; i < body.num_arguments(); ++i) {
    const ir::Value value = body.argument(i);
    WEFT_RETURN_IF_ERROR(CheckRunnable(value.type(), program_->module(), "input", i));
    plan_->input_types_.push_back(value.type());
    const int root = AddRoot({.home = Home::kInput,
                              .port = i,
                              .bytes = static_cast<size_t>(value.type().NumBytes()),
                              .first = -1,
                              .last = -1,
                              .dtype = value.type().dtype()});
    input_tensors_.push_back(AddTensor(value, root));
  }
  return absl::OkStatus();
}

absl::StatusOr<KernelContext> PlanBuilder::MakeContext(ir::Operation op) const {
  std::vector<ir::Type> inputs, results;
  std::vector<ir::Attribute> constants;
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    const ir::Value value = op.operand(i);
    inputs.push_back(value ? value.type() : ir::Type());
    constants.push_back(ir::ConstantValue(value));
  }
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    WEFT_RETURN_IF_ERROR(CheckRunnable(op.result(i).type(), op, "result", i));
    results.push_back(op.result(i).type());
  }
  KernelContext context(op, std::move(inputs), std::move(results), std::move(constants),
                        resources_.pool, resources_.packed);
  if (op.num_regions() > 0) context.set_providers(resources_.providers);
  return context;
}

absl::Status PlanBuilder::AddOp(ir::Operation op) {
  if (op.Is<ir::ReturnOp>()) {
    for (const ir::Value value : op.operands()) {
      plan_->output_types_.push_back(value.type());
      output_tensors_.push_back(TensorOf(value));
    }
    return absl::OkStatus();
  }
  if (const ir::Attribute dense =
          op.num_results() == 1 ? ir::ConstantValue(op.result()) : ir::Attribute()) {
    WEFT_RETURN_IF_ERROR(CheckRunnable(op.result().type(), op, "result", 0));
    if (dense.IsElided())
      return ir::InvalidArgument(Describe(op) +
                                 ": the contents of this constant were left out of the text");
    AddTensor(op.result(), AddRoot({.home = Home::kConstant,
                                    .constant = dense,
                                    .bytes = static_cast<size_t>(op.result().type().NumBytes()),
                                    .dtype = dense.dense_type().dtype()}));
    return absl::OkStatus();
  }
  if (op.num_regions() > 0 && !op.HasTrait(ir::kBodyInRegion) && ProvidersOf(op.opcode()).empty())
    return ir::Unsupported(Describe(op) + ": ops with nested regions cannot run");
  if (!op.def() && ProvidersOf(op.opcode()).empty())
    return ir::Unsupported(Describe(op) + ": no kernel runs this op");
  WEFT_ASSIGN_OR_RETURN(const KernelContext context, MakeContext(op));
  auto chosen = MakeKernel(context, resources_.providers, resources_.choices);
  if (!chosen.ok()) {
    if (op.location().empty()) return chosen.status();
    return ir::Annotate(chosen.status(), op.location().str());
  }
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    if (context.constant(i) && !chosen->kernel->Reads(i)) context.constant(i).DropPages();
  if (chosen->kernel->IsView()) {
    AddTensor(op.result(), tensors_[TensorOf(op.operand(0))].root);
    return absl::OkStatus();
  }
  const bool has_key = resources_.profile || resources_.choices != nullptr;
  return AddStep(op, *std::move(chosen), has_key ? KernelKey(context) : "");
}

absl::Status PlanBuilder::AddStep(ir::Operation op, ChosenKernel chosen, std::string key) {
  StepTensors tensors;
  tensors.op = op;
  const int step = static_cast<int>(plan_->steps_.size());
  for (const ir::Value value : op.operands()) tensors.inputs.push_back(TensorOf(value));
  bool computes = false;  // a step whose results have no elements is left out
  for (const ir::Value value : op.results()) {
    const auto bytes = static_cast<size_t>(value.type().NumBytes());
    computes |= bytes > 0;
    tensors.outputs.push_back(AddTensor(
        value,
        AddRoot({.bytes = bytes, .first = step, .last = step, .dtype = value.type().dtype()})));
  }
  if (!computes) return absl::OkStatus();
  step_tensors_.push_back(std::move(tensors));
  Step made;
  made.op = op.name();
  made.location = ir::DescribeOrigin(op);
  made.provider = std::move(chosen.provider);
  made.key = std::move(key);
  made.isa = chosen.isa;
  made.kernel = std::move(chosen.kernel);
  plan_->steps_.push_back(std::move(made));
  return absl::OkStatus();
}

// --- memory -----------------------------------------------------------------

void PlanBuilder::FindLifetimes() {
  for (size_t step = 0; step < step_tensors_.size(); ++step) {
    const Kernel& kernel = *plan_->steps_[step].kernel;
    for (size_t i = 0; i < step_tensors_[step].inputs.size(); ++i) {
      const int tensor = step_tensors_[step].inputs[i];
      if (tensor < 0 || !kernel.Reads(i)) continue;
      Root& root = roots_[tensors_[tensor].root];
      root.last = static_cast<int>(step);
      root.overread |= kernel.ReadsPastEnd();
    }
  }
  for (const int tensor : output_tensors_)
    roots_[tensors_[tensor].root].last = static_cast<int>(step_tensors_.size());
}

// A result that is an output of the program is written straight into the caller's memory, unless
// kernels read past its end there.
void PlanBuilder::PlaceOutputs() {
  for (size_t i = 0; i < output_tensors_.size(); ++i) {
    Root& root = roots_[tensors_[output_tensors_[i]].root];
    if (root.home != Home::kArena || root.overread) continue;
    root.home = Home::kOutput;
    root.port = i;
  }
}

// Inputs that kernels read past the end of, and those that outputs are when their memory is another's, are copied into
// the arena first.
void PlanBuilder::StageInputs() {
  for (const int tensor : input_tensors_) {
    Root& root = roots_[tensors_[tensor].root];
    if (!(root.overread || root.is_staged) || root.bytes == 0) continue;
    root.home = Home::kArena;
    plan_->copies_in_.push_back({.from = {.kind = Plan::Address::Kind::kInput, .port = root.port},
                                 .to = {},  // known when the arena is
                                 .bytes = root.bytes});
  }
}

absl::Status PlanBuilder::AllocateArena() {
  std::vector<BufferLifetime> lifetimes;
  const auto add = [&](size_t bytes, int first, int last) {
    lifetimes.push_back({bytes, first, last});
    return static_cast<int>(lifetimes.size()) - 1;
  };
  for (Root& root : roots_) {
    if (root.merged_into < 0 && root.part_of < 0 && root.home == Home::kArena)
      root.arena_buffer = add(root.bytes, root.first, root.last);
  }
  for (size_t step = 0; step < plan_->steps_.size(); ++step) {
    const size_t bytes = plan_->steps_[step].kernel->scratch_bytes();
    const int at = static_cast<int>(step);
    scratch_buffers_.push_back(bytes == 0 ? -1 : add(bytes, at, at));
  }
  const MemoryPlan memory = PlanMemory(lifetimes);
  plan_->arena_bytes_ = memory.bytes;
  plan_->arena_ = AlignedBytes(memory.bytes);
  if (plan_->arena_.data() == nullptr)
    return absl::ResourceExhaustedError("not enough memory for an arena of " +
                                        std::to_string(memory.bytes) + " bytes");
  ir::PrepareForWriting(plan_->arena_.data(), memory.bytes);
  for (size_t i = 0; i < lifetimes.size(); ++i)
    plan_->arena_buffers_.push_back({memory.offsets[i], lifetimes[i]});
  return absl::OkStatus();
}

// Constants may lie anywhere in a file: kernels want whole elements aligned. One copy serves all plans.
std::byte* PlanBuilder::AlignedConstant(Root& root) {
  if (root.data != nullptr) return const_cast<std::byte*>(root.data);
  root.data = root.constant.bytes().data();
  const bool aligned = reinterpret_cast<uintptr_t>(root.data) % ir::ElementSize(root.dtype) == 0;
  if ((!aligned || root.overread) && root.bytes > 0) {
    const auto copy = [&]() -> absl::StatusOr<std::shared_ptr<AlignedBytes>> {
      auto made = std::make_shared<AlignedBytes>(root.bytes);
      if (made->data() == nullptr) throw std::bad_alloc();
      root.constant.Read(0, {made->data(), root.bytes});
      return made;
    };
    root.data = (*resources_.packed->Get<AlignedBytes>("aligned", {root.constant}, copy))->data();
  }
  return const_cast<std::byte*>(root.data);
}

Plan::Address PlanBuilder::AddressOf(int tensor) { return AddressOfRoot(tensors_[tensor].root); }

Plan::Address PlanBuilder::AddressOfRoot(int index) {
  Root& root = roots_[FindRoot(index)];
  if (root.part_of >= 0) {
    Plan::Address address = AddressOfRoot(root.part_of);
    if (address.kind == Plan::Address::Kind::kFixed) address.fixed += root.offset;
    address.offset += root.offset;
    return address;
  }
  using Kind = Plan::Address::Kind;
  switch (root.home) {
    case Home::kInput:
      return {.kind = Kind::kInput, .port = root.port};
    case Home::kOutput:
      return {.kind = Kind::kOutput, .port = root.port};
    case Home::kConstant:
      return {.fixed = AlignedConstant(root)};
    case Home::kArena:
      break;
  }
  return {.fixed = plan_->arena_.data() + plan_->arena_buffers_[root.arena_buffer].offset};
}

void PlanBuilder::FillViews() {
  size_t count = 0;
  for (const StepTensors& step : step_tensors_) count += step.inputs.size() + step.outputs.size();
  plan_->views_.reserve(count);  // steps keep spans into it
  const auto fill = [&](const std::vector<int>& tensors, const auto& is_used) {
    const size_t begin = plan_->views_.size();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const int tensor = tensors[i];
      TensorView view;
      if (tensor >= 0) view = {tensors_[tensor].type.dtype(), tensors_[tensor].type.dims()};
      if (tensor >= 0 && is_used(i)) {
        const Plan::Address address = AddressOf(tensor);
        view.data = address.fixed;
        if (address.kind != Plan::Address::Kind::kFixed)
          plan_->bindings_.push_back({plan_->views_.size(), address});
      }
      plan_->views_.push_back(view);
    }
    return std::span<const TensorView>(plan_->views_.data() + begin, tensors.size());
  };
  for (size_t i = 0; i < step_tensors_.size(); ++i) {
    Step& step = plan_->steps_[i];
    step.inputs = fill(step_tensors_[i].inputs, [&](size_t n) { return step.kernel->Reads(n); });
    step.outputs = fill(step_tensors_[i].outputs, [](size_t) { return true; });
    if (scratch_buffers_[i] >= 0)
      step.scratch = plan_->arena_.data() + plan_->arena_buffers_[scratch_buffers_[i]].offset;
  }
  size_t copy = 0;
  for (const int tensor : input_tensors_) {
    if (roots_[tensors_[tensor].root].home != Home::kArena) continue;
    plan_->copies_in_[copy++].to = AddressOf(tensor);
  }
}

void PlanBuilder::AddOutputCopies() {
  for (size_t i = 0; i < output_tensors_.size(); ++i) {
    const Plan::Address from = AddressOf(output_tensors_[i]);
    const auto bytes = static_cast<size_t>(tensors_[output_tensors_[i]].type.NumBytes());
    if (bytes == 0) continue;
    if (from.kind == Plan::Address::Kind::kOutput && from.port == i && from.offset == 0) continue;
    if (from.kind == Plan::Address::Kind::kInput && from.offset == 0 && IsBound(i, from.port))
      continue;
    plan_->copies_out_.push_back(
        {.from = from, .to = {.kind = Plan::Address::Kind::kOutput, .port = i}, .bytes = bytes});
  }
}

}  // namespace weft::kernels
