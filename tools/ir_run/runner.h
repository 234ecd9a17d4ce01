// A model made ready to run again and again on one set of inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/runtime/session.h"
#include "weft/picture/picture.h"

namespace weft::tools {

// What a step of a plan took, or an op between plans.
struct ProfiledStep {
  std::string op, kernel, provider;
  std::string place, rules;  // nodes of the model; what made it of them
  double milliseconds = 0;   // per run
};

class Runner {
 public:
  static absl::StatusOr<std::unique_ptr<Runner>> Create(const ir::Program& program,
                                                        const kernels::SessionOptions& options);

  kernels::ThreadPool& pool() const { return *session_->pool(); }
  const std::vector<kernels::TensorInfo>& inputs() const { return session_->inputs(); }
  const std::vector<kernels::TensorInfo>& output_infos() const { return session_->outputs(); }

  // Plans for these inputs, which must outlive the runs. Where sizes follow from values, the first
  // run makes the rest of the plans.
  absl::Status Bind(const std::vector<kernels::RuntimeValue>& inputs);
  absl::Status Run();
  const std::vector<kernels::RuntimeValue>& outputs() const { return outputs_; }  // of the last run

  // Of the memory that the plans of the last run keep for values, outputs and weights not counted.
  size_t arena_bytes() const;

  // Whether a kernel of the last run is one that they choose.
  bool FollowsSome(const kernels::KernelChoices& choices) const;

  // The time of every step, longest first; needs options.profile.
  std::vector<ProfiledStep> Profile() const;
  // The same in the order of the steps, with the use of the arena meanwhile.
  picture::RunInfo DescribeRun(std::string conditions) const;

 private:
  std::vector<kernels::RunPart> Parts() const;

  std::unique_ptr<kernels::Session> session_;
  kernels::Plan* plan_ = nullptr;  // null when there are several
  std::vector<kernels::TensorView> input_views_, output_views_;
  std::vector<kernels::RuntimeValue> inputs_, outputs_;
};

}  // namespace weft::tools
