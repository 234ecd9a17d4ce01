// typecast: computes in i32 and f32 what a program computes in i64 and f64, for hardware without
// them. Seed: ascend_knowledge_base.md, TypeCast. Right only where every value fits: nothing is
// proved about values, so the pass works only in runs that allow approximate numerics. Constants are
// clipped to the narrow type. Operands
// for axes, shapes and indices stay i64, as ONNX wants them.
#include <algorithm>
#include <limits>
#include <string_view>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/targets/ascend/retype.h"

namespace weft::passes {
namespace {

using ir::DataType;

// Which operands and results of an op share the element type that may change.
struct Slots {
  std::string_view op;
  uint32_t operands, results;
};
constexpr Slots kSlots[] = {
    {"onnx.Abs", kAllSlots, kAllSlots},
    {"onnx.Add", kAllSlots, kAllSlots},
    {"onnx.BatchNormalization", kAllSlots, kAllSlots},
    {"onnx.Concat", kAllSlots, kAllSlots},
    {"onnx.Div", kAllSlots, kAllSlots},
    {"onnx.Equal", kAllSlots, 0},
    {"onnx.Expand", 0b1, kAllSlots},
    {"onnx.Gather", 0b1, kAllSlots},
    {"onnx.Gemm", kAllSlots, kAllSlots},
    {"onnx.LeakyRelu", kAllSlots, kAllSlots},
    {"onnx.Less", kAllSlots, 0},
    {"onnx.Mul", kAllSlots, kAllSlots},
    {"onnx.ReduceSum", 0b1, kAllSlots},
    {"onnx.Relu", kAllSlots, kAllSlots},
    {"onnx.Reshape", 0b1, kAllSlots},
    {"onnx.ScatterND", 0b101, kAllSlots},
    {"onnx.Sigmoid", kAllSlots, kAllSlots},
    {"onnx.Slice", 0b1, kAllSlots},
    {"onnx.Split", 0b1, kAllSlots},
    {"onnx.Squeeze", 0b1, kAllSlots},
    {"onnx.Sub", kAllSlots, kAllSlots},
    {"onnx.Tanh", kAllSlots, kAllSlots},
    {"onnx.Tile", 0b1, kAllSlots},
    {"onnx.Transpose", kAllSlots, kAllSlots},
    {"onnx.Unsqueeze", 0b1, kAllSlots},
    {"onnx.Where", 0b110, kAllSlots},
};

template <class Values>
bool AllOfType(const Values& values, uint32_t slots, DataType dtype) {
  for (uint32_t i = 0; i < values.size(); ++i) {
    const ir::Value v = values[i];
    if (v && HasSlot(slots, i) && !(v.type().IsTensor() && v.type().dtype() == dtype)) return false;
  }
  return true;
}

ir::Type WithDtype(ir::Type type, DataType dtype) {
  if (!type.HasRank()) return type.context()->UnrankedTensorType(dtype);
  return type.context()->TensorType(dtype, type.dims());
}

template <class To, class From>
ir::Attribute Clipped(ir::Attribute dense, ir::Type type) {
  std::vector<To> values;
  for (const From value : dense.elements<From>())
    values.push_back(static_cast<To>(std::clamp<From>(value, std::numeric_limits<To>::lowest(),
                                                      std::numeric_limits<To>::max())));
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
      const auto* slots = std::find_if(std::begin(kSlots), std::end(kSlots),
                                       [&](const Slots& s) { return s.op == op.name(); });
      if (slots != std::end(kSlots) && AllOfType(op.operands(), slots->operands, wide) &&
          AllOfType(op.results(), slots->results, wide))
        ops.push_back({op, slots->operands, slots->results});
    });
    if (ops.empty()) return;
    ir::Rewriter rewriter(&program);
    Retype(rewriter, ops,
           {.inside = [&](ir::Type type) { return WithDtype(type, narrow); },
            .enter =
                [&](ir::Rewriter& r, ir::Value v) {
                  const ir::Attribute dense = ir::ConstantValue(v);
                  if (!dense || dense.IsElided()) return CastTo(r, v, narrow);
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
