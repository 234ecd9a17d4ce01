#include "ir/analysis/flops.h"

#include <algorithm>
#include <string>

#include "ir/analysis/constant.h"
#include "ir/analysis/reference_body.h"
#include "ir/dialects/onnx/control.h"
#include "ir/dialects/onnx/nn/recurrent.h"

namespace weft::ir {
namespace {

constexpr Flops kUnknown = {.count = 0, .num_unknown = 1};

bool IsStatic(Value value) { return !value || !value.type().IsTensor() || value.type().IsStatic(); }

bool HasKnownSizes(Operation op) {
  const auto operands = op.operands();
  const auto results = op.results();
  return std::all_of(operands.begin(), operands.end(), IsStatic) &&
         std::all_of(results.begin(), results.end(), IsStatic);
}

double Elements(Value value) { return static_cast<double>(value.type().NumElements()); }

// x is [T, B, input] or [B, T, input]; w and r hold the weights of all gates and directions.
double RecurrentFlops(Operation op) {
  const Type x = op.operand(0).type();
  return 2.0 * static_cast<double>(x.dim(0)) * static_cast<double>(x.dim(1)) *
         (Elements(op.operand(1)) + Elements(op.operand(2)));
}

Flops CountBlock(Block block) {
  Flops sum;
  for (const Operation op : block) {
    const Flops one = CountFlops(op);
    sum.count += one.count;
    sum.num_unknown += one.num_unknown;
  }
  return sum;
}

// In a program of its own, whose inputs have the types of the operands.
Flops CountBody(Operation op) {
  Program program(op.context());
  Builder builder(&program);
  std::vector<Value> operands;
  for (const Value operand : op.operands()) {
    if (!operand) {
      operands.emplace_back();
    } else if (const Attribute constant = ConstantValue(operand)) {
      operands.push_back(builder.Constant(constant));
    } else {
      operands.push_back(builder.AddInput("x" + std::to_string(operands.size()), operand.type()));
    }
  }
  if (BuildReferenceBody(builder, op, operands).size() != op.num_results())
    return op.HasTrait(kElementwise) ? Flops{.count = Elements(op.result(0))} : kUnknown;
  return CountBlock(program.body());
}

Flops CountLargerBranch(Operation op) {
  Flops larger;
  for (uint32_t i = 0; i < op.num_regions(); ++i) {
    const Flops branch = CountBlock(op.region(i).front());
    larger.count = std::max(larger.count, branch.count);
    larger.num_unknown = std::max(larger.num_unknown, branch.num_unknown);
  }
  return larger;
}

}  // namespace

Flops CountFlops(Operation op) {
  if (op.HasTrait(kTerminator) || op.HasTrait(kConstantLike) || op.HasTrait(kView)) return {};
  if (!op.def()) return kUnknown;
  if (op.Is<ops::If>()) return CountLargerBranch(op);
  if (op.num_regions() > 0 && !op.HasTrait(kBodyInRegion)) return kUnknown;
  const bool is_recurrent = op.Is<ops::RNN>() || op.Is<ops::GRU>() || op.Is<ops::LSTM>();
  const bool has_own = op.def()->flops || is_recurrent;
  if (!has_own && !HasReferenceBody(op) && !op.HasTrait(kElementwise)) return {};
  if (!HasKnownSizes(op)) return kUnknown;
  if (op.def()->flops) return {.count = op.def()->flops(op)};
  if (is_recurrent) return {.count = RecurrentFlops(op)};
  if (HasReferenceBody(op)) return CountBody(op);
  return {.count = Elements(op.result(0))};
}

Flops CountFlops(Program& program) { return CountBlock(program.body()); }

}  // namespace weft::ir
