// widen-floats: f16 and bf16 computed in f32; see ir/analysis/widen_floats.h. ir-run begins with it,
// because rules that make fused ops and NHWC forms know f32 only.
#include "ir/analysis/widen_floats.h"

#include "ir/dialects/onnx.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class WidenFloats : public Pass {
 public:
  WidenFloats()
      : Pass("widen-floats", "computes in f32 what is f16 or bf16, without rounding in between",
             {.numerics = drr::NumericClass::kReassociates}) {}

  absl::Status Initialize(ir::IrContext& context, const PassContext&) override {
    ir::LoadOnnxDialect(context);
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    const size_t count = ir::WidenFloats(program);
    if (count == 0) return absl::OkStatus();
    Count("operations widened", count);
    MarkChanged();
    return absl::OkStatus();
  }
};
WEFT_REGISTER_PASS(WidenFloats);

}  // namespace
}  // namespace weft::passes
