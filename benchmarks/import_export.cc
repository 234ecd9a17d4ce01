// Reading an ONNX model and writing it again: time, and how much memory it takes beside the file.
//
//   bench_import_export                          bert_tiny of the tests
//   WEFT_MODELS=DIR bench_import_export          and every .onnx file in DIR (see models/export.py)
//
// peak_x_file is the process's peak of resident memory during the benchmark, in sizes of the file:
// 1.0 means that every weight is in memory once.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx/export.h"
#include "tools/onnx/import.h"

namespace weft::tools {
namespace {

// Gives free memory back and makes the kernel forget the peak so far (proc(5), clear_refs).
void ResetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

double PeakBytes() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && in >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

std::unique_ptr<ir::Program> MustImport(benchmark::State& state, ir::IrContext& context,
                                        const std::string& path) {
  auto program = onnx::ImportOnnx(context, path);
  if (program.ok()) return *std::move(program);
  state.SkipWithError(std::string(ir::Message(program.status())).c_str());
  return nullptr;
}

void Import(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    ir::IrContext context;
    if (!MustImport(state, context, path)) return;
  }
}

void ImportAndExport(benchmark::State& state, const std::string& path) {
  const std::string out = std::filesystem::temp_directory_path() / "weft_bench_export.onnx";
  const auto file_size = static_cast<double>(std::filesystem::file_size(path));
  double peak = 0;
  for (auto _ : state) {
    ResetPeak();
    ir::IrContext context;
    const std::unique_ptr<ir::Program> program = MustImport(state, context, path);
    if (!program) return;
    if (const absl::Status status = onnx::ExportOnnx(*program, out); !status.ok())
      state.SkipWithError(std::string(ir::Message(status)).c_str());
    peak = std::max(peak, PeakBytes());
  }
  std::filesystem::remove(out);
  state.counters["peak_x_file"] = peak / file_size;
}

std::vector<std::string> Models() {
  std::vector<std::string> paths{std::string(WEFT_TEST_DATA_DIR) + "/models/bert_tiny.onnx"};
  if (const char* folder = std::getenv("WEFT_MODELS"))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".onnx") paths.push_back(entry.path().string());
  std::sort(paths.begin() + 1, paths.end());
  return paths;
}

const bool g_registered = [] {
  for (const std::string& path : Models()) {
    const std::string name = std::filesystem::path(path).stem().string();
    for (auto [label, run] : {std::pair("import/", &Import), {"import_export/", &ImportAndExport}})
      benchmark::RegisterBenchmark((label + name).c_str(), run, path)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace weft::tools
