#include "tools/ir_opt/neighbourhood.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "tools/onnx/part_notes.h"
#include "weft/check/extract.h"

namespace weft::tools {
namespace {

using ir::Operation;
using ir::Program;
using ir::Value;

constexpr uint32_t kManyUsers = 16;  // of a value: they are no neighbours of each other

bool IsOrdinary(Operation op) {
  return op && !op.HasTrait(ir::kTerminator) && !op.HasTrait(ir::kConstantLike);
}

std::vector<Operation> OpsOf(Program& program) {
  std::vector<Operation> ops;
  for (const Operation op : program.body()) ops.push_back(op);
  return ops;
}

// What makes the operands, reads the results, or reads the same operands.
std::vector<Operation> NeighboursOf(Operation op) {
  std::vector<Operation> neighbours;
  const auto add_users = [&](Value value) {
    if (value.use_count() > kManyUsers) return;
    for (const Operation user : value.users()) neighbours.push_back(HolderInBody(user));
  };
  const std::vector<Value> read = ValuesReadBy(op);
  for (const Value value : read)
    if (const Operation maker = value.DefiningOp()) neighbours.push_back(maker);
  for (const Value result : op.results()) add_users(result);
  for (const Value value : read) add_users(value);
  return neighbours;
}

}  // namespace

Neighbourhood::Neighbourhood(Program& program, Operation root)
    : copy_(program.Clone()), originals_(OpsOf(program)), copies_(OpsOf(*copy_)) {
  if (!root) return;
  const Operation holder = HolderInBody(root);
  const auto at = std::find(originals_.begin(), originals_.end(), holder) - originals_.begin();
  if (at < static_cast<std::ptrdiff_t>(copies_.size()))
    changed_ = {copies_[static_cast<size_t>(at)]};
}

void Neighbourhood::Settle() {
  std::vector<Operation> changed;
  for (size_t i = 0; i < originals_.size(); ++i) {
    const Operation op = originals_[i], copy = copies_[i];
    if (!IsOrdinary(copy)) continue;
    const bool stays = op.IsAlive() && op.opcode() == copy.opcode() && op.attrs() == copy.attrs() &&
                       op.num_operands() == copy.num_operands();
    if (!stays) changed.push_back(copy);
  }
  if (!changed.empty()) changed_ = std::move(changed);
}

std::vector<Operation> Neighbourhood::ByDistance() const {
  std::vector<Operation> ops = changed_;
  if (ops.empty())  // of a pass as a whole: the first ones
    std::copy_if(copies_.begin(), copies_.end(), std::back_inserter(ops), IsOrdinary);
  std::unordered_set<uint32_t> seen;
  for (const Operation op : ops) seen.insert(op.id());
  for (size_t i = 0; i < ops.size(); ++i)
    for (const Operation neighbour : NeighboursOf(ops[i]))
      if (IsOrdinary(neighbour) && seen.insert(neighbour.id()).second) ops.push_back(neighbour);
  return ops;
}

std::unique_ptr<Program> Neighbourhood::Part(size_t more, size_t most) {
  std::vector<Operation> ops = ByDistance();
  ops.resize(std::min(ops.size(), changed_.size() + more));
  for (;;) {
    std::unique_ptr<Program> part = ExtractOps(*copy_, ops);
    const size_t size = part->body().num_ops() - 1;  // without builtin.return
    if (size <= most || ops.size() <= std::max<size_t>(1, changed_.size())) {
      onnx::DropNotesOfOthers(*part);
      return part;
    }
    ops.pop_back();
  }
}

}  // namespace weft::tools
