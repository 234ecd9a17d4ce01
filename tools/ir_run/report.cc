#include "tools/ir_run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "ir/base/escape.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/pass_flags.h"
#include "tools/cli/tables/json_text.h"
#include "tools/cli/tables/pass_tables.h"
#include "tools/cli/tables/table.h"
#include "tools/cli/values/tensors.h"
#include "tools/ir_run/bench.h"
#include "tools/ir_run/measurements.h"
#include "tools/ir_run/runner.h"
#include "weft/check/compare.h"

namespace weft::tools {
namespace {

using nlohmann::ordered_json;

struct Side {
  std::unique_ptr<ir::Program> program;
  std::unique_ptr<Runner> runner;
  std::vector<passes::PassReport> reports;
};

absl::StatusOr<Side> Prepare(ir::Program& program, const std::string& pipeline,
                             const kernels::SessionOptions& options, PassFlags passes) {
  passes.pipeline = pipeline;
  Side side;
  side.program = program.Clone();
  WEFT_RETURN_IF_ERROR(RunPasses(passes, *side.program, &side.reports));
  WEFT_ASSIGN_OR_RETURN(side.runner, Runner::Create(*side.program, options));
  return side;
}

absl::Status BindAndRun(Runner& runner, const std::vector<kernels::RuntimeValue>& inputs) {
  WEFT_RETURN_IF_ERROR(runner.Bind(inputs));
  return runner.Run();
}

// Of all outputs.
struct Differences {
  Disagreement disagreement;
  std::optional<double> relative;                // of those that are not counted in steps
  std::optional<kernels::StepDifference> steps;  // of those that are
};

absl::StatusOr<Differences> CompareOutputs(const Runner& actual, const Runner& expected,
                                           const std::vector<std::optional<double>>& steps,
                                           std::optional<double> tolerance) {
  Differences all;
  for (size_t i = 0; i < expected.outputs().size(); ++i) {
    const kernels::RuntimeValue& output = expected.outputs()[i];
    WEFT_ASSIGN_OR_RETURN(const Comparison one,
                          Compare(expected.output_infos()[i].name, actual.outputs()[i], output,
                                  {steps[i], tolerance}));
    all.disagreement.Add(one);
    if (one.steps) {
      if (!all.steps) all.steps.emplace();
      all.steps->largest = std::max(all.steps->largest, one.steps->largest);
      all.steps->differing += one.steps->differing;
      all.steps->elements += one.steps->elements;
    } else {
      all.relative = std::max(all.relative.value_or(0), one.relative);
    }
  }
  return all;
}

// What less precise products make of outputs.
struct PrecisionError {
  kernels::MatmulPrecision precision;
  Differences from_float32;
};

struct Report {
  const std::string& model;
  uint32_t operations;  // of the model
  const kernels::SessionOptions& options;
  const Side &unfused, &fused;
  Differences differences;  // of products of float32
  std::optional<PrecisionError> precision_error;
  PairedTimes times;  // unfused, fused

  double SpeedUp() const {
    const double slow = Quantile(times.a, 0.5), fast = Quantile(times.b, 0.5);
    return fast > 0 ? slow / fast : 0;
  }
};

std::string TextOf(const Differences& all, std::string_view what) {
  std::string text;
  if (all.relative)
    text += fmt::format("  {:<27}  {:.2g} of the largest output\n", what, *all.relative);
  if (all.steps)
    text += fmt::format("  {:<27}  {:g} steps apart at most, {:.3g} % of the elements\n",
                        "quantised outputs", all.steps->largest, 100 * all.steps->share());
  return text;
}

std::string TextOf(const Report& report) {
  const PairedTimes& times = report.times;
  std::string text =
      fmt::format("median of {} runs, kernels {}, {} {}\n", times.a.size(), report.options.provider,
                  report.options.threads, report.options.threads == 1 ? "thread" : "threads");
  text += fmt::format("  unfused (layout rules only)  {}\n", Milliseconds(Quantile(times.a, 0.5)));
  text += fmt::format("  fused                        {}\n", Milliseconds(Quantile(times.b, 0.5)));
  text += fmt::format("  speed-up                     {:.2f}x\n", report.SpeedUp());
  text += fmt::format("  arena                        {} unfused, {} fused\n",
                      Mebibytes(report.unfused.runner->arena_bytes()),
                      Mebibytes(report.fused.runner->arena_bytes()));
  text += TextOf(report.differences, "largest difference");
  if (const auto& error = report.precision_error)
    text += TextOf(error->from_float32,
                   fmt::format("error of {} products", MatmulPrecisionName(error->precision)));
  return text;
}

ordered_json JsonOf(const Side& side, const std::vector<double>& milliseconds) {
  return {{"milliseconds", JsonOf(Summarise(milliseconds))},
          {"arena_bytes", side.runner->arena_bytes()}};
}

std::string JsonOf(const Report& report) {
  ordered_json rules = ordered_json::array(), difference, steps, precision_error;
  for (const passes::PassReport& pass : report.fused.reports)
    for (const passes::RuleStatistics& rule : pass.rules)
      if (rule.matched > 0)
        rules.push_back({{"pass", pass.pass},
                         {"rule", rule.rule},
                         {"matched", rule.matched},
                         {"applied", rule.applied},
                         {"ops_erased", rule.ops_erased},
                         {"ops_created", rule.ops_created}});
  const Differences& all = report.differences;
  if (all.relative) difference = *all.relative;
  if (all.steps) steps = {{"largest", all.steps->largest}, {"share", all.steps->share()}};
  if (report.precision_error && report.precision_error->from_float32.relative)
    precision_error = *report.precision_error->from_float32.relative;
  return JsonText({{"model", report.model},
                   {"operations_before", report.operations},
                   {"operations_after", report.fused.program->num_operations() - 1},
                   {"rules", rules},
                   {"unfused", JsonOf(report.unfused, report.times.a)},
                   {"fused", JsonOf(report.fused, report.times.b)},
                   {"speed_up", report.SpeedUp()},
                   {"threads", report.options.threads},
                   {"provider", report.options.provider},
                   {"difference", difference},
                   {"steps", steps},
                   {"matmul_precision", MatmulPrecisionName(report.options.matmul_precision)},
                   {"precision_error", precision_error},
                   {"agrees", all.disagreement.empty()}});
}

}  // namespace

absl::Status PrintReport(ir::Program& program, const std::string& model, const InputFlags& inputs,
                         const kernels::SessionOptions& options, const PassFlags& passes,
                         std::optional<double> tolerance, bool as_json) {
  WEFT_RETURN_IF_ERROR(JudgeRulesOfFiles(passes, program));
  PassFlags judged = passes;
  judged.trust = {.trust = true};
  kernels::SessionOptions float32 = options;
  float32.matmul_precision = kernels::MatmulPrecision::kFloat32;
  const bool is_precise = options.matmul_precision == float32.matmul_precision;
  WEFT_ASSIGN_OR_RETURN(const Side unfused, Prepare(program, "layout", float32, judged));
  WEFT_ASSIGN_OR_RETURN(const Side fused, Prepare(program, "fuse", options, judged));
  if (!as_json)
    std::printf("%s: %u operations, optimised by the pipeline fuse\n\n%s\n",
                ir::EscapeControl(model).c_str(), program.num_operations() - 1,
                RuleTable(fused.reports).c_str());

  WEFT_ASSIGN_OR_RETURN(const auto tensors,
                        GatherInputs(*program.context(), unfused.runner->inputs(), inputs));
  WEFT_RETURN_IF_ERROR(BindAndRun(*unfused.runner, tensors));
  WEFT_RETURN_IF_ERROR(BindAndRun(*fused.runner, tensors));
  Report report{model, program.num_operations() - 1, options, unfused, fused, {}, {}, {}};
  const auto steps = OutputSteps(program);
  Side precise;  // fused, with products of float32, where those of `fused` are others
  if (!is_precise) {
    WEFT_ASSIGN_OR_RETURN(precise, Prepare(program, "fuse", float32, judged));
    WEFT_RETURN_IF_ERROR(BindAndRun(*precise.runner, tensors));
    WEFT_ASSIGN_OR_RETURN(Differences error,
                          CompareOutputs(*fused.runner, *precise.runner, steps, tolerance));
    report.precision_error = {options.matmul_precision, std::move(error)};
  }
  const Side& compared = is_precise ? fused : precise;
  WEFT_ASSIGN_OR_RETURN(report.differences,
                        CompareOutputs(*compared.runner, *unfused.runner, steps, tolerance));
  WEFT_ASSIGN_OR_RETURN(report.times, TimeInTurns([&] { return unfused.runner->Run(); },
                                                  [&] { return fused.runner->Run(); }));
  std::fputs((as_json ? JsonOf(report) : TextOf(report)).c_str(), stdout);
  if (report.differences.disagreement.empty()) return absl::OkStatus();
  return CheckFailed("fused and unfused outputs " + report.differences.disagreement.Text());
}

}  // namespace weft::tools
