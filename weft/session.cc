#include "kernels/runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "ir/base/suggest.h"
#include "kernels/available_cpus.h"
#include "weft/base/numeric_isa.h"
#include "weft/context.h"
#include "weft/optimize/run_passes.h"

namespace weft {
namespace {

using kernels::TensorView;
using Runner = kernels::Session;  // for one run at a time

Shape DimsOf(ir::Type type) {
  Shape dims = type.HasRank() ? type.shape() : Shape();
  for (int64_t& dim : dims)
    if (!ir::IsStaticDim(dim)) dim = -1;
  return dims;
}

std::vector<ValueInfo> InfosOf(const std::vector<kernels::TensorInfo>& values) {
  std::vector<ValueInfo> infos;
  infos.reserve(values.size());
  for (const kernels::TensorInfo& value : values)
    infos.push_back({.name = value.name,
                     .dtype = value.type.dtype(),
                     .dims = DimsOf(value.type),
                     .type = value.type.ToString(),
                     .has_default = static_cast<bool>(value.default_value)});
  return infos;
}

absl::Status CheckTensors(const std::vector<kernels::TensorInfo>& values, std::string_view kind) {
  for (const kernels::TensorInfo& value : values)
    if (value.type.HasElement())
      return ir::Unsupported(fmt::format("{} '{}' is {}, and sessions take tensors only", kind,
                                         value.name, value.type.ToString()));
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

// The views of the named tensors in the order of `infos`; null where none is given.
absl::StatusOr<std::vector<TensorView>> InOrder(const NamedTensors& tensors,
                                                const std::vector<ValueInfo>& infos,
                                                const std::string& kind) {
  std::vector<TensorView> views(infos.size());
  for (const auto& [name, tensor] : tensors) {
    WEFT_ASSIGN_OR_RETURN(const size_t place, PlaceOf(name, infos, kind));
    TensorView& view = views[place];
    if (view) return ir::InvalidArgument(fmt::format("{} '{}' is given twice", kind, name));
    view = tensor.view();
    const auto given = tensor.num_elements();
    if (given && static_cast<int64_t>(*given) != view.NumElements())
      return ir::InvalidArgument(fmt::format("{} '{}' has {} elements, but its shape {} needs {}",
                                             kind, name, *given, ir::ToString(view.dims),
                                             view.NumElements()));
  }
  for (size_t i = 0; i < infos.size(); ++i)
    if (!views[i] && !infos[i].has_default)
      return ir::InvalidArgument(fmt::format("{} '{}' is not given", kind, infos[i].name));
  return views;
}

absl::StatusOr<kernels::SessionOptions> RunnerOptionsOf(const SessionOptions& options) {
  if (options.threads < 0 || options.threads > kernels::ThreadPool::kMaxThreads)
    return ir::InvalidArgument(fmt::format("threads is {}, expected 0 to {}", options.threads,
                                           kernels::ThreadPool::kMaxThreads));
  const int all = std::min(kernels::AvailableCpus(), kernels::ThreadPool::kMaxThreads);
  WEFT_ASSIGN_OR_RETURN(std::string isa, IsaFor(options.isa, options.numerics));
  return kernels::SessionOptions{.threads = options.threads == 0 ? all : options.threads,
                                 .provider = options.provider,
                                 .isa = std::move(isa),
                                 .oversubscribe = options.oversubscribe};
}

}  // namespace

struct Session::State {
  State(std::shared_ptr<Context> of, std::unique_ptr<Runner> first) : context(std::move(of)) {
    inputs = InfosOf(first->inputs());
    outputs = InfosOf(first->outputs());
    idle.push_back(first.get());
    runners.push_back(std::move(first));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    const std::lock_guard lock(context->mutex);
    runners.clear();
  }

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
  WEFT_RETURN_IF_ERROR(CheckRegistered());
  PassSelection selection;
  selection.pipeline = options.pipeline;
  selection.numerics = options.numerics;
  selection.widen_floats = options.provider != "reference";
  WEFT_RETURN_IF_ERROR(CheckPassSelection(selection));
  WEFT_ASSIGN_OR_RETURN(kernels::SessionOptions runner, RunnerOptionsOf(options));
  const std::shared_ptr<Context> context = model.state_->context;
  runner.packed = context->packed;
  std::unique_lock lock(context->mutex);
  const std::unique_ptr<ir::Program> program = model.state_->program->Clone();
  PassRun run;
  WEFT_RETURN_IF_ERROR(RunSelectedPasses(selection, *program, &run));
  WEFT_ASSIGN_OR_RETURN(auto first, Runner::Create(*program, runner));
  WEFT_RETURN_IF_ERROR(CheckTensors(first->inputs(), "input"));
  WEFT_RETURN_IF_ERROR(CheckTensors(first->outputs(), "output"));
  return Session(std::make_unique<State>(context, std::move(first)));
}

const std::vector<ValueInfo>& Session::inputs() const { return state_->inputs; }
const std::vector<ValueInfo>& Session::outputs() const { return state_->outputs; }

absl::StatusOr<Outputs> Session::Run(const NamedTensors& inputs, const RunOptions& options) const {
  WEFT_ASSIGN_OR_RETURN(const auto given, InOrder(inputs, state_->inputs, "input"));
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
  WEFT_ASSIGN_OR_RETURN(const auto given, InOrder(inputs, state_->inputs, "input"));
  for (const auto& [name, tensor] : outputs)
    if (tensor.is_const())
      return ir::InvalidArgument(fmt::format("output '{}' is bound to memory that is const", name));
  WEFT_ASSIGN_OR_RETURN(const auto into, InOrder(outputs, state_->outputs, "output"));
  return state_->With<absl::Status>(given, options,
                                    [&](Runner& runner) { return runner.Run(given, into); });
}

}  // namespace weft
