#include "tools/ir_opt/quantize.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "ir/base/escape.h"
#include "ir/base/suggest.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/session.h"
#include "passes/quantize/quantize.h"
#include "tools/cli/program_main.h"
#include "tools/cli/values/tensors.h"
#include "weft/check/random_run.h"
#include "weft/io/shapes.h"

namespace weft::tools {
namespace {

namespace fs = std::filesystem;
using kernels::RuntimeValue;
using kernels::Session;
using kernels::Tensor;
using kernels::TensorInfo;

constexpr uint64_t kRandomSets = 4;

absl::Status CheckTensors(std::span<const TensorInfo> infos) {
  for (const TensorInfo& info : infos)
    if (!info.type.IsTensor() || info.type.dtype() == ir::DataType::kString)
      return ir::Unsupported("--quantize: '" + info.name + "' is " + info.type.ToString() +
                             ", no tensor of numbers");
  return absl::OkStatus();
}

// The inputs that a folder holds, as NAME=FILE.
std::vector<std::string> FilesIn(const fs::path& folder, std::span<const TensorInfo> inputs) {
  std::vector<std::string> files;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const std::string& name :
         {"input_" + std::to_string(i) + ".pb", inputs[i].name + ".pb", inputs[i].name + ".npy"}) {
      std::error_code error;
      if (!fs::is_regular_file(folder / name, error)) continue;
      files.push_back(inputs[i].name + "=" + (folder / name).string());
      break;
    }
  return files;
}

// One set of inputs for the folder itself and for each folder in it that holds any.
absl::StatusOr<std::vector<InputFlags>> InputSets(const std::string& folder,
                                                  std::span<const TensorInfo> inputs) {
  std::vector<InputFlags> sets;
  if (folder.empty()) {
    for (uint64_t seed = 1; seed <= kRandomSets; ++seed) sets.push_back({.seed = seed});
    return sets;
  }
  std::error_code error;
  std::vector<fs::path> folders = {folder};
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_directory()) folders.push_back(entry.path());
  if (error) return ir::InvalidArgument(folder + ": " + error.message());
  std::sort(folders.begin() + 1, folders.end());
  for (const fs::path& path : folders) {
    InputFlags set = {.files = FilesIn(path, inputs), .seed = sets.size() + 1};
    if (!set.files.empty()) sets.push_back(std::move(set));
  }
  if (sets.empty())
    return ir::InvalidArgument(folder + ": no input_<i>.pb, NAME.pb or NAME.npy of an input");
  return sets;
}

struct Inputs {
  std::vector<std::vector<RuntimeValue>> sets;
  std::string sizes;  // that were chosen for what the model leaves open: ", sizes M=3 N=2"
};

absl::StatusOr<Inputs> InputsFor(ir::Program& program, const std::string& folder) {
  WEFT_ASSIGN_OR_RETURN(auto session, Session::Create(program, {}));
  WEFT_RETURN_IF_ERROR(CheckTensors(session->inputs()));
  WEFT_RETURN_IF_ERROR(CheckTensors(session->outputs()));
  WEFT_ASSIGN_OR_RETURN(const auto sets, InputSets(folder, session->inputs()));
  const bool is_open = folder.empty() && !SymbolsOf(program).empty();
  Inputs inputs;
  for (const InputFlags& set : sets) {
    if (is_open) {
      WEFT_ASSIGN_OR_RETURN(RandomRun run, RunOnRandomInputs(program, *session, *set.seed));
      inputs.sets.push_back(std::move(run.inputs));
      inputs.sizes += (inputs.sizes.empty() ? ", sizes " : ", ") + run.sizes;
      continue;
    }
    WEFT_ASSIGN_OR_RETURN(auto values, GatherInputs(*program.context(), session->inputs(), set));
    inputs.sets.push_back(std::move(values));
  }
  return inputs;
}

// The range of each value over all inputs.
absl::StatusOr<std::vector<passes::Range>> Calibrate(
    ir::Program& program, const std::vector<std::vector<RuntimeValue>>& inputs) {
  const std::unique_ptr<ir::Program> observed = program.Clone();
  const std::vector<ir::Value> values = passes::ValuesToCalibrate(*observed);
  std::vector<passes::Range> ranges(values.size());
  if (values.empty()) return ranges;
  std::vector<std::pair<std::string, ir::Value>> outputs;
  outputs.reserve(values.size());
  for (const ir::Value value : values)
    outputs.emplace_back("v" + std::to_string(outputs.size()), value);
  ir::Rewriter rewriter(observed.get());
  rewriter.Erase(observed->body().Terminator());
  rewriter.Return(std::move(outputs));
  WEFT_ASSIGN_OR_RETURN(auto session, Session::Create(*observed, {}));
  for (const std::vector<RuntimeValue>& set : inputs) {
    WEFT_ASSIGN_OR_RETURN(const std::vector<Tensor> results, session->Run(ViewsOf(set)));
    for (size_t i = 0; i < results.size(); ++i)
      for (const float x : results[i].values<float>()) {
        // A NaN stays, and cannot be quantised.
        if (x < ranges[i].low || std::isnan(x)) ranges[i].low = x;
        if (x > ranges[i].high || std::isnan(x)) ranges[i].high = x;
      }
  }
  return ranges;
}

// Such as a mask that is added to scores.
void WarnOfWideRanges(ir::Program& program, const std::vector<passes::Range>& ranges) {
  const std::vector<ir::Value> values = passes::ValuesToCalibrate(program);
  for (size_t i = 0; i < values.size(); ++i)
    if (passes::IsTooWide(ranges[i]))
      PrintWarning(
          "ir-opt",
          fmt::format("{} is from {:g} to {:g}, too wide for 8 bits: operations on it stay f32",
                      ir::ValueName(values[i]), ranges[i].low, ranges[i].high));
}

struct Error {
  double largest = 0, sum = 0, signal = 0, noise = 0;
  int64_t count = 0;

  void Add(const Tensor& actual, const Tensor& expected) {
    const std::vector<double> a = kernels::reference::ReadDoubles(actual.view());
    const std::vector<double> e = kernels::reference::ReadDoubles(expected.view());
    if (a.size() != e.size()) largest = sum = noise = INFINITY;
    for (size_t i = 0; i < std::min(a.size(), e.size()); ++i) {
      if (std::isfinite(e[i])) signal += e[i] * e[i];
      if (a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]))) continue;
      const double distance = std::fabs(a[i] - e[i]);
      const double difference = std::isnan(distance) ? INFINITY : distance;
      largest = std::max(largest, difference);
      sum += difference;
      noise += difference * difference;
    }
    count += static_cast<int64_t>(e.size());
  }
  std::string Text(const std::string& name) const {
    const double ratio = noise > 0 ? 10 * std::log10(signal / noise) : INFINITY;
    return fmt::format("  {:<24} {:>12.4g} {:>12.4g} {:>12.1f}\n", ir::EscapeControl(name), largest,
                       count > 0 ? sum / static_cast<double>(count) : 0, ratio);
  }
};

absl::StatusOr<std::string> Report(const ir::Program& before, const ir::Program& after,
                                   const std::vector<std::vector<RuntimeValue>>& inputs) {
  WEFT_ASSIGN_OR_RETURN(auto expected, Session::Create(before, {}));
  WEFT_ASSIGN_OR_RETURN(auto actual, Session::Create(after, {}));
  std::vector<Error> errors(expected->outputs().size());
  for (const std::vector<RuntimeValue>& set : inputs) {
    WEFT_ASSIGN_OR_RETURN(const auto e, expected->Run(ViewsOf(set)));
    WEFT_ASSIGN_OR_RETURN(const auto a, actual->Run(ViewsOf(set)));
    for (size_t i = 0; i < e.size(); ++i) errors[i].Add(a[i], e[i]);
  }
  std::string text = fmt::format("  {:<24} {:>12} {:>12} {:>12}\n", "output", "max error",
                                 "mean error", "SNR in dB");
  for (size_t i = 0; i < errors.size(); ++i) text += errors[i].Text(expected->outputs()[i].name);
  return text;
}

class QuantizePass final : public passes::Pass {
 public:
  // `ranges`: for static quantisation.
  QuantizePass(std::string_view mode, std::vector<passes::Range> ranges, int64_t* quantised)
      : Pass("quantize", "the model in 8 bits"),
        dynamic_(mode == "dynamic"),
        ranges_(std::move(ranges)),
        quantised_(quantised) {}
  absl::Status Run(ir::Program& program) override {
    WEFT_ASSIGN_OR_RETURN(*quantised_, dynamic_ ? passes::QuantizeDynamic(program)
                                                : passes::QuantizeStatic(program, ranges_));
    if (*quantised_ > 0) MarkChanged();
    return absl::OkStatus();
  }

 private:
  const bool dynamic_;
  const std::vector<passes::Range> ranges_;
  int64_t* const quantised_;
};

}  // namespace

void AddQuantizeFlags(CLI::App& app, QuantizeFlags* flags) {
  app.add_option("--quantize", flags->mode, "to 8 bits: dynamic|static; scales from inputs in DIR")
      ->type_name("MODE");
  app.add_option("--calibrate", flags->calibrate)->type_name("DIR")->group(kSameLine);
}

absl::Status CheckQuantizeFlags(const QuantizeFlags& flags) {
  const std::string modes[] = {"dynamic", "static"};
  if (!flags.mode.empty()) return ir::CheckName("way to quantise", flags.mode, modes);
  if (flags.calibrate.empty()) return absl::OkStatus();
  return ir::InvalidArgument("--calibrate needs --quantize");
}

absl::Status Quantize(const QuantizeFlags& flags, const PassFlags& passes, ir::Program& program,
                      const passes::PassManager::Hook& hook) {
  PassFlags simplify("simplify");
  simplify.target_opset = passes.target_opset;
  simplify.rewrites.on_rewrite = passes.rewrites.on_rewrite;
  WEFT_RETURN_IF_ERROR(RunPasses(simplify, program, nullptr, hook));
  WEFT_ASSIGN_OR_RETURN(const Inputs inputs, InputsFor(program, flags.calibrate));
  const std::unique_ptr<ir::Program> before = program.Clone();
  std::vector<passes::Range> ranges;
  if (flags.mode == "static") {
    WEFT_ASSIGN_OR_RETURN(ranges, Calibrate(program, inputs.sets));
    WarnOfWideRanges(program, ranges);
  }
  int64_t quantised = 0;
  passes::PassManager step(program.context());
  step.AddPass(std::make_unique<QuantizePass>(flags.mode, std::move(ranges), &quantised));
  step.set_hook(hook);
  WEFT_RETURN_IF_ERROR(step.Run(program));
  WEFT_ASSIGN_OR_RETURN(const std::string report, Report(*before, program, inputs.sets));
  std::fprintf(
      stderr, "ir-opt: %s\n%s",
      fmt::format("{} operations quantised ({}), on {} sets of {}inputs{}", quantised, flags.mode,
                  inputs.sets.size(), flags.calibrate.empty() ? "random " : "", inputs.sizes)
          .c_str(),
      report.c_str());
  return absl::OkStatus();
}

}  // namespace weft::tools
