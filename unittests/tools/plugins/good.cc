// A rule, an operator with its kernel, a pass: all that a plugin may bring.
#include <cstdio>

#include "ir/dialects/op_registry.h"
#include "passes/pass_registry.h"
#include "passes/rules.h"
#include "tools/examples/gain.h"
#include "weft/plugin.h"

WEFT_PLUGIN();

namespace acme {

WEFT_REGISTER_OPS(Gain);

class Greet : public weft::passes::Pass {
 public:
  Greet() : Pass("greet", "says that it ran") {}
  absl::Status Run(weft::ir::Program& /*program*/) override {
    std::fputs("greeted\n", stderr);
    return absl::OkStatus();
  }
};
WEFT_REGISTER_PASS(Greet);

}  // namespace acme

namespace weft::passes {

// gain(x, factor: 1) => x
WEFT_RULE(DropUnitGain, "canonicalize", kExact) {
  auto x = src.Tensor("x");
  auto out = src.Op<acme::Gain>({.factor = 1.0f})(x);
  res.Tensor(out) = x;
}

}  // namespace weft::passes
