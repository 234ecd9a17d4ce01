// typecast: computes in i32 and f32 what a program computes in i64 and f64, for hardware without
// them. Seed: ascend_knowledge_base.md, TypeCast. Right only where every value fits: nothing is
// proved about values, so the pass works only in runs that allow approximate numerics. Constants are
// clipped to the narrow type; infinities stay. Operands for axes, shapes and indices stay i64, as
// ONNX wants them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/ascend/retype.h"

namespace weft::passes {
namespace {

using ir::DataType;

template <class Values>
bool AllOfType(const Values& values, uint32_t slots, DataType dtype) {
  for (uint32_t i = 0; i < values.size(); ++i) {
    const ir::Value v = values[i];
    if (v && HasSlot(slots, i) && !(v.type().IsTensor() && v.type().dtype() == dtype)) return false;
  }
  return true;
}

// The operands and results of op that have the element type `wide` and may get another; none when
// op cannot change it.
RetypedOp SlotsOf(ir::Operation op, DataType wide) {
  if (!op.HasTrait(ir::kTypeGeneric) || op.num_results() == 0) return {};
  RetypedOp slots{op, op.def()->info->data, kAllSlots};
  if (op.result(0).type().IsTensor() && op.result(0).type().dtype() == DataType::kBool)
    slots.results = 0;  // a comparison
  return AllOfType(op.operands(), slots.operands, wide) &&
                 AllOfType(op.results(), slots.results, wide)
             ? slots
             : RetypedOp{};
}

ir::Type WithDtype(ir::Type type, DataType dtype) {
  if (!type.HasRank()) return type.context()->UnrankedTensorType(dtype);
  return type.context()->TensorType(dtype, type.dims());
}

template <class To, class From>
To Clip(From value) {
  if constexpr (std::is_floating_point_v<From>)
    if (!std::isfinite(value)) return static_cast<To>(value);
  return static_cast<To>(
      std::clamp<From>(value, std::numeric_limits<To>::lowest(), std::numeric_limits<To>::max()));
}

template <class To, class From>
ir::Attribute Clipped(ir::Attribute dense, ir::Type type) {
  std::vector<To> values;
  for (const From value : dense.elements<From>()) values.push_back(Clip<To>(value));
  return type.context()->DenseAttrOf(type, std::span<const To>(values));
}

ir::Value CastTo(ir::Rewriter& rewriter, ir::Value value, DataType dtype) {
  return rewriter.Make<ir::ops::Cast>({value}, {.to = dtype});
}

class Typecast : public Pass {
 public:
  Typecast()
      : Pass("typecast", "i64 and f64 to i32 and f32",
             {.seed = "ascend", .numerics = drr::NumericClass::kApproximate}) {}

  absl::Status Run(ir::Program& program) override {
    Narrow(program, DataType::kI64, DataType::kI32);
    Narrow(program, DataType::kF64, DataType::kF32);
    return absl::OkStatus();
  }

 private:
  void Narrow(ir::Program& program, DataType wide, DataType narrow) {
    std::vector<RetypedOp> ops;
    ir::Walk(program, [&](ir::Operation op) {
      if (const RetypedOp slots = SlotsOf(op, wide); slots.op) ops.push_back(slots);
    });
    if (ops.empty()) return;
    ir::Rewriter rewriter(&program);
    Retype(rewriter, ops,
           {.inside = [&](ir::Type type) { return WithDtype(type, narrow); },
            .enter =
                [&](ir::Rewriter& r, ir::Value v) {
                  const ir::Attribute dense = ir::Contents(v);
                  if (!dense) return CastTo(r, v, narrow);
                  const ir::Type type = WithDtype(v.type(), narrow);
                  return r.Constant(wide == DataType::kI64 ? Clipped<int32_t, int64_t>(dense, type)
                                                           : Clipped<float, double>(dense, type));
                },
            .leave = [&](ir::Rewriter& r, ir::Value v) { return CastTo(r, v, wide); }});
    Count("operations narrowed", ops.size());
    MarkChanged();
  }
};
WEFT_REGISTER_PASS(Typecast);

}  // namespace
}  // namespace weft::passes
