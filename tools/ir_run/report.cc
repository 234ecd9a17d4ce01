#include "tools/ir_run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/cli/exit_code.h"
#include "tools/cli/pass_flags.h"
#include "tools/cli/tables/pass_tables.h"
#include "tools/cli/tables/table.h"
#include "tools/cli/values/tensors.h"
#include "tools/ir_run/bench.h"
#include "tools/ir_run/runner.h"
#include "weft/check/compare.h"

namespace weft::tools {
namespace {

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

absl::Status PrintDifferences(const Differences& all) {
  if (all.relative)
    std::printf("  largest difference           %.2g of the largest output\n", *all.relative);
  if (all.steps)
    std::printf("  quantised outputs            %g steps apart at most, %.3g %% of the elements\n",
                all.steps->largest, 100 * all.steps->share());
  if (all.disagreement.empty()) return absl::OkStatus();
  return CheckFailed("fused and unfused outputs " + all.disagreement.Text());
}

}  // namespace

absl::Status PrintReport(ir::Program& program, const std::string& model, const InputFlags& inputs,
                         const kernels::SessionOptions& options, const PassFlags& passes,
                         std::optional<double> tolerance) {
  WEFT_RETURN_IF_ERROR(JudgeRulesOfFiles(passes, program));
  PassFlags judged = passes;
  judged.trust = {.trust = true};
  WEFT_ASSIGN_OR_RETURN(const Side unfused, Prepare(program, "layout", options, judged));
  WEFT_ASSIGN_OR_RETURN(const Side fused, Prepare(program, "fuse", options, judged));
  std::printf("%s: %u operations, optimised by the pipeline fuse\n\n%s\n", model.c_str(),
              program.num_operations() - 1, RuleTable(fused.reports).c_str());

  WEFT_ASSIGN_OR_RETURN(const auto tensors,
                        GatherInputs(*program.context(), unfused.runner->inputs(), inputs));
  WEFT_RETURN_IF_ERROR(BindAndRun(*unfused.runner, tensors));
  WEFT_RETURN_IF_ERROR(BindAndRun(*fused.runner, tensors));
  WEFT_ASSIGN_OR_RETURN(
      const Differences differences,
      CompareOutputs(*fused.runner, *unfused.runner, OutputSteps(program), tolerance));
  WEFT_ASSIGN_OR_RETURN(const PairedTimes times, TimeInTurns([&] { return unfused.runner->Run(); },
                                                             [&] { return fused.runner->Run(); }));

  const double slow = Quantile(times.a, 0.5), fast = Quantile(times.b, 0.5);
  std::printf("median of %zu runs, kernels %s, %d %s\n", times.a.size(), options.provider.c_str(),
              options.threads, options.threads == 1 ? "thread" : "threads");
  std::printf("  unfused (layout rules only)  %s\n", Milliseconds(slow).c_str());
  std::printf("  fused                        %s\n", Milliseconds(fast).c_str());
  std::printf("  speed-up                     %.2fx\n", fast > 0 ? slow / fast : 0);
  std::printf("  arena                        %s unfused, %s fused\n",
              Mebibytes(unfused.runner->arena_bytes()).c_str(),
              Mebibytes(fused.runner->arena_bytes()).c_str());
  return PrintDifferences(differences);
}

}  // namespace weft::tools
