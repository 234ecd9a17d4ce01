#include "unittests/fuzz/graphs/reduce_graph.h"

#include <string>
#include <utility>
#include <vector>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/dialects/builtin.h"
#include "ir/walk.h"

namespace weft::fuzz {
namespace {

// What stays: by output, and by position of the operation in the body.
struct Choice {
  std::vector<bool> outputs, operations;
};

Choice Everything(ir::Program& program) {
  Choice all;
  all.outputs.assign(program.body().Terminator().num_operands(), true);
  for (ir::Operation op = program.body().front(); op; op = op.next())
    all.operations.push_back(true);
  return all;
}

// The operations, by position, that outputs need.
std::vector<bool> Needed(ir::Program& program, const Choice& choice) {
  std::vector<ir::Operation> ops;
  for (ir::Operation op = program.body().front(); op; op = op.next()) ops.push_back(op);
  std::vector<uint32_t> wanted;  // values
  const auto want = [&](ir::Value value) {
    if (value) wanted.push_back(value.id());
  };
  const ir::Operation end = program.body().Terminator();
  for (uint32_t i = 0; i < end.num_operands(); ++i)
    if (choice.outputs[i]) want(end.operand(i));
  std::vector<bool> needed(ops.size(), false);
  for (size_t i = ops.size() - 1; i-- > 0;) {
    for (const ir::Value result : ops[i].results())
      for (const uint32_t id : wanted) needed[i] = needed[i] || id == result.id();
    if (!needed[i] || !choice.operations[i]) continue;
    for (const ir::Value operand : ops[i].operands()) want(operand);
    for (uint32_t r = 0; r < ops[i].num_regions(); ++r)
      ir::Walk(ops[i].region(r), [&](ir::Operation inner) {
        for (const ir::Value operand : inner.operands()) want(operand);
      });
  }
  return needed;
}

std::unique_ptr<ir::Program> Build(ir::Program& program, const Choice& choice) {
  auto made = std::make_unique<ir::Program>(program.context());
  ir::Builder builder(made.get());
  ir::ValueMap map;
  int inputs = 0;
  const auto input = [&](ir::Value value) {
    map.Set(value, builder.AddInput("x" + std::to_string(inputs++), value.type()));
  };
  const std::vector<bool> needed = Needed(program, choice);
  size_t at = 0;
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value argument : program.body().arguments()) input(argument);
  for (ir::Operation op = program.body().front(); op; op = op.next(), ++at) {
    if (op.Is<ir::ReturnOp>()) {
      for (uint32_t i = 0; i < op.num_operands(); ++i)
        if (choice.outputs[i])
          outputs.emplace_back("y" + std::to_string(i), map.Get(op.operand(i)));
    } else if (needed[at] && choice.operations[at]) {
      ir::CloneOperation(builder, op, map);
    } else if (needed[at]) {
      for (const ir::Value result : op.results()) input(result);
    }
  }
  builder.Return(std::move(outputs));
  return made;
}

}  // namespace

std::unique_ptr<ir::Program> ReduceGraph(const ir::Program& program,
                                         const std::function<bool(ir::Program&)>& fails) {
  std::unique_ptr<ir::Program> whole = program.Clone();
  Choice choice = Everything(*whole);
  const auto try_without = [&](std::vector<bool>& list, size_t i) {
    list[i] = false;
    const auto smaller = Build(*whole, choice);
    if (!ir::Verify(*smaller).ok() || !fails(*smaller)) list[i] = true;
  };
  size_t left = choice.outputs.size();
  for (size_t i = choice.outputs.size(); i-- > 0 && left > 1;) {
    try_without(choice.outputs, i);
    left -= !choice.outputs[i];
  }
  for (size_t i = 0; i + 1 < choice.operations.size(); ++i)
    if (Needed(*whole, choice)[i]) try_without(choice.operations, i);
  return Build(*whole, choice);
}

}  // namespace weft::fuzz
