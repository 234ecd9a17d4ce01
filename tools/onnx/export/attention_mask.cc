#include "tools/onnx/export/attention_mask.h"

#include <fmt/format.h>

#include <limits>

#include "ir/dialects/onnx.h"
#include "tools/onnx/attention_keys.h"

namespace weft::onnx {
namespace {

constexpr int kKey = 1, kMask = 3, kPastKey = 4;  // operands of Attention

pb::NodeProto Node(std::string_view op_type, std::initializer_list<std::string> inputs) {
  pb::NodeProto node;
  node.set_op_type(std::string(op_type));
  for (const std::string& input : inputs) node.add_input(input);
  return node;
}

pb::AttributeProto* AddAttribute(pb::NodeProto* node, std::string_view name,
                                 pb::AttributeProto::AttributeType type) {
  pb::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(std::string(name));
  attribute->set_type(type);
  return attribute;
}

// One dimension, counted from the end, as an i64[1]; the last one for -1.
std::string DimensionOf(const std::string& value, int64_t i, const Additions& add) {
  pb::NodeProto shape = Node("Shape", {value});
  AddAttribute(&shape, "start", pb::AttributeProto::INT)->set_i(i);
  if (i != -1) AddAttribute(&shape, "end", pb::AttributeProto::INT)->set_i(i + 1);
  return add.node(std::move(shape));
}

// What a masked score gets added, of the mask's element type.
std::string Never(const std::string& mask, const Additions& add) {
  pb::NodeProto infinity = Node("Constant", {});
  AddAttribute(&infinity, "value_float", pb::AttributeProto::FLOAT)
      ->set_f(-std::numeric_limits<float>::infinity());
  return add.node(Node("CastLike", {add.node(std::move(infinity)), mask}));
}

}  // namespace

absl::Status PadAttentionMask(ir::Operation op, int64_t target, const Additions& add,
                              pb::NodeProto* node) {
  if (target >= 24 || !op || !op.Is<ir::ops::Attention>() || !op.HasOperand(kMask))
    return absl::OkStatus();
  const ir::Value mask = op.operand(kMask);
  const bool has_past = op.HasOperand(kPastKey);
  const AttentionKeys keys{.key = op.operand(kKey),
                           .past = has_past ? op.operand(kPastKey) : ir::Value()};
  if (keys.AreCoveredBy(mask)) return absl::OkStatus();

  const ir::DataType dtype = mask.type().dtype();
  if (dtype != ir::DataType::kBool && !ir::IsFloat(dtype))
    return ir::Unsupported(
        fmt::format("an attn_mask of {} that is shorter than the keys came with opset 24 and the "
                    "model is written for {}",
                    ir::DataTypeName(dtype), target));
  const std::string name = node->input(kMask);
  std::string pads;
  if (const int64_t missing =
          (keys.Count() - ir::DimExpr::OfDim(AttentionKeys::Columns(mask))).ToDim();
      ir::IsStaticDim(missing)) {
    pads = add.ints({0, missing});
  } else {
    std::string total = DimensionOf(node->input(kKey), -2, add);
    if (has_past)
      total = add.node(Node("Add", {DimensionOf(node->input(kPastKey), -2, add), total}));
    const std::string rest = add.node(Node("Sub", {total, DimensionOf(name, -1, add)}));
    pb::NodeProto both = Node("Concat", {add.ints({0}), rest});
    AddAttribute(&both, "axis", pb::AttributeProto::INT)->set_i(0);
    pads = add.node(std::move(both));
  }
  const std::string value = dtype == ir::DataType::kBool ? "" : Never(name, add);
  node->set_input(kMask, add.node(Node("Pad", {name, pads, value, add.ints({-1})})));
  return absl::OkStatus();
}

}  // namespace weft::onnx
