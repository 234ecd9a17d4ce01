// What the XNNPACK kernels share: initialisation, status codes, operators that own their packed
// weights, and the kernel around one operator.
//
// XNNPACK reads up to 16 bytes past the end of its inputs, hence ReadsPastEnd. An operator keeps
// the sizes and addresses it was given, so one that several kernels share (they have the same
// weights) is given them again when another of them ran last, and runs for one at a time.
//
// What XNNPACK clamps (every product, convolution, pool, sum...) it clamps with instructions that
// lose a NaN on one machine or another, also where the bounds are infinite: those kernels are
// registered with kHidesNan.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/kernel.h"
#include "kernels/xnnpack/compat.h"

namespace weft::kernels::xnnpack {

using Made = absl::StatusOr<std::unique_ptr<Kernel>>;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Unsupported for what XNNPACK does not take, Internal or ResourceExhausted for the rest.
absl::Status FromXnn(xnn_status status, std::string_view what);

using SharedOperator = std::shared_ptr<Operator>;

// create(xnn_operator_t*) -> xnn_status, after XNNPACK is initialised.
template <class Create>
absl::StatusOr<SharedOperator> CreateOperator(std::string_view what, const Create& create) {
  static const xnn_status initialized = xnn_initialize(nullptr);
  WEFT_RETURN_IF_ERROR(FromXnn(initialized, "xnn_initialize"));
  xnn_operator_t handle = nullptr;
  WEFT_RETURN_IF_ERROR(FromXnn(create(&handle), what));
  return std::make_shared<Operator>(handle);
}

// Runs an operator that has its sizes and addresses.
inline absl::Status RunOperator(const Operator& op, ThreadPool& pool, std::string_view name) {
  const ThreadPool::Helpers helpers(pool);
  return FromXnn(xnn_run_operator(op.handle(), helpers.handle()), name);
}

struct XnnOptions {
  uint32_t may_overwrite = 0;  // bit i: the result may lie in the memory of operand i
  uint32_t packed = 0;         // bit i: operand i is part of the operator, Run does not read it
};

// `sized` (see compat.h) gives the operator its sizes and addresses; finish(const KernelArgs&) runs
// after it.
template <class Sized, class Finish>
class XnnKernel final : public Kernel {
 public:
  XnnKernel(std::string_view name, SharedOperator op, const XnnOptions& options, Sized sized,
            Finish finish)
      : name_(name),
        options_(options),
        operator_(std::move(op)),
        sized_(std::move(sized)),
        finish_(std::move(finish)) {}

  absl::Status Run(const KernelArgs& args) override {
    const bool same_addresses = SameAddresses(args);
    const std::unique_lock lock(operator_->in_use);
    if (operator_->last_user != id_ || !same_addresses)
      WEFT_RETURN_IF_ERROR(FromXnn(SetUp(args), name_));
    WEFT_RETURN_IF_ERROR(RunOperator(*operator_, *args.pool, name_));
    finish_(args);
    return absl::OkStatus();
  }
  std::string_view name() const override { return name_; }
  bool MayOverwrite(size_t operand) const override {
    return operand < 32 && (options_.may_overwrite >> operand & 1) != 0;
  }
  bool Reads(size_t operand) const override {
    return operand >= 32 || (options_.packed >> operand & 1) == 0;
  }
  bool ReadsPastEnd() const override { return true; }

 private:
  xnn_status SetUp(const KernelArgs& args) {
    if (std::exchange(operator_->last_user, 0) != id_) {
      const xnn_status status = sized_.Prepare(*operator_, args.pool->handle());
      if (status != xnn_status_success) return status;
    }
    const Addresses at = {addresses_[0], addresses_[1], args.outputs[0].data};
    const xnn_status status = sized_.SetUp(*operator_, at, args.pool->handle());
    if (status == xnn_status_success) operator_->last_user = id_;
    return status;
  }

  // Whether they are those of the last run; remembers them.
  bool SameAddresses(const KernelArgs& args) {
    const std::array<const void*, 3> now = {args.inputs[0].data,
                                            args.inputs.size() > 1 ? args.inputs[1].data : nullptr,
                                            args.outputs[0].data};
    const bool same = now == addresses_;
    addresses_ = now;
    return same;
  }

  const uint64_t id_ = NewUser();
  const std::string_view name_;  // a literal
  const XnnOptions options_;
  const SharedOperator operator_;
  const Sized sized_;
  const Finish finish_;
  std::array<const void*, 3> addresses_ = {};
};

template <class Sized, class Finish>
std::unique_ptr<Kernel> MakeXnn(std::string_view name, SharedOperator op, const XnnOptions& options,
                                Sized sized, Finish finish) {
  return std::make_unique<XnnKernel<Sized, Finish>>(name, std::move(op), options, std::move(sized),
                                                    std::move(finish));
}
template <class Sized>
std::unique_ptr<Kernel> MakeXnnOver(uint32_t may_overwrite, std::string_view name,
                                    SharedOperator op, Sized sized) {
  return MakeXnn(name, std::move(op), {.may_overwrite = may_overwrite}, std::move(sized),
                 [](const KernelArgs&) {});
}
template <class Sized>
std::unique_ptr<Kernel> MakeXnn(std::string_view name, SharedOperator op, Sized sized) {
  return MakeXnnOver(0, name, std::move(op), std::move(sized));
}

}  // namespace weft::kernels::xnnpack
