// How large a model was and is, for people who look at stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weft/model_size.h"

namespace weft::tools {

struct SizedModel {
  ModelSize size;
  std::optional<uint64_t> file_bytes = {};  // none where the model is in no file
};

//              before      after
//   operations 170         55
//   parameters 426,532     426,247
//   FLOPs      107.3 M     107.0 M
//   file       1.68 MiB    1.69 MiB
//   arena      1.13 MiB    0.38 MiB
//
// The last one is an estimate for intermediate values. "unknown" stands where sizes are open.
std::string SizeTable(const SizedModel& before, const SizedModel& after);

// The model's file and the side file that Weft or ONNX has beside it, PATH.weights or PATH.data.
std::optional<uint64_t> FileBytes(const std::string& path);

}  // namespace weft::tools
