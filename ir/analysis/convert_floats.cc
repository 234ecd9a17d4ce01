#include "ir/analysis/convert_floats.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/default_inputs.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

Type WithDtype(Type type, DataType dtype) {
  return type.HasRank() ? type.context()->TensorType(dtype, type.dims())
                        : type.context()->UnrankedTensorType(dtype);
}

bool IsTensorOrUnknown(Type type) { return !type || type.IsTensor() || type.IsNone(); }

bool HasOtherThanTensors(Operation op) {
  const auto is_other = [](Value v) { return v && !IsTensorOrUnknown(v.type()); };
  const std::vector<Value> operands = op.operands().vec(), results = op.results().vec();
  return std::any_of(operands.begin(), operands.end(), is_other) ||
         std::any_of(results.begin(), results.end(), is_other);
}

class Converter {
 public:
  Converter(Program& program, const FloatConversion& conversion)
      : program_(program), rewriter_(&program), conversion_(conversion) {}
  size_t Run();

 private:
  // The two forms of a value that may be converted: the value itself and, once somebody wants it,
  // the other one. Of one that is converted also the converted form of the other one.
  struct Forms {
    Type original;
    bool is_converted = false;  // the value itself
    Value other{};
    Value rounded{};
  };

  // The type that a value of `type` gets; null when it stays.
  Type Converted(Type type) const;
  void Add(Value value, bool convert);
  Value FormOf(Value value, bool converted);
  Value RoundedFormOf(Value value);
  Value MakeOther(Value value, const Forms& forms);
  Value MakeCast(Value value, DataType to, Name location);
  FloatChoice ChoiceOf(Operation op) const;
  bool ReadsConverted(Operation op) const;
  bool Keeps(Operation op, bool is_result, uint32_t i, Value value) const;
  bool KeepsAny(Operation op) const;
  void SetOperandForms(Operation op, const std::vector<Value>& operands, bool converted);
  void ConvertWithRegions(Operation op, bool convert);
  AttrDict ConvertedAttrs(Operation op) const;
  // False, and nothing has changed, when the op cannot have the new types.
  bool TryConvert(Operation op);
  void Visit(Operation op);
  void ConvertDefaults();
  void EraseUnused();

  Program& program_;
  Rewriter rewriter_;
  const FloatConversion& conversion_;
  std::unordered_map<uint32_t, Forms> forms_;  // by value id; looked up, never iterated
  std::unordered_set<uint32_t> converted_;     // ops with regions, by id
  std::vector<Operation> replaced_constants_, made_;
  size_t count_ = 0;
};

Type Converter::Converted(Type type) const {
  if (!type.IsTensor()) return {};
  const DataType to = conversion_.target(type.dtype());
  return to == type.dtype() ? Type() : WithDtype(type, to);
}

void Converter::Add(Value value, bool convert) {
  const Type original = value.type();
  const Type type = Converted(original);
  if (!type) return;
  forms_[value.id()] = {.original = original, .is_converted = convert};
  if (convert) rewriter_.SetType(value, type);
}

Value Converter::FormOf(Value value, bool converted) {
  const auto it = value ? forms_.find(value.id()) : forms_.end();
  if (it == forms_.end() || it->second.is_converted == converted) return value;
  if (!it->second.other) it->second.other = MakeOther(value, it->second);
  return it->second.other;
}

Value Converter::MakeOther(Value value, const Forms& forms) {
  const Operation def = value.IsBlockArgument() ? Operation() : value.DefiningOp();
  if (def) {
    rewriter_.SetInsertionPointAfter(def);
  } else {
    rewriter_.SetInsertionPointToStart(value.ParentBlock());
  }
  const Type type = forms.is_converted ? forms.original : Converted(forms.original);
  if (const Attribute dense = Contents(value); dense && conversion_.constant) {
    if (const Attribute converted = conversion_.constant(dense, type)) {
      replaced_constants_.push_back(def);
      made_.push_back(rewriter_.Constant(converted).DefiningOp());
      return made_.back().result();
    }
  }
  return MakeCast(value, type.dtype(), def ? def.location() : Name());
}

Value Converter::MakeCast(Value value, DataType to, Name location) {
  rewriter_.set_location(location);
  made_.push_back(rewriter_.Create<ops::Cast>({value}, {.to = to}));
  rewriter_.set_location({});
  return made_.back().result();
}

// Converted, with the digits that the original type has.
Value Converter::RoundedFormOf(Value value) {
  const auto it = value ? forms_.find(value.id()) : forms_.end();
  if (it == forms_.end() || !it->second.is_converted) return FormOf(value, true);
  if (!it->second.rounded) {
    const Operation original = FormOf(value, false).DefiningOp();
    rewriter_.SetInsertionPointAfter(original);
    it->second.rounded = MakeCast(original.result(), value.type().dtype(), original.location());
  }
  return it->second.rounded;
}

bool Converter::ReadsConverted(Operation op) const {
  const std::vector<Value> operands = op.operands().vec();
  return std::any_of(operands.begin(), operands.end(), [&](Value v) {
    const auto it = v ? forms_.find(v.id()) : forms_.end();
    return it != forms_.end() && it->second.is_converted;
  });
}

FloatChoice Converter::ChoiceOf(Operation op) const {
  if (!op.def() || op.HasTrait(kBodyInRegion) || HasOtherThanTensors(op)) return FloatChoice::kKeep;
  const FloatChoice choice = conversion_.choose(op);
  if (choice != FloatChoice::kFollow) return choice;
  return ReadsConverted(op) ? FloatChoice::kConvert : FloatChoice::kKeep;
}

bool Converter::Keeps(Operation op, bool is_result, uint32_t i, Value value) const {
  const auto it = value ? forms_.find(value.id()) : forms_.end();
  const Type original = it == forms_.end() ? Type() : it->second.original;
  if (!original || !conversion_.keeps) return false;
  return conversion_.keeps(
      {.op = op, .is_result = is_result, .index = i, .to = conversion_.target(original.dtype())});
}

// For ops with regions, whose operands, results and arguments of regions have types together.
bool Converter::KeepsAny(Operation op) const {
  if (!conversion_.keeps) return false;
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    if (Keeps(op, false, i, op.operand(i))) return true;
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Type type = Converted(op.result(i).type());
    if (type && conversion_.keeps({.op = op, .is_result = true, .index = i, .to = type.dtype()}))
      return true;
  }
  return false;
}

void Converter::SetOperandForms(Operation op, const std::vector<Value>& operands, bool converted) {
  const bool rounds =
      converted && op.num_regions() == 0 && conversion_.rounds && conversion_.rounds(op);
  for (uint32_t i = 0; i < operands.size(); ++i) {
    const bool converts = converted && !Keeps(op, false, i, operands[i]);
    const Value form =
        converts && rounds ? RoundedFormOf(operands[i]) : FormOf(operands[i], converts);
    if (!(form == op.operand(i))) rewriter_.SetOperand(op, i, form);
  }
}

// Operands, results and what the regions take; what they return follows when it is visited.
void Converter::ConvertWithRegions(Operation op, bool convert) {
  if (convert) converted_.insert(op.id());
  SetOperandForms(op, op.operands().vec(), convert);
  for (const Value result : op.results()) Add(result, convert);
  for (uint32_t r = 0; r < op.num_regions(); ++r)
    for (const Block block : op.region(r).blocks())
      for (uint32_t i = 0; i < block.num_arguments(); ++i) Add(block.argument(i), convert);
}

// Element types that the op names, and contents.
AttrDict Converter::ConvertedAttrs(Operation op) const {
  std::vector<NamedAttribute> entries(op.attrs().begin(), op.attrs().end());
  for (NamedAttribute& entry : entries) {
    if (entry.value.Is(AttrKind::kDataType))
      entry.value = op.context()->DataTypeAttr(conversion_.target(entry.value.AsDataType()));
    if (!entry.value.Is(AttrKind::kDense) || !conversion_.constant) continue;
    const Type type = Converted(entry.value.dense_type());
    if (!type || entry.value.IsElided()) continue;
    if (const Attribute dense = conversion_.constant(entry.value, type)) entry.value = dense;
  }
  return op.context()->Dict(std::move(entries));
}

bool Converter::TryConvert(Operation op) {
  const std::vector<Value> operands = op.operands().vec();
  for (const Value result : op.results()) Add(result, false);
  SetOperandForms(op, operands, true);
  OperationState state{
      .opcode = op.opcode(), .operands = op.operands().vec(), .attrs = ConvertedAttrs(op)};
  std::vector<Type> types;
  std::string error;
  bool fits = InferResultTypes(op.context(), state, op.num_results(), &types, &error);
  std::vector<Type> wanted(op.num_results());
  for (uint32_t i = 0; fits && i < op.num_results(); ++i) {
    const Type stated = op.result(i).type(), inferred = types[i], converted = Converted(stated);
    const bool is_known = inferred.IsTensor() && inferred.dtype() != DataType::kNull;
    if (!stated || (is_known && inferred.dtype() == stated.dtype())) continue;
    if (!converted) {
      fits = !is_known;
      continue;
    }
    fits =
        !(is_known && inferred.dtype() != converted.dtype()) && !Keeps(op, true, i, op.result(i));
    wanted[i] = converted;
  }
  if (!fits) {
    SetOperandForms(op, operands, false);
    return false;
  }
  bool changes = !(state.attrs == op.attrs());
  if (changes) rewriter_.SetAttrs(op, state.attrs);
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    changes |= operands[i] && forms_.contains(operands[i].id()) &&
               op.operand(i).type() != forms_.at(operands[i].id()).original;
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    if (!wanted[i]) continue;
    changes = true;
    forms_[op.result(i).id()].is_converted = true;
    rewriter_.SetType(op.result(i), wanted[i]);
  }
  count_ += changes;
  return true;
}

void Converter::Visit(Operation op) {
  if (op.HasTrait(kTerminator)) {
    const Operation parent = op.ParentOp();
    const bool converts = parent == program_.module() ? conversion_.inputs_and_outputs
                                                      : converted_.contains(parent.id());
    SetOperandForms(op, op.operands().vec(), converts);
    return;
  }
  const bool converts = !op.HasTrait(kConstantLike) && ChoiceOf(op) == FloatChoice::kConvert;
  if (op.num_regions() > 0) return ConvertWithRegions(op, converts && !KeepsAny(op));
  const bool has_floats = [&] {
    for (const Value v : op.operands())
      if (v && forms_.contains(v.id())) return true;
    for (const Value v : op.results())
      if (Converted(v.type())) return true;
    return false;
  }();
  if (!has_floats) return;
  if (converts && TryConvert(op)) return;
  for (const Value result : op.results()) Add(result, false);
  SetOperandForms(op, op.operands().vec(), false);
}

void Converter::ConvertDefaults() {
  const auto names = program_.module().attrs_of<ModuleOp>().default_inputs;
  if (!names || !conversion_.constant) return;
  for (const std::string& name : *names) {
    const Attribute dense = program_.parameter(name);
    const Type type = dense && !dense.IsElided() ? Converted(dense.dense_type()) : Type();
    if (!type) continue;
    if (const Attribute converted = conversion_.constant(dense, type))
      program_.SetParameter(name, converted);
  }
}

// What was made for an op that then kept its types; and constants whose name goes to the other form.
void Converter::EraseUnused() {
  for (size_t i = made_.size(); i-- > 0;)  // a Cast of another one after it
    if (made_[i].IsUnused()) rewriter_.Erase(made_[i]);
  for (const Operation op : replaced_constants_) {
    const Value value = op.result(), other = forms_.at(value.id()).other;
    if (!op.IsUnused() || !other.IsAlive()) continue;
    const std::string name(value.name());
    rewriter_.Erase(op);
    if (!name.empty()) program_.SetName(other, name);
  }
}

size_t Converter::Run() {
  std::vector<Operation> ops;
  Walk(program_, [&](Operation op) { ops.push_back(op); });
  const Block body = program_.body();
  for (uint32_t i = 0; i < body.num_arguments(); ++i)
    Add(body.argument(i), conversion_.inputs_and_outputs);
  if (conversion_.inputs_and_outputs) ConvertDefaults();
  std::unordered_set<uint32_t> fixed;  // ops whose bodies stand for them
  for (const Operation op : ops) {
    if (op.HasTrait(kBodyInRegion) || fixed.contains(op.ParentOp().id())) fixed.insert(op.id());
    if (!fixed.contains(op.ParentOp().id())) Visit(op);
  }
  EraseUnused();
  return count_;
}

}  // namespace

size_t ConvertFloats(Program& program, const FloatConversion& conversion) {
  return Converter(program, conversion).Run();
}

}  // namespace weft::ir
