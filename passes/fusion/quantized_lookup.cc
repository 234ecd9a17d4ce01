// fuse-quantized-lookup: any function of one 8-bit number is a table of its 256 values.
//
//   q(f(g(dq(x))))  =>  qlookup(x, table)
//
// f, g... are elementwise ops with constants of one element, each used by the next ones only (a Swish
// uses x twice); without any, the table requantises. It is computed with the evaluator of the run.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "ir/analysis/constant.h"
#include "ir/builder.h"
#include "ir/dialects/fused/quantized_elementwise.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/infer.h"
#include "ir/origin/origin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Attribute;
using ir::DataType;
using ir::Operation;
using ir::Value;

constexpr size_t kMaxOps = 32;
constexpr int64_t kEntries = 256;

bool IsByte(DataType dtype) { return dtype == DataType::kI8 || dtype == DataType::kU8; }
bool IsOneConstant(Value v) { return v.type().NumElements() == 1 && ir::Contents(v); }

// From or to 8 bits by one constant scale and zero point.
template <class Op>
bool IsPerTensor(Operation op) {
  if (!op || !op.Is<Op>() || op.attrs_of<Op>().block_size != 0) return false;
  for (uint32_t i = 1; i < op.num_operands(); ++i)
    if (op.operand(i) && !IsOneConstant(op.operand(i))) return false;
  const Value stored = op.Is<ops::QuantizeLinear>() ? op.result() : op.operand(0);
  const Value real = op.Is<ops::QuantizeLinear>() ? op.operand(0) : op.result();
  return stored.type().HasRank() && IsByte(stored.type().dtype()) && real.type().IsTensor() &&
         real.type().dtype() == DataType::kF32;
}

// What lies between one 8-bit value and a QuantizeLinear.
struct Function {
  Value x;
  std::vector<Operation> ops;  // operands before users, the DequantizeLinears and the root included
};

class FunctionFinder {
 public:
  explicit FunctionFinder(Operation root) : root_(root) {}

  bool Find(Function* function) {
    if (!IsPerTensor<ops::QuantizeLinear>(root_) || !Visit(root_.operand(0), 0)) return false;
    if (!x_) return false;  // of constants only, which folding computes
    order_.push_back(root_);
    members_.insert(root_.id());
    for (const Operation op : order_)
      if (!op.Is<ops::DequantizeLinear>() && op != root_ && !IsPrivate(op)) return false;
    *function = {x_, order_};
    return ir::ProvablySameShape(x_.type(), root_.result().type());
  }

 private:
  bool Visit(Value v, size_t depth) {
    const Operation op = v.DefiningOp();
    if (!op || depth > kMaxOps || op.block() != root_.block()) return false;
    if (members_.count(op.id()) > 0) return true;
    if (order_.size() >= kMaxOps) return false;
    if (IsPerTensor<ops::DequantizeLinear>(op)) {
      if (x_ && x_ != op.operand(0)) return false;
      x_ = op.operand(0);
    } else {
      if (!op.HasTrait(ir::kPure) || !op.HasTrait(ir::kElementwise) || op.num_results() != 1 ||
          op.num_regions() != 0 || !v.type().IsTensor() || v.type().dtype() != DataType::kF32)
        return false;
      for (const Value operand : op.operands())
        if (operand && !IsOneConstant(operand) && !Visit(operand, depth + 1)) return false;
    }
    members_.insert(op.id());
    order_.push_back(op);
    return true;
  }

  bool IsPrivate(Operation op) const {
    for (const ir::OpOperand use : op.result().uses())
      if (members_.count(use.owner().id()) == 0) return false;
    return true;
  }

  const Operation root_;
  Value x_;
  std::vector<Operation> order_;
  std::unordered_set<uint32_t> members_;
};

class FuseQuantizedLookup : public Pass {
 public:
  FuseQuantizedLookup()
      : Pass("fuse-quantized-lookup", "functions of one 8-bit number become tables",
             {.numerics = drr::NumericClass::kReassociates}) {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    WEFT_ASSIGN_OR_RETURN(evaluator_, EvaluatorOf(pass_context));
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    if (!evaluator_) return absl::OkStatus();  // the run computes no constants
    std::vector<Operation> roots;
    ir::Walk(program, [&](Operation op) {
      if (op.Is<ops::QuantizeLinear>()) roots.push_back(op);
    });
    ir::Rewriter rewriter(&program);
    for (const Operation root : roots) {
      Function function;
      if (!FunctionFinder(root).Find(&function)) continue;
      const Attribute table = TableOf(function);
      if (!table) continue;
      rewriter.SetInsertionPoint(root);
      rewriter.set_location(root.location());
      const Value y = rewriter.Make<ir::fused::QLookup>({function.x, rewriter.Constant(table)});
      const Value last = root.operand(0);
      ir::AddSources(y.DefiningOp(), function.ops);
      rewriter.Replace(root, {&y, 1});
      if (last.IsUnused()) rewriter.EraseWithDeadOperands(last.DefiningOp());
      Count("tables");
      MarkChanged();
    }
    return absl::OkStatus();
  }

 private:
  // Null where no kernel computes it.
  Attribute TableOf(const Function& function) {
    ir::IrContext* context = function.x.context();
    ir::Program program(context);
    ir::Builder builder(&program);
    std::unordered_map<uint32_t, Value> copies;       // by value of the program
    std::unordered_map<uint32_t, Attribute> results;  // by value of the copy
    std::array<std::byte, kEntries> all;
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
    const auto add = [&](Attribute dense) {
      const Value copy = builder.Constant(dense);
      results[copy.id()] = dense;
      return copy;
    };
    const auto byte_type = [&](Value v) {
      return context->TensorType(v.type().dtype(), ir::Shape{kEntries});
    };
    copies[function.x.id()] = add(context->DenseAttr(byte_type(function.x), all));
    Attribute last;
    for (const Operation op : function.ops) {
      ir::OperationState state{.opcode = op.opcode(), .attrs = op.attrs()};
      std::vector<Attribute> operands;
      for (const Value operand : op.operands()) {
        Value copy;
        if (operand) {
          const auto known = copies.find(operand.id());
          copy = known != copies.end() ? known->second : add(ir::Contents(operand));
          copies[operand.id()] = copy;
        }
        state.operands.push_back(copy);
        operands.push_back(copy ? results[copy.id()] : Attribute());
      }
      std::vector<ir::Type> types(1);
      std::string error;
      if (!ir::InferResultTypes(context, state, 1, &types, &error)) return {};
      state.result_types = types;
      const Operation copy = builder.Create(std::move(state));
      const auto computed = evaluator_->Evaluate(copy, operands);
      if (!computed.ok() || computed->size() != 1) return {};
      last = (*computed)[0];
      results[copy.result().id()] = last;
      copies[op.result().id()] = copy.result();
    }
    if (last.dense_type().NumElements() != kEntries) return {};
    return context->DenseAttr(byte_type(function.ops.back().result()), last.bytes());
  }

  ir::Evaluator* evaluator_ = nullptr;
};
WEFT_REGISTER_PASS(FuseQuantizedLookup);

}  // namespace
}  // namespace weft::passes
