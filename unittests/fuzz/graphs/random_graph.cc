#include "unittests/fuzz/graphs/random_graph.h"

#include "unittests/fixtures/golden.h"
#include "unittests/fuzz/graphs/graph_maker.h"

namespace weft::fuzz {
namespace {

const std::vector<std::string>& GoldenPaths(const std::string& root) {
  static const auto* paths = [&] {  // reading the folders takes longer than making a graph
    auto* all = new std::vector<std::string>;
    for (const auto& list :
         {fixtures::FiringGoldenFiles(root), fixtures::NearMissGoldenFiles(root)})
      for (const std::string& name : list) all->push_back(root + "/" + name);
    return all;
  }();
  return *paths;
}

ir::DataType RandomType(Random& random) {
  constexpr ir::DataType kTypes[] = {ir::DataType::kF32, ir::DataType::kF32,  ir::DataType::kF32,
                                     ir::DataType::kF32, ir::DataType::kF32,  ir::DataType::kF32,
                                     ir::DataType::kF64, ir::DataType::kF16,  ir::DataType::kI64,
                                     ir::DataType::kI32, ir::DataType::kBool, ir::DataType::kU8};
  return random.Pick(kTypes);
}

void AddStep(GraphMaker& maker, const GraphOptions& options) {
  constexpr size_t kMaxDepth = 2;
  Random& random = maker.random();
  if (maker.has_control() && maker.depth() < kMaxDepth && random.Chance(20)) {
    AddControlFlow(maker, [&] { AddStep(maker, options); });
  } else if (!options.golden_root.empty() && random.Chance(30)) {
    SpliceGolden(maker, random.Pick(GoldenPaths(options.golden_root)));
  } else {
    AddRandomOp(maker);
  }
}

}  // namespace

std::unique_ptr<ir::Program> MakeRandomGraph(ir::IrContext& context, const GraphOptions& options) {
  GraphMaker maker(context, options.seed);
  Random& random = maker.random();
  for (size_t i = 1 + random.Below(3); i > 0; --i) {
    const ir::DataType dtype = i == 1 ? ir::DataType::kF32 : RandomType(random);
    maker.AddInput(context.TensorType(dtype, RandomShape(random)));
  }
  for (int step = 0; step < options.steps; ++step) AddStep(maker, options);
  return maker.Finish();
}

}  // namespace weft::fuzz
