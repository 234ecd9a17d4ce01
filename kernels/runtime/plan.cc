#include "kernels/runtime/plan.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "kernels/runtime/plan_builder.h"

namespace weft::kernels {

Plan::~Plan() = default;

absl::StatusOr<std::unique_ptr<Plan>> Plan::Create(std::unique_ptr<ir::Program> program,
                                                   const PlanResources& resources) {
  return PlanBuilder(std::move(program), resources).Build();
}

absl::Status Plan::RunStep(Step& step) {
  const KernelArgs args{step.inputs, step.outputs, step.scratch, pool_, step.result_stride};
  absl::Status status;
  if (!profile_) [[likely]] {
    status = step.kernel->Run(args);
  } else {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    status = step.kernel->Run(args);
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    step.nanoseconds += time.count();
  }
  if (status.ok() || step.location.empty()) return status;
  return ir::Annotate(status, step.location);
}

absl::Status Plan::Run(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const ScopedIsa isa(isa_);
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
  for (const Binding& binding : bindings_) views_[binding.view].data = resolve(binding.address);
  for (const Copy& c : copies_in_) copy(c);
  for (Step& step : steps_) {
    if (absl::Status status = RunStep(step); !status.ok()) [[unlikely]]
      return status;
  }
  for (const Copy& c : copies_out_) copy(c);
  ++runs_;
  return absl::OkStatus();
}

}  // namespace weft::kernels
