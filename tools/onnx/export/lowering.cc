#include "tools/onnx/export/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/analysis/constant.h"
#include "ir/analysis/reference_body.h"
#include "ir/op_def.h"
#include "tools/onnx/element_types.h"
#include "tools/onnx/export/attention_mask.h"
#include "tools/onnx/proto/proto_attribute.h"

namespace weft::onnx {
namespace {

struct OperatorRow {
  std::string_view op_type;
  int64_t since;
};
// Operators that kOldestTargetOpset does not have. unittests/onnx/schema_test.cc compares them with the standard.
constexpr OperatorRow kNewOperators[] = {
    {"AffineGrid", 20},
    {"Attention", 23},
    {"Bernoulli", 15},
    {"BitCast", 26},
    {"BitwiseAnd", 18},
    {"BitwiseNot", 18},
    {"BitwiseOr", 18},
    {"BitwiseXor", 18},
    {"BlackmanWindow", 17},
    {"CastLike", 15},
    {"CausalConvWithState", 27},
    {"CenterCropPad", 18},
    {"Col2Im", 18},
    {"CumProd", 26},
    {"DFT", 17},
    {"DeformConv", 19},
    {"Gelu", 20},
    {"GridSample", 16},
    {"GroupNormalization", 21},
    {"HammingWindow", 17},
    {"HannWindow", 17},
    {"HardSwish", 14},
    {"ImageDecoder", 20},
    {"LayerNormalization", 17},
    {"LinearAttention", 27},
    {"MelWeightMatrix", 17},
    {"Mish", 18},
    {"Optional", 15},
    {"OptionalGetElement", 15},
    {"OptionalHasElement", 15},
    {"RMSNormalization", 23},
    {"RegexFullMatch", 20},
    {"RotaryEmbedding", 23},
    {"STFT", 17},
    {"SequenceMap", 17},
    {"StringConcat", 20},
    {"StringSplit", 20},
    {"Swish", 24},
    {"TensorScatter", 24},
    {"Trilu", 14},
};

constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();

// An attribute that an operator has from opset `since` on, and what is meant without it before: every
// integer of it, or its text; kNothing where no value says what was meant before.
struct AttributeRow {
  std::string_view op_type, attribute;
  int64_t since;
  int64_t implied_int = 0;
  std::string_view implied_text = {};
};
constexpr AttributeRow kNewAttributes[] = {
    {"AveragePool", "dilations", 19, 1},
    {"BatchNormalization", "training_mode", 14},
    {"Cast", "saturate", 19, 1},
    {"Cast", "round_mode", 24, 0, "up"},
    {"CastLike", "saturate", 19, 1},
    {"CastLike", "round_mode", 24, 0, "up"},
    {"DequantizeLinear", "block_size", 21},
    {"DequantizeLinear", "output_dtype", 23},
    {"GRU", "layout", 14},
    {"LSTM", "layout", 14},
    {"LpPool", "ceil_mode", 18},
    {"LpPool", "dilations", 18, 1},
    {"QuantizeLinear", "saturate", 19, 1},
    {"QuantizeLinear", "output_dtype", 21},
    {"QuantizeLinear", "block_size", 21},
    {"QuantizeLinear", "precision", 23},
    {"RNN", "layout", 14},
    {"Range", "stash_type", 27, 1},
    {"Reshape", "allowzero", 14},
    {"Resize", "antialias", 18},
    {"Resize", "axes", 18, kNothing},
    {"Resize", "keep_aspect_ratio_policy", 18, 0, "stretch"},
    {"RoiAlign", "coordinate_transformation_mode", 16, 0, "output_half_pixel"},
    {"ScatterElements", "reduction", 16, 0, "none"},
    {"ScatterND", "reduction", 16, 0, "none"},
};

// A text that an attribute may be from opset `since` on, and what it was called before, if anything.
struct ValueRow {
  std::string_view op_type, attribute, value;
  int64_t since;
  std::string_view before = {};
};
constexpr ValueRow kNewValues[] = {
    {"GridSample", "mode", "linear", 20, "bilinear"},
    {"GridSample", "mode", "cubic", 20, "bicubic"},
    {"Pad", "mode", "wrap", 19},
    {"Resize", "coordinate_transformation_mode", "half_pixel_symmetric", 19},
    {"ScatterElements", "reduction", "max", 18},
    {"ScatterElements", "reduction", "min", 18},
    {"ScatterND", "reduction", "max", 18},
    {"ScatterND", "reduction", "min", 18},
};

struct InputRow {
  std::string_view op_type, name;
  int index;
  int64_t since;
};
constexpr InputRow kNewInputs[] = {
    {"Attention", "nonpad_kv_seqlen", 6, 24},
    {"DFT", "axis", 2, 20},
    {"Pad", "axes", 3, 18},
};

// Values of other kinds than before that an operator takes or gives from opset `since` on.
enum class ValueKind : uint8_t { kAbsent, kNoOptional, kSequence, kOptional };
struct KindRow {
  std::string_view op_type;
  ValueKind kind;
  int64_t since;
};
constexpr KindRow kNewKinds[] = {
    {"Identity", ValueKind::kSequence, 14},
    {"Identity", ValueKind::kOptional, 16},
    {"If", ValueKind::kOptional, 16},
    {"Loop", ValueKind::kOptional, 16},
    {"OptionalGetElement", ValueKind::kNoOptional, 18},
    {"OptionalHasElement", ValueKind::kAbsent, 18},
    {"OptionalHasElement", ValueKind::kNoOptional, 18},
};

// The rank up to which the first input of an operator was before opset `since`.
struct RankRow {
  std::string_view op_type;
  size_t rank;
  int64_t since;
};
constexpr RankRow kNewRanks[] = {{"GridSample", 4, 20}};

// An input that has the element type of the first one, where that is a float, before opset `since`.
struct TypeRow {
  std::string_view op_type, name;
  uint32_t index;
  int64_t since;
};
constexpr TypeRow kNewTypes[] = {
    {"BatchNormalization", "scale", 1, 15},      {"BatchNormalization", "B", 2, 15},
    {"BatchNormalization", "input_mean", 3, 14}, {"BatchNormalization", "input_var", 4, 14},
    {"QuantizeLinear", "y_scale", 1, 23},
};

constexpr std::pair<int64_t, int64_t> kIrVersions[] = {  // opset, IR version, newest first
    {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {13, 8}};

absl::Status TooNew(const pb::NodeProto& node, std::string_view what, int64_t since,
                    int64_t target) {
  return ir::Unsupported(fmt::format("{} of {} came with opset {} and the model is written for {}",
                                     what, node.op_type(), since, target));
}

// The attribute, or null.
pb::AttributeProto* FindAttribute(pb::NodeProto* node, std::string_view name) {
  for (pb::AttributeProto& attribute : *node->mutable_attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}
void RemoveAttribute(pb::NodeProto* node, std::string_view name) {
  auto* attributes = node->mutable_attribute();
  for (int i = attributes->size() - 1; i >= 0; --i)
    if (attributes->Get(i).name() == name) attributes->DeleteSubrange(i, 1);
}
bool HasInput(const pb::NodeProto& node, int i) {
  return i < node.input_size() && !node.input(i).empty();
}
void SetInput(pb::NodeProto* node, int i, const std::string& name) {
  while (node->input_size() <= i) node->add_input("");
  node->set_input(i, name);
}

bool IsImplied(const pb::AttributeProto& attribute, const AttributeRow& row) {
  if (attribute.has_s()) return attribute.s() == row.implied_text;
  if (attribute.has_i()) return attribute.i() == row.implied_int;
  return std::all_of(attribute.ints().begin(), attribute.ints().end(),
                     [&](int64_t value) { return value == row.implied_int; });
}

absl::Status LowerTables(int64_t target, pb::NodeProto* node) {
  for (const AttributeRow& row : kNewAttributes) {
    if (row.op_type != node->op_type() || target >= row.since) continue;
    const pb::AttributeProto* attribute = FindAttribute(node, row.attribute);
    if (attribute == nullptr) continue;
    if (!IsImplied(*attribute, row))
      return TooNew(*node, fmt::format("attribute {}", row.attribute), row.since, target);
    RemoveAttribute(node, row.attribute);
  }
  for (const ValueRow& row : kNewValues) {
    if (row.op_type != node->op_type() || target >= row.since) continue;
    pb::AttributeProto* attribute = FindAttribute(node, row.attribute);
    if (attribute == nullptr || attribute->s() != row.value) continue;
    if (row.before.empty())
      return TooNew(*node, fmt::format("{} {}", row.attribute, row.value), row.since, target);
    attribute->set_s(std::string(row.before));
  }
  for (const InputRow& row : kNewInputs)
    if (row.op_type == node->op_type() && target < row.since && HasInput(*node, row.index))
      return TooNew(*node, fmt::format("input {}", row.name), row.since, target);
  return absl::OkStatus();
}

bool IsOf(ir::Value value, ValueKind kind) {
  if (!value) return false;
  return kind == ValueKind::kSequence ? value.type().IsSequence() : value.type().IsOptional();
}

bool HasKind(ir::Operation op, ValueKind kind) {
  if (kind == ValueKind::kAbsent) return op.num_operands() == 0 || !op.operand(0);
  if (kind == ValueKind::kNoOptional)
    return op.num_operands() > 0 && op.operand(0) &&
           (op.operand(0).type().IsTensor() || op.operand(0).type().IsSequence());
  const auto fits = [kind](ir::Value value) { return IsOf(value, kind); };
  const std::vector<ir::Value> operands = op.operands().vec(), results = op.results().vec();
  return std::any_of(operands.begin(), operands.end(), fits) ||
         std::any_of(results.begin(), results.end(), fits);
}

std::string_view Described(ValueKind kind) {
  switch (kind) {
    case ValueKind::kAbsent:
      return "absence of the input";
    case ValueKind::kNoOptional:
      return "an input that is no optional";
    case ValueKind::kSequence:
      return "a sequence";
    case ValueKind::kOptional:
      break;
  }
  return "an optional";
}

absl::Status CheckValues(ir::Operation op, int64_t target, const pb::NodeProto& node) {
  for (const KindRow& row : kNewKinds)
    if (row.op_type == node.op_type() && target < row.since && HasKind(op, row.kind))
      return TooNew(node, Described(row.kind), row.since, target);
  for (const RankRow& row : kNewRanks)
    if (row.op_type == node.op_type() && target < row.since && op.operand(0).type().HasRank() &&
        op.operand(0).type().rank() > row.rank)
      return TooNew(node, fmt::format("x of rank {}", op.operand(0).type().rank()), row.since,
                    target);
  for (const TypeRow& row : kNewTypes) {
    if (row.op_type != node.op_type() || target >= row.since || !op) continue;
    const ir::DataType x = op.operand(0).type().dtype(),
                       other = op.operand(row.index).type().dtype();
    if (ir::IsFloat(x) && ir::IsFloat(other) && x != other)
      return TooNew(node, fmt::format("{} of another type than x", row.name), row.since, target);
  }
  return absl::OkStatus();
}

// What a reduction over no axes does to each element; Identity for those that only reduce.
std::string_view ElementwisePart(std::string_view op_type) {
  if (op_type == "ReduceL1" || op_type == "ReduceL2") return "Abs";
  if (op_type == "ReduceSumSquare") return "Mul";
  return op_type == "ReduceLogSum" ? "Log" : "Identity";
}

absl::Status LowerReduction(ir::Operation op, int64_t target, const Additions& add,
                            pb::NodeProto* node) {
  const int64_t since = node->op_type() == "ReduceSum" ? 13 : 18;  // axes are an input
  const pb::AttributeProto* axes = FindAttribute(node, "axes");
  if (target >= since) {
    if (axes == nullptr) return absl::OkStatus();
    const ir::Ints list(axes->ints().begin(), axes->ints().end());
    RemoveAttribute(node, "axes");
    SetInput(node, 1, add.ints(list));
    return absl::OkStatus();
  }
  if (HasInput(*node, 1)) return TooNew(*node, "input axes", since, target);
  const pb::AttributeProto* noop = FindAttribute(node, "noop_with_empty_axes");
  const bool is_noop =
      noop != nullptr && noop->i() != 0 && (axes == nullptr || axes->ints().empty());
  if (is_noop) {
    if (op && node->op_type() == "ReduceLogSum" && !ir::IsFloat(op.operand(0).type().dtype()))
      return TooNew(*node, "attribute noop_with_empty_axes", since, target);
    node->set_op_type(std::string(ElementwisePart(node->op_type())));
    if (node->op_type() == "Mul") SetInput(node, 1, node->input(0));
    node->clear_attribute();
    return absl::OkStatus();
  }
  RemoveAttribute(node, "noop_with_empty_axes");
  if (axes != nullptr && axes->ints().empty()) RemoveAttribute(node, "axes");
  return absl::OkStatus();
}

// The axis is an attribute before opset 20, which a run cannot compute, and 1 where it is not given.
void LowerDft(ir::Operation op, int64_t target, pb::NodeProto* node) {
  if (target >= 20) return;
  const bool given = HasInput(*node, 2);
  const auto axis = given ? ir::ConstantInts(op.operand(2)) : std::optional(ir::Ints{-2});
  if (!axis || axis->size() != 1) return;
  if (given) node->mutable_input()->DeleteSubrange(2, 1);
  while (node->input_size() > 1 && node->input(node->input_size() - 1).empty())
    node->mutable_input()->RemoveLast();
  pb::AttributeProto* attribute = node->add_attribute();
  attribute->set_name("axis");
  attribute->set_type(pb::AttributeProto::INT);
  attribute->set_i(axis->front());
}

// A part of a shape is a slice of it before opset 15: both count from the end where negative, and clamp.
void LowerShape(int64_t target, const Additions& add, pb::NodeProto* node) {
  if (target >= 15) return;
  const pb::AttributeProto *start = FindAttribute(node, "start"), *end = FindAttribute(node, "end");
  const bool is_part = (start != nullptr && start->i() != 0) || end != nullptr;
  if (is_part) {
    pb::NodeProto shape;
    shape.set_op_type("Shape");
    shape.add_input(node->input(0));
    node->set_op_type("Slice");
    node->set_input(0, add.node(std::move(shape)));
    SetInput(node, 1, add.ints({start == nullptr ? 0 : start->i()}));
    SetInput(node, 2, add.ints({end == nullptr ? std::numeric_limits<int64_t>::max() : end->i()}));
  }
  RemoveAttribute(node, "start");
  RemoveAttribute(node, "end");
}

// Equal parts are the default before opset 18, and have to be said from there on.
absl::Status LowerSplit(ir::Operation op, int64_t target, const Additions& add,
                        pb::NodeProto* node) {
  if (HasInput(*node, 1)) return absl::OkStatus();
  if (target >= 18) {
    if (FindAttribute(node, "num_outputs") != nullptr) return absl::OkStatus();
    pb::AttributeProto* attribute = node->add_attribute();
    attribute->set_name("num_outputs");
    attribute->set_type(pb::AttributeProto::INT);
    attribute->set_i(op.num_results());
    return absl::OkStatus();
  }
  if (FindAttribute(node, "num_outputs") == nullptr) return absl::OkStatus();
  const pb::AttributeProto* given = FindAttribute(node, "axis");
  const int64_t axis = given == nullptr ? 0 : given->i();
  ir::Ints sizes;
  for (ir::Value part : op.results()) {
    const ir::Type type = part.type();
    const int64_t i = type.HasRank() ? ir::NormalAxis(axis, type.rank()) : -1;
    if (i < 0 || i >= static_cast<int64_t>(type.rank()) || !ir::IsStaticDim(type.dims()[i]))
      return TooNew(*node, "attribute num_outputs", 18, target);
    sizes.push_back(type.dims()[i]);
  }
  RemoveAttribute(node, "num_outputs");
  SetInput(node, 1, add.ints(sizes));
  return absl::OkStatus();
}

}  // namespace

int64_t IntroducedIn(std::string_view op_type) {
  for (const OperatorRow& row : kNewOperators)
    if (row.op_type == op_type) return row.since;
  return kOldestTargetOpset;
}

int64_t IrVersionOf(int64_t opset) {
  for (const auto& [first, version] : kIrVersions)
    if (opset >= first) return version;
  return kIrVersions[std::size(kIrVersions) - 1].second;
}

int64_t IntroducedIn(const ir::OpDef& op) {
  const bool is_standard = !op.info->onnx.empty() && op.info->onnx_domain.empty();
  return is_standard ? IntroducedIn(op.info->onnx) : 0;
}

absl::Status CheckIdentity(ir::Value value, int64_t target) {
  const ir::Type type = value.type();
  for (const KindRow& row : kNewKinds)
    if (row.op_type == "Identity" && target < row.since && IsOf(value, row.kind))
      return ir::Unsupported(fmt::format(
          "an output of type {} that no node computes, in opset {}; Identity takes {} from {} on",
          type.ToString(), target, Described(row.kind), row.since));
  if (!type.IsTensor() || type.dtype() == ir::DataType::kNull ||
      TakesElementType({.op_type = "Identity"}, type.dtype(), target))
    return absl::OkStatus();
  return ir::Unsupported(
      fmt::format("an output of type {} that no node computes, which Identity of opset {} does not "
                  "take",
                  type.ToString(), target));
}

namespace {

// The attribute as a node has it; none where it is not given.
std::optional<pb::AttributeProto> GivenAttribute(ir::Operation op, std::string_view name) {
  const ir::Attribute attribute = op.attr(name);
  pb::AttributeProto proto;
  if (!attribute || !AttributeToProto(std::string(name), attribute, &proto).ok())
    return std::nullopt;
  return proto;
}

}  // namespace

int64_t OldestOpsetOf(ir::Operation op) {
  int64_t oldest = kOldestTargetOpset;
  const ir::OpDef* def = op.def();
  if (def == nullptr || def->info->onnx.empty() || !def->info->onnx_domain.empty()) return oldest;
  const std::string_view name = def->info->onnx;
  for (const AttributeRow& row : kNewAttributes)
    if (row.op_type == name)
      if (const auto given = GivenAttribute(op, row.attribute); given && !IsImplied(*given, row))
        oldest = std::max(oldest, row.since);
  for (const ValueRow& row : kNewValues)
    if (row.op_type == name && row.before.empty())
      if (const auto given = GivenAttribute(op, row.attribute); given && given->s() == row.value)
        oldest = std::max(oldest, row.since);
  for (const InputRow& row : kNewInputs)  // that of DFT was an attribute before
    if (row.op_type == name && name != "DFT" && op.HasOperand(static_cast<uint32_t>(row.index)))
      oldest = std::max(oldest, row.since);
  return oldest;
}

bool IsExpandedFor(ir::Operation op, int64_t target) {
  const ir::OpDef* def = op.def();
  return def && def->decompose && IntroducedIn(*def) > target;
}

absl::Status LowerNode(ir::Operation op, int64_t target, const Additions& add,
                       pb::NodeProto* node) {
  if (const int64_t since = IntroducedIn(node->op_type()); since > target)
    return ir::Unsupported(fmt::format("{} came with opset {} and the model is written for {}",
                                       node->op_type(), since, target));
  WEFT_RETURN_IF_ERROR(CheckValues(op, target, *node));
  if (node->op_type() == "DFT") LowerDft(op, target, node);
  if (node->op_type() == "Shape") LowerShape(target, add, node);
  if (node->op_type() == "Attention") WEFT_RETURN_IF_ERROR(PadAttentionMask(op, target, add, node));
  WEFT_RETURN_IF_ERROR(LowerTables(target, node));
  if (node->op_type().starts_with("Reduce")) return LowerReduction(op, target, add, node);
  if (node->op_type() == "Split") return LowerSplit(op, target, add, node);
  return absl::OkStatus();
}

}  // namespace weft::onnx
