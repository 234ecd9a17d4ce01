#include "passes/verify/program_variants.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "passes/verify/mutation/mistakes.h"

namespace weft::passes {
namespace {

using ir::Attribute;
using ir::Operation;
using ir::Program;
using ir::Value;

bool AreAlike(Operation a, Operation b) {
  return a.opcode() == b.opcode() && a.attrs() == b.attrs();
}
bool IsList(Attribute dense) {
  return dense.dense_type().dtype() == ir::DataType::kI64 && dense.dense_type().rank() <= 1;
}

// What an op becomes.
struct Change {
  Operation from;
  ir::Opcode opcode;
  ir::AttrDict attrs;
  Attribute constant;  // of a constant
};

class Variation {
 public:
  Variation(Program& program, Draw& draw, std::span<const Value> focus)
      : from_(program),
        draw_(draw),
        focus_(focus),
        to_(std::make_unique<Program>(program.context())),
        b_(to_.get()),
        together_(draw.OneIn(2)) {
    for (const Operation op : from_.body()) ops_.push_back(op);
  }

  std::unique_ptr<Program> Make() {
    if (ops_.empty() || !ops_.back().Is<ir::ReturnOp>()) return nullptr;
    ChooseSizes();
    ChooseOps();
    AddInputs();
    for (size_t i = 0; i + 1 < ops_.size(); ++i)
      if (!Add(ops_[i], changed_.count(i) > 0)) return nullptr;
    std::vector<std::pair<std::string, Value>> outputs;
    for (const Value v : ops_.back().operands())
      outputs.emplace_back("y" + std::to_string(outputs.size()), made_.at(v.id()));
    b_.Return(std::move(outputs));
    return ir::Verify(*to_).ok() ? std::move(to_) : nullptr;
  }

 private:
  // One in two with another size in place of one, often of one that there is, so that both are equal;
  // or with others in place of all, in which what is a product of two stays one.
  void ChooseSizes() {
    for (const Value input : from_.body().arguments())  // what is a symbol gets a number
      if (input.type().IsTensor() && input.type().HasRank())
        for (const int64_t size : input.type().dims())
          if (size < 0) sizes_.try_emplace(size, 2 + draw_.Below(4));
    if (draw_.OneIn(2)) return;
    std::set<int64_t> there;
    for (const Value input : from_.body().arguments())
      if (input.type().IsTensor() && input.type().HasRank())
        for (const int64_t size : input.type().dims())
          if (size > 1) there.insert(size);
    if (there.empty()) return;
    const std::vector<int64_t> sizes(there.begin(), there.end());
    if (draw_.OneIn(2)) {
      const int64_t size = draw_.OneOf(sizes);
      sizes_[size] = draw_.OneIn(3) ? OtherSize() : draw_.OneOf(sizes);
      return;
    }
    for (const Operation op : ops_)
      for (const Value result : op.results())
        if (result.type().IsTensor() && result.type().HasRank())
          for (const int64_t size : result.type().dims())
            if (size > 1) there.insert(size);
    for (const int64_t size : there) {
      sizes_[size] = draw_.OneIn(3) ? size : std::max<int64_t>(OtherSize(), 1);
      for (const int64_t factor : there)
        if (factor < size && size % factor == 0 && there.count(size / factor) > 0)
          sizes_[size] = sizes_[factor] * sizes_[size / factor];
    }
  }
  // Also one that is a product, of which two halves are told from every second one.
  int64_t OtherSize() {
    constexpr int64_t kProduct = 4;
    return draw_.OneIn(5) ? kProduct : draw_.DrawSize();
  }
  int64_t SizeFor(int64_t size) const {
    const auto other = sizes_.find(size);
    return other == sizes_.end() ? size : other->second;
  }
  ir::Type TypeFor(ir::Type type) const {
    if (!type.IsTensor() || !type.HasRank()) return type;
    ir::Shape shape = type.shape();
    for (int64_t& size : shape) size = SizeFor(size);
    return to_->context()->TensorType(type.dtype(), shape);
  }
  // One or two, and one time in two all that are like them.
  void ChooseOps() {
    if (!focus_.empty() && !draw_.OneIn(4)) ChooseInFocus();
    for (size_t i = (focus_.empty() ? 1 : 0) + draw_.Below(2); i > 0; --i) {
      const size_t chosen = draw_.Below(ops_.size() - 1);
      changed_.insert(chosen);
      for (size_t other = 0; together_ && other + 1 < ops_.size(); ++other)
        if (AreAlike(ops_[chosen], ops_[other])) changed_.insert(other);
    }
  }
  // A value of those, or a constant from which it is computed.
  void ChooseInFocus() {
    Value value = draw_.OneOf(focus_);
    while (const Operation op = value.DefiningOp()) {
      std::vector<Value> constants;
      for (const Value operand : op.operands())
        if (operand && ir::Contents(operand)) constants.push_back(operand);
      if (constants.empty() || draw_.OneIn(2)) break;
      value = draw_.OneOf(constants);
    }
    const auto at = std::find(ops_.begin(), ops_.end(), value.DefiningOp());
    if (at != ops_.end()) {
      changed_.insert(static_cast<size_t>(at - ops_.begin()));
    } else {
      changed_input_ = value.id();
    }
  }
  // Of an input: one size is another one that there is, or two change places, or it has one axis more or less.
  ir::Type OtherShape(ir::Type type) {
    ir::Shape shape = type.shape();
    const uint32_t axis = draw_.Below(shape.size() + 1);
    if (shape.empty() || draw_.OneIn(8)) {
      shape.insert(shape.begin() + axis, draw_.OneIn(2) ? 1 : draw_.DrawSize());
    } else if (axis == shape.size()) {
      shape.erase(shape.begin() + draw_.Below(shape.size()));
    } else if (draw_.OneIn(3)) {
      std::swap(shape[axis], shape[draw_.Below(shape.size())]);
    } else {
      shape[axis] = draw_.OneIn(3) ? draw_.DrawSize() : draw_.OneOf(type.shape());
    }
    const ir::Type other = to_->context()->TensorType(type.dtype(), shape);
    return other.NumElements() <= kMaxElements ? other : type;
  }
  // One in four of another shape, or a constant.
  void AddInputs() {
    std::map<uint32_t, ir::Type> shapes;  // by the type that it is in place of
    for (const Value input : from_.body().arguments()) {
      ir::Type type = TypeFor(input.type());
      const bool is_small = type.IsStatic() && type.NumElements() <= kMaxElements;
      const auto before = shapes.find(input.type().id());
      if (together_ && before != shapes.end()) {
        type = before->second;
      } else if (is_small && input.id() == changed_input_) {
        type = OtherShape(type);
      } else if (!focus_.empty()) {
        // Is as it was.
      } else if (is_small && draw_.OneIn(4)) {
        Leaf leaf{type, {}};
        draw_.Regroup(&leaf);
        type = leaf.type;
      }
      shapes.emplace(input.type().id(), type);
      made_[input.id()] = is_small && focus_.empty() && draw_.OneIn(16)
                              ? b_.Constant(draw_.DrawContents(type))
                              : AddInput(type);
    }
  }
  Value AddInput(ir::Type type) { return b_.AddInput("x" + std::to_string(num_inputs_++), type); }

  bool Add(Operation op, bool is_changed) {
    if (op.num_regions() > 0) return false;
    const Change change = is_changed ? ChangeOf(op) : Kept(op);
    if (op.Is<ir::ConstantOp>()) {
      if (!change.constant) return false;
      const ir::Type type = change.constant.dense_type();
      const bool may_be_input = is_changed && ir::IsFloat(type.dtype()) && draw_.OneIn(4);
      made_[op.result(0).id()] = may_be_input ? AddInput(type) : b_.Constant(change.constant);
      return true;
    }
    ir::OperationState state{.opcode = change.opcode, .operands = {}, .attrs = change.attrs};
    for (const Value v : op.operands()) state.operands.push_back(v ? made_.at(v.id()) : Value());
    if (is_changed && !state.operands.empty() && draw_.OneIn(6)) ChangeOperands(&state.operands);
    Operation made;
    std::string ignored;
    if (!b_.TryCreate(state, op.num_results(), &made, &ignored) &&
        !AddWithOtherShape(op, std::move(state), &made))
      return false;
    for (uint32_t i = 0; i < op.num_results(); ++i) made_[op.result(i).id()] = made.result(i);
    return true;
  }
  void ChangeOperands(std::vector<Value>* operands) {
    Value& operand = (*operands)[draw_.Below(operands->size())];
    if (draw_.OneIn(3) && operands->size() > 1) {
      operands->pop_back();
    } else if (draw_.OneIn(2)) {
      std::swap(operand, (*operands)[draw_.Below(operands->size())]);
    } else if (operand) {
      for (const auto& [id, other] : made_)
        if (other && other.type() == operand.type() && draw_.OneIn(2)) operand = other;
    }
  }
  // Of what gives its elements another shape: with one that they fill.
  bool AddWithOtherShape(Operation op, ir::OperationState state, Operation* made) {
    if (!IsReshape(op) || state.operands.size() < 2 || !state.operands[0]) return false;
    const ir::Type from = state.operands[0].type();
    const Attribute dense = state.operands[1] ? ir::Contents(state.operands[1]) : Attribute();
    if (!from.IsStatic() || !dense || !IsList(dense)) return false;
    std::vector<double> numbers = Numbers(dense);
    for (size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] == 0 && i < from.shape().size())
        numbers[i] = static_cast<double>(from.dims()[i]);
    if (numbers.empty()) return false;
    double& open = numbers[draw_.Below(numbers.size())];
    open = 1;
    double rest = 1;
    for (const double number : numbers) rest *= std::fabs(number);
    open = rest > 0 ? static_cast<double>(from.NumElements()) / rest : 0;
    if (open != std::trunc(open)) return false;
    state.operands[1] = b_.Constant(draw_.Dense(dense.dense_type(), numbers));
    std::string ignored;
    return b_.TryCreate(std::move(state), op.num_results(), made, &ignored);
  }
  // The second operand is a list of sizes that the result has; the number of elements stays.
  static bool IsReshape(Operation op) {
    if (op.num_operands() != 2 || op.num_results() != 1 || !op.operand(0) || !op.operand(1))
      return false;
    const ir::Type from = op.operand(0).type(), to = op.result(0).type();
    const Attribute dense = ir::Contents(op.operand(1));
    return from.IsTensor() && to.IsTensor() && from.IsStatic() && to.IsStatic() && dense &&
           IsList(dense) && dense.dense_type().NumElements() == static_cast<int64_t>(to.rank()) &&
           from.NumElements() == to.NumElements();
  }

  Change Kept(Operation op) {
    Change kept{op, op.opcode(), op.attrs(), {}};
    if (op.Is<ir::ConstantOp>())
      kept.constant = ConstantFor(op.attrs_of<ir::ConstantOp>().value, op, false);
    return kept;
  }
  const Change& ChangeOf(Operation op) {
    for (const Change& change : changes_)
      if (together_ && AreAlike(change.from, op)) return change;
    Change change{op, op.opcode(), op.attrs(), {}};
    if (op.Is<ir::ConstantOp>()) {
      change.constant = ConstantFor(op.attrs_of<ir::ConstantOp>().value, op, true);
    } else if (op.def() != nullptr) {
      const std::vector<const ir::OpDef*> others = OtherOps(*to_->context(), *op.def());
      if (!others.empty() && draw_.OneIn(2)) {
        change.opcode = draw_.OneOf(others)->opcode;
      } else {
        change.attrs = OtherAttrs(op);
      }
    }
    return changes_.emplace_back(change);
  }

  // With another value of one of them.
  ir::AttrDict OtherAttrs(Operation op) {
    const auto& fields = op.def()->fields;
    if (fields.empty()) return op.attrs();
    ir::IrContext& context = *to_->context();
    const ir::FieldDef& field = fields[draw_.Below(fields.size())];
    Attribute value = op.attr(field.name.str());
    if (!value && field.make_default) value = field.make_default(context);
    std::vector<Attribute> others;
    if (value) others = OtherValues(context, value, &field);
    if (others.empty() || draw_.OneIn(4)) {
      const std::vector<Value> operands = op.operands().vec();
      others = {draw_.DrawField(field, operands)};
    }
    std::vector<ir::NamedAttribute> entries;
    for (const ir::NamedAttribute& entry : op.attrs())
      if (!(entry.name == field.name)) entries.push_back(entry);
    if (const Attribute other = draw_.OneOf(others)) entries.push_back({field.name, other});
    return context.Dict(std::move(entries));
  }

  static std::vector<double> Numbers(Attribute dense) {
    std::vector<double> numbers;
    for (int64_t i = 0, n = dense.dense_type().NumElements(); i < n; ++i)
      numbers.push_back(ir::DenseElement(dense, i));
    return numbers;
  }
  Attribute ConstantFor(Attribute dense, Operation op, bool is_changed) {
    const ir::Type old = dense.dense_type(), type = TypeFor(old);
    const bool is_plain =
        !dense.IsElided() && ir::ElementSize(old.dtype()) > 0 && !ir::IsLowPrecision(old.dtype());
    if (!is_plain) return type == old ? dense : Attribute();
    if (type.NumElements() > kMaxElements) return {};
    if (IsList(dense)) return ListFor(dense, op, is_changed);
    std::vector<double> numbers = Numbers(dense);
    const bool is_uniform =
        std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
    if (is_uniform && !numbers.empty() && (is_changed || !(type == old))) {
      const double number = is_changed ? draw_.DrawNumber() : numbers[0];
      const bool is_float = ir::IsFloat(type.dtype());
      const double fits = is_float ? number : std::max(0.0, std::min(100.0, std::trunc(number)));
      return draw_.Dense(type, {&fits, 1});
    }
    return is_changed || !(type == old) ? draw_.DrawContents(type) : dense;
  }
  // Lists of integers may be shapes, whose sizes change with the others.
  Attribute ListFor(Attribute dense, Operation op, bool is_changed) {
    const ir::Type type = dense.dense_type();
    std::vector<double> numbers = Numbers(dense);
    constexpr double kMost = 1e15;  // f64 holds such integers
    const bool is_far = std::any_of(numbers.begin(), numbers.end(),
                                    [](double number) { return std::fabs(number) > kMost; });
    if (is_far || numbers.empty()) return dense;
    if (is_changed && draw_.OneIn(2)) SpellOut(op, &numbers);
    for (double& number : numbers)
      number = static_cast<double>(SizeFor(static_cast<int64_t>(number)));
    if (is_changed && draw_.OneIn(2)) {
      Leaf leaf{type, draw_.Dense(type, numbers)};
      if (type.rank() == 1) draw_.Regroup(&leaf);
      return leaf.constant;
    }
    if (is_changed) ChangeList(&numbers);
    return draw_.Dense(type, numbers);
  }
  // The sizes themselves, in place of 0 and -1, which stand for one of the operand or what is left.
  void SpellOut(Operation constant, std::vector<double>* list) const {
    for (const Operation op : ops_)
      if (IsReshape(op) && op.operand(1) == constant.result(0)) {
        const ir::Shape shape = op.result(0).type().shape();
        std::copy(shape.begin(), shape.end(), list->begin());
        return;
      }
  }
  void ChangeList(std::vector<double>* list) {
    double& element = (*list)[draw_.Below(list->size())];
    switch (draw_.Below(4)) {
      case 0:
        std::swap(element, (*list)[draw_.Below(list->size())]);
        break;
      case 1:
        element = 0;
        break;
      case 2:
        element = -1;
        break;
      default:
        element += draw_.OneIn(2) ? 1 : -1;
    }
  }

  Program& from_;
  Draw& draw_;
  const std::span<const Value> focus_;
  std::optional<uint32_t> changed_input_;
  std::unique_ptr<Program> to_;
  ir::Builder b_;
  const bool together_;  // what is alike changes alike
  std::vector<Operation> ops_;
  std::set<size_t> changed_;  // of those
  std::vector<Change> changes_;
  std::map<int64_t, int64_t> sizes_;
  std::map<uint32_t, Value> made_;  // by value
  int num_inputs_ = 0;
};

}  // namespace

std::unique_ptr<ir::Program> VariantOf(ir::Program& program, Draw& draw,
                                       std::span<const Value> focus) {
  return Variation(program, draw, focus).Make();
}

}  // namespace weft::passes
