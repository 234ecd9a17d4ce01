#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "ir/analysis/verifier.h"
#include "ir/base/contains.h"
#include "kernels/available_cpus.h"
#include "kernels/runtime/registry.h"
#include "passes/pass_registry.h"
#include "tools/onnx/export.h"
#include "weft/check/model_check.h"
#include "weft/context.h"
#include "weft/io/shapes.h"
#include "weft/optimize/count_operators.h"
#include "weft/optimize/explain.h"
#include "weft/optimize/measured_cost.h"
#include "weft/optimize/run_passes.h"
#include "weft/picture/picture.h"

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
  selection.rule_texts = options.rules;
  selection.trust.trust = options.trust_rules;
  selection.target_opset = options.target_opset;
  selection.collect_statistics = true;
  return selection;
}

absl::Status CheckAllOptions(const OptimizeOptions& options) {
  WEFT_RETURN_IF_ERROR(RegisterAll());
  WEFT_RETURN_IF_ERROR(CheckOwnOptions(options));
  return CheckPassSelection(SelectionOf(options));
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

// `picture` may be null.
passes::RewriteTraceOptions TraceOf(const OptimizeOptions& options, picture::Picture* picture,
                                    Report* report) {
  passes::RewriteTraceOptions trace;
  // A run with it never replaces operations in place, as the check needs it.
  trace.before_rewrite = [](const passes::TracedRewrite&, ir::Program&) {};
  if (options.record_rewrites || picture)
    trace.on_rewrite = [&options, picture, report](const passes::TracedRewrite& rewrite) {
      if (picture) picture->Record(rewrite);
      if (options.record_rewrites)
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

void AddOperators(const std::map<std::string, size_t>& before,
                  const std::map<std::string, size_t>& after, Report* report) {
  std::map<std::string, OperatorReport> operators;
  for (const auto& [name, count] : before) operators[name].before = count;
  for (const auto& [name, count] : after) operators[name].after = count;
  for (auto& [name, counts] : operators)
    report->operators.push_back({name, counts.before, counts.after});
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
  // `folded` adopts the constants that passes fold.
  Optimization(const OptimizeOptions& options, kernels::PackedWeights* folded)
      : options_(options), folded_(folded), selection_(SelectionOf(options)) {}

  absl::StatusOr<Report> Run(ir::Program& program) {
    WEFT_RETURN_IF_ERROR(Prepare(program));
    Report report;
    report.before = MeasureSize(program);
    report.ops_before = report.before.operations;
    const std::map<std::string, size_t> before = CountOperators(program);
    std::unique_ptr<ir::Program> original;
    std::optional<ModelCheck> check;
    if (options_.check > 0) {
      original = program.Clone();
      WEFT_ASSIGN_OR_RETURN(
          check, ModelCheck::Create({.inputs = options_.check,
                                     .tolerance = options_.check_tolerance,
                                     .stop = options_.stop},
                                    drr::FindNumericClass(options_.numerics).value(), *original,
                                    kernels::AvailableCpus()));
      check->Watch(program);
    }
    if (options_.picture) picture_.emplace(program);
    PassRun run = MakeRun(&report);
    WEFT_RETURN_IF_ERROR(RunPasses(program, &run));
    report.after = MeasureSize(program);
    report.ops_after = report.after.operations;
    AddOperators(before, CountOperators(program), &report);
    AddPassReports(run.reports, &report);
    if (check) WEFT_RETURN_IF_ERROR(JudgeOutputs(*check, &report));
    if (picture_) report.html = picture_->Html(PictureInfoOf(program, report));
    WEFT_RETURN_IF_ERROR(AskStop());  // the last time: what is returned is kept
    return report;
  }

  absl::StatusOr<std::string> Explain(const std::string& what, ir::Program& program) {
    // Those of files and texts are known after the run only.
    const std::vector<std::string> known =
        selection_.HasRules() ? std::vector<std::string>() : RuleNames();
    WEFT_ASSIGN_OR_RETURN(RuleExplainer explainer, RuleExplainer::Create(what, known));
    WEFT_RETURN_IF_ERROR(Prepare(program));
    Report unused;
    PassRun run = MakeRun(&unused);
    run.trace.reset();
    run.hook = [told = std::move(run.hook), look = explainer.hook()](
                   const passes::Pass& pass, bool after, bool changed, ir::Program& at) {
      if (told) told(pass, after, changed, at);
      look(pass, after, changed, at);
    };
    WEFT_RETURN_IF_ERROR(RunPasses(program, &run));
    WEFT_ASSIGN_OR_RETURN(const RuleAnswer answer,
                          explainer.Answer(program, RuleNames(run.reports), run.reports));
    return answer.ToString();
  }

 private:
  absl::Status RunPasses(ir::Program& program, PassRun* run) {
    WEFT_RETURN_IF_ERROR(RunSelectedPasses(selection_, program, run));
    return AskStop();  // a function of a rule may have asked for it in the last pass
  }
  absl::Status AskStop() const {
    return options_.stop && options_.stop()
               ? absl::CancelledError("the run was stopped after its passes")
               : absl::OkStatus();
  }
  absl::Status Prepare(ir::Program& program) {
    WEFT_RETURN_IF_ERROR(ApplyShapes(ShapesOf(options_), program));
    if (selection_.target_opset == 0) selection_.target_opset = onnx::TargetOpset(program);
    return absl::OkStatus();
  }
  PassRun MakeRun(Report* report) {
    PassRun run = {.folded = folded_};
    if (options_.check > 0 || options_.record_rewrites || picture_)
      run.trace = TraceOf(options_, picture_ ? &*picture_ : nullptr, report);
    const std::vector<std::string> names = PassesOf(selection_);
    if (ir::Contains(names, "superopt")) run.search = SearchOptionsOf(options_, &cost_);
    run.stop = options_.stop;
    run.notices = options_.notices;
    run.notices.warning = [this, report](const std::string& line) {
      report->warnings.push_back(line);
      options_.notices.Warn(line);
    };
    const size_t count = names.size() + (selection_.HasRules() ? 1 : 0);
    if (options_.progress || picture_)
      run.hook = [this, count, draw = picture_ ? picture_->hook() : nullptr](
                     const passes::Pass& pass, bool after, bool changed, ir::Program& program) {
        if (draw) draw(pass, after, changed, program);
        if (!after && options_.progress)
          options_.progress({pass.name(), ++passes_begun_, count, program.num_operations() - 1});
      };
    return run;
  }

  picture::PictureInfo PictureInfoOf(ir::Program& program, const Report& report) const {
    const ir::Attribute name = program.module().attr("onnx.graph_name");
    picture::PictureInfo info{.model = name.Is(ir::AttrKind::kString) ? name.AsString() : "model",
                              .pipeline = options_.passes.empty()
                                              ? options_.pipeline
                                              : fmt::format("{}", fmt::join(options_.passes, ", ")),
                              .numerics = options_.numerics};
    for (const OutputReport& output : report.outputs)
      info.outputs.push_back({output.name, output.difference, output.verdict});
    return info;
  }

  const OptimizeOptions& options_;
  kernels::PackedWeights* const folded_;
  PassSelection selection_;
  MeasuredCostModel cost_;
  std::optional<picture::Picture> picture_;
  size_t passes_begun_ = 0;
};

}  // namespace

absl::StatusOr<Report> Model::Optimize(const OptimizeOptions& options) {
  WEFT_RETURN_IF_ERROR(CheckAllOptions(options));
  const std::lock_guard lock(state_->context->mutex);
  WEFT_RETURN_IF_ERROR(ir::Verify(*state_->program));  // it may have been changed by hand
  const auto folded = PackedInside(state_->packed);
  std::unique_ptr<ir::Program> program = state_->program->Clone();
  Optimization optimization(options, folded.get());
  WEFT_ASSIGN_OR_RETURN(Report report, optimization.Run(*program));
  state_->program = std::move(program);
  if (folded->bytes_adopted() > 0) state_->packed = folded;
  return report;
}

absl::StatusOr<std::string> Model::Explain(const std::string& what,
                                           const OptimizeOptions& options) const {
  WEFT_RETURN_IF_ERROR(CheckAllOptions(options));
  const std::lock_guard lock(state_->context->mutex);
  WEFT_RETURN_IF_ERROR(ir::Verify(*state_->program));
  const auto folded = PackedInside(state_->packed);
  const std::unique_ptr<ir::Program> program = state_->program->Clone();
  return Optimization(options, folded.get()).Explain(what, *program);
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

absl::Status RegisterAll() {
  const std::string how =
      "; its static library is one object, of which nothing can be left out unless it is taken "
      "apart";
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
