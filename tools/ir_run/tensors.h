// The values of a run: inputs from files or from a seed, outputs into files, comparisons.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime_value.h"

namespace weft::tools {

struct InputFlags {
  std::vector<std::string> files;   // NAME=FILE.pb or NAME=FILE.npy
  std::optional<uint64_t> seed;     // of the inputs that no file gives
  std::vector<std::string> ranges;  // NAME=LOW,HIGH or NAME:LOW,HIGH, of random ones
};

// In the order of `inputs`: from files, then defaults, then random. Symbolic dims that a file or a
// default fixes hold for the random inputs too. A random sequence has two elements, whose unknown
// dims are 2 and 3; a random optional has its element.
// InvalidArgument when an input is missing, given twice, unknown, or of another type.
absl::StatusOr<std::vector<kernels::RuntimeValue>> GatherInputs(
    ir::IrContext& context, std::span<const kernels::TensorInfo> inputs, const InputFlags& flags);

// NAME=FILE of --expect, by output: null where nothing is expected.
absl::StatusOr<std::vector<std::optional<kernels::RuntimeValue>>> ReadExpected(
    ir::IrContext& context, std::span<const kernels::TensorInfo> outputs,
    const std::vector<std::string>& files);

// DIR/output_<i>.pb with the name of the output. Makes the folder.
absl::Status WriteOutputs(ir::IrContext& context, const std::string& folder,
                          std::span<const kernels::TensorInfo> outputs,
                          const std::vector<kernels::RuntimeValue>& values);

// The largest difference relative to the largest expected element, of a sequence's tensors the
// largest. CheckFailed when kind, type, shape or length differ, or when nothing that is expected is finite, so that nothing is compared.
absl::StatusOr<double> Difference(const std::string& name, const kernels::RuntimeValue& actual,
                                  const kernels::RuntimeValue& expected);

// What an output may differ by: `tolerance`, or else 5e-6, a rounding step for f16 and bf16.
double AllowedDifference(const kernels::RuntimeValue& output, std::optional<double> tolerance);

// Null and empty for those that are no tensors.
std::vector<kernels::TensorView> ViewsOf(const std::vector<kernels::RuntimeValue>& values);
std::vector<std::span<const int64_t>> DimsOf(const std::vector<kernels::RuntimeValue>& values);
// "f32[1,3] min -1.5 mean 0.2 max 3"; of a sequence how many, then a line for each of the first.
std::string Summary(const kernels::RuntimeValue& value);

}  // namespace weft::tools
