// A plugin: a rule, and an operator with its kernel, for `ir-opt --load plugin.so`, `ir-run --load plugin.so`.
#include <ir/dialects/op_registry.h>
#include <ir/infer.h>
#include <kernels/reference/reference.h>
#include <passes/rules.h>
#include <weft/plugin.h>

WEFT_PLUGIN();

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
WEFT_REGISTER_OPS(Gain);

using namespace weft::kernels;  // NOLINT: the vocabulary of kernels

absl::Status RunGain(const reference::AttrsOf<Gain>& attrs, const KernelArgs& args) {
  reference::MapFloats(args.inputs[0], args.outputs[0], [&](double x) { return x * attrs.factor; });
  return absl::OkStatus();
}
const reference::RegisterReference<Gain> kGain(&RunGain, &reference::SameFloats);

}  // namespace acme

namespace weft::passes {

// gain(x, factor: 1) => x
WEFT_RULE(DropUnitGain, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<acme::Gain>({.factor = 1.0f})(x);
  res.Tensor(out) = x;
}

}  // namespace weft::passes
