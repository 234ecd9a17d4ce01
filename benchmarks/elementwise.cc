// A chain of six elementwise ops, one by one and as one loop (fuse-elementwise).
//
//   build/release/bin/bench_elementwise
//
// Arguments: the chain (0: y = max((x * s + z) * b - z, 0) * x, bound by memory; 1: with Tanh and
// Sigmoid in it), fused or not, elements in thousands, threads. Time is per run of the whole chain.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/session.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft {
namespace {

namespace ops = ir::ops;
using ir::Value;

constexpr int64_t kColumns = 500;

void Build(ir::Builder& b, bool transcendental, int64_t rows) {
  const auto type = [&](std::initializer_list<int64_t> dims) {
    return b.context()->TensorType(ir::DataType::kF32, dims);
  };
  const Value x = b.AddInput("x", type({rows, kColumns})), z = b.AddInput("z", x.type());
  const Value bias = b.AddInput("b", type({kColumns}));
  Value y = b.Make<ops::Mul>({x, b.ConstantScalar(ir::DataType::kF32, 0.75)});
  y = b.Make<ops::Add>({y, z});
  y = transcendental ? b.Make<ops::Tanh>({y}) : b.Make<ops::Mul>({y, bias});
  y = b.Make<ops::Sub>({y, z});
  y = transcendental ? b.Make<ops::Sigmoid>({y}) : b.Make<ops::Relu>({y});
  b.Return({{"y", b.Make<ops::Mul>({y, x})}});
}

absl::Status RunChain(benchmark::State& state) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::Program program(&context);
  ir::Builder builder(&program);
  Build(builder, state.range(0) != 0, state.range(2) * 1000 / kColumns);
  if (state.range(1) != 0) {
    passes::PassManager manager(&context);
    manager.AddPass(passes::MakePass("fuse-elementwise"));
    WEFT_RETURN_IF_ERROR(manager.Run(program));
  }
  WEFT_ASSIGN_OR_RETURN(
      const auto session,
      kernels::Session::Create(
          program, {.threads = static_cast<int>(state.range(3)), .oversubscribe = true}));
  WEFT_ASSIGN_OR_RETURN(const auto inputs, kernels::RandomInputs(session->inputs(), 1));
  std::vector<kernels::TensorView> views;
  for (const kernels::Tensor& input : inputs) views.push_back(input.view());
  WEFT_ASSIGN_OR_RETURN(const kernels::Tensor y,
                        kernels::Tensor::Create(ir::DataType::kF32, inputs[0].dims()));
  const std::vector<kernels::TensorView> outputs = {y.view()};
  for (auto _ : state) WEFT_RETURN_IF_ERROR(session->Run(views, outputs));
  state.SetItemsProcessed(state.iterations() * state.range(2) * 1000);
  return absl::OkStatus();
}

void Chain(benchmark::State& state) {
  if (const absl::Status status = RunChain(state); !status.ok())
    state.SkipWithError(std::string(status.message()).c_str());
}
BENCHMARK(Chain)
    ->ArgNames({"chain", "fused", "thousands", "threads"})
    ->ArgsProduct({{0, 1}, {0, 1}, {10, 1000}, {1, 2}})
    ->UseRealTime();

}  // namespace
}  // namespace weft
