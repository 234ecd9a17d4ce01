#include "kernels/runtime/segments/program_cut.h"

#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/walk.h"
#include "kernels/runtime/registry.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

bool HasKnownSizes(ir::Operation op) {
  return AreInPlans(op.operands(), op.results()) &&
         std::all_of(op.results().begin(), op.results().end(),
                     [](ir::Value value) { return value.type().IsStatic(); });
}

// Whether operand i may say how large the results are, and so becomes a constant: those that are no
// data, if there are any to learn; else those that are short.
bool IsLearnable(ir::Operation op, uint32_t i, bool short_ones) {
  const ir::Value value = op.operand(i);
  if (!value || ir::ConstantValue(value) || !value.type().IsStatic()) return false;
  if (value.type().NumBytes() > ProgramCut::kMaxLearnedBytes ||
      ir::ElementSize(value.type().dtype()) == 0)
    return false;
  if (short_ones) return value.type().rank() <= 1 && value.type().NumElements() <= 64;
  return op.def() && i < 32 && (op.def()->info->data >> i & 1) == 0;
}
std::vector<uint32_t> LearnableOperands(ir::Operation op) {
  std::vector<uint32_t> operands;
  for (const bool short_ones : {false, true}) {
    for (uint32_t i = 0; i < op.num_operands(); ++i)
      if (IsLearnable(op, i, short_ones)) operands.push_back(i);
    if (!operands.empty()) break;
  }
  return operands;
}

// The operands of an op, and what its regions read from outside.
std::vector<ir::Value> ValuesRead(ir::Operation op) {
  std::vector<ir::Value> values = op.operands().vec();
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    ir::Walk(op.region(i), [&](ir::Operation inner) {
      for (const ir::Value v : inner.operands())
        if (v && v.ParentBlock() == op.block()) values.push_back(v);
    });
  return values;
}

}  // namespace

bool HasKnownSizes(ir::Program& program) {
  const ir::Block body = program.body();
  return AreInPlans(body.arguments()) &&
         std::all_of(body.begin(), body.end(), [](ir::Operation op) { return HasKnownSizes(op); });
}

std::vector<ir::Operation> OpsOf(ir::Program& program) {
  std::vector<ir::Operation> ops;
  for (const ir::Operation op : program.body()) ops.push_back(op);
  return ops;
}

bool IsConstantOp(ir::Operation op) {
  return op.num_results() == 1 && ir::ConstantValue(op.result());
}

ProgramCut::Role ProgramCut::RoleOf(ir::Operation op, const std::vector<std::string>& providers) {
  if (op.Is<ir::ReturnOp>()) return Role::kReturn;
  if (IsConstantOp(op)) return Role::kConstant;
  bool reads_given = false;
  for (const ir::Value v : ValuesRead(op)) {
    if (!v || ir::ConstantValue(v) || ready_.count(v.id())) continue;
    if (!given_.count(v.id())) return Role::kWaiting;
    reads_given = true;
  }
  const std::string provider = StepProvider(op, providers);
  if (reads_given && !KernelHas(op.opcode(), provider, kTakesSequences)) return Role::kWaiting;
  if (!reads_given && HasKnownSizes(op)) return Role::kPlanned;
  if (provider.empty()) {
    for (const uint32_t i : LearnableOperands(op)) {
      needed_by_rest[op.operand(i).id()] = true;
      is_progress = true;
    }
    return Role::kWaiting;
  }
  is_progress = true;
  return Role::kDynamic;
}

ProgramCut::ProgramCut(ir::Program& program, const std::vector<std::string>& providers)
    : ops(OpsOf(program)) {
  for (const ir::Value v : program.body().arguments()) {
    ready_[v.id()] = true;
    Add(v);
  }
  num_inputs = values.size();
  std::unordered_map<uint32_t, bool> needed;  // by others than planned ops
  for (const ir::Operation op : ops) {
    const Role role = roles.emplace_back(RoleOf(op, providers));
    if (role == Role::kPlanned)
      for (const ir::Value v : op.results()) ready_[v.id()] = true;
    if (role == Role::kDynamic)
      for (const ir::Value v : op.results())
        if (v.type().HasElement() || HoldsStrings(v.type()) || v.type().IsStatic())
          given_[v.id()] = true;
    if (role == Role::kPlanned || role == Role::kConstant) continue;
    for (const ir::Value v : ValuesRead(op)) {
      if (!v || ir::ConstantValue(v)) continue;
      needed[v.id()] = true;
      if (role != Role::kDynamic) needed_by_rest.emplace(v.id(), false);
    }
  }
  for (const Role wanted : {Role::kPlanned, Role::kDynamic}) {
    for (size_t i = 0; i < ops.size(); ++i)
      for (const ir::Value v : ops[i].results())
        if (roles[i] == wanted && (wanted == Role::kDynamic || needed.count(v.id()))) Add(v);
    if (wanted == Role::kPlanned) num_planned = values.size() - num_inputs;
  }
}

}  // namespace weft::kernels
