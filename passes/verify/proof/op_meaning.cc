#include "passes/verify/proof/op_meaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/attribute.h"

namespace weft::passes {

using ir::Attribute;
using ir::AttrKind;
using ir::DataType;

std::optional<size_t> RankOfOperand(std::string_view op, size_t i) {
  return op == "fused.attention" && i < 3 ? std::optional<size_t>(4) : std::nullopt;
}

std::string TextOf(const ProofAttr& attr) {
  std::string text = attr.literal ? fmt::format("#{}", attr.literal.id()) : attr.token;
  if (attr.integers)
    for (const Term term : *attr.integers) text += fmt::format(" {}", term.id);
  for (const Term term : attr.elements) text += fmt::format(" {}", term.id);
  if (attr.of_op != nullptr) text += " of " + attr.of_op->name;
  return text;
}

const std::map<std::string_view, OpMeanings::Function>& OpMeanings::Functions() {
  using M = OpMeanings;
  static const auto* functions = new std::map<std::string_view, Function>{
      {"onnx.Identity", &M::Identity},
      {"onnx.Dropout", &M::Dropout},
      {"onnx.Pad", &M::Pad},
      {"onnx.Cast", &M::Cast},
      {"pd.cast", &M::Cast},
      {"onnx.CastLike", &M::CastLike},
      {"onnx.Clip", &M::Clip},
      {"onnx.QuantizeLinear", &M::Quantize},
      {"onnx.DequantizeLinear", &M::Quantize},
      {"builtin.constant", &M::Constant},
      {"pd.full", &M::Full},
      {"onnx.Transpose", &M::Transpose},
      {"pd.transpose", &M::Transpose},
      {"onnx.Reshape", &M::Reshape},
      {"pd.reshape", &M::Reshape},
      {"onnx.Flatten", &M::Flatten},
      {"onnx.Expand", &M::Expand},
      {"pd.expand", &M::PdExpand},
      {"onnx.Concat", &M::Concat},
      {"onnx.Gather", &M::Gather},
      {"onnx.Slice", &M::Movement},
      {"onnx.Resize", &M::Resize},
      {"onnx.Squeeze", &M::View},
      {"onnx.Unsqueeze", &M::View},
      {"onnx.Tile", &M::Tile},
      {"onnx.Shape", &M::Shape},
      {"onnx.MatMul", &M::MatMul},
      {"onnx.Conv", &M::Convolution},
      {"onnx.ConvTranspose", &M::Convolution},
      {"onnx.QLinearConv", &M::Convolution},
      {"onnx.GlobalAveragePool", &M::LikeOperand},
      {"onnx.LayerNormalization", &M::LayerNormalization},
      {"onnx.Softmax", &M::LikeOperand},
      {"onnx.Split", &M::AlongAxis},
      {"onnx.LogSoftmax", &M::LogSoftmax},
      {"onnx.Softplus", &M::Softplus},
      {"onnx.Mish", &M::Mish},
      {"onnx.Where", &M::Where},
      {"onnx.RMSNormalization", &M::RmsNormalization},
      {"fused.rms_norm", &M::RmsNorm},
      {"onnx.Gemm", &M::Gemm},
      {"onnx.HardSwish", &M::HardSwish},
      {"fused.linear", &M::Linear},
      {"fused.batch_matmul", &M::BatchMatMul},
      {"fused.conv2d", &M::Conv2d},
      {"fused.conv_transpose2d", &M::Conv2d},
      {"fused.layer_norm", &M::LayerNorm},
      {"fused.embed_layer_norm", &M::EmbedLayerNorm},
      {"fused.group_norm", &M::GroupNorm},
      {"fused.global_average_pool2d", &M::GlobalAveragePool2d},
      {"fused.attention", &M::Attention},
      {"fused.gelu", &M::Gelu},
      {"com.microsoft.FusedMatMul", &M::FusedMatMul},
      {"com.microsoft.FusedConv", &M::FusedConv},
      {"com.microsoft.FusedGemm", &M::FusedGemm},
      {"com.microsoft.Gelu", &M::Gelu},
      {"com.microsoft.BiasGelu", &M::Gelu},
      {"com.microsoft.FastGelu", &M::Gelu},
      {"com.microsoft.QuickGelu", &M::QuickGelu},
      {"com.microsoft.SkipLayerNormalization", &M::SkipNormalization},
      {"com.microsoft.SkipSimplifiedLayerNormalization", &M::SkipNormalization},
      {"onnx.SimplifiedLayerNormalization", &M::RmsNormalization},
      {"com.microsoft.MatMulIntegerToFloat", &M::IntegerProduct},
      {"com.microsoft.DynamicQuantizeMatMul", &M::IntegerProduct},
      {"com.microsoft.QLinearAdd", &M::QuantizedBinary},
      {"com.microsoft.QLinearMul", &M::QuantizedBinary},
      {"fused.qadd", &M::QuantizedBinary},
      {"fused.qmul", &M::QuantizedBinary},
      {"fused.qlookup", &M::QuantizedLookup},
      {"fused.qconv2d", &M::QuantizedConv2d},
      {"fused.qglobal_average_pool2d", &M::QuantizedGlobalAveragePool2d},
  };
  return *functions;
}

std::vector<Tensor*> OpMeanings::Apply(const ProofOp& op) {
  if (!c_.open() || !HasItsOperands(op)) return {};
  Results results;
  const auto function = Functions().find(op.name);
  if (shapes_only_) {
    results = ShapesOf(op);
  } else if (function != Functions().end()) {
    results = (this->*function->second)(op);
  } else if (op.def == nullptr || op.def->Has(ir::kElementwise)) {
    results = AnyElementwise(op);
  } else {
    results = AnyFunction(op);
  }
  if (!c_.open()) return {};
  while (results.size() < op.num_results)
    results.push_back(Unknown(fmt::format("{}:{}", op.name, results.size())));
  return results;
}

bool OpMeanings::HasItsOperands(const ProofOp& op) {
  size_t needed = op.def == nullptr ? 1 : 0;
  if (op.def != nullptr)
    for (const ir::OperandDef& operand : op.def->info->operands)
      needed += operand.arity == ir::Arity::kOne;
  for (size_t i = 0; i < needed; ++i) {
    if (i < op.operands.size() && op.operands[i] != nullptr) continue;
    if (c_.of_result()) c_.Fail(fmt::format("{} may lack an operand", op.name));
    c_.Refuse();
    return false;
  }
  return true;
}

bool OpMeanings::HasRank(Tensor& x, size_t rank) {
  if (x.SetRank(rank) && c_.open()) return true;
  if (c_.of_result()) {
    c_.Fail("an operand of the result may have another rank");
  } else {
    c_.Refuse();
  }
  return false;
}

Tensor* OpMeanings::Unknown(const std::string& name, std::optional<size_t> rank) {
  return c_.Make<Leaf>(c_.NewType(), fmt::format("{}#{}", name, num_unknown_++), rank);
}

Attribute OpMeanings::Chosen(const ProofAttr& attr) const {
  const auto chosen = chosen_.find(attr.token);
  return attr.token.empty() || chosen == chosen_.end() ? attr.literal : chosen->second;
}

int64_t OpMeanings::Integer(const ProofOp& op, std::string_view name, int64_t least, int64_t most) {
  const auto attr = op.attrs.find(name);
  if (attr == op.attrs.end()) {
    c_.Fail(fmt::format("{} of {} is not given", name, op.name));
    return least;
  }
  Attribute value = Chosen(attr->second);
  if (!value && !attr->second.token.empty() && least <= most) {
    const size_t chosen =
        c_.Choose(static_cast<size_t>(most - least + 1), fmt::format("{} of {}", name, op.name));
    value = context_.IntAttr(least + static_cast<int64_t>(chosen));
    chosen_[attr->second.token] = value;
  }
  if (value.Is(AttrKind::kBool)) return value.AsBool();
  if (value.Is(AttrKind::kInt) && least <= value.AsInt() && value.AsInt() <= most)
    return value.AsInt();
  if (value && !c_.of_result()) {
    c_.Refuse();  // no valid op has it
  } else {
    c_.Fail(fmt::format("{} of {} is computed, or may not fit", name, op.name));
  }
  return least;
}

size_t OpMeanings::Axis(const ProofOp& op, std::string_view attr, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  const int64_t axis = Integer(op, attr, -size, size - 1);
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

std::vector<size_t> OpMeanings::Permutation(const ProofOp& op, std::string_view name, size_t rank) {
  const auto attr = op.attrs.find(name);
  ir::Ints perm;
  for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(i));
  if (attr == op.attrs.end()) {
    std::reverse(perm.begin(), perm.end());
  } else if (const Attribute value = Chosen(attr->second)) {
    perm = value.AsInts();
  } else if (!attr->second.token.empty()) {
    ir::Ints left = perm;
    for (int64_t& axis : perm) {
      const size_t at = c_.Choose(left.size(), fmt::format("{} of {}", name, op.name));
      if (!c_.open()) return {};
      axis = left[at];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    }
    chosen_[attr->second.token] = context_.IntsAttr(perm);
  } else {
    c_.Fail(fmt::format("{} of {} is computed", name, op.name));
  }
  ir::Ints sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < rank; ++i)
    if (sorted.size() != rank || sorted[i] != static_cast<int64_t>(i)) c_.Refuse();
  return {perm.begin(), perm.end()};
}

TypeClass OpMeanings::TypeOf(const ProofAttr& attr) {
  if (attr.is_type) return attr.element_type;
  if (attr.literal.Is(AttrKind::kDataType)) {
    const DataType type = attr.literal.AsDataType();
    return c_.TypeNamed(std::string(ir::DataTypeName(type)), TypeBit(type));
  }
  if (attr.token.empty()) c_.Fail("an element type is computed");
  return c_.TypeNamed("type " + attr.token);
}

std::vector<Term> OpMeanings::IntegersOf(Tensor& list, bool is_whole_shape) {
  if (auto* known = dynamic_cast<IntegerList*>(&list)) return known->integers;
  if (const auto read = integers_.find(&list); read != integers_.end()) return read->second;
  Terms& t = c_.terms();
  if (!HasRank(list, 1)) return {};
  const size_t count = result_rank_ && is_whole_shape
                           ? *result_rank_
                           : c_.Choose(kMaxProofRank + 1, "sizes of a shape");
  const Term size = t.Integer(static_cast<int64_t>(count));
  c_.Assume(t.Equal(list.Dims()[0], size));
  std::vector<Term> integers;
  for (size_t i = 0; i < count; ++i)
    integers.push_back(
        t.Apply(Sort::kInt, "value", {list.At({t.Integer(static_cast<int64_t>(i))})}));
  return integers_[&list] = integers;
}

std::string OpMeanings::KeyOf(const ProofOp& op) const {
  std::string key = op.name;
  for (const auto& [name, attr] : op.attrs) {
    const Attribute value = Chosen(attr);
    key += fmt::format(" {}={}", name, value ? fmt::format("#{}", value.id()) : TextOf(attr));
  }
  return key;
}

std::vector<Tensor*> OpMeanings::AnyFunction(const ProofOp& op, std::optional<size_t> rank) {
  const ir::OpDef* def = op.def;
  if (def == nullptr || !def->Has(ir::kPure) || def->Has(ir::kRandom) ||
      def->info->num_regions != 0 || def->Has(ir::kCommutative)) {
    c_.Fail(fmt::format("{} is no function of its operands, as proofs know them", op.name));
    return {};
  }
  const std::string key = KeyOf(op);
  Results operands = op.operands;
  while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
  const auto same = [&](Tensor* a, Tensor* b) {
    return a == b || (a != nullptr && b != nullptr && c_.Same(a, b));
  };
  for (const Known& known : known_)
    if (known.key == key && known.results.size() >= op.num_results &&
        std::equal(known.operands.begin(), known.operands.end(), operands.begin(), operands.end(),
                   same))
      return known.results;
  Results results;
  for (size_t i = 0; i < op.num_results; ++i)
    results.push_back(Unknown(op.name, i == 0 ? rank : std::nullopt));
  known_.push_back({key, std::move(operands), results});
  return results;
}

std::vector<Tensor*> OpMeanings::Identity(const ProofOp& op) { return {op.operands[0]}; }

std::vector<Tensor*> OpMeanings::Dropout(const ProofOp& op) {
  constexpr size_t kTraining = 2;
  Tensor* ratio = op.operands.size() > 1 ? op.operands[1] : nullptr;
  if (ratio != nullptr && ratio->uniform_number == 0.0) return {op.operands[0]};
  Tensor* training = op.operands.size() > kTraining ? op.operands[kTraining] : nullptr;
  if (training != nullptr && training->uniform_number != 0.0) c_.Fail("a Dropout may be training");
  return {op.operands[0]};
}

// Of nothing in any mode; what else it does is not known.
std::vector<Tensor*> OpMeanings::Pad(const ProofOp& op) {
  return op.operands[1]->uniform_number == 0.0 ? Results{op.operands[0]} : AnyFunction(op);
}

std::vector<Term> OpMeanings::Wholes(const std::vector<Tensor*>& tensors) {
  std::vector<Term> wholes;
  wholes.reserve(tensors.size());
  for (const Tensor* tensor : tensors) wholes.push_back(Whole(c_.terms(), tensor));
  return wholes;
}

std::vector<Tensor*> OpMeanings::Constant(const ProofOp& op) {
  const auto found = op.attrs.find("value");
  if (found == op.attrs.end()) return {};
  const ProofAttr& value = found->second;
  if (value.integers)
    return {c_.Make<IntegerList>(c_.TypeNamed("i64", TypeBit(DataType::kI64)), *value.integers)};
  if (value.element)
    return {c_.Make<Filled>(value.element_type, std::vector<Term>(), value.element)};
  if (value.tensor != nullptr) return {value.tensor};
  if (value.literal.Is(AttrKind::kDense) && value.literal.dense_type().rank() == 1 &&
      value.literal.dense_type().dtype() == DataType::kI64) {
    std::vector<Term> integers;
    for (int64_t i = 0; i < value.literal.dense_type().dim(0); ++i)
      integers.push_back(
          c_.terms().Integer(static_cast<int64_t>(ir::DenseElement(value.literal, i))));
    return {c_.Make<IntegerList>(c_.TypeNamed("i64", TypeBit(DataType::kI64)), integers)};
  }
  c_.Fail("a constant is computed by native code, or is no single number");
  return {};
}

// Its elements are what its value and element type say.
std::vector<Tensor*> OpMeanings::Full(const ProofOp& op) {
  Terms& t = c_.terms();
  const auto shape = op.attrs.find("shape"), type = op.attrs.find("dtype");
  if (shape == op.attrs.end() || type == op.attrs.end()) return {};
  ProofOp what = op;
  what.attrs.erase("shape");
  what.attrs.erase("place");
  const Term element = t.Variable(Sort::kElement, KeyOf(what));
  if (shape->second.integers)
    return {c_.Make<Filled>(TypeOf(type->second), *shape->second.integers, element)};
  auto* full = static_cast<Leaf*>(Unknown(op.name));
  full->uniform = element;
  return {full};
}

}  // namespace weft::passes
