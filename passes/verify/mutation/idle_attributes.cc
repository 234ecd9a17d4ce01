#include "passes/verify/mutation/idle_attributes.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/context.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/microsoft/normalization.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

using ir::DataType;
using ir::Operation;

// Of an operand that is given.
DataType TypeOf(Operation op, uint32_t i) {
  return op.HasOperand(i) && op.operand(i).type().IsTensor() ? op.operand(i).type().dtype()
                                                             : DataType::kNull;
}
bool HasOneElement(Operation op, uint32_t i) {
  if (!op.HasOperand(i)) return false;
  const ir::Type type = op.operand(i).type();
  return type.IsStatic() && type.NumElements() == 1;
}
// Whether operand i is a constant without this number.
bool IsConstantWithout(Operation op, uint32_t i, double number) {
  const Operation from = op.HasOperand(i) ? op.operand(i).DefiningOp() : Operation();
  if (!from || !from.Is<ir::ConstantOp>()) return false;
  const ir::Attribute dense = from.attrs_of<ir::ConstantOp>().value;
  if (dense.IsElided()) return false;
  for (int64_t k = 0, n = dense.dense_type().NumElements(); k < n; ++k)
    if (ir::DenseElement(dense, k) == number) return false;
  return true;
}
bool IsNumberOf(ir::Attribute number, DataType type) {
  return number.Is(ir::AttrKind::kInt) && number.AsInt() == static_cast<int64_t>(type);
}

bool IsPerTensor(Operation op) {
  return HasOneElement(op, 1) && (!op.HasOperand(2) || HasOneElement(op, 2));
}
// Only floats of 8 bits and less saturate, or are rounded in several ways.
bool MakesNoSmallFloat(Operation op) {
  const ir::Type type = op.result(0).type();
  return type.IsTensor() && type.dtype() != DataType::kNull && !ir::IsLowPrecision(type.dtype());
}

// The kernel has the size that its shape says.
bool IsSizeOfWeights(Operation op) {
  if (!op.HasOperand(1)) return false;
  const ir::Type w = op.operand(1).type();
  const ir::Attribute sizes = op.attr("kernel_shape");
  if (!w.IsTensor() || !w.HasRank() || !sizes.Is(ir::AttrKind::kInts) || w.rank() < 2) return false;
  const ir::Shape shape = w.shape();
  const ir::Ints& given = sizes.AsInts();
  return std::equal(shape.begin() + 2, shape.end(), given.begin(), given.end());
}
// Of the attentions of com.microsoft, whose operand `mask` it fills, and causal ones.
template <uint32_t mask>
bool HasNothingToFill(Operation op) {
  const ir::Attribute causal = op.attr("unidirectional");
  const bool is_causal = causal && !(causal.Is(ir::AttrKind::kInt) && causal.AsInt() == 0);
  return !op.HasOperand(mask) && !is_causal;
}
bool IsAllOf(ir::Attribute list, int64_t number) {
  return list.Is(ir::AttrKind::kInts) && std::all_of(list.AsInts().begin(), list.AsInts().end(),
                                                     [&](int64_t n) { return n == number; });
}
bool HasNoPadding(Operation op) {
  const ir::Attribute pads = op.attr("pads"), auto_pad = op.attr("auto_pad");
  const ir::Attribute rounds_up = op.attr("ceil_mode");
  const bool has_pads = pads && !IsAllOf(pads, 0);
  const bool is_explicit =
      !auto_pad || (auto_pad.Is(ir::AttrKind::kString) && auto_pad.AsString() == "NOTSET");
  return !has_pads && is_explicit &&
         (!rounds_up || (rounds_up.Is(ir::AttrKind::kInt) && rounds_up.AsInt() == 0));
}
bool HasAxes(Operation op) {
  const ir::Attribute axes = op.attr("axes");
  return axes.Is(ir::AttrKind::kInts) && !axes.AsInts().empty();
}
// As no axes mean all.
bool HasAllAxes(Operation op) {
  const ir::Type x = op.operand(0).type();
  const ir::Attribute noop = op.attr("noop_with_empty_axes");
  return HasAxes(op) && x.IsTensor() && x.HasRank() &&
         op.attr("axes").AsInts().size() == x.rank() && (!noop || noop == op.context()->IntAttr(0));
}

// What has other sizes than 1 stays in order: the type of the result says all.
bool MovesOnlyOnes(Operation op) {
  const ir::Type x = op.operand(0).type();
  const ir::Attribute perm = op.attr("perm");
  if (!x.IsTensor() || !x.HasRank() || !perm.Is(ir::AttrKind::kInts) ||
      perm.AsInts().size() != x.rank())
    return false;
  ir::Ints moved = perm.AsInts();
  std::erase_if(moved, [&](int64_t axis) { return x.dim(axis) == 1; });
  return std::is_sorted(moved.begin(), moved.end());
}

// Whether these are numbers of rows of the table, for users alone that count negative ones from its end.
bool AreRowsOf(ir::Value table, ir::Value rows) {
  constexpr std::pair<uint32_t, uint32_t> kTables[] = {{0, 2}, {1, 4}, {8, 3}};  // of what looks up
  const std::vector<ir::OpOperand> uses = rows.uses();
  return std::all_of(uses.begin(), uses.end(), [&](const ir::OpOperand& use) {
    const Operation user = use.owner();
    const uint32_t i = use.index();
    if (user.Is<ir::ops::Cast>()) {
      const ir::Type type = user.result(0).type();
      const bool has_sign =
          type.IsTensor() && (type.dtype() == DataType::kI32 || type.dtype() == DataType::kI64);
      return has_sign && AreRowsOf(table, user.result(0));
    }
    if (user.Is<ir::ops::Gather>())
      return i == 1 && user.operand(0) == table && user.attrs_of<ir::ops::Gather>().axis == 0;
    return user.Is<ir::microsoft::EmbedLayerNormalization>() &&
           std::any_of(std::begin(kTables), std::end(kTables), [&](const auto& entry) {
             return entry.first == i && user.operand(entry.second) == table;
           });
  });
}
// A remainder that names the same row, whatever its sign.
bool CountsRows(Operation mod) {
  const Operation shape = mod.operand(1).DefiningOp();
  if (!shape || !shape.Is<ir::ops::Shape>()) return false;
  const auto attrs = shape.attrs_of<ir::ops::Shape>();
  return attrs.start == 0 && attrs.end == 1 && AreRowsOf(shape.operand(0), mod.result(0));
}

struct Entry {
  std::string_view op, attr;  // of an op ending in *, all that begin so
  bool (*is_idle)(Operation op);
};

constexpr Entry kEntries[] = {
    {"onnx.QuantizeLinear", "axis", IsPerTensor},
    {"onnx.QuantizeLinear", "block_size", IsPerTensor},
    {"onnx.QuantizeLinear", "saturate", MakesNoSmallFloat},
    // The zero point has the type, if there is one.
    {"onnx.QuantizeLinear", "output_dtype", [](Operation op) { return op.HasOperand(2); }},
    // The scale has it.
    {"onnx.QuantizeLinear", "precision",
     [](Operation op) { return IsNumberOf(op.attr("precision"), TypeOf(op, 1)); }},
    {"onnx.DequantizeLinear", "axis", IsPerTensor},
    {"onnx.DequantizeLinear", "block_size", IsPerTensor},
    {"onnx.DequantizeLinear", "output_dtype",
     [](Operation op) { return IsNumberOf(op.attr("output_dtype"), TypeOf(op, 1)); }},
    {"onnx.Cast*", "saturate", MakesNoSmallFloat},
    {"onnx.Cast*", "round_mode", MakesNoSmallFloat},
    // Whether a 0 is a size or copies one.
    {"onnx.Reshape", "allowzero", [](Operation op) { return IsConstantWithout(op, 1, 0); }},
    {"onnx.Reduce*", "noop_with_empty_axes", HasAxes},
    {"onnx.Reduce*", "axes", HasAllAxes},
    {"onnx.Transpose", "perm", MovesOnlyOnes},
    {"onnx.Conv", "kernel_shape", IsSizeOfWeights},
    {"onnx.Conv", "strides", [](Operation op) { return IsAllOf(op.attr("strides"), 1); }},
    {"onnx.Conv", "dilations", [](Operation op) { return IsAllOf(op.attr("dilations"), 1); }},
    {"onnx.Mod", "fmod", CountsRows},
    {"onnx.Gemm", "beta", [](Operation op) { return !op.HasOperand(2); }},
    // The order of indices, which are the second result.
    {"onnx.MaxPool", "storage_order", [](Operation op) { return op.num_results() < 2; }},
    // What stands where `keep` is false.
    {"fused.attention", "fill", [](Operation op) { return !op.HasOperand(4); }},
    {"com.microsoft.Attention", "mask_filter_value", HasNothingToFill<3>},
    {"com.microsoft.MultiHeadAttention", "mask_filter_value", HasNothingToFill<4>},
    // Those of an activation without any.
    {"com.microsoft.FusedConv", "activation_params",
     [](Operation op) {
       const ir::Attribute numbers = op.attr("activation_params");
       return numbers.Is(ir::AttrKind::kFloats) && numbers.AsFloats().empty();
     }},
    // gamma has the axes.
    {"fused.layer_norm", "axis", [](Operation op) { return op.HasOperand(1); }},
    // Without padding there is none to count.
    {"onnx.AveragePool", "count_include_pad", HasNoPadding},
    // Without a mask scores are finite as far as q and k are.
    {"fused.attention", "zero_nan",
     [](Operation op) { return !op.HasOperand(3) && !op.HasOperand(4); }},
};

ir::Attribute DefaultOf(Operation op, const ir::FieldDef& field) {
  return field.make_default ? field.make_default(*op.context()) : ir::Attribute();
}

void SetOrErase(ir::Rewriter& rewriter, Operation op, ir::Name name, ir::Attribute value) {
  ir::IrContext& context = *op.context();
  const ir::AttrDict others = context.Without(op.attrs(), name);
  rewriter.SetAttrs(op, value ? context.With(others, name, value) : others);
}

}  // namespace

bool IsIdle(Operation op, ir::Name attr) {
  return std::any_of(std::begin(kEntries), std::end(kEntries), [&](const Entry& entry) {
    std::string_view name = entry.op;
    const bool is_family = name.ends_with('*');
    if (is_family) name.remove_suffix(1);
    const bool is_named = is_family ? op.name().starts_with(name) : op.name() == name;
    return is_named && entry.attr == attr.str() && entry.is_idle(op);
  });
}

int DropIdleAttributes(ir::Program& program) {
  int dropped = 0;
  ir::Rewriter rewriter(&program);
  ir::Walk(program, [&](Operation op) {
    if (op.def() == nullptr) return;
    for (const ir::FieldDef& field : op.def()->fields) {
      const ir::Attribute value = op.attr(field.name.str()), usual = DefaultOf(op, field);
      if (!value || value == usual || !IsIdle(op, field.name)) continue;
      SetOrErase(rewriter, op, field.name, usual);
      ++dropped;
    }
  });
  return dropped;
}

std::string TextWithoutIdle(ir::Program& program) {
  DropIdleAttributes(program);
  ir::Rewriter rewriter(&program);
  ir::Walk(program, [&](Operation op) {
    if (op.def() == nullptr) return;
    for (const ir::FieldDef& field : op.def()->fields)
      if (const ir::Attribute value = op.attr(field.name.str());
          value && value == DefaultOf(op, field))
        SetOrErase(rewriter, op, field.name, {});
  });
  return ir::PrintProgram(program, {.full_weights = true});
}

}  // namespace weft::passes
