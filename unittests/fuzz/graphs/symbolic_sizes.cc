#include "unittests/fuzz/graphs/symbolic_sizes.h"

#include <string>
#include <utility>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/dialects/builtin.h"

namespace weft::fuzz {
namespace {

ir::Type WithSymbols(ir::Type type, Random& random, std::vector<ir::DimBinding>* sizes) {
  ir::Shape shape = type.shape();
  for (int64_t& dim : shape) {
    if (!random.Chance(dim > 1 ? 70 : 15)) continue;
    std::vector<int64_t> symbols;
    for (const ir::DimBinding& known : *sizes)
      if (known.size == dim) symbols.push_back(known.symbol);
    if (symbols.empty() || random.Chance(30)) {
      symbols = {ir::SymbolicDim("n" + std::to_string(sizes->size()))};
      sizes->push_back({symbols[0], dim});
    }
    dim = random.Pick(symbols);
  }
  return type.context()->TensorType(type.dtype(), shape);
}

}  // namespace

std::optional<SymbolicGraph> WithSymbols(const ir::Program& program, Random& random) {
  const std::unique_ptr<ir::Program> original = program.Clone();
  SymbolicGraph graph{std::make_unique<ir::Program>(program.context()), {}};
  ir::Builder builder(graph.program.get());
  ir::ValueMap map;
  int inputs = 0;
  for (const ir::Value argument : original->body().arguments())
    map.Set(argument, builder.AddInput("x" + std::to_string(inputs++),
                                       WithSymbols(argument.type(), random, &graph.sizes)));
  if (graph.sizes.empty()) return std::nullopt;
  for (const ir::Operation op : original->body()) {
    if (op.num_regions() > 0) return std::nullopt;
    std::vector<ir::Value> operands;
    for (const ir::Value operand : op.operands()) operands.push_back(map.Get(operand));
    if (op.Is<ir::ReturnOp>()) {
      std::vector<std::pair<std::string, ir::Value>> outputs;
      for (const ir::Value operand : operands)
        outputs.emplace_back("y" + std::to_string(outputs.size()), operand);
      builder.Return(std::move(outputs));
      break;
    }
    ir::Operation copy;
    std::string error;
    if (!builder.TryCreate({.opcode = op.opcode(), .operands = operands, .attrs = op.attrs()},
                           op.num_results(), &copy, &error))
      return std::nullopt;
    for (uint32_t i = 0; i < op.num_results(); ++i) {
      if (!copy.result(i).type().IsTensor()) return std::nullopt;
      map.Set(op.result(i), copy.result(i));
    }
  }
  if (!ir::Verify(*graph.program).ok()) return std::nullopt;
  return graph;
}

}  // namespace weft::fuzz
