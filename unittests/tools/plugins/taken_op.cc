// An operator of ours has that name.
#include "ir/dialects/op_registry.h"
#include "ir/infer.h"
#include "weft/plugin.h"

WEFT_PLUGIN();

namespace acme {

struct Relu {
  static constexpr weft::ir::OpInfo kInfo = {.name = "onnx.Relu", .operands = {"x"}};
  template <template <class> class Slot>
  struct Attrs {
    static constexpr auto Fields() { return std::tuple(); }
  };
  static bool Infer(weft::ir::InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};
WEFT_REGISTER_OPS(Relu);

}  // namespace acme
