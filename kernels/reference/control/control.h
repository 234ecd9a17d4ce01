// What the kernels of If, Loop and Scan have in common. They size their results, are made for ops whose
// regions are isolated (kernels/runtime/isolate.h), and plan a region when it first runs.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/runtime/region_program.h"

namespace weft::kernels::reference {

class ControlKernel : public Kernel {
 public:
  explicit ControlKernel(const KernelContext& context)
      : op_name_(context.op().name()), num_results_(context.num_results()) {}
  // Where the sizes are stated.
  absl::Status Run(const KernelArgs& args) final;
  absl::StatusOr<std::vector<Tensor>> RunDynamic(const KernelArgs& args) final;
  std::string_view name() const final { return "reference"; }

 protected:
  // All that the regions give, at least as many values as the op has results.
  virtual absl::StatusOr<std::vector<OwnedView>> Results(const KernelArgs& args) = 0;

 private:
  const std::string op_name_;
  const size_t num_results_;
};

// Operands `first`... of a run, as inputs of a region.
std::vector<OwnedView> InputsFrom(const KernelArgs& args, size_t first);
// The one element of a tensor; InvalidArgument for none or many.
absl::StatusOr<bool> ReadCondition(const TensorView& tensor);

// Values of one type, joined along a new axis: one output of a loop.
class ScanOutput {
 public:
  ScanOutput(int64_t axis, bool prepend) : axis_(axis), prepend_(prepend) {}
  // InvalidArgument when the type is not that of the value before, or for more than
  // kMaxDynamicBytes in all outputs that count in *total.
  absl::Status Add(const TensorView& value, size_t* total);
  // `element` is the type of a value, as far as it is known, where there is none; sizes that are not
  // known are 0 then.
  absl::StatusOr<Tensor> Finish(ir::Type element) const;

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  absl::Status Grow(size_t bytes);

  const int64_t axis_;
  const bool prepend_;
  int64_t count_ = 0;
  ir::DataType dtype_ = ir::DataType::kNull;
  ir::Shape dims_;
  std::unique_ptr<std::byte, Free> bytes_;  // one value after the other
  size_t size_ = 0, capacity_ = 0;
};

// Of a loop that is over: the carried values, which are inputs `first`... of its body, and the scan
// outputs, which are the last outputs of its body.
absl::StatusOr<std::vector<OwnedView>> LoopResults(const RegionProgram& body,
                                                   std::vector<OwnedView> inputs, size_t first,
                                                   size_t num_carried,
                                                   const std::vector<ScanOutput>& scans,
                                                   bool has_run);

// Makes *value a copy where its memory is `reused`, which the next iteration writes.
absl::Status KeepApart(const std::shared_ptr<Tensor>& reused, OwnedView* value);

}  // namespace weft::kernels::reference
