// What gain.scale computes, for the runtime and as the oracle of numeric tests.
#include "gain_dialect.h"
#include "kernels/reference/reference.h"

namespace gain {
namespace {

using namespace weft::kernels;  // NOLINT: the vocabulary of kernels

absl::Status RunScale(const reference::AttrsOf<Scale>& attrs, const KernelArgs& args) {
  reference::MapFloats(args.inputs[0], args.outputs[0], [&](double x) { return x * attrs.factor; });
  return absl::OkStatus();
}
const reference::RegisterReference<Scale> kScale(&RunScale, &reference::SameFloats);

}  // namespace
}  // namespace gain
