// sign-activations: u8 activations of products with i8 weights become i8, in connected groups of values
// of the main body only; bodies of If and Loop stay u8.
//
//   y = qconv2d(x: u8, x_zero, w: i8, ..., y_zero)
//     =>  unsign(qconv2d(sign(x), x_zero - 128, w, ..., y_zero - 128))
//
// sign and unsign, tables that add and subtract 128, meet between two such ops and are gone. They stay
// where a group ends: inputs and outputs of the program, and ops that do not come in both types. Every
// number stands for what it stood for. XNNPACK's kernels for i8 weights take i8 activations, and shift u8
// ones on the way in and out; our own multiply u8 by i8, so this is opt-in, for --provider xnnpack. A
// group stays as it is unless it has fewer ends than its products have such ways.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace fused = ir::fused;
namespace ops = ir::ops;
using ir::Attribute;
using ir::DataType;
using ir::Operation;
using ir::Value;

constexpr int kShift = 128;
constexpr int64_t kEntries = 256;

bool IsU8(Value v) { return v && v.type().IsTensor() && v.type().dtype() == DataType::kU8; }

// Where an op that comes in both types has its 8-bit numbers.
struct Form {
  std::vector<uint32_t> data;  // operands
  std::vector<uint32_t>
      zeros;             // their zero points, as many, or none for ops that only move numbers
  int result_zero = -1;  // the operand that decides the type of the result
  bool links = true;     // operands and result change together
};

bool IsMovement(Operation op) {
  return op.Is<ops::Transpose>() || op.Is<ops::Reshape>() || op.Is<ops::Flatten>() ||
         op.Is<ops::Squeeze>() || op.Is<ops::Unsqueeze>() || op.Is<ops::Expand>() ||
         op.Is<ops::Slice>() || op.Is<ops::Gather>() || op.Is<fused::MaxPool2d>();
}

bool IsProduct(Operation op) { return op.Is<fused::QConv2d>() || op.Is<fused::QLinear>(); }

Form FormOf(Operation op) {
  if (IsProduct(op)) return {.data = {0}, .zeros = {2}, .result_zero = 7};
  if (op.Is<fused::QAdd>() || op.Is<fused::QMul>())
    return {.data = {0, 3}, .zeros = {2, 5}, .result_zero = 7};
  if (op.Is<fused::QAveragePool2d>() || op.Is<fused::QGlobalAveragePool2d>())
    return {.data = {0}, .zeros = {2}, .result_zero = 4};
  if (op.Is<fused::QLookup>()) return {.data = {0}, .links = false};
  if (op.Is<ops::QuantizeLinear>()) return {.result_zero = 2};
  if (op.Is<ops::DequantizeLinear>()) return {.data = {0}, .zeros = {2}};
  if (IsMovement(op)) return {.data = {0}};
  Form form;
  for (uint32_t i = 0; op.Is<ops::Concat>() && i < op.num_operands(); ++i) form.data.push_back(i);
  return form;
}

bool HasContents(Operation op, uint32_t operand) {
  return operand < op.num_operands() && op.operand(operand) && ir::Contents(op.operand(operand));
}

// The form of an op that can change; nothing else has data or a result in it.
Form ChangeableForm(Operation op) {
  if (op.num_results() != 1 || op.num_regions() != 0) return {};
  Form form = FormOf(op);
  for (const uint32_t i : form.zeros)
    if (!HasContents(op, i)) return {};
  if (form.result_zero >= 0 && !HasContents(op, static_cast<uint32_t>(form.result_zero))) return {};
  if (op.Is<fused::QLookup>() && !HasContents(op, 1)) return {};
  if (op.Is<ops::QuantizeLinear>() && op.attrs_of<ops::QuantizeLinear>().output_dtype != 0)
    return {};
  if (IsProduct(op) && op.operand(3).type().dtype() != DataType::kI8) return {};
  return form;
}

// The u8 values that an op would have as i8, if it had any of them so.
std::vector<Value> LinkedValues(Operation op, const Form& form) {
  std::vector<Value> values;
  if (!form.links) return values;
  for (const uint32_t i : form.data)
    if (IsU8(op.operand(i)) && !ir::IsConstant(op.operand(i))) values.push_back(op.operand(i));
  if ((form.result_zero >= 0 || !form.data.empty()) && IsU8(op.result()))
    values.push_back(op.result());
  return values;
}

// Whether op can read that operand as i8 (which may have been u8), or make an i8 of its result.
bool Reads(Operation op, uint32_t operand) {
  const Form form = ChangeableForm(op);
  return std::find(form.data.begin(), form.data.end(), operand) != form.data.end();
}
bool Makes(Operation op) {
  const Form form = ChangeableForm(op);
  return form.result_zero >= 0 || !form.data.empty();
}

// Values that become i8 together, and how many of them products read and make.
struct Group {
  std::vector<Value> values;
  size_t shifted = 0;
};

bool IsReadElsewhere(Value v, ir::Block body) {
  for (const ir::OpOperand use : v.uses())
    if (use.owner().block() != body || !Reads(use.owner(), use.index())) return true;
  return false;
}

// How many of them need a table where they come from or where they are read.
size_t EndsOf(const Group& group, ir::Block body) {
  size_t ends = 0;
  for (const Value v : group.values) {
    ends += !v.DefiningOp() || !Makes(v.DefiningOp());
    ends += IsReadElsewhere(v, body);
  }
  return ends;
}

// Every byte with its highest bit turned, as i8.
Attribute Signed(ir::IrContext* context, Attribute dense) {
  std::vector<std::byte> bytes(dense.bytes().begin(), dense.bytes().end());
  for (std::byte& byte : bytes) byte ^= std::byte{kShift};
  return context->DenseAttr(context->TensorType(DataType::kI8, dense.dense_type().shape()), bytes);
}

class SignedActivations {
 public:
  explicit SignedActivations(ir::Program& program)
      : body_(program.body()), context_(program.context()), rewriter_(&program) {}

  // The number of ops that changed.
  int64_t Run() {
    FindValues();
    if (members_.empty()) return 0;
    int64_t changed = 0;
    std::vector<Operation> ops;
    for (const Operation op : body_) ops.push_back(op);
    for (const Operation op : ops) changed += Change(op);
    for (auto v = maybe_unused_.rbegin(); v != maybe_unused_.rend(); ++v) {
      if (!v->IsUnused()) continue;
      KeepConstantsOf(v->DefiningOp());
      rewriter_.Erase(v->DefiningOp());
    }
    std::unordered_set<uint32_t> seen;
    for (const Value v : constants_)
      if (seen.insert(v.id()).second && v.IsUnused()) rewriter_.Erase(v.DefiningOp());
    return changed;
  }

 private:
  // What products want, and all that is linked with it, where that pays.
  void FindValues() {
    std::unordered_set<uint32_t> done;  // ops: one that reads many values, or one many times, once
    std::unordered_set<uint32_t> seen;
    for (const Operation op : body_) {
      if (!IsProduct(op) || done.count(op.id()) > 0) continue;
      const Group group = GroupOf(op, &done, &seen);
      if (EndsOf(group, body_) >= group.shifted) continue;
      for (const Value v : group.values) members_.insert(v.id());
    }
  }

  Group GroupOf(Operation product, std::unordered_set<uint32_t>* done,
                std::unordered_set<uint32_t>* seen) {
    Group group;
    const auto add = [&](Operation op) {
      if (!done->insert(op.id()).second) return;
      const std::vector<Value> linked = LinkedValues(op, ChangeableForm(op));
      if (IsProduct(op)) group.shifted += linked.size();
      for (const Value v : linked)
        if (seen->insert(v.id()).second) group.values.push_back(v);
    };
    add(product);
    for (size_t i = 0; i < group.values.size(); ++i) {
      const Value v = group.values[i];
      if (const Operation op = v.DefiningOp()) add(op);
      for (const ir::OpOperand use : v.uses())
        if (use.owner().block() == body_) add(use.owner());
    }
    return group;
  }

  // Makes op anew if any of its values is to change.
  bool Change(Operation op) {
    const Form form = ChangeableForm(op);
    const bool has_result = form.result_zero >= 0 || !form.data.empty();
    const bool signs_result =
        has_result && IsU8(op.result()) && members_.count(op.result().id()) > 0;
    bool reads = false;
    for (const uint32_t i : form.data) reads |= IsMember(op.operand(i));
    if (!signs_result && !reads) return false;

    ir::OperationState state{
        .opcode = op.opcode(), .operands = op.operands().vec(), .attrs = op.attrs()};
    for (size_t i = 0; i < form.data.size(); ++i) {
      Value& operand = state.operands[form.data[i]];
      if (!IsU8(operand) || (!form.links && !reads)) continue;
      operand = SignedValue(operand, op);
      if (!form.zeros.empty()) SignConstant(&state.operands[form.zeros[i]], op);
    }
    rewriter_.SetInsertionPoint(op);
    rewriter_.set_location(op.location());
    if (op.Is<fused::QLookup>()) {
      state.operands[1] = rewriter_.Constant(TableOf(op, reads, signs_result));
    } else if (signs_result && form.result_zero >= 0) {
      SignConstant(&state.operands[static_cast<size_t>(form.result_zero)], op);
      SignClamp(&state.attrs);
    }
    return Replace(op, std::move(state), signs_result);
  }

  // False, and nothing is replaced, where types cannot be inferred.
  bool Replace(Operation op, ir::OperationState state, bool signs_result) {
    Operation changed;
    std::string error;
    if (!rewriter_.TryCreate(std::move(state), 1, &changed, &error)) return false;
    const Value made = changed.result();
    if (op.Is<ops::Transpose>()) {
      // Its u8 form stays for those who read u8: transposes sink through tables.
      signed_[op.result().id()] = made;
      maybe_unused_.push_back(made);
      maybe_unused_.push_back(op.result());
      return true;
    }
    KeepConstantsOf(op);
    members_.erase(op.result().id());  // another value may get its number
    if (!signs_result) {
      rewriter_.Replace(op, {made});
      return true;
    }
    const Value back = rewriter_.Make<fused::QLookup>({made, Shift(DataType::kU8)});
    rewriter_.Replace(op, {back});
    signed_[back.id()] = made;
    maybe_unused_.push_back(back);
    return true;
  }

  // To be erased at last, if nothing reads them then.
  void KeepConstantsOf(Operation op) {
    for (const Value v : op.operands())
      if (v && ir::IsConstant(v)) constants_.push_back(v);
  }

  bool IsMember(Value v) const {
    return v && (members_.count(v.id()) > 0 || signed_.count(v.id()) > 0);
  }

  // v as i8, for op.
  Value SignedValue(Value v, Operation op) {
    Value& result = signed_[v.id()];
    if (result) return result;
    if (const Operation def = v.DefiningOp()) {
      rewriter_.SetInsertionPointAfter(def);
    } else {
      rewriter_.SetInsertionPointToStart(body_);
    }
    rewriter_.set_location(op.location());
    if (const Attribute dense = ir::Contents(v))
      return result = rewriter_.Constant(Signed(context_, dense));
    return result = rewriter_.Make<fused::QLookup>({v, Shift(DataType::kI8)});
  }

  void SignConstant(Value* operand, Operation op) {
    rewriter_.SetInsertionPoint(op);
    *operand = rewriter_.Constant(Signed(context_, ir::Contents(*operand)));
  }

  void SignClamp(ir::AttrDict* attrs) {
    const Attribute clamp = attrs->Get("clamp");
    if (!clamp || clamp.AsInts().empty()) return;
    ir::Ints bounds = clamp.AsInts();
    for (int64_t& bound : bounds) bound -= kShift;
    *attrs = context_->With(*attrs, ir::Name("clamp"), context_->IntsAttr(bounds));
  }

  // From one type to the other.
  Value Shift(DataType to) {
    std::array<std::byte, kEntries> table;
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::byte>(i ^ kShift);
    return rewriter_.Constant(
        context_->DenseAttr(context_->TensorType(to, ir::Shape{kEntries}), table));
  }

  // Entries are found by the bits of x.
  Attribute TableOf(Operation op, bool reads, bool signs_result) {
    const Attribute table = ir::Contents(op.operand(1));
    std::array<std::byte, kEntries> entries;
    for (size_t i = 0; i < entries.size(); ++i) entries[i] = table.bytes()[reads ? i ^ kShift : i];
    const Attribute moved = context_->DenseAttr(table.dense_type(), entries);
    return signs_result ? Signed(context_, moved) : moved;
  }

  const ir::Block body_;
  ir::IrContext* const context_;
  ir::Rewriter rewriter_;
  std::unordered_set<uint32_t> members_;
  std::unordered_map<uint32_t, Value> signed_;  // by u8 value
  std::vector<Value> maybe_unused_;             // what else was made, in order
  std::vector<Value> constants_;                // operands of ops that are gone
};

class SignActivations : public Pass {
 public:
  SignActivations()
      : Pass("sign-activations",
             "u8 activations of products with i8 weights become i8, in connected groups",
             {.numerics = drr::NumericClass::kExact}) {}

  absl::Status Run(ir::Program& program) override {
    const int64_t changed = SignedActivations(program).Run();
    if (changed == 0) return absl::OkStatus();
    Count("ops", changed);
    MarkChanged();
    return absl::OkStatus();
  }
};
WEFT_REGISTER_PASS(SignActivations);

}  // namespace
}  // namespace weft::passes
