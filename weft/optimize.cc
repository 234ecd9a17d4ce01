#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "ir/base/contains.h"
#include "kernels/available_cpus.h"
#include "kernels/runtime/registry.h"
#include "passes/pass_registry.h"
#include "tools/onnx/export.h"
#include "weft/check/model_check.h"
#include "weft/context.h"
#include "weft/io/shapes.h"
#include "weft/optimize/measured_cost.h"
#include "weft/optimize/run_passes.h"

namespace weft {
namespace {

absl::Status CheckOwnOptions(const OptimizeOptions& options) {
  if (options.check < 0 || options.check > kMaxCheckInputs)
    return ir::InvalidArgument(
        fmt::format("check is {}, expected 0 to {}", options.check, kMaxCheckInputs));
  if (options.check_tolerance && !(*options.check_tolerance >= 0))
    return ir::InvalidArgument(fmt::format("check_tolerance is {}, expected a number of at least 0",
                                           *options.check_tolerance));
  const int64_t opset = options.target_opset;
  if (opset != 0 && (opset < onnx::kOldestTargetOpset || opset > onnx::kNewestTargetOpset))
    return ir::InvalidArgument(fmt::format("target_opset is {}, expected {} to {}", opset,
                                           onnx::kOldestTargetOpset, onnx::kNewestTargetOpset));
  return absl::OkStatus();
}

PassSelection SelectionOf(const OptimizeOptions& options) {
  PassSelection selection;
  selection.pipeline = options.pipeline;
  selection.passes = options.passes;
  selection.enabled_rules = options.enabled_rules;
  selection.disabled_rules = options.disabled_rules;
  selection.numerics = options.numerics;
  selection.rules_files = options.rules_files;
  selection.trust.trust = options.trust_rules;
  selection.target_opset = options.target_opset;
  selection.collect_statistics = true;
  return selection;
}

ShapeOptions ShapesOf(const OptimizeOptions& options) {
  ShapeOptions shapes;
  shapes.dims.assign(options.dims.begin(), options.dims.end());
  for (const auto& [input, dims] : options.input_shapes)
    shapes.input_shapes.push_back({input, dims});
  return shapes;
}

// Measured, as ir-opt does by default; two measurements of one kernel differ by a hundredth.
passes::SearchOptions SearchOptionsOf(const OptimizeOptions& options, passes::CostModel* cost) {
  passes::SearchOptions search;
  search.cost = cost;
  search.least_gain = 0.01;
  search.stop = options.stop;
  search.warn = [&options](std::string_view why) {
    options.notices.Warn("superopt: " + std::string(why));
  };
  return search;
}

passes::RewriteTraceOptions TraceOf(const OptimizeOptions& options, Report* report) {
  passes::RewriteTraceOptions trace;
  // A run with it never replaces operations in place, as the check needs it.
  trace.before_rewrite = [](const passes::TracedRewrite&, ir::Program&) {};
  if (options.record_rewrites)
    trace.on_rewrite = [report](const passes::TracedRewrite& rewrite) {
      report->rewrites.push_back(
          {rewrite.number, rewrite.pass, rewrite.rule, rewrite.site, rewrite.went, rewrite.came});
    };
  return trace;
}

void AddPassReports(const std::vector<passes::PassReport>& passes, Report* report) {
  for (const passes::PassReport& pass : passes) {
    report->passes.push_back({pass.pass, pass.ops_before, pass.ops_after, pass.seconds});
    for (const passes::RuleStatistics& rule : pass.rules)
      if (rule.matched > 0)
        report->rules.push_back({pass.pass, rule.rule, rule.matched, rule.applied, rule.ops_erased,
                                 rule.ops_created, rule.declines});
  }
}

absl::Status JudgeOutputs(const ModelCheck& check, Report* report) {
  std::vector<ComparedOutput> compared;
  report->check = check.Preface();
  absl::Status status = check.Judge(&report->check, &compared);
  for (const ComparedOutput& output : compared)
    report->outputs.push_back(
        {output.name, output.worst.relative, output.worst.Text("the original")});
  return status;
}

// One run of Model::Optimize.
class Optimization {
 public:
  explicit Optimization(const OptimizeOptions& options)
      : options_(options), selection_(SelectionOf(options)) {}

  absl::StatusOr<Report> Run(ir::Program& program) {
    WEFT_RETURN_IF_ERROR(ApplyShapes(ShapesOf(options_), program));
    if (selection_.target_opset == 0) selection_.target_opset = onnx::TargetOpset(program);
    Report report;
    report.ops_before = program.num_operations() - 1;  // but the module
    std::unique_ptr<ir::Program> original;
    std::optional<ModelCheck> check;
    if (options_.check > 0) {
      original = program.Clone();
      WEFT_ASSIGN_OR_RETURN(
          check,
          ModelCheck::Create({.inputs = options_.check, .tolerance = options_.check_tolerance},
                             drr::FindNumericClass(options_.numerics).value(), *original,
                             kernels::AvailableCpus()));
      check->Watch(program);
    }
    PassRun run = MakeRun(&report);
    WEFT_RETURN_IF_ERROR(RunSelectedPasses(selection_, program, &run));
    report.ops_after = program.num_operations() - 1;
    AddPassReports(run.reports, &report);
    if (check) WEFT_RETURN_IF_ERROR(JudgeOutputs(*check, &report));
    return report;
  }

 private:
  PassRun MakeRun(Report* report) {
    PassRun run;
    if (options_.check > 0 || options_.record_rewrites) run.trace = TraceOf(options_, report);
    const std::vector<std::string> names = PassesOf(selection_);
    if (ir::Contains(names, "superopt")) run.search = SearchOptionsOf(options_, &cost_);
    run.stop = options_.stop;
    run.notices = options_.notices;
    run.notices.warning = [this, report](const std::string& line) {
      report->warnings.push_back(line);
      options_.notices.Warn(line);
    };
    if (options_.progress)
      run.hook = [this, count = names.size() + (selection_.rules_files.empty() ? 0 : 1)](
                     const passes::Pass& pass, bool after, bool, ir::Program& program) {
        if (!after)
          options_.progress({pass.name(), ++passes_begun_, count, program.num_operations() - 1});
      };
    return run;
  }

  const OptimizeOptions& options_;
  PassSelection selection_;
  MeasuredCostModel cost_;
  size_t passes_begun_ = 0;
};

}  // namespace

absl::StatusOr<Report> Model::Optimize(const OptimizeOptions& options) {
  WEFT_RETURN_IF_ERROR(CheckRegistered());
  WEFT_RETURN_IF_ERROR(CheckOwnOptions(options));
  WEFT_RETURN_IF_ERROR(CheckPassSelection(SelectionOf(options)));
  const std::lock_guard lock(state_->context->mutex);
  std::unique_ptr<ir::Program> program = state_->program->Clone();
  Optimization optimization(options);
  WEFT_ASSIGN_OR_RETURN(Report report, optimization.Run(*program));
  state_->program = std::move(program);
  return report;
}

std::string Report::ToString() const {
  std::string text;
  for (const RuleReport& rule : rules)
    if (rule.applied > 0)
      text += fmt::format("{}: {} applied {} time{}, operations {} -> {}\n", rule.pass, rule.rule,
                          rule.applied, rule.applied == 1 ? "" : "s", rule.ops_erased,
                          rule.ops_created);
  return text + fmt::format("the whole program: operations {} -> {}\n", ops_before, ops_after);
}

absl::Status CheckRegistered() {
  const std::string how =
      "; link all of it (-Wl,--whole-archive), as weft::weft of find_package(weft) does";
  for (const passes::Pipeline& pipeline : passes::Pipelines())
    for (const std::string& pass : pipeline.passes)
      if (!passes::MakePass(pass))
        return ir::Internal(
            fmt::format("the pass {} of libweft_passes is not linked{}", pass, how));
  if (kernels::RegisteredKernels().empty())
    return ir::Internal("the kernels of libweft_kernels are not linked" + how);
  return absl::OkStatus();
}

}  // namespace weft
