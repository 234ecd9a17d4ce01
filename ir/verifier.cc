#include "ir/verifier.h"

#include <fmt/format.h>

#include <unordered_set>

#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

absl::Status Fail(Operation op, std::string_view what) {
  const std::string_view where = op.location().str();
  return InvalidArgument(fmt::format("{}{}{}{}: {}", op.name(), where.empty() ? "" : " (", where,
                                     where.empty() ? "" : ")", what));
}

absl::Status CheckCount(Operation op, const FixedList<OperandDef, 12>& defs, size_t count,
                        std::string_view what) {
  size_t required = 0;
  bool variadic = false;
  for (const OperandDef& d : defs) {
    required += d.arity == Arity::kOne;
    variadic |= d.arity == Arity::kVariadic;
  }
  if (count >= required && (variadic || count <= defs.size())) return absl::OkStatus();
  return Fail(
      op, fmt::format("has {} {}{} but needs {}{}", count, what, count == 1 ? "" : "s", required,
                      variadic                  ? " or more"
                      : required == defs.size() ? std::string()
                                                : fmt::format(" to {}", defs.size())));
}

absl::Status CheckCounts(Operation op, const OpDef& def) {
  WEFT_RETURN_IF_ERROR(CheckCount(op, def.info->operands, op.num_operands(), "operand"));
  FixedList<OperandDef, 12> results;
  for (const OperandDef& d : def.info->results) results.items[results.count++] = d;
  WEFT_RETURN_IF_ERROR(CheckCount(op, results, op.num_results(), "result"));
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    if (op.operand(i)) continue;
    const auto& defs = def.info->operands;
    if (i < defs.size() && defs[i].arity == Arity::kOne)
      return Fail(op, fmt::format("operand {} is required but not given", defs[i].name));
  }
  return absl::OkStatus();
}

absl::Status CheckAttributes(Operation op, const OpDef& def) {
  for (const FieldDef& field : def.fields) {
    const Attribute value = op.attrs().Get(field.name);
    if (!value) {
      if (field.optional || field.make_default) continue;
      return Fail(op, fmt::format("attribute {} is required but not given", field.name.str()));
    }
    if (!field.accepts(value))
      return Fail(op, fmt::format("attribute {} has a value of the wrong kind", field.name.str()));
  }
  return absl::OkStatus();
}

absl::Status CheckTypes(Operation op, const OpDef& def) {
  if (!def.infer) return absl::OkStatus();
  std::vector<Type> inferred(op.num_results());
  std::string error;
  if (!InferResultTypes(op.context(), op.opcode(), op.operands().vec(), op.attrs(), inferred,
                        &error))
    return InvalidArgument(error);
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const Type expected = inferred[i], actual = op.result(i).type();
    if (!Compatible(actual, expected))
      return Fail(op, fmt::format("result {} is {} but its operands say {}", i, actual.ToString(),
                                  expected.ToString()));
  }
  return absl::OkStatus();
}

// The ancestor of `op` (or op itself) that lies directly in `block`; invalid when there is none.
// *crossed_isolated: an isolated op was left on the way.
Operation AncestorIn(Operation op, Block block, bool* crossed_isolated) {
  for (Operation o = op; o; o = o.ParentOp()) {
    if (o.block() == block) return o;
    const Operation parent = o.ParentOp();
    if (parent && parent.HasTrait(kIsolated)) *crossed_isolated = true;
  }
  return {};
}

absl::Status CheckOperands(Operation op) {
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    const Value value = op.operand(i);
    if (!value) continue;
    if (!value.IsAlive()) return Fail(op, fmt::format("operand {} was erased", i));
    const Block block = value.ParentBlock();
    bool crossed = false;
    const Operation user = block ? AncestorIn(op, block, &crossed) : Operation();
    if (!user) return Fail(op, fmt::format("operand {} is not defined in an enclosing block", i));
    if (crossed)
      return Fail(op, fmt::format("operand {} comes from outside an isolated region", i));
    if (value.IsBlockArgument()) continue;
    const Operation def = value.DefiningOp();
    if (def == user || !def.IsBefore(user))
      return Fail(op, fmt::format("operand {} is used before it is defined", i));
  }
  return absl::OkStatus();
}

absl::Status CheckUseList(Operation op, Value value) {
  uint32_t count = 0;
  for (OpOperand use = value.first_use(); use; use = use.next_use()) {
    if (++count > value.use_count() || !use.owner().IsAlive() || !(use.value() == value))
      return Fail(op, "its use list is broken");
  }
  if (count != value.use_count())
    return Fail(op, "its use count is not the length of its use list");
  return absl::OkStatus();
}

absl::Status CheckBlocks(Operation op) {
  const OpDef* def = op.def();
  if (def && def->info->num_regions >= 0 &&
      op.num_regions() != static_cast<uint32_t>(def->info->num_regions))
    return Fail(
        op, fmt::format("has {} regions but needs {}", op.num_regions(), def->info->num_regions));
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    for (Block block : op.region(i).blocks()) {
      for (Operation inner : block)
        if (inner.HasTrait(kTerminator) && inner.next())
          return Fail(inner, "ends its block but is not the last operation in it");
      for (Value argument : block.arguments()) WEFT_RETURN_IF_ERROR(CheckUseList(op, argument));
    }
  return absl::OkStatus();
}

absl::Status CheckModule(Program& program) {
  const auto attrs = program.module().attrs_of<ModuleOp>();
  const Block body = program.body();
  if (attrs.input_names && attrs.input_names->size() != body.num_arguments())
    return Fail(program.module(), fmt::format("has {} inputs but {} input_names",
                                              body.num_arguments(), attrs.input_names->size()));
  const Operation end = body.Terminator();
  const size_t outputs = end ? end.num_operands() : 0;
  if (attrs.output_names && attrs.output_names->size() != outputs)
    return Fail(program.module(), fmt::format("has {} outputs but {} output_names", outputs,
                                              attrs.output_names->size()));
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyOperation(Operation op) {
  if (const OpDef* def = op.def()) {
    WEFT_RETURN_IF_ERROR(CheckCounts(op, *def));
    WEFT_RETURN_IF_ERROR(CheckOperands(op));
    WEFT_RETURN_IF_ERROR(CheckAttributes(op, *def));
    WEFT_RETURN_IF_ERROR(CheckTypes(op, *def));
  } else {
    WEFT_RETURN_IF_ERROR(CheckOperands(op));
  }
  for (Value result : op.results()) WEFT_RETURN_IF_ERROR(CheckUseList(op, result));
  return absl::OkStatus();
}

absl::Status Verify(Program& program) {
  WEFT_RETURN_IF_ERROR(CheckModule(program));
  WEFT_RETURN_IF_ERROR(CheckBlocks(program.module()));
  absl::Status status;
  const bool has_parameters = !program.ParameterNames().empty();
  Walk(program, [&](Operation op) {
    if (!status.ok()) return;
    status = VerifyOperation(op);
    if (status.ok()) status = CheckBlocks(op);
    if (status.ok() && has_parameters && op.Is<GetParameterOp>()) {
      const std::string name = op.attrs_of<GetParameterOp>().parameter_name;
      if (!program.parameter(name)) status = Fail(op, "the program has no parameter " + name);
    }
  });
  return status;
}

}  // namespace weft::ir
