// One inference per iteration: the shipped models, and those in $WEFT_MODELS (a folder of .onnx
// files, made by benchmarks/models/export.py), under the pipelines layout (unfused) and fuse, with
// one thread and two.
//
//   WEFT_MODELS=build/models build/release/bin/bench_run_models --benchmark_filter=resnet50
//
// The CPU column is the calling thread's time: at one thread it is steady on a busy machine too.
// Counters: steps of the plan, and the arena in MB.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/session.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "tools/onnx/import.h"

namespace weft {
namespace {

absl::StatusOr<std::unique_ptr<ir::Program>> Load(ir::IrContext& context, const std::string& path,
                                                  const std::string& pipeline) {
  WEFT_ASSIGN_OR_RETURN(auto program, onnx::ImportOnnx(context, path));
  WEFT_ASSIGN_OR_RETURN(const auto evaluator, kernels::KernelEvaluator::Create("auto"));
  passes::PassManager manager(&context);
  manager.pass_context().evaluator = evaluator.get();
  manager.AddPass(passes::MakePass("widen-floats"));  // as ir-run begins: fused ops are f32
  for (const std::string& pass : passes::FindPipeline(pipeline)->passes)
    manager.AddPass(passes::MakePass(pass));
  WEFT_RETURN_IF_ERROR(manager.Run(*program));
  return program;
}

absl::Status RunModel(benchmark::State& state, const std::string& path, const std::string& pipeline,
                      const std::string& provider, int threads) {
  ir::IrContext context;
  WEFT_ASSIGN_OR_RETURN(const auto program, Load(context, path, pipeline));
  WEFT_ASSIGN_OR_RETURN(
      const auto session,
      kernels::Session::Create(*program,
                               {.threads = threads, .provider = provider, .oversubscribe = true}));
  WEFT_ASSIGN_OR_RETURN(const auto inputs, kernels::RandomInputs(session->inputs(), 1));
  std::vector<std::span<const int64_t>> dims;
  std::vector<kernels::TensorView> input_views, output_views;
  for (const kernels::Tensor& input : inputs) {
    dims.emplace_back(input.dims());
    input_views.push_back(input.view());
  }
  WEFT_ASSIGN_OR_RETURN(const kernels::Plan* const plan, session->PlanFor(dims));
  std::vector<kernels::Tensor> outputs;
  outputs.reserve(plan->output_types().size());
  for (const ir::Type type : plan->output_types()) {
    WEFT_ASSIGN_OR_RETURN(auto output, kernels::Tensor::Create(type.dtype(), type.shape()));
    outputs.push_back(std::move(output));
    output_views.push_back(outputs.back().view());
  }
  WEFT_RETURN_IF_ERROR(session->Run(input_views, output_views));
  for (auto _ : state) {
    if (absl::Status status = session->Run(input_views, output_views); !status.ok()) return status;
  }
  state.counters["steps"] = static_cast<double>(plan->steps().size());
  state.counters["arena_MB"] = static_cast<double>(plan->arena_bytes()) * 1e-6;
  return absl::OkStatus();
}

std::vector<std::filesystem::path> ModelFiles() {
  std::vector<std::string> folders = {WEFT_TEST_DATA_DIR "/models"};
  if (const char* more = std::getenv("WEFT_MODELS")) folders.emplace_back(more);
  std::vector<std::filesystem::path> files;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
  const auto same = [](const auto& a, const auto& b) { return a.filename() == b.filename(); };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

void RegisterModel(const std::filesystem::path& file, const std::string& pipeline,
                   const std::string& provider, int threads) {
  const std::string name =
      file.stem().string() + "/" + pipeline + "/" + provider + "/" + std::to_string(threads);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 const absl::Status status =
                                     RunModel(state, file.string(), pipeline, provider, threads);
                                 if (!status.ok())
                                   state.SkipWithError(std::string(ir::Message(status)).c_str());
                               })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

const bool kRegistered = [] {
  for (const auto& file : ModelFiles())
    for (const char* pipeline : {"layout", "fuse"})
      for (const char* provider : {"auto", "xnnpack"})
        for (const int threads : {1, 2}) RegisterModel(file, pipeline, provider, threads);
  return true;
}();

}  // namespace
}  // namespace weft
