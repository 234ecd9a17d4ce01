// One inference per iteration: the shipped models, and those in $WEFT_MODELS (a folder of .onnx
// files, made by benchmarks/models/export.py), under the pipelines layout (unfused) and fuse, with
// one thread and two.
//
//   WEFT_MODELS=build/models build/release/bin/bench_run_models --benchmark_filter=resnet50
//
// The CPU column is the calling thread's time: at one thread it is steady on a busy machine too.
// Counters: steps of the plan, and the arena in MB.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "benchmarks/loaded_model.h"

namespace weft {
namespace {

absl::Status RunModel(benchmark::State& state, const std::string& path, const std::string& pipeline,
                      const std::string& provider, int threads) {
  WEFT_ASSIGN_OR_RETURN(const auto model, bench::LoadedModel::Load(path, pipeline));
  WEFT_RETURN_IF_ERROR(
      model->Open({.threads = threads, .provider = provider, .oversubscribe = true}));
  for (auto _ : state) {
    if (absl::Status status = model->Run(); !status.ok()) return status;
  }
  state.counters["steps"] = static_cast<double>(model->plan().steps().size());
  state.counters["arena_MB"] = static_cast<double>(model->plan().arena_bytes()) * 1e-6;
  return absl::OkStatus();
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
  for (const auto& file : bench::ModelFiles())
    for (const char* pipeline : {"layout", "fuse"})
      for (const char* provider : {"auto", "xnnpack"})
        for (const int threads : {1, 2}) RegisterModel(file, pipeline, provider, threads);
  return true;
}();

}  // namespace
}  // namespace weft
