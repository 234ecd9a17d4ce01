// The shipped models, and those in $WEFT_MODELS (a folder of .onnx files, made by
// benchmarks/models/export.py), all at the same time, each in a thread of its own: sessions that share the
// threads of one pool next to sessions with as many threads each.
//
//   WEFT_MODELS=build/models build/release/bin/bench_models_at_once
//
// A model's share is how often it ran, by how often it runs alone in that time with one thread. Counters:
// `cores`, the sum of the shares, which a machine's number of cores bounds; `least` and `most` of them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/loaded_model.h"
#include "kernels/available_cpus.h"

namespace weft {
namespace {

using bench::LoadedModel;
using Models = std::vector<std::unique_ptr<LoadedModel>>;

constexpr std::chrono::milliseconds kAlone(500), kTogether(4000);

// Runs a second until `stop`.
double Rate(LoadedModel& model, const std::atomic<bool>& stop) {
  const auto start = std::chrono::steady_clock::now();
  double runs = 0;
  for (; !stop; ++runs)
    if (!model.Run().ok()) return 0;
  return runs / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Each model's, while those at `models` run at the same time.
std::vector<double> Rates(std::span<const std::unique_ptr<LoadedModel>> models,
                          std::chrono::milliseconds time) {
  std::atomic<bool> stop = false;
  std::vector<double> rates(models.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < models.size(); ++i)
    threads.emplace_back([&, i] { rates[i] = Rate(*models[i], stop); });
  std::this_thread::sleep_for(time);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return rates;
}

absl::Status RunAtOnce(benchmark::State& state, bool one_pool) {
  Models models;
  std::vector<double> alone;
  for (const auto& file : bench::ModelFiles()) {
    WEFT_ASSIGN_OR_RETURN(auto model, LoadedModel::Load(file, "fuse"));
    WEFT_RETURN_IF_ERROR(model->Open({}));
    alone.push_back(Rates({&model, 1}, kAlone)[0]);
    models.push_back(std::move(model));
  }
  const int threads = kernels::AvailableCpus();
  for (const auto& model : models) {  // sessions of all CPUs share a pool
    kernels::SessionOptions options = {.threads = threads};
    if (!one_pool) options.pool = std::make_shared<kernels::ThreadPool>(threads);
    WEFT_RETURN_IF_ERROR(model->Open(options));
  }
  for (auto _ : state) {
    const std::vector<double> rates = Rates(models, kTogether);
    double sum = 0, least = 1e30, most = 0;
    for (size_t i = 0; i < rates.size(); ++i) {
      const double share = rates[i] / alone[i];
      sum += share;
      least = std::min(least, share);
      most = std::max(most, share);
    }
    state.counters["models"] = static_cast<double>(models.size());
    state.counters["cores"] = sum;
    state.counters["least"] = least;
    state.counters["most"] = most;
  }
  return absl::OkStatus();
}

void Benchmark(benchmark::State& state, bool one_pool) {
  const absl::Status status = RunAtOnce(state, one_pool);
  if (!status.ok()) state.SkipWithError(std::string(ir::Message(status)).c_str());
}
BENCHMARK_CAPTURE(Benchmark, one_pool, true)->Iterations(1)->UseRealTime();
BENCHMARK_CAPTURE(Benchmark, own_pools, false)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace weft
