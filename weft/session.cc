#include "kernels/runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "ir/analysis/verifier.h"
#include "ir/base/suggest.h"
#include "kernels/available_cpus.h"
#include "kernels/runtime_value.h"
#include "weft/base/numeric_kernels.h"
#include "weft/context.h"
#include "weft/optimize/run_passes.h"

namespace weft {
namespace {

using kernels::RuntimeValue;
using kernels::TensorView;
using Runner = kernels::Session;  // for one run at a time

Shape DimsOf(ir::Type type) {
  Shape dims = type.HasRank() ? type.shape() : Shape();
  for (int64_t& dim : dims)
    if (!ir::IsStaticDim(dim)) dim = -1;
  return dims;
}

// The tensor itself, or that of a sequence or an optional.
ir::Type TensorIn(ir::Type type) {
  while (type.HasElement()) type = type.element();
  return type;
}

std::vector<ValueInfo> InfosOf(const std::vector<kernels::TensorInfo>& values) {
  std::vector<ValueInfo> infos;
  infos.reserve(values.size());
  for (const kernels::TensorInfo& value : values)
    infos.push_back({.name = value.name,
                     .dtype = TensorIn(value.type).dtype(),
                     .dims = DimsOf(value.type),
                     .type = value.type.ToString(),
                     .has_default = static_cast<bool>(value.default_value),
                     .is_tensor = value.type.IsTensor()});
  return infos;
}

absl::Status CheckTensors(const std::vector<ValueInfo>& values, std::string_view kind) {
  for (const ValueInfo& value : values)
    if (!value.is_tensor)
      return ir::Unsupported(
          fmt::format("{} '{}' is {}, for which there is RunValues", kind, value.name, value.type));
  return absl::OkStatus();
}

// InvalidArgument, with a suggestion, when none is called so.
absl::StatusOr<size_t> PlaceOf(const std::string& name, const std::vector<ValueInfo>& infos,
                               const std::string& kind) {
  for (size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name) return i;
  std::vector<std::string> names(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) names[i] = infos[i].name;
  return ir::UnknownName(kind, name, names);
}

absl::StatusOr<TensorView> ViewOf(const TensorRef& tensor, const std::string& subject) {
  const TensorView view = tensor.view();
  for (const int64_t dim : view.dims)
    if (dim < 0)
      return ir::InvalidArgument(fmt::format("{} has a dimension of size {}", subject, dim));
  const auto given = tensor.num_elements();
  if (given && static_cast<int64_t>(*given) != view.NumElements())
    return ir::InvalidArgument(fmt::format("{} has {} elements, but its shape {} needs {}", subject,
                                           *given, ir::ToString(view.dims), view.NumElements()));
  return view;
}

// read(given, subject) of each of `named`, in the order of `infos`; those that are not given are what
// is made by default.
template <class Read, class Named>
auto InOrder(const std::vector<Named>& named, const std::vector<ValueInfo>& infos,
             const std::string& kind, const Read& read)
    -> absl::StatusOr<std::vector<std::decay_t<decltype(*read(named[0].second, kind))>>> {
  std::vector<std::decay_t<decltype(*read(named[0].second, kind))>> values(infos.size());
  std::vector<bool> is_given(infos.size());
  for (const auto& [name, value] : named) {
    WEFT_ASSIGN_OR_RETURN(const size_t place, PlaceOf(name, infos, kind));
    const std::string subject = fmt::format("{} '{}'", kind, name);
    if (is_given[place]) return ir::InvalidArgument(subject + " is given twice");
    is_given[place] = true;
    WEFT_ASSIGN_OR_RETURN(values[place], read(value, subject));
  }
  for (size_t i = 0; i < infos.size(); ++i)
    if (!is_given[i] && !infos[i].has_default)
      return ir::InvalidArgument(fmt::format("{} '{}' is not given", kind, infos[i].name));
  return values;
}

// The views of the named tensors in the order of `infos`; null where none is given.
absl::StatusOr<std::vector<TensorView>> ViewsInOrder(const NamedTensors& tensors,
                                                     const std::vector<ValueInfo>& infos,
                                                     const std::string& kind) {
  WEFT_RETURN_IF_ERROR(CheckTensors(infos, kind));
  return InOrder(tensors, infos, kind, &ViewOf);
}

absl::StatusOr<RuntimeValue> ValueOf(const ValueRef& given, const std::string& subject) {
  if (const auto* tensor = std::get_if<TensorRef>(&given)) {
    WEFT_ASSIGN_OR_RETURN(const TensorView view, ViewOf(*tensor, subject));
    return RuntimeValue{.view = view};
  }
  const auto* sequence = std::get_if<std::vector<TensorRef>>(&given);
  if (!sequence) return RuntimeValue{};
  kernels::Sequence::Elements elements;
  for (const TensorRef& tensor : *sequence) {
    const std::string element = fmt::format("{}, element {},", subject, elements.size());
    WEFT_ASSIGN_OR_RETURN(const TensorView view, ViewOf(tensor, element));
    WEFT_ASSIGN_OR_RETURN(elements.emplace_back(), kernels::KeepTensor({.view = view}));
  }
  return RuntimeValue::Of(kernels::Sequence(std::move(elements)));
}

// Copies what somebody else owns, too, as one tensor may be several elements.
absl::StatusOr<Value> TakeValue(RuntimeValue&& value) {
  if (value.IsTensor()) return kernels::TakeTensor(std::move(value));
  if (!value.IsSequence()) return Nothing{};
  kernels::Sequence::Elements elements(value.sequence->begin(), value.sequence->end());
  value.sequence.reset();
  std::vector<Tensor> tensors;
  for (std::shared_ptr<Tensor>& element : elements) {
    RuntimeValue tensor = RuntimeValue::Of(std::move(element));
    WEFT_ASSIGN_OR_RETURN(tensors.emplace_back(), kernels::TakeTensor(std::move(tensor)));
  }
  return tensors;
}

absl::StatusOr<kernels::SessionOptions> RunnerOptionsOf(const SessionOptions& options) {
  if (options.threads < 0 || options.threads > kernels::ThreadPool::kMaxThreads)
    return ir::InvalidArgument(fmt::format("threads is {}, expected 0 to {}", options.threads,
                                           kernels::ThreadPool::kMaxThreads));
  const int all = std::min(kernels::AvailableCpus(), kernels::ThreadPool::kMaxThreads);
  WEFT_ASSIGN_OR_RETURN(std::string isa, IsaFor(options.isa, options.numerics));
  WEFT_ASSIGN_OR_RETURN(const kernels::MatmulPrecision precision,
                        MatmulPrecisionFor(options.matmul_precision, options.numerics));
  kernels::SessionOptions runner{.threads = options.threads == 0 ? all : options.threads,
                                 .provider = ProviderFor(options.provider, options.numerics),
                                 .isa = std::move(isa),
                                 .matmul_precision = precision,
                                 .oversubscribe = options.oversubscribe};
  for (const auto& [output, input] : options.bound_outputs)
    runner.bound_outputs.push_back({output, input});
  return runner;
}

}  // namespace

struct Session::State {
  State(std::shared_ptr<Context> of, std::unique_ptr<Runner> first, std::string chosen)
      : context(std::move(of)), threads(first->num_threads()), isa(std::move(chosen)) {
    inputs = InfosOf(first->inputs());
    outputs = InfosOf(first->outputs());
    idle.push_back(first.get());
    runners.push_back(std::move(first));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { context->mutex.Dispose(std::make_shared<decltype(runners)>(std::move(runners))); }

  // One that nobody else has until Release(): an idle one, or a new one.
  absl::StatusOr<Runner*> Acquire() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        Runner* const runner = idle.back();
        idle.pop_back();
        return runner;
      }
    }
    std::unique_lock using_context(context->mutex);
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Runner> fork, first()->Fork());
    using_context.unlock();
    const std::lock_guard lock(mutex);
    runners.push_back(std::move(fork));
    return runners.back().get();
  }

  void Release(Runner* runner) {
    runner->set_stop(nullptr);
    const std::lock_guard lock(mutex);
    idle.push_back(runner);
  }

  // Calls run(Runner&) with a runner that is free.
  template <class Result, class Run>
  Result With(const std::vector<TensorView>& given, const RunOptions& options, const Run& run) {
    WEFT_ASSIGN_OR_RETURN(Runner* const runner, Acquire());
    const std::unique_ptr<Runner, std::function<void(Runner*)>> guard(
        runner, [this](Runner* done) { Release(done); });
    runner->set_stop(options.stop);
    std::unique_lock using_context(context->mutex, std::defer_lock);
    if (!runner->IsReady(given)) using_context.lock();
    return run(*runner);
  }

  Runner* first() {
    const std::lock_guard lock(mutex);
    return runners.front().get();
  }

  const std::shared_ptr<Context> context;
  const int threads;
  const std::string isa;
  std::vector<ValueInfo> inputs, outputs;
  std::mutex mutex;  // of the two below; never held while that of the context is taken
  std::vector<std::unique_ptr<Runner>> runners;
  std::vector<Runner*> idle;
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

absl::StatusOr<Session> Session::Create(const Model& model, const SessionOptions& options) {
  WEFT_RETURN_IF_ERROR(RegisterAll());
  PassSelection selection;
  selection.pipeline = options.pipeline;
  selection.numerics = options.numerics;
  selection.widen_floats = options.provider != "reference";
  WEFT_RETURN_IF_ERROR(CheckPassSelection(selection));
  WEFT_ASSIGN_OR_RETURN(kernels::SessionOptions runner, RunnerOptionsOf(options));
  const std::shared_ptr<Context> context = model.state_->context;
  if (options.threads_of) runner.pool = options.threads_of->state_->first()->pool();
  std::unique_lock lock(context->mutex);
  WEFT_RETURN_IF_ERROR(ir::Verify(*model.state_->program));  // it may have been changed by hand
  const std::unique_ptr<ir::Program> program = model.state_->program->Clone();
  const std::set<uint32_t> constants = kernels::LargeConstantsOf(*program);
  runner.packed = PackedInside(model.state_->packed);
  PassRun run = {.folded = runner.packed.get()};
  WEFT_RETURN_IF_ERROR(RunSelectedPasses(selection, *program, &run));
  runner.packed->OwnConstantsOf(*program, constants);
  WEFT_ASSIGN_OR_RETURN(auto first, Runner::Create(*program, runner));
  std::string isa = runner.isa.empty() ? std::string(kernels::IsaName(kernels::CurrentIsa()))
                                       : std::move(runner.isa);
  return Session(std::make_unique<State>(context, std::move(first), std::move(isa)));
}

const std::vector<ValueInfo>& Session::inputs() const { return state_->inputs; }
const std::vector<ValueInfo>& Session::outputs() const { return state_->outputs; }
int Session::num_threads() const { return state_->threads; }
const std::string& Session::isa() const { return state_->isa; }

absl::StatusOr<Outputs> Session::Run(const NamedTensors& inputs, const RunOptions& options) const {
  WEFT_ASSIGN_OR_RETURN(const auto given, ViewsInOrder(inputs, state_->inputs, "input"));
  WEFT_RETURN_IF_ERROR(CheckTensors(state_->outputs, "output"));
  using Tensors = absl::StatusOr<std::vector<Tensor>>;
  WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                        state_->With<Tensors>(given, options, [&](Runner& runner) -> Tensors {
                          return runner.Run(given);
                        }));
  Outputs outputs;
  for (size_t i = 0; i < tensors.size(); ++i)
    outputs.insert_or_assign(state_->outputs[i].name, std::move(tensors[i]));
  return outputs;
}

absl::Status Session::RunInto(const NamedTensors& inputs, const NamedTensors& outputs,
                              const RunOptions& options) const {
  WEFT_ASSIGN_OR_RETURN(const auto given, ViewsInOrder(inputs, state_->inputs, "input"));
  for (const auto& [name, tensor] : outputs)
    if (tensor.is_const())
      return ir::InvalidArgument(fmt::format("output '{}' is bound to memory that is const", name));
  WEFT_ASSIGN_OR_RETURN(const auto into, ViewsInOrder(outputs, state_->outputs, "output"));
  return state_->With<absl::Status>(given, options,
                                    [&](Runner& runner) { return runner.Run(given, into); });
}

absl::StatusOr<Values> Session::RunValues(const NamedValues& inputs,
                                          const RunOptions& options) const {
  WEFT_ASSIGN_OR_RETURN(const auto given, InOrder(inputs, state_->inputs, "input", &ValueOf));
  std::vector<TensorView> views;
  views.reserve(given.size());
  for (const RuntimeValue& value : given) views.push_back(value.view);
  using Results = absl::StatusOr<std::vector<RuntimeValue>>;
  WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> results,
                        state_->With<Results>(views, options, [&](Runner& runner) -> Results {
                          return runner.RunValues(given);
                        }));
  Values values;
  for (size_t i = 0; i < results.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(values[state_->outputs[i].name], TakeValue(std::move(results[i])));
  }
  return values;
}

}  // namespace weft
