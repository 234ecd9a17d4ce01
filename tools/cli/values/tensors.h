// The values of a run: inputs from files or from a seed, outputs into files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

// In the order of `inputs`: from files, then defaults, then random (weft/check/inputs.h).
// InvalidArgument when an input is missing, given twice, unknown, or of another type.
absl::StatusOr<std::vector<kernels::RuntimeValue>> GatherInputs(
    ir::IrContext& context, std::span<const kernels::TensorInfo> inputs, const InputFlags& flags);

// NAME=FILE of --expect, by output: null where nothing is expected.
absl::StatusOr<std::vector<std::optional<kernels::RuntimeValue>>> ReadExpected(
    ir::IrContext& context, std::span<const kernels::TensorInfo> outputs,
    const std::vector<std::string>& files);

struct ValueFolder {
  std::string_view flag;  // that names it
  const std::string& path;
  std::string_view kind;  // of the files: input, output
};
// <path>/<kind>_<i>.pb with the name of the value. Makes the folder. InvalidArgument, before anything is written, where
// one of the files is one of `others`, which the program reads or writes too.
absl::Status WriteValues(ir::IrContext& context, const ValueFolder& to,
                         std::span<const kernels::TensorInfo> infos,
                         const std::vector<kernels::RuntimeValue>& values,
                         const std::vector<std::string>& others);

// Null and empty for those that are no tensors.
std::vector<kernels::TensorView> ViewsOf(const std::vector<kernels::RuntimeValue>& values);
std::vector<std::span<const int64_t>> DimsOf(const std::vector<kernels::RuntimeValue>& values);
// "f32[1,3] min -1.5 mean 0.2 max 3"; of strings the first ones, of a sequence how many, then a line for each of the first.
std::string Summary(const kernels::RuntimeValue& value);

}  // namespace weft::tools
