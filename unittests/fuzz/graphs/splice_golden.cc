// Golden programs of rules inside of random graphs: patterns, near-patterns and what is left of them
// when an operation is another.
#include <map>
#include <utility>

#include "ir/clone.h"
#include "ir/dialects/builtin.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/fuzz/graphs/graph_maker.h"

namespace weft::fuzz {
namespace {

// Null where it cannot be part of a graph.
std::unique_ptr<ir::Program> LoadStatic(GraphMaker& maker, const std::string& path) {
  const auto file = fixtures::ReadGoldenFile(path);
  if (!file.ok()) return nullptr;
  auto program = fixtures::ParseGoldenProgram(*file, maker.context());
  if (!program.ok() || !(*program)->ParameterNames().empty()) return nullptr;
  if (!fixtures::FillElidedConstants(**program, maker.random().Below(1000)).ok()) return nullptr;
  return std::move(*program);
}

// Another operand, of the same type, or the operands in another order.
void Damage(ir::OperationState& state, GraphMaker& maker) {
  if (state.operands.empty()) return;
  Random& random = maker.random();
  ir::Value& operand = state.operands[random.Below(state.operands.size())];
  if (state.operands.size() > 1 && random.Chance(40)) {
    std::swap(state.operands[0], state.operands[1]);
  } else if (operand) {
    operand = maker.LeafOrValue(operand.type());
  }
}

}  // namespace

void SpliceGolden(GraphMaker& maker, const std::string& path) {
  const std::unique_ptr<ir::Program> golden = LoadStatic(maker, path);
  if (!golden) return;
  Random& random = maker.random();
  ir::ValueMap map;
  std::map<int64_t, int64_t> sizes;  // of symbols
  for (const ir::Value argument : golden->body().arguments()) {
    if (!argument.type().HasRank()) return;
    ir::Shape dims = argument.type().shape();
    for (int64_t& dim : dims)
      if (!ir::IsStaticDim(dim))
        dim = sizes.emplace(dim, 1 + static_cast<int64_t>(random.Below(4))).first->second;
    const ir::Type type = maker.context().TensorType(argument.type().dtype(), dims);
    // Often an input: on constants most of it would be folded.
    const ir::Value value = random.Chance(60) ? maker.AddInput(type) : maker.LeafOrValue(type);
    if (!value) return;
    map.Set(argument, value);
  }
  const bool damaged = random.Chance(40);
  const size_t damage_at = random.Below(golden->num_operations());
  size_t at = 0;
  for (ir::Operation op = golden->body().front(); op; op = op.next()) {
    if (op.Is<ir::ReturnOp>()) return;
    if (op.num_regions() > 0) {
      // With symbols, what is inside would be of sizes that are not those of the graph.
      if (!maker.has_control() || !sizes.empty() || !maker.AddCopy(op, map)) return;
      continue;
    }
    if (const ir::Attribute dense = op.attr("value"); op.Is<ir::ConstantOp>() && dense) {
      map.Set(op.result(), maker.AddConstant(dense));
      continue;
    }
    ir::OperationState state{.opcode = op.opcode(), .attrs = op.attrs()};
    for (const ir::Value operand : op.operands()) state.operands.push_back(map.Get(operand));
    if (damaged && at++ == damage_at) Damage(state, maker);
    ir::Operation added;
    if (!maker.AddOp(std::move(state), op.num_results(), &added)) return;
    for (uint32_t i = 0; i < op.num_results(); ++i) map.Set(op.result(i), added.result(i));
  }
}

}  // namespace weft::fuzz
