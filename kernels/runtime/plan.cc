#include "kernels/runtime/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "kernels/runtime/plan_builder.h"
#include "kernels/runtime/plans_while_running.h"

namespace weft::kernels {
namespace {

// What the plans that run on this thread ask, innermost first: a plan of a region, which a kernel runs,
// has none of its own and asks that of the plan around it. One of a session that `stop` itself runs does not.
class ScopedStop {
 public:
  explicit ScopedStop(const std::function<bool()>* stop) : before_(asked_) {
    if (stop != nullptr) asked_ = *stop ? stop : nullptr;
  }
  ~ScopedStop() { asked_ = before_; }
  ScopedStop(const ScopedStop&) = delete;
  ScopedStop& operator=(const ScopedStop&) = delete;

  static bool SaysStop() { return asked_ != nullptr && (*asked_)(); }

 private:
  static thread_local const std::function<bool()>* asked_;
  const std::function<bool()>* before_;
};
thread_local const std::function<bool()>* ScopedStop::asked_ = nullptr;

}  // namespace

Plan::~Plan() = default;

absl::StatusOr<std::unique_ptr<Plan>> Plan::Create(std::unique_ptr<ir::Program> program,
                                                   const PlanResources& resources,
                                                   std::span<const BoundPorts> bound) {
  WEFT_ASSIGN_OR_RETURN(auto plan, PlanBuilder(std::move(program), resources, bound).Build());
  plan->plans_while_running_ =
      std::any_of(plan->steps_.begin(), plan->steps_.end(), [](const Step& step) {
        const auto* const planning = dynamic_cast<const PlansWhileRunning*>(step.kernel.get());
        return planning != nullptr && planning->plans_while_running();
      });
  return plan;
}

absl::Status Plan::RunStep(Step& step) {
  const ScopedIsa isa(step.isa);
  const KernelArgs args{.inputs = step.inputs,
                        .outputs = step.outputs,
                        .scratch = step.scratch,
                        .pool = pool_,
                        .result_stride = step.result_stride,
                        .spacings = step.spacings};
  absl::Status status;
  if (!profile_) [[likely]] {
    status = step.kernel->Run(args);
  } else {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    status = step.kernel->Run(args);
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    step.nanoseconds += time.count();
    ++step.runs;
  }
  if (status.ok() || step.location.empty()) return status;
  return ir::Annotate(status, step.location);
}

absl::Status Plan::Run(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const ScopedComputeMode mode(mode_);
  const auto resolve = [&](const Address& address) {
    switch (address.kind) {
      case Address::Kind::kInput:
        return inputs[address.port].data + address.offset;
      case Address::Kind::kOutput:
        return outputs[address.port].data + address.offset;
      case Address::Kind::kFixed:
        break;
    }
    return address.fixed;
  };
  const auto copy = [&](const Copy& c) { std::memcpy(resolve(c.to), resolve(c.from), c.bytes); };
  const ScopedStop stop(stop_);
  for (const Binding& binding : bindings_) views_[binding.view].data = resolve(binding.address);
  for (const Copy& c : copies_in_) copy(c);
  if (steps_.empty() && ScopedStop::SaysStop()) [[unlikely]]
    return absl::CancelledError("the run was stopped");
  for (Step& step : steps_) {
    if (ScopedStop::SaysStop()) [[unlikely]]
      return absl::CancelledError("the run was stopped before " + step.op);
    if (absl::Status status = RunStep(step); !status.ok()) [[unlikely]]
      return status;
  }
  for (const Copy& c : copies_out_) copy(c);
  ++runs_;
  return absl::OkStatus();
}

}  // namespace weft::kernels
