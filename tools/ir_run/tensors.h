// The tensors of a run: inputs from files or from a seed, outputs into files, comparisons.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "kernels/runtime/session.h"
#include "kernels/tensor.h"

namespace weft::tools {

struct InputFlags {
  std::vector<std::string> files;   // NAME=FILE.pb or NAME=FILE.npy
  std::optional<uint64_t> seed;     // of the inputs that no file gives
  std::vector<std::string> ranges;  // NAME=LOW,HIGH or NAME:LOW,HIGH, of random ones
};

// In the order of `inputs`: from files, then defaults, then random. Symbolic dims that a file or a
// default fixes hold for the random inputs too.
// InvalidArgument when an input is missing, given twice, unknown, or of another type.
absl::StatusOr<std::vector<kernels::Tensor>> GatherInputs(
    ir::IrContext& context, std::span<const kernels::TensorInfo> inputs, const InputFlags& flags);

// NAME=FILE of --expect, by output: null where nothing is expected.
absl::StatusOr<std::vector<std::optional<kernels::Tensor>>> ReadExpected(
    ir::IrContext& context, std::span<const kernels::TensorInfo> outputs,
    const std::vector<std::string>& files);

// DIR/output_<i>.pb with the name of the output. Makes the folder.
absl::Status WriteOutputs(ir::IrContext& context, const std::string& folder,
                          std::span<const kernels::TensorInfo> outputs,
                          const std::vector<kernels::Tensor>& tensors);

// The largest difference relative to the largest expected element. CheckFailed when type or shape
// differ, or when nothing that is expected is finite, so that nothing is compared.
absl::StatusOr<double> Difference(const std::string& name, const kernels::Tensor& actual,
                                  const kernels::Tensor& expected);

std::vector<kernels::TensorView> ViewsOf(const std::vector<kernels::Tensor>& tensors);
std::vector<std::span<const int64_t>> DimsOf(const std::vector<kernels::Tensor>& tensors);
// "f32[1,3,224]".
std::string TypeText(const kernels::Tensor& tensor);
// "f32[1,3] min -1.5 mean 0.2 max 3".
std::string Summary(const kernels::Tensor& tensor);

}  // namespace weft::tools
