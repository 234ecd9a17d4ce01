#pragma once

#include <cstdint>

namespace weft::passes {

// An option of rebuild-sizes, see PassContext::options.
struct RebuildSizesOptions {
  // Whether a Shape may give some of the sizes, as ONNX has it from opset 15 on; else a Slice takes them.
  bool shapes_of_parts = true;
};

}  // namespace weft::passes
