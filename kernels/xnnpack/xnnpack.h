// What the XNNPACK kernels share: initialisation, status codes, operators that own their packed
// weights, and the kernel around one operator.
//
// XNNPACK reads up to 16 bytes past the end of its inputs, hence ReadsPastEnd. An operator keeps
// the addresses it was set up with, so one that several kernels share (they have the same weights)
// is set up again when another of them ran last.
//
// What XNNPACK clamps (every product, convolution, pool, sum...) it clamps with instructions that
// lose a NaN on one machine or another, also where the bounds are infinite: those kernels are
// registered with kHidesNan.
#pragma once

#include <xnnpack.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/kernel.h"

namespace weft::kernels::xnnpack {

using Made = absl::StatusOr<std::unique_ptr<Kernel>>;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Unsupported for what XNNPACK does not take, Internal or ResourceExhausted for the rest.
absl::Status FromXnn(xnn_status status, std::string_view what);

class Operator {
 public:
  explicit Operator(xnn_operator_t handle) : handle_(handle) {}
  ~Operator() { xnn_delete_operator(handle_); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  xnn_operator_t handle() const { return handle_; }

  const void* last_user = nullptr;  // the kernel that set it up

 private:
  xnn_operator_t handle_;
};
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

// setup(xnn_operator_t, const KernelArgs&) -> xnn_status gives the operator its addresses;
// finish(const KernelArgs&) runs after it.
template <class Setup, class Finish>
class XnnKernel final : public Kernel {
 public:
  XnnKernel(std::string_view name, SharedOperator op, uint32_t may_overwrite, Setup setup,
            Finish finish)
      : name_(name),
        may_overwrite_(may_overwrite),
        operator_(std::move(op)),
        setup_(std::move(setup)),
        finish_(std::move(finish)) {}

  absl::Status Run(const KernelArgs& args) override {
    if (operator_->last_user != this || !SameAddresses(args)) {
      WEFT_RETURN_IF_ERROR(FromXnn(setup_(operator_->handle(), args), name_));
      operator_->last_user = this;
    }
    const xnn_status status = xnn_run_operator(operator_->handle(), args.pool->handle());
    if (status != xnn_status_success) return FromXnn(status, name_);
    finish_(args);
    return absl::OkStatus();
  }
  std::string_view name() const override { return name_; }
  bool MayOverwrite(size_t operand) const override {
    return operand < 32 && (may_overwrite_ >> operand & 1) != 0;
  }
  bool ReadsPastEnd() const override { return true; }

 private:
  // Whether they are those of the last run; remembers them.
  bool SameAddresses(const KernelArgs& args) {
    const std::array<const void*, 3> now = {args.inputs[0].data,
                                            args.inputs.size() > 1 ? args.inputs[1].data : nullptr,
                                            args.outputs[0].data};
    const bool same = now == addresses_;
    addresses_ = now;
    return same;
  }

  const std::string_view name_;  // a literal
  const uint32_t may_overwrite_;
  const SharedOperator operator_;
  const Setup setup_;
  const Finish finish_;
  std::array<const void*, 3> addresses_ = {};
};

template <class Setup, class Finish>
std::unique_ptr<Kernel> MakeXnn(std::string_view name, SharedOperator op, Setup setup,
                                Finish finish) {
  return std::make_unique<XnnKernel<Setup, Finish>>(name, std::move(op), 0, std::move(setup),
                                                    std::move(finish));
}
// may_overwrite: bit i allows the result in the memory of operand i.
template <class Setup>
std::unique_ptr<Kernel> MakeXnnOver(uint32_t may_overwrite, std::string_view name,
                                    SharedOperator op, Setup setup) {
  const auto finish = [](const KernelArgs&) {};
  return std::make_unique<XnnKernel<Setup, decltype(finish)>>(name, std::move(op), may_overwrite,
                                                              std::move(setup), finish);
}
template <class Setup>
std::unique_ptr<Kernel> MakeXnn(std::string_view name, SharedOperator op, Setup setup) {
  return MakeXnnOver(0, name, std::move(op), std::move(setup));
}

}  // namespace weft::kernels::xnnpack
