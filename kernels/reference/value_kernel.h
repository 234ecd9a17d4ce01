// Base of kernels that take and give any values: tensors, sequences, optionals. They size their results
// and are registered with kValueKernel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace weft::kernels::reference {

inline constexpr uint32_t kValueKernel = kSizesResults | kTakesSequences;

class ValueKernel : public Kernel {
 public:
  explicit ValueKernel(const KernelContext& context)
      : op_name_(context.op().name()), num_results_(context.num_results()) {}
  // Where all values are tensors, and where their sizes are stated, too.
  absl::Status Run(const KernelArgs& args) final;
  absl::StatusOr<std::vector<Tensor>> RunDynamic(const KernelArgs& args) final;
  absl::StatusOr<std::vector<RuntimeValue>> RunValues(const KernelArgs& args) final;
  std::string_view name() const final { return "reference"; }

 protected:
  // At least as many values as the op has results.
  virtual absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) = 0;

 private:
  const std::string op_name_;
  const size_t num_results_;
};

// Operands `first`... of a run. Those of a plan have no owner.
std::vector<RuntimeValue> ValuesFrom(const KernelArgs& args, size_t first);

}  // namespace weft::kernels::reference
