// The reference has a kernel of that operator.
#include "ir/dialects/onnx/elementwise.h"
#include "kernels/reference/reference.h"
#include "weft/plugin.h"

WEFT_PLUGIN();

namespace {

using namespace weft::kernels;  // NOLINT: the vocabulary of kernels

absl::Status RunRelu(const reference::AttrsOf<weft::ir::ops::Relu>& /*attrs*/,
                     const KernelArgs& args) {
  reference::MapFloats(args.inputs[0], args.outputs[0], [](double x) { return x; });
  return absl::OkStatus();
}
const reference::RegisterReference<weft::ir::ops::Relu> kRelu(&RunRelu, &reference::SameFloats);

}  // namespace
