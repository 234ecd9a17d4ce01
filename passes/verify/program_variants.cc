#include "passes/verify/program_variants.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "passes/verify/mutation/mistakes.h"

namespace weft::passes {
namespace {

using ir::Attribute;
using ir::Operation;
using ir::Program;
using ir::Value;

class Variation {
 public:
  Variation(Program& program, Draw& draw)
      : from_(program),
        draw_(draw),
        to_(std::make_unique<Program>(program.context())),
        b_(to_.get()) {
    for (const Operation op : from_.body()) ops_.push_back(op);
  }

  std::unique_ptr<Program> Make() {
    if (ops_.empty() || !ops_.back().Is<ir::ReturnOp>()) return nullptr;
    ChooseSizes();
    for (size_t i = 1 + draw_.Below(2); i > 0; --i) changed_.insert(draw_.Below(ops_.size() - 1));
    AddInputs();
    for (size_t i = 0; i + 1 < ops_.size(); ++i)
      if (!Add(ops_[i], changed_.count(i) > 0)) return nullptr;
    std::vector<std::pair<std::string, Value>> outputs;
    for (const Value v : ops_.back().operands())
      outputs.emplace_back("y" + std::to_string(outputs.size()), made_.at(v.id()));
    b_.Return(std::move(outputs));
    return std::move(to_);
  }

 private:
  // One in two with another size in place of one, often of one that there is, so that both are equal.
  void ChooseSizes() {
    if (draw_.OneIn(2)) return;
    std::set<int64_t> there;
    for (const Value input : from_.body().arguments())
      for (const int64_t size : input.type().dims())
        if (size > 1) there.insert(size);
    if (there.empty()) return;
    const std::vector<int64_t> sizes(there.begin(), there.end());
    const int64_t size = draw_.OneOf(sizes);
    sizes_[size] = draw_.OneIn(3) ? draw_.DrawSize() : draw_.OneOf(sizes);
  }
  int64_t SizeFor(int64_t size) const {
    const auto other = sizes_.find(size);
    return other == sizes_.end() ? size : other->second;
  }
  ir::Type TypeFor(ir::Type type) const {
    ir::Shape shape = type.shape();
    for (int64_t& size : shape) size = SizeFor(size);
    return to_->context()->TensorType(type.dtype(), shape);
  }
  void AddInputs() {
    for (const Value input : from_.body().arguments())
      made_[input.id()] = b_.AddInput("x" + std::to_string(made_.size()), TypeFor(input.type()));
  }

  bool Add(Operation op, bool is_changed) {
    if (op.num_regions() > 0) return false;
    if (op.Is<ir::ConstantOp>()) {
      const Attribute dense = ConstantFor(op.attrs_of<ir::ConstantOp>().value, is_changed);
      if (dense) made_[op.result(0).id()] = b_.Constant(dense);
      return static_cast<bool>(dense);
    }
    ir::OperationState state{.opcode = op.opcode(), .operands = {}, .attrs = op.attrs()};
    for (const Value v : op.operands()) state.operands.push_back(v ? made_.at(v.id()) : Value());
    if (is_changed && op.def() != nullptr) state.attrs = OtherAttrs(op);
    Operation made;
    std::string ignored;
    if (!b_.TryCreate(std::move(state), op.num_results(), &made, &ignored)) return false;
    for (uint32_t i = 0; i < op.num_results(); ++i) made_[op.result(i).id()] = made.result(i);
    return true;
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

  // Lists of integers may be shapes, whose sizes change with the others.
  Attribute ConstantFor(Attribute dense, bool is_changed) {
    const ir::Type old = dense.dense_type(), type = TypeFor(old);
    const bool is_plain =
        !dense.IsElided() && ir::ElementSize(old.dtype()) > 0 && !ir::IsLowPrecision(old.dtype());
    const bool is_list = old.dtype() == ir::DataType::kI64 && old.rank() <= 1;
    if (!is_plain) return type == old ? dense : Attribute();
    std::vector<double> numbers;
    for (int64_t i = 0, n = old.NumElements(); i < n; ++i)
      numbers.push_back(ir::DenseElement(dense, i));
    const bool is_uniform =
        std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
    if (is_list) {
      constexpr double kMost = 1e15;  // f64 holds such integers
      const bool is_far = std::any_of(numbers.begin(), numbers.end(),
                                      [](double number) { return std::fabs(number) > kMost; });
      if (!(type == old) || is_far) return type == old ? dense : Attribute();
      for (double& number : numbers)
        number = static_cast<double>(SizeFor(static_cast<int64_t>(number)));
      if (is_changed && !numbers.empty()) ChangeList(&numbers);
      return draw_.Dense(type, numbers);
    }
    if (is_uniform && !numbers.empty() && (is_changed || !(type == old))) {
      const double number = is_changed ? draw_.DrawNumber() : numbers[0];
      const bool is_float = ir::IsFloat(type.dtype());
      const double fits = is_float ? number : std::max(0.0, std::min(100.0, std::trunc(number)));
      return draw_.Dense(type, {&fits, 1});
    }
    return is_changed || !(type == old) ? draw_.DrawContents(type) : dense;
  }
  void ChangeList(std::vector<double>* list) {
    double& element = (*list)[draw_.Below(list->size())];
    switch (draw_.Below(4)) {
      case 0:
        std::swap(element, list->back());
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
  std::unique_ptr<Program> to_;
  ir::Builder b_;
  std::vector<Operation> ops_;
  std::set<size_t> changed_;  // of those
  std::map<int64_t, int64_t> sizes_;
  std::map<uint32_t, Value> made_;  // by value
};

}  // namespace

std::unique_ptr<ir::Program> VariantOf(ir::Program& program, Draw& draw) {
  return Variation(program, draw).Make();
}

}  // namespace weft::passes
