#pragma once

#include <cstdint>

namespace weft::passes {

// An option of rebuild-sizes, see PassContext::options.
struct RebuildSizesOptions {
  // Of the ONNX model that will be written; 0: that of the model that was read. From 15 on a Shape gives some of the
  // sizes, before that a Slice takes them.
  int64_t target_opset = 0;
};

}  // namespace weft::passes
