// Functions of elements in one place each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "passes/verify/proof/op_meaning.h"

namespace weft::passes {

using ir::Attribute;
using ir::DataType;

namespace {

constexpr TypeSet kBytes = TypeBit(DataType::kI8) | TypeBit(DataType::kU8);

// Of one value, however often it is an operand, these give it back; Sum only where it is there once.
bool JoinsEqualOperands(std::string_view name, const std::vector<Tensor*>& operands) {
  if (name == "onnx.Sum") return operands.size() == 1;
  if (name != "onnx.Min" && name != "onnx.Max") return false;
  return std::all_of(operands.begin(), operands.end(),
                     [&](const Tensor* operand) { return operand == operands[0]; });
}

// What it gives it gives back.
bool IsIdempotent(std::string_view name) {
  return name == "onnx.Relu" || name == "onnx.Abs" || name == "onnx.Sign" || name == "onnx.Floor" ||
         name == "onnx.Ceil" || name == "onnx.Round";
}

}  // namespace

std::vector<Tensor*> OpMeanings::AnyElementwise(const ProofOp& op) {
  std::string function = KeyOf(op);
  std::vector<Tensor*> given;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i] == nullptr) function += fmt::format(" without {}", i);
    if (op.operands[i] != nullptr) given.push_back(op.operands[i]);
  }
  if (given.empty()) return AnyFunction(op);
  if (JoinsEqualOperands(op.name, given)) return {given[0]};
  if (const auto* inner = dynamic_cast<const Elementwise*>(given[0]);
      inner != nullptr && inner->function() == function && IsIdempotent(op.name))
    return {given[0]};
  TypeClass type = c_.NewType();
  if (IsArithmetic(function) || IsLogic(function)) {
    if (!c_.of_result()) {
      for (Tensor* operand : given) c_.Unify(given[0]->type, operand->type);
      c_.Restrict(given[0]->type, IsLogic(function)
                                      ? TypeBit(DataType::kBool)
                                      : TypesThat(&ir::IsFloat) | TypesThat(&ir::IsInteger));
    }
    type = given[0]->type;
  }
  const bool commutative = op.def != nullptr && op.def->Has(ir::kCommutative);
  return {c_.Make<Elementwise>(type, std::move(function), given, std::vector<Term>(), commutative)};
}

std::vector<Tensor*> OpMeanings::Cast(const ProofOp& op) {
  ProofOp others = op;
  const auto to = others.attrs.extract(op.name == "pd.cast" ? "dtype" : "to");
  if (to.empty()) {
    c_.Fail("a cast to an unknown type");
    return {};
  }
  const TypeClass type = TypeOf(to.mapped());
  if ((c_.PossibleTypes(type) & TypesThat(&ir::IsLowPrecision)) == 0)
    for (const std::string_view name : {"saturate", "round_mode"}) {
      const auto attr = others.attrs.find(name);  // of floats of 8 bits and less
      if (attr != others.attrs.end()) others.attrs.erase(attr);
    }
  // The defaults, which are not given.
  std::erase_if(others.attrs, [&](const auto& attr) {
    const Attribute value = Chosen(attr.second);
    return (attr.first == "saturate" && value.Is(ir::AttrKind::kInt) && value.AsInt() == 1) ||
           (attr.first == "round_mode" && value.Is(ir::AttrKind::kString) &&
            value.AsString() == "up");
  });
  return {c_.Make<Converted>(*op.operands[0], type,
                             KeyOf(others) + fmt::format(" to {}", TextOf(to.mapped())))};
}

// Its limits have one element each. Of floats a limit that is not given is infinite.
std::vector<Tensor*> OpMeanings::Clip(const ProofOp& op) {
  Terms& t = c_.terms();
  Tensor& x = *op.operands[0];
  const bool is_boundless = std::all_of(op.operands.begin() + 1, op.operands.end(),
                                        [](const Tensor* limit) { return limit == nullptr; });
  if (is_boundless) return {&x};
  const bool is_float = (c_.PossibleTypes(x.type) & ~TypesThat(&ir::IsFloat)) == 0;
  std::vector<Term> limits;
  for (size_t i : {1U, 2U}) {
    Tensor* limit = i < op.operands.size() ? op.operands[i] : nullptr;
    const Term uniform = limit != nullptr ? limit->Uniform() : Term();
    if (limit != nullptr && !c_.of_result()) c_.Unify(x.type, limit->type);
    if (limit == nullptr && is_float) {
      limits.push_back(t.Number(i == 1 ? -INFINITY : INFINITY));
    } else {
      limits.push_back(uniform ? uniform : Whole(t, limit));
    }
  }
  return {c_.Make<Elementwise>(x.type, op.name, Results{&x}, limits, false)};
}

// With one scale and one zero point, where axis does not matter, nor the size of the one block.
std::vector<Tensor*> OpMeanings::Quantize(const ProofOp& op) {
  Results parameters(op.operands.begin() + 1, op.operands.end());
  parameters.resize(2);
  Tensor* zero = parameters[1];
  if (!parameters[0]->HasOneElement() || (zero != nullptr && !zero->HasOneElement()))
    return AnyFunction(op);
  ProofOp what = op;
  what.attrs.erase("axis");
  what.attrs.erase("block_size");
  if (op.name == "onnx.QuantizeLinear" && zero != nullptr) {
    what.attrs.erase("output_dtype");  // that of the zero point
    if ((c_.PossibleTypes(zero->type) & ~kBytes) == 0) what.attrs.erase("saturate");
  }
  return {c_.Make<Elementwise>(c_.NewType(), KeyOf(what), Results{op.operands[0]},
                               Wholes(parameters), false)};
}

std::vector<Tensor*> OpMeanings::Where(const ProofOp& op) {
  Tensor &condition = *op.operands[0], &yes = *op.operands[1], &no = *op.operands[2];
  if (!c_.of_result()) {
    c_.Restrict(condition.type, TypeBit(DataType::kBool));
    c_.Unify(yes.type, no.type);
  }
  return {c_.Make<Selected>(condition, yes, no)};
}

}  // namespace weft::passes
