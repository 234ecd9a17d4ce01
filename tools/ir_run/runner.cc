#include "tools/ir_run/runner.h"

#include <algorithm>

#include "tools/cli/values/tensors.h"

namespace weft::tools {
namespace {

// Bytes of the arena that are in use during every step; an op between plans uses none.
std::vector<uint64_t> ArenaUse(const kernels::RunPart& part) {
  if (!part.plan) return {0};
  const kernels::Plan& plan = *part.plan;
  std::vector<int64_t> change(plan.steps().size() + 1);
  for (const kernels::ArenaBuffer& buffer : plan.arena_buffers()) {
    const auto bytes = static_cast<int64_t>(buffer.lifetime.bytes);
    const size_t end = static_cast<size_t>(buffer.lifetime.last) + 1;
    change[std::min(static_cast<size_t>(buffer.lifetime.first), change.size() - 1)] += bytes;
    change[std::min(end, change.size() - 1)] -= bytes;
  }
  std::vector<uint64_t> use;
  int64_t now = 0;
  for (size_t i = 0; i < plan.steps().size(); ++i)
    use.push_back(static_cast<uint64_t>(now += change[i]));
  return use;
}

// Of the part that ran most often: all of them, if each run has the same sizes.
int64_t RunsOf(const std::vector<kernels::RunPart>& parts) {
  int64_t runs = 1;
  for (const kernels::RunPart& part : parts)
    runs = std::max(runs, part.plan ? part.plan->runs() : part.step->runs);
  return runs;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Runner>> Runner::Create(const ir::Program& program,
                                                       const kernels::SessionOptions& options) {
  auto runner = std::make_unique<Runner>();
  WEFT_ASSIGN_OR_RETURN(runner->session_, kernels::Session::Create(program, options));
  return runner;
}

absl::Status Runner::Bind(const std::vector<kernels::RuntimeValue>& inputs) {
  inputs_ = inputs;
  input_views_ = ViewsOf(inputs);
  outputs_.clear();
  plan_ = nullptr;
  WEFT_ASSIGN_OR_RETURN(const bool has_one_plan, session_->HasOnePlan(DimsOf(inputs)));
  if (!has_one_plan) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(plan_, session_->PlanFor(DimsOf(inputs)));
  for (const ir::Type type : plan_->output_types()) {
    WEFT_ASSIGN_OR_RETURN(auto output, kernels::Tensor::Create(type.dtype(), type.shape()));
    outputs_.push_back(kernels::RuntimeValue::Of(std::move(output)));
  }
  output_views_ = ViewsOf(outputs_);
  return absl::OkStatus();
}

absl::Status Runner::Run() {
  if (plan_ != nullptr) return plan_->Run(input_views_, output_views_);
  WEFT_ASSIGN_OR_RETURN(outputs_, session_->RunValues(inputs_));
  return absl::OkStatus();
}

std::vector<kernels::RunPart> Runner::Parts() const {
  if (plan_ != nullptr) return {{.plan = plan_}};
  return {session_->last_run().begin(), session_->last_run().end()};
}

size_t Runner::arena_bytes() const {
  size_t sum = 0;
  for (const kernels::RunPart& part : Parts())
    if (part.plan) sum += part.plan->arena_bytes();
  return sum;
}

bool Runner::FollowsSome(const kernels::KernelChoices& choices) const {
  for (const kernels::RunPart& part : Parts())
    for (const kernels::Step& step : part.steps())
      if (const auto* const choice = choices.Find(step.key);
          choice != nullptr && choice->provider == step.provider &&
          (choice->isa.empty() || step.isa == kernels::FindIsa(choice->isa)))
        return true;
  return false;
}

std::vector<ProfiledStep> Runner::Profile() const {
  const std::vector<kernels::RunPart> parts = Parts();
  const auto runs = static_cast<double>(RunsOf(parts));
  std::vector<ProfiledStep> steps;
  for (const kernels::RunPart& part : parts) {
    for (const kernels::Step& step : part.steps()) {
      // The location is "place <- rule <- rule", see ir::DescribeOrigin().
      const size_t arrow = std::min(step.location.find(" <- "), step.location.size());
      steps.push_back({.op = step.op,
                       .kernel = std::string(step.kernel->name()),
                       .provider = step.provider,
                       .place = step.location.substr(0, arrow),
                       .rules = step.location.substr(std::min(arrow + 4, step.location.size())),
                       .milliseconds = static_cast<double>(step.nanoseconds) * 1e-6 / runs});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const ProfiledStep& a, const ProfiledStep& b) {
    return a.milliseconds > b.milliseconds;
  });
  return steps;
}

picture::RunInfo Runner::DescribeRun(std::string conditions) const {
  picture::RunInfo run;
  run.arena_bytes = arena_bytes();
  run.conditions = std::move(conditions);
  const std::vector<kernels::RunPart> parts = Parts();
  const auto runs = static_cast<double>(RunsOf(parts));
  for (const kernels::RunPart& part : parts) {
    const std::vector<uint64_t> use = ArenaUse(part);
    for (size_t i = 0; i < use.size(); ++i) {
      const kernels::Step& step = part.steps()[i];
      run.steps.push_back({.op = step.op,
                           .location = step.location,
                           .kernel = std::string(step.kernel->name()),
                           .milliseconds = static_cast<double>(step.nanoseconds) * 1e-6 / runs,
                           .arena_bytes = use[i]});
    }
  }
  return run;
}

}  // namespace weft::tools
