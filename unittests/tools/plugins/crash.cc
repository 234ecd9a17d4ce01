// A pass that ends the process where it meets a Tanh.
#include <cstdlib>

#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "weft/plugin.h"

WEFT_PLUGIN();

namespace {

class CrashOnTanh : public weft::passes::Pass {
 public:
  CrashOnTanh() : Pass("crash-on-tanh", "aborts where there is a Tanh") {}
  absl::Status Run(weft::ir::Program& program) override {
    weft::ir::Walk(program, [](weft::ir::Operation op) {
      if (op.name() == "onnx.Tanh") std::abort();
    });
    return absl::OkStatus();
  }
};
WEFT_REGISTER_PASS(CrashOnTanh);

}  // namespace
