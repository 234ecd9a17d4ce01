#include "tools/onnx/import/first_opsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx.h"

namespace weft::onnx {
namespace {

using ir::Attribute;
using ir::AttrKind;
using ir::Builder;
using ir::Value;

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `value` with so many dimensions of size 1 behind its own.
absl::StatusOr<Value> AppendDimensions(Builder& b, Value value, int64_t count) {
  if (count == 0) return value;
  ir::Ints axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(value.type().rank()) + i);
  return TryMake<ir::ops::Unsqueeze>(b, {value, b.ConstantInts(axes)});
}

// With broadcast = 1 the second operand's dimensions are those of the first from `axis` on, or the
// last ones.
absl::Status BroadcastFromAxis(Builder& b, NodeDraft* node) {
  WEFT_ASSIGN_OR_RETURN(const Attribute broadcast,
                        TakeAttribute(node, "broadcast", AttrKind::kInt));
  WEFT_ASSIGN_OR_RETURN(const Attribute axis, TakeAttribute(node, "axis", AttrKind::kInt));
  if (!broadcast || broadcast.AsInt() == 0 || !axis) return absl::OkStatus();
  if (node->operands.size() != 2 || !node->operands[0] || !node->operands[1])
    return ir::InvalidArgument("needs two inputs");
  const ir::Type x = node->operands[0].type(), y = node->operands[1].type();
  if (!x.HasRank() || !y.HasRank())
    return ir::Unsupported("attribute axis with operands of unknown rank");
  const auto rank = static_cast<int64_t>(x.rank());
  const int64_t first = axis.AsInt() < 0 ? axis.AsInt() + rank : axis.AsInt();
  const int64_t behind = rank - first - static_cast<int64_t>(y.rank());
  if (axis.AsInt() < -rank || first > rank || behind < 0)
    return ir::InvalidArgument(fmt::format("axis is {} but the operands have the ranks {} and {}",
                                           axis.AsInt(), rank, y.rank()));
  WEFT_ASSIGN_OR_RETURN(node->operands[1], AppendDimensions(b, node->operands[1], behind));
  return absl::OkStatus();
}

// A slope for every channel.
absl::Status SlopePerChannel(Builder& b, NodeDraft* node) {
  if (node->operands.size() != 2 || !node->operands[0] || !node->operands[1])
    return ir::InvalidArgument("needs two inputs");
  const ir::Type x = node->operands[0].type(), slope = node->operands[1].type();
  if (!x.HasRank() || !slope.HasRank()) return ir::Unsupported("PRelu of unknown rank");
  if (slope.rank() != 1 || x.rank() < 2 || slope.dims()[0] == 1) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(node->operands[1],
                        AppendDimensions(b, node->operands[1], static_cast<int64_t>(x.rank()) - 2));
  return absl::OkStatus();
}

// is_test = 0, the default, was training.
absl::Status RefuseTraining(NodeDraft* node) {
  WEFT_ASSIGN_OR_RETURN(const Attribute is_test, TakeAttribute(node, "is_test", AttrKind::kInt));
  if (is_test && is_test.AsInt() != 0) return absl::OkStatus();
  return ir::Unsupported(fmt::format("{} in training mode", node->op_type));
}

// The element type was named.
absl::Status NameToType(Builder& b, NodeDraft* node) {
  const Attribute to = node->attribute("to");
  if (!to.Is(AttrKind::kString)) return absl::OkStatus();
  std::string name = to.AsString();
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  ir::DataType type = ir::DataType::kNull;
  if (name == "float") name = "float32";
  if (name == "double") name = "float64";
  if (!ir::ParseDataType(name, &type))
    return ir::InvalidArgument(fmt::format("attribute to is '{}', no element type", to.AsString()));
  node->SetAttribute("to", b.context()->IntAttr(static_cast<int64_t>(type)));
  return absl::OkStatus();
}

absl::Status Rename(NodeDraft* node, std::string_view from, std::string_view to) {
  const Attribute value = node->attribute(from);
  if (!value) return absl::OkStatus();
  node->SetAttribute(from, {});
  node->SetAttribute(to, value);
  return absl::OkStatus();
}

void SetDefault(NodeDraft* node, std::string_view name, Attribute value) {
  if (!node->attribute(name)) node->SetAttribute(name, value);
}

// Tile repeated along one axis, so often as the second input says.
absl::Status TilesToRepeats(Builder& b, NodeDraft* node) {
  const auto constant = [&](size_t i) {
    return i < node->operands.size() && node->operands[i] ? ir::ConstantDoubles(node->operands[i])
                                                          : std::nullopt;
  };
  const auto tiles = constant(1), axis = constant(2);
  if (!tiles || !axis || tiles->size() != 1 || axis->size() != 1 || !node->operands[0] ||
      !node->operands[0].type().HasRank())
    return ir::Unsupported("Tile of opset 1 with repeats or rank that are not known");
  const auto rank = static_cast<int64_t>(node->operands[0].type().rank());
  const double at = (*axis)[0], count = (*tiles)[0];
  if (!(at >= 0 && at < static_cast<double>(rank)) || !(count >= 0 && count < 1e9))
    return ir::InvalidArgument(fmt::format("tiles is {} and axis is {}", count, at));
  ir::Ints repeats(static_cast<size_t>(rank), 1);
  repeats[static_cast<size_t>(at)] = static_cast<int64_t>(count);
  node->operands = {node->operands[0], b.ConstantInts(repeats)};
  return absl::OkStatus();
}

// The exponent was a float.
absl::Status WholeExponent(Builder& b, NodeDraft* node) {
  const Attribute given = node->attribute("p");
  if (!given.Is(AttrKind::kFloat)) return absl::OkStatus();
  const double p = given.AsDouble();
  if (!(p >= 1 && p <= 1e6) || p != std::floor(p))
    return ir::Unsupported(fmt::format("{} of opset 1 whose p is {}, no whole number from 1 to 1e6",
                                       node->op_type, p));
  node->SetAttribute("p", b.context()->IntAttr(static_cast<int64_t>(p)));
  return absl::OkStatus();
}

// The second input, if given, has the element type of the first one.
absl::Status SizesOfSplit(Builder& b, NodeDraft* node) {
  if (node->operands.size() != 2 || !node->operands[1]) return absl::OkStatus();
  const auto sizes = ir::ConstantDoubles(node->operands[1]);
  if (!sizes) return ir::Unsupported("Split of opset 1 with sizes that are not known");
  ir::Ints ints;
  for (const double size : *sizes) {
    if (!(size >= 0 && size < 1e15) || size != std::floor(size))
      return ir::InvalidArgument(fmt::format("split has {}", size));
    ints.push_back(static_cast<int64_t>(size));
  }
  node->operands[1] = b.ConstantInts(ints);
  return absl::OkStatus();
}

absl::Status ScalesOfUpsample(Builder& b, NodeDraft* node) {
  WEFT_ASSIGN_OR_RETURN(const Attribute h, TakeAttribute(node, "height_scale", AttrKind::kFloat));
  WEFT_ASSIGN_OR_RETURN(const Attribute w, TakeAttribute(node, "width_scale", AttrKind::kFloat));
  const ir::Floats scales = {1, 1, h ? h.AsFloat() : 0, w ? w.AsFloat() : 0};
  if (h && w) node->SetAttribute("scales", b.context()->FloatsAttr(scales));
  return absl::OkStatus();
}

}  // namespace

absl::Status RaiseToOpset7(Builder& b, NodeDraft* node) {
  const std::string& type = node->op_type;
  node->SetAttribute("consumed_inputs", {});
  if (IsOneOf(type,
              {"Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"}))
    return BroadcastFromAxis(b, node);
  if (type == "PRelu") return SlopePerChannel(b, node);
  if (IsOneOf(type, {"BatchNormalization", "Dropout"})) return RefuseTraining(node);
  if (IsOneOf(type, {"GRU", "LSTM", "RNN"})) node->SetAttribute("output_sequence", {});
  if (type == "Gemm") node->SetAttribute("broadcast", {});  // numpy's does what it allowed
  if (node->version >= 6) return absl::OkStatus();
  if (type == "Cast") return NameToType(b, node);
  if (type == "Tile") return TilesToRepeats(b, node);
  if (type == "Selu") {
    SetDefault(node, "alpha", b.context()->FloatAttr(1.6732f));
    SetDefault(node, "gamma", b.context()->FloatAttr(1.0507f));
  }
  if (type == "Reshape" && node->version < 5) return IntsToOperand(b, node, "shape", 1);
  if (type == "Concat" && node->version < 4) SetDefault(node, "axis", b.context()->IntAttr(1));
  if (node->version < 2 && IsOneOf(type, {"GlobalLpPool", "LpPool"})) return WholeExponent(b, node);
  if (type == "Split" && node->version < 2) return SizesOfSplit(b, node);
  if (type == "Pad" && node->version < 2) return Rename(node, "paddings", "pads");
  if (type == "Upsample") return ScalesOfUpsample(b, node);
  return absl::OkStatus();
}

}  // namespace weft::onnx
