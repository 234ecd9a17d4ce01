#include "tools/onnx/import/adapters.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx.h"
#include "tools/onnx/import/attention_mask.h"
#include "tools/onnx/import/first_opsets.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::AttrKind;
using ir::Builder;
using ir::Value;

// --- attributes that became inputs ---------------------------------------------

// One axis may be a scalar, which ONNX does not allow but its own tests and ONNX Runtime do.
absl::Status ScalarAxesToList(Builder& b, NodeDraft* node) {
  if (node->version < 13) return IntsToOperand(b, node, "axes", 1);
  if (node->operands.size() != 2 || !node->operands[1]) return absl::OkStatus();
  const Value axes = node->operands[1];
  if (!axes.type().HasRank() || axes.type().rank() != 0) return absl::OkStatus();
  if (const auto values = ir::ConstantInts(axes)) {
    node->operands[1] = b.ConstantInts(*values);
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(node->operands[1],
                        TryMake<ir::ops::Reshape>(b, {axes, b.ConstantInts({1})}));
  return absl::OkStatus();
}
// Axes that are known are an attribute here, whatever the opset (ir/dialects/onnx/reduce.h).
absl::Status KnownAxesToAttribute(Builder& b, NodeDraft* node) {
  const bool is_operand = node->version >= (node->op_type == "ReduceSum" ? 13 : 18);
  if (is_operand && node->attribute("axes"))
    return ir::InvalidArgument(
        fmt::format("attribute axes became an input before opset {}", node->version));
  if (!is_operand && node->operands.size() > 1)
    return ir::InvalidArgument(
        fmt::format("has {} inputs in opset {}", node->operands.size(), node->version));
  if (node->operands.size() != 2 || !node->operands[1]) return absl::OkStatus();
  const auto axes = ir::ConstantInts(node->operands[1]);
  if (!axes) return absl::OkStatus();
  node->operands.pop_back();
  if (!axes->empty()) node->SetAttribute("axes", b.context()->IntsAttr(*axes));
  return absl::OkStatus();
}

absl::Status SplitToOperand(Builder& b, NodeDraft* node) {
  return IntsToOperand(b, node, "split", 1);
}
absl::Status SliceToOperands(Builder& b, NodeDraft* node) {
  for (std::string_view name : {"starts", "ends"})
    if (!node->attribute(name))
      return ir::InvalidArgument(fmt::format("attribute {} is required but not given", name));
  WEFT_RETURN_IF_ERROR(IntsToOperand(b, node, "starts", 1));
  WEFT_RETURN_IF_ERROR(IntsToOperand(b, node, "ends", 2));
  return IntsToOperand(b, node, "axes", 3);
}

absl::Status TopKToOperand(Builder& b, NodeDraft* node) {
  WEFT_ASSIGN_OR_RETURN(const Attribute k, TakeAttribute(node, "k", AttrKind::kInt));
  if (k && node->operands.size() == 1) SetOperand(node, 1, b.ConstantInts({k.AsInt()}));
  return absl::OkStatus();
}

// Null where it is not known.
ir::DataType DtypeOfFirst(const NodeDraft& node) {
  const bool is_tensor =
      !node.operands.empty() && node.operands[0] && node.operands[0].type().IsTensor();
  return is_tensor ? node.operands[0].type().dtype() : ir::DataType::kNull;
}

// A float becomes a scalar operand of the first operand's element type.
absl::Status FloatToOperand(Builder& b, NodeDraft* node, std::string_view name, size_t i) {
  WEFT_ASSIGN_OR_RETURN(const Attribute value, TakeAttribute(node, name, AttrKind::kFloat));
  if (!value) return absl::OkStatus();
  const ir::DataType dtype = DtypeOfFirst(*node);
  SetOperand(node, i,
             b.ConstantScalar(ir::IsFloat(dtype) ? dtype : ir::DataType::kF32, value.AsDouble()));
  return absl::OkStatus();
}

// From opset 6 on a bound that is not given is the lowest or the largest number of f32. f16 and bf16 have no
// number beyond those.
absl::Status ClipToOperands(Builder& b, NodeDraft* node) {
  if (node->operands.size() > 1) return ir::InvalidArgument("has more than one input");
  const ir::DataType dtype = DtypeOfFirst(*node);
  if (node->version >= 6 && (dtype == ir::DataType::kF32 || dtype == ir::DataType::kF64))
    for (const auto& [name, bound] : {std::pair("min", std::numeric_limits<float>::lowest()),
                                      std::pair("max", std::numeric_limits<float>::max())})
      if (!node->attribute(name)) node->SetAttribute(name, b.context()->FloatAttr(bound));
  WEFT_RETURN_IF_ERROR(FloatToOperand(b, node, "min", 1));
  return FloatToOperand(b, node, "max", 2);
}

absl::Status PadToOperands(Builder& b, NodeDraft* node) {
  WEFT_RETURN_IF_ERROR(IntsToOperand(b, node, "pads", 1));
  return FloatToOperand(b, node, "value", 2);
}

// Pads of some axes become pads of all, where both are known.
absl::Status PadAllAxes(Builder& b, NodeDraft* node) {
  if (node->version < 11) return PadToOperands(b, node);
  if (node->operands.size() < 4 || !node->operands[0] || !node->operands[1])
    return absl::OkStatus();
  const auto pads = ir::ConstantInts(node->operands[1]), axes = ir::ConstantInts(node->operands[3]);
  const ir::Type type = node->operands[0].type();
  if (!pads || !axes || !type.HasRank() || pads->size() != 2 * axes->size())
    return absl::OkStatus();
  const size_t rank = type.rank();
  ir::Ints all(2 * rank, 0);
  std::vector<bool> seen(rank);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = ir::NormalAxis((*axes)[i], rank);
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || seen[axis])
      return ir::InvalidArgument(
          fmt::format("axis {} is out of range for rank {} or given twice", (*axes)[i], rank));
    seen[axis] = true;
    all[axis] = (*pads)[i];
    all[rank + axis] = (*pads)[axes->size() + i];
  }
  node->operands[1] = b.ConstantInts(all);
  node->operands.pop_back();
  return absl::OkStatus();
}

absl::Status DropoutToOperands(Builder& b, NodeDraft* node) {
  if (node->version < 10 && node->num_results > 1) {
    node->num_results = 1;  // a mask of another element type, which hardly anybody reads
    node->unreadable = "the mask of a Dropout before opset 10";
  }
  WEFT_ASSIGN_OR_RETURN(const Attribute ratio, TakeAttribute(node, "ratio", AttrKind::kFloat));
  if (ratio) SetOperand(node, 1, b.ConstantScalar(ir::DataType::kF32, ratio.AsDouble()));
  return absl::OkStatus();
}

// --- changed meaning --------------------------------------------------------------

// (x - mean) / sqrt(var + epsilon) * scale + bias, where all but x have no batch dimension.
absl::Status NormalizeEachElement(Builder& b, NodeDraft* node) {
  if (node->operands.size() != 5 ||
      std::count(node->operands.begin(), node->operands.end(), Value()))
    return ir::InvalidArgument("needs five inputs, x, scale, bias, mean and variance");
  const Value x = node->operands[0], variance = node->operands[4];
  const Attribute given = node->attribute("epsilon");
  if (given && !given.Is(AttrKind::kFloat))
    return ir::InvalidArgument("attribute epsilon is of the wrong kind");
  const ir::DataType dtype = x.type().IsTensor() ? x.type().dtype() : ir::DataType::kNull;
  if (!ir::IsFloat(dtype)) return ir::Unsupported("BatchNormalization of an unknown element type");
  const Value epsilon = b.ConstantScalar(dtype, given ? given.AsDouble() : 1e-5f);
  WEFT_ASSIGN_OR_RETURN(const Value sum, TryMake<ir::ops::Add>(b, {variance, epsilon}));
  WEFT_ASSIGN_OR_RETURN(const Value deviation, TryMake<ir::ops::Sqrt>(b, {sum}));
  WEFT_ASSIGN_OR_RETURN(const Value centred, TryMake<ir::ops::Sub>(b, {x, node->operands[3]}));
  WEFT_ASSIGN_OR_RETURN(const Value unit, TryMake<ir::ops::Div>(b, {centred, deviation}));
  WEFT_ASSIGN_OR_RETURN(const Value scaled, TryMake<ir::ops::Mul>(b, {unit, node->operands[1]}));
  node->op_type = "Add";
  node->operands = {scaled, node->operands[2]};
  node->attributes.clear();
  return absl::OkStatus();
}

// Before opset 14 BatchNormalization trained when more than its first output was used, and gave two
// of them twice; before opset 9 it could have statistics per element (spatial = 0).
absl::Status OldBatchNormalization(Builder& b, NodeDraft* node) {
  if (node->num_results > 1) {
    if (node->num_results > 3) node->unreadable = "a saved statistic of a BatchNormalization";
    node->num_results = 3;
    node->SetAttribute("training_mode", b.context()->IntAttr(1));
  }
  WEFT_ASSIGN_OR_RETURN(const Attribute spatial, TakeAttribute(node, "spatial", AttrKind::kInt));
  if (!spatial || spatial.AsInt() != 0) return absl::OkStatus();
  if (node->num_results > 1)
    return ir::Unsupported("BatchNormalization in training mode of each element");
  return NormalizeEachElement(b, node);
}

// Before opset 21 scale and bias had one element per group, not per channel.
absl::Status GroupNormalizationPerChannel(Builder& b, NodeDraft* node) {
  if (node->operands.size() != 3 ||
      std::count(node->operands.begin(), node->operands.end(), Value()))
    return ir::InvalidArgument("needs three inputs, x, scale and bias");
  const ir::Type x = node->operands[0].type();
  const Attribute groups = node->attribute("num_groups");
  if (!groups.Is(AttrKind::kInt)) return absl::OkStatus();  // which inference refuses
  const int64_t g = groups.AsInt();
  if (!x.HasRank() || x.rank() < 2 || !ir::IsStaticDim(x.dim(1)))
    return ir::Unsupported("GroupNormalization before opset 21 of an unknown number of channels");
  if (g < 1 || x.dim(1) % g != 0)
    return ir::InvalidArgument(
        fmt::format("x has {} channels, which are no {} groups", x.dim(1), g));
  for (size_t i : {1, 2}) {
    Value& v = node->operands[i];
    WEFT_ASSIGN_OR_RETURN(v, TryMake<ir::ops::Reshape>(b, {v, b.ConstantInts({g, 1})}));
    const Value shape = b.ConstantInts({g, x.dim(1) / g});
    WEFT_ASSIGN_OR_RETURN(v, TryMake<ir::ops::Expand>(b, {v, shape}));
    WEFT_ASSIGN_OR_RETURN(v, TryMake<ir::ops::Reshape>(b, {v, b.ConstantInts({x.dim(1)})}));
  }
  return absl::OkStatus();
}

// y (flattened to two dimensions) in the shape of x.
absl::StatusOr<Value> ReshapeLike(Builder& b, Value y, Value x) {
  if (!x.type().IsStatic()) {
    WEFT_ASSIGN_OR_RETURN(const Value shape, TryMake<ir::ops::Shape>(b, {x}));
    return TryMake<ir::ops::Reshape>(b, {y, shape}, {.allowzero = int64_t{1}});
  }
  const bool has_zero = x.type().NumElements() == 0;
  return TryMake<ir::ops::Reshape>(b, {y, b.ConstantInts(x.type().dims())},
                                   {.allowzero = int64_t{has_zero}});
}

// Before opset 13 Softmax (LogSoftmax, Hardmax) worked on x flattened to a matrix at `axis`, which
// was 1 by default. That is today's Softmax only when axis is the last one.
absl::Status SoftmaxOfFlattened(Builder& b, NodeDraft* node) {
  WEFT_ASSIGN_OR_RETURN(const Attribute attr, TakeAttribute(node, "axis", AttrKind::kInt));
  if (node->operands.size() != 1 || !node->operands[0])
    return ir::InvalidArgument("needs exactly one input");
  const Value x = node->operands[0];
  int64_t axis = attr ? attr.AsInt() : 1;
  node->SetAttribute("axis", b.context()->IntAttr(-1));
  if (x.type().HasRank()) {
    const auto rank = static_cast<int64_t>(x.type().rank());
    if (axis < -rank || axis > rank || (axis == rank && rank > 0))
      return ir::InvalidArgument(fmt::format("axis is {} but the rank is {}", axis, rank));
    if (axis < 0) axis += rank;
    if (axis == rank - 1) return absl::OkStatus();
  } else if (axis == -1) {
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(node->operands[0], TryMake<ir::ops::Flatten>(b, {x}, {.axis = axis}));
  node->finish = [x](Builder& builder, Value y) { return ReshapeLike(builder, y, x); };
  return absl::OkStatus();
}

// x with what is shrunk of it, rounded up, and scales that are left to enlarge it.
absl::Status ShrinkFirst(Builder& b, Value* x, Value* scales) {
  const Value one = b.ConstantScalar(ir::DataType::kF32, 1);
  WEFT_ASSIGN_OR_RETURN(const Value smaller, TryMake<ir::ops::Min>(b, {*scales, one}));
  WEFT_ASSIGN_OR_RETURN(*scales, TryMake<ir::ops::Max>(b, {*scales, one}));
  WEFT_ASSIGN_OR_RETURN(*x,
                        TryMake<ir::ops::Resize>(
                            b, {*x, Value(), smaller},
                            {.coordinate_transformation_mode = ir::ops::CoordinateMode::kAsymmetric,
                             .nearest_mode = ir::ops::NearestMode::kCeil}));
  return absl::OkStatus();
}

// Up to opset 9 the op was called Upsample (with the scales in an attribute up to 8), whose scales
// are 1 or more, though not in ONNX's own example. Both meant x[i / scale], rounded down; ONNX
// Runtime rounds up where the result is smaller, which that example does too: where it is not known
// what the op does, it shrinks first what it does not enlarge.
absl::Status ResizeWithoutCoordinates(Builder& b, NodeDraft* node) {
  WEFT_ASSIGN_OR_RETURN(const Attribute floats, TakeAttribute(node, "scales", AttrKind::kFloats));
  if (floats) {
    const auto size = static_cast<int64_t>(floats.AsFloats().size());
    SetOperand(node, 1, b.ConstantFloats(floats.AsFloats(), {&size, 1}));
  }
  if (node->operands.size() != 2 || !node->operands[1])
    return ir::InvalidArgument("needs two inputs, x and scales");
  const Attribute mode = node->attribute("mode");
  const bool nearest = !mode || !mode.Is(AttrKind::kString) || mode.AsString() == "nearest";
  Value x = node->operands[0], scales = node->operands[1];
  const auto known = ir::ConstantDoubles(scales);
  const auto all = [&](auto holds) {
    return known && std::all_of(known->begin(), known->end(), holds);
  };
  const bool up = all([](double scale) { return scale >= 1; });
  const bool down = all([](double scale) { return scale <= 1; });
  if (nearest && !up && !down) WEFT_RETURN_IF_ERROR(ShrinkFirst(b, &x, &scales));
  node->op_type = "Resize";
  node->operands = {x, Value(), scales};
  node->SetAttribute("coordinate_transformation_mode", b.context()->StringAttr("asymmetric"));
  node->SetAttribute("nearest_mode",
                     b.context()->StringAttr(nearest && down && !up ? "ceil" : "floor"));
  return absl::OkStatus();
}

absl::Status RenameScatter(Builder& b, NodeDraft* node) {
  (void)b;
  node->op_type = "ScatterElements";
  return absl::OkStatus();
}

absl::Status OldRoiAlign(Builder& b, NodeDraft* node) {
  node->SetAttribute("coordinate_transformation_mode",
                     b.context()->StringAttr("output_half_pixel"));
  return absl::OkStatus();
}

// TensorProto.DataType FLOAT8E4M3FN to FLOAT8E5M2FNUZ, and FLOAT8E8M0.
bool IsFloat8(int64_t type) { return (type >= 17 && type <= 20) || type == 24; }

// Only conversions to 8-bit floats saturate or choose how to round.
absl::Status DropUnusedCastAttributes(Builder& b, NodeDraft* node) {
  (void)b;
  const Attribute to = node->attribute("to");
  if (to.Is(AttrKind::kInt) && IsFloat8(to.AsInt())) return absl::OkStatus();
  for (std::string_view name : {"saturate", "round_mode"}) node->SetAttribute(name, {});
  return absl::OkStatus();
}

// The modes were named for images of two dimensions.
absl::Status RenameSampleMode(Builder& b, NodeDraft* node) {
  const Attribute mode = node->attribute("mode");
  if (!mode) return absl::OkStatus();
  if (!mode.Is(AttrKind::kString))
    return ir::InvalidArgument("attribute mode is of the wrong kind");
  if (mode.AsString() == "bilinear") node->SetAttribute("mode", b.context()->StringAttr("linear"));
  if (mode.AsString() == "bicubic") node->SetAttribute("mode", b.context()->StringAttr("cubic"));
  return absl::OkStatus();
}

// The axis was an attribute, 1 unless given.
absl::Status DftAxisToOperand(Builder& b, NodeDraft* node) {
  WEFT_ASSIGN_OR_RETURN(const Attribute axis, TakeAttribute(node, "axis", AttrKind::kInt));
  if (node->operands.size() > 2) return ir::InvalidArgument("has more than two inputs");
  SetOperand(node, 2,
             b.ConstantScalar(ir::DataType::kI64, axis ? static_cast<double>(axis.AsInt()) : 1));
  return absl::OkStatus();
}

struct AdapterRow {
  std::string_view op_type;
  int64_t before;  // for nodes of opsets below this one
  absl::Status (*adapt)(Builder&, NodeDraft*);
};
constexpr AdapterRow kAdapters[] = {
    {"Attention", 24, BroadcastAttentionMask},
    {"BatchNormalization", 14, OldBatchNormalization},
    {"Cast", kOpset + 1, DropUnusedCastAttributes},
    {"Clip", 11, ClipToOperands},
    {"DFT", 20, DftAxisToOperand},
    {"Dropout", 12, DropoutToOperands},
    {"GroupNormalization", 21, GroupNormalizationPerChannel},
    {"GridSample", 20, RenameSampleMode},
    {"Hardmax", 13, SoftmaxOfFlattened},
    {"LogSoftmax", 13, SoftmaxOfFlattened},
    {"Pad", kOpset + 1, PadAllAxes},
    {"ReduceL1", kOpset + 1, KnownAxesToAttribute},
    {"ReduceL2", kOpset + 1, KnownAxesToAttribute},
    {"ReduceLogSum", kOpset + 1, KnownAxesToAttribute},
    {"ReduceLogSumExp", kOpset + 1, KnownAxesToAttribute},
    {"ReduceMax", kOpset + 1, KnownAxesToAttribute},
    {"ReduceMean", kOpset + 1, KnownAxesToAttribute},
    {"ReduceMin", kOpset + 1, KnownAxesToAttribute},
    {"ReduceProd", kOpset + 1, KnownAxesToAttribute},
    {"ReduceSum", kOpset + 1, KnownAxesToAttribute},
    {"ReduceSumSquare", kOpset + 1, KnownAxesToAttribute},
    {"Resize", 11, ResizeWithoutCoordinates},
    {"RoiAlign", 16, OldRoiAlign},
    {"Scatter", kOpset + 1, RenameScatter},
    {"Slice", 10, SliceToOperands},
    {"Softmax", 13, SoftmaxOfFlattened},
    {"Split", 13, SplitToOperand},
    {"Squeeze", kOpset + 1, ScalarAxesToList},
    {"TopK", 10, TopKToOperand},
    {"Unsqueeze", kOpset + 1, ScalarAxesToList},
    {"Upsample", kOpset + 1, ResizeWithoutCoordinates},
};

// --- windows ------------------------------------------------------------------------

struct WindowRow {
  std::string_view op_type;
  bool has_weights;    // operand 1 is [M, C / group, kernel...]
  bool has_dilations;  // at opset 27
};
constexpr WindowRow kWindows[] = {
    {"AveragePool", false, false},
    {"Conv", true, true},
    {"MaxPool", false, true},
};

// The attribute as `size` positive ints, or `size` ones when it is absent; empty when it is odd.
ir::Ints WindowInts(const NodeDraft& node, std::string_view name, size_t size) {
  const Attribute value = node.attribute(name);
  if (!value) return ir::Ints(size, 1);
  if (!value.Is(AttrKind::kInts) || value.AsInts().size() != size) return {};
  for (int64_t i : value.AsInts())
    if (i <= 0) return {};
  return value.AsInts();
}

// The kernel's size per spatial dimension, from the attribute or the weights; empty if unknown.
ir::Ints KernelShape(const NodeDraft& node, const WindowRow& row) {
  if (const Attribute value = node.attribute("kernel_shape"))
    return value.Is(AttrKind::kInts) ? WindowInts(node, "kernel_shape", value.AsInts().size())
                                     : ir::Ints();
  if (!row.has_weights || node.operands.size() < 2 || !node.operands[1]) return {};
  const ir::Type weights = node.operands[1].type();
  if (!weights.HasRank() || weights.rank() < 3) return {};
  ir::Ints kernel(weights.dims().begin() + 2, weights.dims().end());
  for (int64_t d : kernel)
    if (d <= 0) return {};
  return kernel;
}

// All begins, then all ends, such that the output is ceil(input / stride); empty if unknown.
ir::Ints SamePads(ir::Type x, const ir::Ints& kernel, const ir::Ints& strides,
                  const ir::Ints& dilations, bool upper) {
  if (!x.HasRank() || x.rank() != kernel.size() + 2) return {};
  ir::Ints pads(2 * kernel.size());
  for (size_t i = 0; i < kernel.size(); ++i) {
    const int64_t size = x.dims()[i + 2];
    int64_t extent = 0;  // of the dilated kernel, minus one
    if (!ir::IsStaticDim(size) || __builtin_mul_overflow(kernel[i] - 1, dilations[i], &extent))
      return {};
    const int64_t outputs = size == 0 ? 0 : (size - 1) / strides[i] + 1;
    const int64_t covered = std::max<int64_t>(outputs - 1, 0) * strides[i];  // at most `size`
    // extent + 1 + covered - size, in an order that cannot overflow
    const int64_t total = std::max<int64_t>(extent - (size - covered - 1), 0);
    const int64_t small = total / 2, large = total - small;
    pads[i] = upper ? small : large;
    pads[i + kernel.size()] = upper ? large : small;
  }
  return pads;
}

}  // namespace

absl::Status RaiseToNewest(Builder& builder, NodeDraft* node) {
  if (node->version < 7) WEFT_RETURN_IF_ERROR(RaiseToOpset7(builder, node));
  for (const AdapterRow& row : kAdapters)
    if (node->op_type == row.op_type && node->version < row.before) return row.adapt(builder, node);
  return absl::OkStatus();
}

void NormalizeWindow(Builder& builder, NodeDraft* node) {
  const auto* row = std::find_if(std::begin(kWindows), std::end(kWindows),
                                 [&](const WindowRow& r) { return r.op_type == node->op_type; });
  if (row == std::end(kWindows) || node->operands.empty() || !node->operands[0]) return;
  const ir::Ints kernel = KernelShape(*node, *row);
  const ir::Ints strides = WindowInts(*node, "strides", kernel.size());
  const ir::Ints dilations = WindowInts(*node, "dilations", kernel.size());
  if (kernel.empty() || strides.empty() || dilations.empty()) return;

  ir::IrContext* context = builder.context();
  const Attribute auto_pad = node->attribute("auto_pad");
  const std::string mode =
      auto_pad && auto_pad.Is(AttrKind::kString) ? auto_pad.AsString() : "NOTSET";
  ir::Ints pads(2 * kernel.size(), 0);
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER")
    pads = SamePads(node->operands[0].type(), kernel, strides, dilations, mode == "SAME_UPPER");
  const bool explicit_pads = mode == "NOTSET" && node->attribute("pads");
  if ((mode == "SAME_UPPER" || mode == "SAME_LOWER" || mode == "VALID" || mode == "NOTSET") &&
      !pads.empty() && !explicit_pads) {
    node->SetAttribute("pads", context->IntsAttr(pads));
    node->SetAttribute("auto_pad", {});
  }
  node->SetAttribute("kernel_shape", context->IntsAttr(kernel));
  node->SetAttribute("strides", context->IntsAttr(strides));
  if (row->has_dilations) node->SetAttribute("dilations", context->IntsAttr(dilations));
}

}  // namespace weft::onnx
