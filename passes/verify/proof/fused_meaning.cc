// Fused ops, as their reference bodies (ir/dialects/fused) compute them. A body is C++ code that reads
// attributes, which here may be anything; unittests/passes/verify/proof compares the two.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/context.h"
#include "passes/verify/proof/op_meaning.h"

namespace weft::passes {
namespace {

const std::vector<size_t> kToNchw = {0, 3, 1, 2}, kToNhwc = {0, 2, 3, 1};

}  // namespace

Tensor* OpMeanings::Call(std::string_view name, std::vector<Tensor*> operands, ProofOp like) {
  while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
  like.def = context_.FindOp(name);
  like.name = name;
  like.operands = std::move(operands);
  like.num_results = 1;
  if (like.def == nullptr) {
    c_.Fail(fmt::format("{} is not loaded", name));
    return nullptr;
  }
  for (const ir::FieldDef& field : like.def->fields)
    if (field.make_default != nullptr)
      like.attrs.try_emplace(std::string(field.name.str()),
                             ProofAttr{.literal = field.make_default(context_)});
  const Results results = Apply(like);
  return results.empty() ? nullptr : results[0];
}

Tensor* OpMeanings::Permuted(Tensor* x, std::vector<size_t> perm) {
  if (x == nullptr || !HasRank(*x, perm.size())) return nullptr;
  return c_.Make<Transposed>(*x, std::move(perm));
}

bool OpMeanings::IsDefault(const ProofOp& op, std::string_view name) const {
  const auto attr = op.attrs.find(name);
  const ir::FieldDef* field = op.def->FindField(ir::Name(name));
  if (attr == op.attrs.end()) return true;
  const ir::Attribute value = Chosen(attr->second);
  return value && field != nullptr && field->make_default != nullptr &&
         value == field->make_default(context_);
}

bool OpMeanings::NeedsDefaults(const ProofOp& op, std::initializer_list<std::string_view> attrs) {
  for (const std::string_view attr : attrs)
    if (!IsDefault(op, attr)) c_.Fail(fmt::format("{} of {} is not its default", attr, op.name));
  return c_.open();
}

std::vector<Tensor*> OpMeanings::LikeOperand(const ProofOp& op) {
  const size_t rank = op.operands[0]->Rank();
  return c_.open() ? AnyFunction(op, rank) : Results();
}

// Of ops that do the same to every line along their axis, wherever it lies: of a transposed tensor, the
// results are those of the tensor itself, transposed.
std::vector<Tensor*> OpMeanings::AlongAxis(const ProofOp& op) {
  ProofOp along = op;
  const size_t rank = op.operands[0]->Rank();
  if (rank == 0) c_.Refuse();
  if (!c_.open()) return {};
  size_t axis = Axis(op, "axis", rank);
  const auto* transposed = dynamic_cast<const Transposed*>(op.operands[0]);
  if (transposed != nullptr) {
    axis = transposed->perm()[axis];
    along.operands[0] = &transposed->x();
  }
  along.attrs["axis"] = {.literal = context_.IntAttr(static_cast<int64_t>(axis))};
  Results results = c_.open() ? AnyFunction(along, rank) : Results();
  if (transposed != nullptr)
    for (Tensor*& result : results) result = Permuted(result, transposed->perm());
  return results;
}

// The product, scaled, and the sum: but of real numbers only, as a kernel may round them together.
std::vector<Tensor*> OpMeanings::Gemm(const ProofOp& op) {
  std::vector<Term> factors;
  Tensor *a = WithoutFactors(op.operands[0], &factors),
         *b = WithoutFactors(op.operands[1], &factors);
  if (Integer(op, "transA", 0, 1) != 0) a = Permuted(a, {1, 0});
  if (Integer(op, "transB", 0, 1) != 0) b = Permuted(b, {1, 0});
  if (!c_.open()) return {};
  if (!c_.ReadsReals()) {
    ProofOp plain = op;
    plain.attrs.erase("transA");
    plain.attrs.erase("transB");
    plain.operands[0] = a;
    plain.operands[1] = b;
    return AnyFunction(plain, 2);
  }
  Tensor* y = TimesAll(factors, Times(op, "alpha", Call("onnx.MatMul", {a, b})));
  Tensor* c = Times(op, "beta", op.operand(2));
  return {c == nullptr || y == nullptr ? y : Call("onnx.Add", {y, c})};
}

// Times the number that an attribute is, if that is not 1, its default.
Tensor* OpMeanings::Times(const ProofOp& op, std::string_view attr, Tensor* y) {
  if (y == nullptr || !c_.open() || IsDefault(op, attr)) return y;
  const ProofAttr& factor = op.attrs.find(attr)->second;
  if (factor.elements.size() == 1) return TimesAll(factor.elements, y);
  const ir::Attribute value = Chosen(factor);
  if (!value.Is(ir::AttrKind::kFloat) && factor.token.empty()) {
    c_.Fail(fmt::format("{} of {} is computed", attr, op.name));
    return nullptr;
  }
  Terms& t = c_.terms();
  const std::string name = "number " + factor.token;
  if (!value) c_.NoteElements(name, y->type);
  const Term number = value ? t.Number(value.AsFloat()) : t.Variable(Sort::kElement, name);
  return Call("onnx.Mul", {y, NumberLike(*y, number)});
}

// By the activation, if that is known none, a swish or a clip; else what it is called is a function.
Tensor* OpMeanings::Activated(const ProofOp& op, Tensor* y) {
  if (IsDefault(op, "activation") || y == nullptr) return y;
  const ir::Attribute activation = Chosen(op.attrs.find("activation")->second);
  if (activation.Is(ir::AttrKind::kString) && activation.AsString() == "swish") {
    Tensor* gate = Call("onnx.Sigmoid", {y});
    return gate == nullptr ? nullptr : Call("onnx.Mul", {y, gate});
  }
  if (activation.Is(ir::AttrKind::kString) && activation.AsString() == "clip")
    return Clipped(op, y);
  const ProofAttr& any = op.attrs.find("activation")->second;
  const auto params = op.attrs.find("activation_params");
  if (any.of_op != nullptr && params != op.attrs.end() && params->second.of_op == any.of_op)
    return ActivatedBy(*any.of_op, y);
  if (activation || any.token.empty() || params == op.attrs.end() || params->second.token.empty()) {
    c_.Fail(fmt::format("{} may have any activation", op.name));
    return nullptr;
  }
  const std::string function = fmt::format("activation {} {}", any.token, params->second.token);
  return c_.Make<Elementwise>(y->type, function, Results{y}, std::vector<Term>(), false);
}

// By an op whose numbers are the parameters of the activation; its other attributes have their defaults.
Tensor* OpMeanings::ActivatedBy(const ProofOp& activation, Tensor* y) {
  if (activation.def == nullptr) return nullptr;
  ProofOp like;
  for (const ir::FieldDef& field : activation.def->fields) {
    const std::string name(field.name.str());
    const auto given = activation.attrs.find(name);
    if (field.kind == ir::AttrKind::kFloat && given != activation.attrs.end()) {
      like.attrs[name] = given->second;
    } else if (field.make_default != nullptr) {
      like.attrs[name] = {.literal = field.make_default(context_)};
    }
  }
  return Call(activation.name, {y}, like);
}

// By limits that are known.
Tensor* OpMeanings::Clipped(const ProofOp& op, Tensor* y) {
  const auto params = op.attrs.find("activation_params");
  if (params == op.attrs.end() || params->second.elements.size() != 2) {
    c_.Fail(fmt::format("{} may clip to anything", op.name));
    return nullptr;
  }
  const std::vector<Term>& limits = params->second.elements;
  Terms& t = c_.terms();  // a Clip without limits has infinite ones here
  if (limits[0] == t.Number(-INFINITY) && limits[1] == t.Number(INFINITY)) return y;
  return c_.Make<Elementwise>(y->type, "onnx.Clip", Results{y}, limits, false);
}

std::vector<Tensor*> OpMeanings::Linear(const ProofOp& op) {
  Tensor* w = op.operands[1];
  if (Integer(op, "transpose_w", 0, 1) != 0) w = Permuted(w, {1, 0});
  if (!c_.open()) return {};
  Tensor* y = Call("onnx.MatMul", {op.operands[0], w});
  if (y != nullptr && !c_.of_result()) c_.Unify(op.operands[0]->type, y->type);
  for (const size_t i : {2, 3})
    if (Tensor* addend = op.operand(i); addend != nullptr && c_.open())
      y = Call("onnx.Add", {y, addend});
  return {Activated(op, y)};
}

// And of a transposed one, which has no residual.
std::vector<Tensor*> OpMeanings::Conv2d(const ProofOp& op) {
  const char* const over_nchw =
      op.name == "fused.conv_transpose2d" ? "onnx.ConvTranspose" : "onnx.Conv";
  ProofOp conv = op;
  conv.attrs.erase("activation");
  conv.attrs.erase("activation_params");
  conv.attrs.erase("x_channels_first");
  const bool channels_first =
      !IsDefault(op, "x_channels_first") && Integer(op, "x_channels_first", 0, 1) != 0;
  Tensor* x = channels_first ? op.operands[0] : Permuted(op.operands[0], kToNchw);
  if (!c_.open()) return {};
  Tensor* y = Permuted(Call(over_nchw, {x, op.operands[1], op.operand(2)}, conv), kToNhwc);
  if (y != nullptr && !c_.of_result()) c_.Unify(op.operands[0]->type, y->type);
  Tensor* residual = op.operand(3);
  if (residual != nullptr && y != nullptr) y = Call("onnx.Add", {y, residual});
  return {Activated(op, y)};
}

std::vector<Tensor*> OpMeanings::GroupNorm(const ProofOp& op) {
  ProofOp plain = op;
  plain.attrs.erase("activation");
  const Results norm = LikeOperand(plain);
  return {norm.empty() ? nullptr : Activated(op, norm[0])};
}

// By its axis counted from the front.
std::vector<Tensor*> OpMeanings::LayerNormalization(const ProofOp& op) {
  const size_t rank = op.operands[0]->Rank();
  if (rank == 0) c_.Refuse();
  if (!c_.open()) return {};
  ProofOp norm = op;
  norm.attrs["axis"] = {.literal = context_.IntAttr(static_cast<int64_t>(Axis(op, "axis", rank)))};
  return LikeOperand(norm);
}

// The scale has the dimensions that are normalised, and no others.
std::vector<Tensor*> OpMeanings::LayerNorm(const ProofOp& op) {
  Tensor* x = op.operands[0];
  for (const size_t i : {3, 4})
    if (Tensor* term = op.operand(i); term != nullptr && x != nullptr)
      x = Call("onnx.Add", {x, term});
  if (x == nullptr || !c_.open()) return {};
  const size_t rank = x->Rank();
  if (rank == 0) c_.Refuse();
  if (!c_.open()) return {};
  const size_t normalised = rank - Axis(op, "axis", rank);
  if (!c_.open() || (!c_.of_result() && !HasRank(*op.operands[1], normalised))) return {};
  Results results = {Call("onnx.LayerNormalization", {x, op.operands[1], op.operand(2)}, op)};
  if (op.num_results > 1) results.push_back(x);
  return results;
}

// Rows of tables, added up; positions in their order are not followed.
std::vector<Tensor*> OpMeanings::EmbedLayerNorm(const ProofOp& op) {
  if (op.operand(5) == nullptr) {
    c_.Fail("rows of positions in their order are not followed");
    return {};
  }
  ProofOp first_axis;
  first_axis.attrs["axis"] = {.literal = context_.IntAttr(0)};
  const auto look_up = [&](size_t table, size_t ids) {
    return Call("onnx.Gather", {op.operands[table], op.operands[ids]}, first_axis);
  };
  Tensor* sum = nullptr;
  for (const auto& [table, ids] : {std::pair<size_t, size_t>{1, 0}, {2, 5}, {6, 7}}) {
    if (op.operand(table) == nullptr || op.operand(ids) == nullptr) continue;
    Tensor* rows = c_.open() ? look_up(table, ids) : nullptr;
    if (rows == nullptr || !c_.open()) return {};
    sum = sum == nullptr ? rows : Call("onnx.Add", {sum, rows});
  }
  if (sum == nullptr || !c_.open() || sum->Rank() == 0 || !c_.open()) return {};
  ProofOp norm;
  norm.attrs["epsilon"] = op.attrs.find("epsilon")->second;
  norm.attrs["axis"] = {.literal = context_.IntAttr(-1)};
  return {Call("onnx.LayerNormalization", {sum, op.operands[3], op.operand(4)}, norm)};
}

std::vector<Tensor*> OpMeanings::RmsNorm(const ProofOp& op) {
  Tensor* residual = op.operand(2);
  if (residual == nullptr) return LikeOperand(op);
  Tensor* sum = Call("onnx.Add", {op.operands[0], residual});
  if (sum == nullptr || !c_.open()) return {};
  ProofOp norm;
  norm.attrs = op.attrs;
  return {Call(op.name, {sum, op.operands[1]}, norm), sum};
}

std::vector<Tensor*> OpMeanings::GlobalAveragePool2d(const ProofOp& op) {
  Tensor* x = Permuted(op.operands[0], kToNchw);
  if (!c_.open()) return {};
  return {Permuted(Call("onnx.GlobalAveragePool", {x}), kToNhwc)};
}

// Over the last axis of f32, what fused.rms_norm computes: there is nothing to convert.
std::vector<Tensor*> OpMeanings::RmsNormalization(const ProofOp& op) {
  Tensor& x = *op.operands[0];
  if (x.Rank() == 0) c_.Refuse();
  if (!c_.open()) return {};
  const bool is_last = Axis(op, "axis", x.Rank()) + 1 == x.Rank();
  const bool is_f32 = c_.PossibleTypes(x.type) == TypeBit(ir::DataType::kF32);
  if (!c_.open() || !is_last || !is_f32 || !IsDefault(op, "stash_type")) return LikeOperand(op);
  ProofOp norm;
  norm.attrs["epsilon"] = op.attrs.find("epsilon")->second;
  return {Call("fused.rms_norm", op.operands, norm)};
}

// With heads before the sequence; else transposed to that and back.
std::vector<Tensor*> OpMeanings::Attention(const ProofOp& op) {
  if (IsDefault(op, "layout")) return AnyFunction(op, 4);
  const auto layout = op.attrs.find("layout");
  const ir::Attribute value = Chosen(layout->second);
  if (!value.Is(ir::AttrKind::kString) || value.AsString() != "bshd") {
    c_.Fail("the layout of an attention is not known");
    return {};
  }
  ProofOp inner = op;
  inner.attrs["layout"] = {.literal =
                               op.def->FindField(ir::Name("layout"))->make_default(context_)};
  const std::vector<size_t> swap = {0, 2, 1, 3};
  std::vector<Tensor*> operands = op.operands;
  for (size_t i = 0; i < 3; ++i) operands[i] = Permuted(operands[i], swap);
  if (!c_.open()) return {};
  return {Permuted(Call(op.name, operands, inner), swap)};
}

// Scales and zero points have one element each.
std::vector<Tensor*> OpMeanings::QuantizedBinary(const ProofOp& op) {
  const auto& o = op.operands;
  constexpr size_t kA = 0, kB = 3, kY = 6, kCount = 8;
  if (o.size() != kCount || std::count(o.begin(), o.end(), nullptr) > 0) return AnyFunction(op);
  const Results whole = {o[kA + 1], o[kA + 2], o[kB + 1], o[kB + 2], o[kY], o[kY + 1]};
  const bool is_known = std::all_of(whole.begin(), whole.end(),
                                    [](Tensor* tensor) { return tensor->HasOneElement(); });
  if (!is_known || !IsDefault(op, "clamp"))
    return {
        c_.Make<Elementwise>(c_.NewType(), KeyOf(op), Results{o[kA], o[kB]}, Wholes(whole), false)};
  Tensor* a = Call("onnx.DequantizeLinear", {o[kA], o[kA + 1], o[kA + 2]});
  Tensor* b = Call("onnx.DequantizeLinear", {o[kB], o[kB + 1], o[kB + 2]});
  const bool is_sum = op.name == "fused.qadd" || op.name == "com.microsoft.QLinearAdd";
  Tensor* y = Call(is_sum ? "onnx.Add" : "onnx.Mul", {a, b});
  return {Call("onnx.QuantizeLinear", {y, o[kY], o[kY + 1]})};
}

std::vector<Tensor*> OpMeanings::QuantizedLookup(const ProofOp& op) {
  return {c_.Make<Elementwise>(c_.NewType(), op.name, Results{op.operands[0]},
                               Wholes({op.operands[1]}), false)};
}

std::vector<Tensor*> OpMeanings::QuantizedConv2d(const ProofOp& op) {
  if (!NeedsDefaults(op, {"clamp"})) return {};
  ProofOp conv = op;
  conv.attrs.erase("clamp");
  std::vector<Tensor*> operands = op.operands;
  operands[0] = Permuted(operands[0], kToNchw);
  if (!c_.open()) return {};
  return {Permuted(Call("onnx.QLinearConv", operands, conv), kToNhwc)};
}

std::vector<Tensor*> OpMeanings::QuantizedGlobalAveragePool2d(const ProofOp& op) {
  const auto& o = op.operands;
  Tensor* x = Call("onnx.DequantizeLinear", {o[0], o[1], o[2]});
  Tensor* nchw = Permuted(x, kToNchw);
  if (nchw == nullptr || !c_.open()) return {};
  Tensor* y = Permuted(Call("onnx.GlobalAveragePool", {nchw}), kToNhwc);
  if (y == nullptr || !c_.open()) return {};
  return {Call("onnx.QuantizeLinear", {y, o[3], o[4]})};
}

}  // namespace weft::passes
