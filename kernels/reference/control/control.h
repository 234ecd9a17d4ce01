// What the kernels of If, Loop, Scan and SequenceMap have in common. They are made for ops whose regions
// are isolated (kernels/runtime/isolate.h), and plan a region when it first runs.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/reference/value_kernel.h"
#include "kernels/runtime/plans_while_running.h"
#include "kernels/runtime/region_program.h"

namespace weft::kernels::reference {

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
  absl::StatusOr<Tensor> JoinStrings(ir::Shape dims, size_t outer) const;

  const int64_t axis_;
  const bool prepend_;
  int64_t count_ = 0;
  ir::DataType dtype_ = ir::DataType::kNull;
  ir::Shape dims_;
  std::unique_ptr<std::byte, Free> bytes_;  // one value after the other
  std::vector<std::string> strings_;        // instead, of tensors of strings
  size_t size_ = 0, capacity_ = 0;
};

// Of a loop that is over: the carried values, which are inputs `first`... of its body, and the scan
// outputs, which are the last outputs of its body.
absl::StatusOr<std::vector<RuntimeValue>> LoopResults(const RegionProgram& body,
                                                      std::vector<RuntimeValue> inputs,
                                                      size_t first, size_t num_carried,
                                                      const std::vector<ScanOutput>& scans,
                                                      bool has_run);

// Makes *value a copy where its memory is `reused`, which the next iteration writes.
absl::Status KeepApart(const std::shared_ptr<Tensor>& reused, RuntimeValue* value);

}  // namespace weft::kernels::reference
