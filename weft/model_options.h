// How models are read and written (weft/weft.h).
#pragma once

#include <cstdint>
#include <functional>

#include "weft/base/notices.h"

namespace weft::ir {
class IrContext;
}

namespace weft {

struct LoadOptions {
  bool fold_default_inputs = false;  // inputs that may be left out become constants
  bool allow_hard_links = false;     // ONNX: external data in files that have other names too
  // Makes operators of one's own known before the model is read: ir::AddOps<acme::MyOp>(context).
  std::function<void(ir::IrContext& context)> add_dialects = nullptr;
  Notices notices = {};
};

struct SaveOptions {
  bool full_weights = false;      // text: weights in the text, and in no side file
  bool inline_functions = false;  // ONNX: fused ops as plain ONNX, for runtimes without functions
  int64_t target_opset = 0;       // ONNX, 13 to 27; 0: that of the model that was read
};

}  // namespace weft
