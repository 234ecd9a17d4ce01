// acme.Gain, an operator of one's own with its kernel.
#pragma once

#include <ir/infer.h>
#include <ir/op_def.h>
#include <kernels/reference/reference.h>

namespace acme {

struct Gain {
  static constexpr weft::ir::OpInfo kInfo = {.name = "acme.Gain",
                                             .operands = {"x"},
                                             .traits = weft::ir::kPure,
                                             .onnx = "Gain",
                                             .onnx_domain = "acme",
                                             .doc = "x times factor"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> factor{};
    static constexpr auto Fields() {
      return std::tuple(weft::ir::Field{"factor", &Attrs::factor, 1.0f});
    }
  };
  static bool Infer(weft::ir::InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};

using namespace weft::kernels;  // NOLINT: the vocabulary of kernels

inline absl::Status RunGain(const reference::AttrsOf<Gain>& attrs, const KernelArgs& args) {
  reference::MapFloats(args.inputs[0], args.outputs[0], [&](double x) { return x * attrs.factor; });
  return absl::OkStatus();
}
inline const reference::RegisterReference<Gain> kGain(&RunGain, &reference::SameFloats);

}  // namespace acme
