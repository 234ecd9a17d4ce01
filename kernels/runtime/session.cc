#include "kernels/runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/analysis/default_inputs.h"
#include "ir/analysis/widen_floats.h"
#include "ir/dialects/builtin.h"
#include "ir/dim/dim_sizes.h"
#include "kernels/runtime/dense_tensor.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/isolate.h"
#include "kernels/runtime/registry.h"
#include "kernels/runtime/specialize.h"
#include "kernels/runtime/value_type.h"
#include "kernels/shared_pool.h"

namespace weft::kernels {
namespace {

std::string NameOr(const std::optional<ir::Strings>& names, size_t i, std::string_view what) {
  if (names && i < names->size()) return (*names)[i];
  return std::string(what) + std::to_string(i);
}

std::string Describe(ir::DataType dtype, std::span<const int64_t> dims) {
  return std::string(ir::DataTypeName(dtype)) + ir::ToString(dims);
}

bool SameDims(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Whether what is prepared for the type serves an input of these dims.
bool IsOfType(std::span<const int64_t> dims, ir::Type type) {
  return !type.IsTensor() || SameDims(dims, type.dims());
}

// Whether a tensor of the plan's type is given; the message says what is.
absl::Status CheckTensor(const TensorView& tensor, ir::Type type, std::string_view what,
                         const std::string& name) {
  const std::string subject = std::string(what) + " '" + name + "'";
  if (tensor.dtype != type.dtype() || !SameDims(tensor.dims, type.dims()))
    return ir::InvalidArgument(subject + " is " + Describe(tensor.dtype, tensor.dims) +
                               ", expected " + Describe(type.dtype(), type.dims()));
  if (tensor.NumElements() == 0) return absl::OkStatus();
  if (tensor.data == nullptr) return ir::InvalidArgument(subject + " has no data");
  if (tensor.dtype != ir::DataType::kString &&
      reinterpret_cast<uintptr_t>(tensor.data) % ir::ElementSize(tensor.dtype) != 0)
    return ir::InvalidArgument(subject + " is not aligned to its element size");
  return absl::OkStatus();
}

// Sequences hold tensors, optionals those or tensors.
absl::Status CheckElement(ir::Type type, const std::string& subject) {
  ir::Type element = type;
  if (element.IsOptional()) element = element.element();
  if (element.IsSequence()) element = element.element();
  if (element.IsTensor()) return absl::OkStatus();
  return ir::Unsupported(subject + " has type " + type.ToString() +
                         ", expected a tensor or a sequence of tensors");
}

// Whether the value, and every element of a sequence, is of the type.
absl::Status CheckValue(const RuntimeValue& value, ir::Type type, const std::string& name) {
  const std::string subject = "input '" + name + "'";
  if (!Fits(value, type, *type.context()))
    return ir::InvalidArgument(subject + " is " + kernels::Describe(value) + ", expected " +
                               type.ToString());
  if (!value.IsSequence()) return absl::OkStatus();
  const ir::Type sequence = type.IsOptional() ? type.element() : type;
  for (size_t i = 0; i < value.sequence->size(); ++i) {
    const std::shared_ptr<Tensor>& tensor = (*value.sequence)[i];
    const std::string element = subject + ", element " + std::to_string(i);
    if (tensor == nullptr) return ir::InvalidArgument(element + " is null");
    if (!Fits(RuntimeValue::Of(tensor), sequence.element(), *type.context()))
      return ir::InvalidArgument(element + " is " + Describe(tensor->dtype(), tensor->dims()) +
                                 ", expected " + sequence.element().ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckCount(size_t actual, size_t expected, std::string_view what) {
  if (actual == expected) return absl::OkStatus();
  return ir::InvalidArgument("expected " + std::to_string(expected) + " " + std::string(what) +
                             ", got " + std::to_string(actual));
}

}  // namespace

Session::Session(std::shared_ptr<ThreadPool> pool, std::shared_ptr<PackedWeights> shared,
                 std::shared_ptr<PackedWeights> packed)
    : pool_(std::move(pool)), shared_(std::move(shared)), packed_(std::move(packed)) {
  resources_.pool = pool_.get();
  resources_.packed = packed_.get();
  resources_.stop = &stop_;
}

Session::~Session() = default;

absl::Status CheckIsa(const std::string& name) {
  if (name.empty() || FindIsa(name)) return absl::OkStatus();
  std::string names;
  for (const Isa isa : SupportedIsas())
    names += (names.empty() ? "" : ", ") + std::string(IsaName(isa));
  return ir::InvalidArgument(fmt::format("instruction set '{}': this machine has {}", name, names));
}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(const ir::Program& program,
                                                         const SessionOptions& options) {
  if (options.threads < 1 || options.threads > ThreadPool::kMaxThreads)
    return ir::InvalidArgument("threads is " + std::to_string(options.threads) +
                               ", expected 1 to " + std::to_string(ThreadPool::kMaxThreads));
  WEFT_RETURN_IF_ERROR(CheckIsa(options.isa));
  const ComputeMode mode = {FindIsa(options.isa).value_or(CurrentIsa()), options.matmul_precision};
  const ScopedComputeMode scope(mode);
  const auto shared = options.packed ? options.packed : std::make_shared<PackedWeights>();
  std::unique_ptr<Session> session(
      new Session(options.pool ? options.pool : PoolFor(options.threads, options.oversubscribe),
                  shared, std::make_shared<PackedWeights>(shared.get())));
  PlanResources& resources = session->resources_;
  WEFT_ASSIGN_OR_RETURN(resources.providers, ProviderOrder(options.provider));
  resources.profile = options.profile;
  session->choices_ = options.choices;
  resources.choices = session->choices_.get();
  session->mode_ = mode;

  session->program_ = program.Clone();
  ir::Program& copy = *session->program_;
  const std::set<uint32_t> constants = LargeConstantsOf(copy);
  std::vector<std::optional<ImpliedRange>> ranges;
  for (const ir::Value input : copy.body().arguments()) ranges.push_back(RangeOfInput(input));
  if (ComputesInFloat32(resources.providers)) ir::WidenFloats(copy);
  WEFT_RETURN_IF_ERROR(IsolateRegions(copy));
  const ir::Operation end = copy.body().Terminator();
  if (!end || !end.Is<ir::ReturnOp>())
    return ir::InvalidArgument("the program does not end in builtin.return");
  const auto names = copy.module().attrs_of<ir::ModuleOp>();
  KernelEvaluator evaluator(resources.providers, resources.pool, resources.packed);
  WEFT_RETURN_IF_ERROR(Specialize(copy, {}, evaluator));
  resources.packed->KeepConstantsOf(copy);
  resources.packed->OwnConstantsOf(copy, constants);
  for (uint32_t i = 0; i < copy.body().num_arguments(); ++i)
    session->inputs_.push_back({.name = NameOr(names.input_names, i, "input"),
                                .type = copy.body().argument(i).type(),
                                .range = std::move(ranges[i])});
  WEFT_RETURN_IF_ERROR(session->ReadDefaults());
  for (uint32_t i = 0; i < end.num_operands(); ++i)
    session->outputs_.push_back({NameOr(names.output_names, i, "output"), end.operand(i).type()});
  WEFT_RETURN_IF_ERROR(session->BindOutputs(options.bound_outputs));
  copy.context()->DropPages();  // of what passes read; packing reads from files
  return session;
}

absl::Status Session::BindOutputs(std::span<const BoundOutput> bound) {
  const auto port = [](const std::vector<TensorInfo>& infos, const std::string& name) {
    const auto is_named = [&](const TensorInfo& info) { return info.name == name; };
    return static_cast<size_t>(std::find_if(infos.begin(), infos.end(), is_named) - infos.begin());
  };
  for (const BoundOutput& names : bound) {
    const BoundPorts ports = {port(outputs_, names.output), port(inputs_, names.input)};
    const std::string subject =
        fmt::format("output '{}' cannot lie where input '{}' lies: ", names.output, names.input);
    if (ports.output == outputs_.size() || ports.input == inputs_.size())
      return ir::InvalidArgument(subject + "the program has no such " +
                                 (ports.output == outputs_.size() ? "output" : "input"));
    for (const BoundPorts& other : bound_)
      if (other.output == ports.output || other.input == ports.input)
        return ir::InvalidArgument(subject + "one of them is bound already");
    const ir::Type output = outputs_[ports.output].type, input = inputs_[ports.input].type;
    if (!output.IsTensor() || !input.IsTensor() || output.dtype() != input.dtype() ||
        input.dtype() == ir::DataType::kString)
      return ir::InvalidArgument(subject + "they are no tensors of one element type");
    bound_.push_back(ports);
  }
  return absl::OkStatus();
}

absl::Status Session::CheckBound(std::span<const TensorView> inputs,
                                 std::span<const TensorView> outputs) const {
  for (const BoundPorts& ports : bound_)
    if (outputs.empty() || outputs[ports.output].data != inputs[ports.input].data)
      return ir::InvalidArgument(fmt::format("output '{}' must be given the address of input '{}'",
                                             outputs_[ports.output].name,
                                             inputs_[ports.input].name));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Session>> Session::Fork() const {
  std::unique_ptr<Session> fork(new Session(pool_, shared_, packed_));
  fork->resources_.providers = resources_.providers;
  fork->resources_.profile = resources_.profile;
  fork->choices_ = choices_;
  fork->resources_.choices = resources_.choices;
  fork->mode_ = mode_;
  fork->program_ = program_->Clone();
  fork->inputs_ = inputs_;
  fork->outputs_ = outputs_;
  fork->bound_ = bound_;
  WEFT_RETURN_IF_ERROR(fork->ReadDefaults());
  return fork;
}

absl::StatusOr<std::vector<ir::Type>> Session::BindTypes(
    std::span<const std::span<const int64_t>> input_dims) const {
  WEFT_RETURN_IF_ERROR(CheckCount(input_dims.size(), inputs_.size(), "inputs"));
  ir::DimSizes sizes;
  std::vector<ir::Type> types;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const ir::Type declared = inputs_[i].type;
    const std::span<const int64_t> dims = input_dims[i];
    const std::string subject = "input '" + inputs_[i].name + "'";
    for (const int64_t dim : dims)
      if (dim < 0)
        return ir::InvalidArgument(fmt::format("{} has a dimension of size {}", subject, dim));
    const std::string shape = subject + " has shape " + ir::ToString(dims);
    if (declared.HasElement()) {
      WEFT_RETURN_IF_ERROR(CheckElement(declared, subject));
      types.push_back(declared);
      continue;
    }
    if (!declared.IsTensor())
      return ir::Unsupported(subject + " has type " + declared.ToString() + ", expected a tensor");
    if (declared.HasRank() && declared.rank() != dims.size())
      return ir::InvalidArgument(shape + ", expected " + ir::ToString(declared.dims()));
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t want = declared.HasRank() ? declared.dims()[d] : ir::kUnknownDim;
      if (ir::IsStaticDim(want) && want != dims[d])
        return ir::InvalidArgument(shape + ", expected " + ir::ToString(declared.dims()));
      if (std::string why; !sizes.Add(want, dims[d], &why))
        return ir::InvalidArgument(fmt::format("{}, but {}", shape, why));
    }
    types.push_back(program_->context()->TensorType(declared.dtype(), dims));
  }
  return types;
}

absl::StatusOr<PreparedProgram*> Session::Prepare(
    std::span<const std::span<const int64_t>> input_dims) {
  const auto same = [&](size_t i, ir::Type type) { return IsOfType(input_dims[i], type); };
  if (PreparedProgram* const found = prepared_.Find(input_dims.size(), same)) return found;
  const ScopedComputeMode mode(mode_);
  WEFT_ASSIGN_OR_RETURN(const std::vector<ir::Type> types, BindTypes(input_dims));
  std::unique_ptr<ir::Program> program = program_->Clone();
  auto own = std::make_unique<PackedWeights>(packed_.get());
  KernelEvaluator evaluator(resources_.providers, resources_.pool, own.get());
  WEFT_RETURN_IF_ERROR(Specialize(*program, types, evaluator));
  return prepared_.Add(std::move(program), resources_, std::move(own), bound_);
}

absl::StatusOr<Plan*> Session::PlanFor(std::span<const std::span<const int64_t>> input_dims) {
  WEFT_ASSIGN_OR_RETURN(PreparedProgram* const prepared, Prepare(input_dims));
  if (prepared->plan == nullptr)
    return ir::Unsupported("no one plan runs a program whose sizes follow from values");
  return prepared->plan.get();
}

absl::StatusOr<bool> Session::HasOnePlan(std::span<const std::span<const int64_t>> input_dims) {
  WEFT_ASSIGN_OR_RETURN(PreparedProgram* const prepared, Prepare(input_dims));
  return prepared->plan != nullptr;
}

bool Session::IsReady(std::span<const TensorView> given) {
  const auto inputs = WithDefaults(given);
  if (!inputs.ok()) return false;
  const auto same = [&](size_t i, ir::Type type) { return IsOfType((*inputs)[i].dims, type); };
  const PreparedProgram* const found = prepared_.Find(inputs->size(), same);
  return found != nullptr && found->plan != nullptr && !found->plan->plans_while_running();
}

absl::StatusOr<PreparedProgram*> Session::PrepareForInputs(std::span<const TensorView> inputs) {
  // The usual case, shapes of a run before, allocates nothing.
  const auto same = [&](size_t i, ir::Type type) { return IsOfType(inputs[i].dims, type); };
  if (PreparedProgram* const found = prepared_.Find(inputs.size(), same)) return found;
  std::vector<std::span<const int64_t>> dims;
  for (const TensorView& input : inputs) dims.push_back(input.dims);
  return Prepare(dims);
}

// Copies, since contents may lie anywhere in a file.
absl::Status Session::ReadDefaults() {
  const ir::InputDefaults list = ir::DefaultsOfInputs(*program_);
  const std::map<std::string, ir::Attribute> given(list.begin(), list.end());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto it = given.find(inputs_[i].name);
    if (it == given.end()) continue;
    const ir::Attribute dense = it->second;
    const std::string subject = "the default of input '" + inputs_[i].name + "'";
    if (dense.IsElided()) return ir::InvalidArgument(subject + " was left out of the text");
    inputs_[i].default_value = dense;
    defaults_.resize(inputs_.size());
    WEFT_ASSIGN_OR_RETURN(defaults_[i], TensorOf(dense));
  }
  return absl::OkStatus();
}

// Allocates nothing when it did before.
absl::StatusOr<std::span<const TensorView>> Session::WithDefaults(
    std::span<const TensorView> inputs) {
  if (defaults_.empty() || inputs.size() > inputs_.size()) return inputs;
  completed_.assign(inputs.begin(), inputs.end());
  completed_.resize(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (completed_[i]) continue;
    if (!inputs_[i].default_value)
      return ir::InvalidArgument("input '" + inputs_[i].name + "' is not given");
    completed_[i] = defaults_[i].view();
  }
  return completed_;
}

absl::Status Session::CheckInputs(const PreparedProgram& prepared,
                                  std::span<const TensorView> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type type = prepared.input_types()[i];
    if (!type.IsTensor())
      return ir::InvalidArgument("input '" + inputs_[i].name + "' is " + type.ToString() +
                                 ", which no tensor is");
    WEFT_RETURN_IF_ERROR(CheckTensor(inputs[i], type, "input", inputs_[i].name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Session::RunSegments(Segment& first,
                                                         std::span<const TensorView> inputs) {
  last_run_.clear();
  const ScopedComputeMode mode(mode_);
  const ThreadPool::Caller caller(*pool_);
  std::vector<RuntimeValue> values;
  for (const TensorView& view : inputs) values.push_back({.view = view});
  WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> results, first.Run(values, &last_run_));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].IsTensor())
      return ir::InvalidArgument("output '" + outputs_[i].name + "' is " +
                                 kernels::Describe(results[i]) + ", which no tensor is");
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, TakeTensor(std::move(results[i])));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// With the defaults of what is not given.
absl::StatusOr<std::vector<RuntimeValue>> Session::CompleteValues(
    std::span<const RuntimeValue> given) const {
  if (given.size() > inputs_.size())
    WEFT_RETURN_IF_ERROR(CheckCount(given.size(), inputs_.size(), "inputs"));
  std::vector<RuntimeValue> values(given.begin(), given.end());
  values.resize(inputs_.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].IsSequence())  // a copy, which no other thread has
      values[i] =
          RuntimeValue::Of(Sequence({values[i].sequence->begin(), values[i].sequence->end()}));
    const bool may_be_nothing = inputs_[i].type.IsOptional() && i < given.size();
    if (values[i] || may_be_nothing) continue;
    if (!inputs_[i].default_value)
      return ir::InvalidArgument("input '" + inputs_[i].name + "' is not given");
    values[i].view = defaults_[i].view();
  }
  return values;
}

absl::StatusOr<std::vector<RuntimeValue>> Session::RunValues(std::span<const RuntimeValue> given) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<RuntimeValue> inputs, CompleteValues(given));
  std::vector<TensorView> views;
  for (size_t i = 0; i < inputs.size(); ++i)
    views.push_back(inputs_[i].type.IsTensor() ? inputs[i].view : TensorView());
  WEFT_ASSIGN_OR_RETURN(PreparedProgram* const prepared, PrepareForInputs(views));
  std::vector<RuntimeValue> results;
  if (prepared->plan != nullptr) {
    WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, Run(views));
    for (Tensor& tensor : tensors) results.push_back(RuntimeValue::Of(std::move(tensor)));
    return results;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type type = prepared->input_types()[i];
    WEFT_RETURN_IF_ERROR(type.IsTensor()
                             ? CheckTensor(inputs[i].view, type, "input", inputs_[i].name)
                             : CheckValue(inputs[i], type, inputs_[i].name));
  }
  last_run_.clear();
  const ScopedComputeMode mode(mode_);
  const ThreadPool::Caller caller(*pool_);
  WEFT_ASSIGN_OR_RETURN(results, prepared->first->Run(inputs, &last_run_));
  for (RuntimeValue& result : results) {
    if (!result.IsTensor() || result.owner != nullptr) continue;
    WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Tensor> kept, KeepTensor(result));
    result = RuntimeValue::Of(std::move(kept));
  }
  return results;
}

absl::Status Session::Run(std::span<const TensorView> given, std::span<const TensorView> outputs) {
  WEFT_ASSIGN_OR_RETURN(const std::span<const TensorView> inputs, WithDefaults(given));
  WEFT_ASSIGN_OR_RETURN(PreparedProgram* const prepared, PrepareForInputs(inputs));
  WEFT_RETURN_IF_ERROR(CheckCount(outputs.size(), outputs_.size(), "outputs"));
  WEFT_RETURN_IF_ERROR(CheckInputs(*prepared, inputs));
  if (prepared->plan == nullptr) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> results, RunSegments(*prepared->first, inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ir::Type type = program_->context()->TensorType(results[i].dtype(), results[i].dims());
      WEFT_RETURN_IF_ERROR(CheckTensor(outputs[i], type, "output", outputs_[i].name));
      CopyElements(results[i].view(), outputs[i]);
    }
    return absl::OkStatus();
  }
  Plan& plan = *prepared->plan;
  for (size_t i = 0; i < outputs.size(); ++i)
    WEFT_RETURN_IF_ERROR(
        CheckTensor(outputs[i], plan.output_types()[i], "output", outputs_[i].name));
  WEFT_RETURN_IF_ERROR(CheckBound(inputs, outputs));
  last_run_.assign(1, {.plan = &plan});
  const ThreadPool::Caller caller(*pool_);
  return plan.Run(inputs, outputs);
}

absl::StatusOr<std::vector<Tensor>> Session::Run(std::span<const TensorView> given) {
  WEFT_RETURN_IF_ERROR(CheckBound({}, {}));
  WEFT_ASSIGN_OR_RETURN(const std::span<const TensorView> inputs, WithDefaults(given));
  WEFT_ASSIGN_OR_RETURN(PreparedProgram* const prepared, PrepareForInputs(inputs));
  if (prepared->plan == nullptr) {
    WEFT_RETURN_IF_ERROR(CheckInputs(*prepared, inputs));
    return RunSegments(*prepared->first, inputs);
  }
  std::vector<Tensor> outputs;
  std::vector<TensorView> views;
  outputs.reserve(outputs_.size());  // views point at their dims
  for (const ir::Type type : prepared->plan->output_types()) {
    WEFT_ASSIGN_OR_RETURN(Tensor output, Tensor::Uninitialized(type.dtype(), type.shape()));
    outputs.push_back(std::move(output));
    views.push_back(outputs.back().view());
  }
  WEFT_RETURN_IF_ERROR(Run(inputs, views));
  return outputs;
}

}  // namespace weft::kernels
