#include "ir/clone.h"

#include "ir/internal/program_side_tables.h"

namespace weft::ir {

void CloneRegionInto(Builder& builder, Region from, Region to, ValueMap& map) {
  Program::Mutator mutator(builder.program());
  std::vector<Block> copies;
  for (Block block : from.blocks()) {
    const Block copy = mutator.AppendBlock(to);
    copies.push_back(copy);
    for (Value argument : block.arguments()) {
      const Value new_argument = mutator.AddArgument(copy, argument.type());
      builder.program()->SetName(new_argument, argument.name());
      map.Set(argument, new_argument);
    }
  }
  size_t i = 0;
  for (Block block : from.blocks()) {
    builder.SetInsertionPointToEnd(copies[i++]);
    for (Operation op : block) CloneOperation(builder, op, map);
  }
}

Operation CloneOperation(Builder& builder, Operation op, ValueMap& map) {
  OperationState state{.opcode = op.opcode(),
                       .attrs = op.attrs(),
                       .num_regions = op.num_regions(),
                       .location = op.location()};
  for (Value v : op.operands()) {
    state.operands.push_back(map.Get(v));
    WEFT_CHECK(!v || state.operands.back().program() == builder.program(),
               "an operation is cloned before what it uses");
  }
  for (Value v : op.results()) state.result_types.push_back(v.type());
  const Operation copy = builder.Create(std::move(state));
  internal::OriginTable::Copied(op, copy);
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    map.Set(op.result(i), copy.result(i));
    if (!op.result(i).name().empty())
      builder.program()->SetName(copy.result(i), op.result(i).name());
  }
  for (uint32_t i = 0; i < op.num_regions(); ++i) {
    Builder inner(builder.program());
    CloneRegionInto(inner, op.region(i), copy.region(i), map);
  }
  return copy;
}

Owned<Program> Program::Clone() const {
  auto* self = const_cast<Program*>(this);  // handles are not const; nothing is changed
  Owned<Program> copy(new Program(context_));
  Builder builder(copy.get());
  Mutator mutator(copy.get());
  mutator.SetAttrs(copy->module(), self->module().attrs());
  ValueMap map;
  const Block from = self->body(), to = copy->body();
  for (Value argument : from.arguments()) {
    const Value new_argument = mutator.AddArgument(to, argument.type());
    copy->SetName(new_argument, argument.name());
    map.Set(argument, new_argument);
  }
  if (side_->origins) copy->side_->origins = Owned<internal::OriginTable>(side_->origins->Copy());
  builder.SetInsertionPointToEnd(to);
  for (Operation op : from) CloneOperation(builder, op, map);
  if (side_->origins) copy->side_->origins->EndCopy();
  for (const std::string& name : ParameterNames()) copy->SetParameter(name, parameter(name));
  return copy;
}

}  // namespace weft::ir
