#include "tools/ir_run/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "ir/base/suggest.h"
#include "kernels/isa.h"
#include "kernels/runtime/registry.h"
#include "kernels/tuning/own_pool.h"
#include "kernels/tuning/tuner.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/table.h"
#include "tools/ir_run/runner.h"
#include "weft/base/files.h"

namespace weft::tools {
namespace {

using Passes = std::vector<std::string>;

constexpr std::string_view kPasses = "passes: ";
constexpr size_t kMaxBytes = 16 << 20;  // of a file

// Another list of passes that may be better than the pipeline's.
struct Form {
  std::string name;
  Passes passes;
};

Passes Without(Passes passes, const std::vector<std::string>& names) {
  passes.erase(std::remove_if(passes.begin(), passes.end(),
                              [&](const std::string& pass) {
                                return std::find(names.begin(), names.end(), pass) != names.end();
                              }),
               passes.end());
  return passes;
}

Passes SplitAtCommas(std::string_view text) {
  Passes names;
  size_t comma = 0;
  do {
    comma = text.find(',');
    names.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma, text.size() - 1) + 1);
  } while (comma != std::string_view::npos);
  return names;
}

// The first one is what is usual. Without those passes that other flags add to any list.
std::vector<Form> Forms(const PassFlags& flags) {
  PassSelection plain = flags;
  plain.widen_floats = false;
  plain.convert.reset();
  plain.enabled_rules.clear();
  const Passes usual = PassesOf(plain);
  if (!flags.passes.empty() || flags.pipeline != "fuse") return {{"as asked for", usual}};
  Passes merged = usual;
  merged.insert(std::find(merged.begin(), merged.end(), "fuse-epilogue"), "fuse-matmuls");
  return {
      {"fuse", usual},
      {"without layout: images stay in NCHW", Without(usual, {"layout", "layout-cleanup"})},
      {"with fuse-matmuls: products of one input in one", std::move(merged)},
      {"without fuse-elementwise", Without(usual, {"fuse-elementwise"})},
      {"without fuse-composite: norms and attention in parts", Without(usual, {"fuse-composite"})}};
}

struct Contender {
  Form form;
  std::unique_ptr<ir::Program> program;
  std::unique_ptr<Runner> runner;
  std::vector<double> milliseconds;
};

absl::StatusOr<Contender> Prepare(const ir::Program& program, Form form, const InputFlags& inputs,
                                  kernels::SessionOptions options, PassFlags passes) {
  options.pool = kernels::OwnPool(options);
  passes.passes = form.passes;
  Contender contender{.form = std::move(form), .program = program.Clone()};
  WEFT_RETURN_IF_ERROR(RunPasses(passes, *contender.program));
  WEFT_ASSIGN_OR_RETURN(contender.runner, Runner::Create(*contender.program, options));
  WEFT_ASSIGN_OR_RETURN(const auto values, GatherInputs(*contender.program->context(),
                                                        contender.runner->inputs(), inputs));
  WEFT_RETURN_IF_ERROR(contender.runner->Bind(values));
  WEFT_RETURN_IF_ERROR(contender.runner->Run());
  return contender;
}

// The fastest of those that are faster than the first beyond noise, else that.
size_t Best(const std::vector<Contender>& contenders) {
  size_t best = 0;
  for (size_t i = 1; i < contenders.size(); ++i)
    if (kernels::IsFasterBeyondNoise(contenders[0].milliseconds, contenders[i].milliseconds) &&
        kernels::Median(contenders[i].milliseconds) <
            kernels::Median(contenders[best].milliseconds))
      best = i;
  return best;
}

void PrintContenders(const std::vector<Contender>& contenders, size_t best) {
  Table table({"passes", "ms", ""});
  for (size_t i = 0; i < contenders.size(); ++i)
    table.AddRow({contenders[i].form.name,
                  fmt::format("{:.3f}", kernels::Median(contenders[i].milliseconds)),
                  i == best ? "chosen" : ""});
  std::printf("%s\n", table.ToString(stdout).c_str());
}

std::string Named(const kernels::MeasuredKernel& measured) {
  const std::string& isa = measured.kernel.isa;
  return fmt::format("{}{} {:.1f}", measured.kernel.provider, isa.empty() ? "" : " " + isa,
                     measured.microseconds);
}

void PrintKernels(const kernels::Tuning& tuning) {
  Table table({"operation", "us", "others, us"});
  for (const kernels::MeasuredOps& ops : tuning.several) {
    std::vector<std::string> others;
    for (const kernels::MeasuredKernel& other : ops.others) others.push_back(Named(other));
    table.AddRow({ops.key, Named(ops.usual), fmt::format("{}", fmt::join(others, ", "))});
  }
  if (!tuning.several.empty()) std::printf("%s\n", table.ToString(stdout).c_str());
  const size_t chosen = tuning.choices.size();
  std::printf(
      "different operations: %zu; run by several kernels: %zu; by another than usual: %zu\n",
      tuning.keys, tuning.several.size(), chosen);
  double with_choice = 0;
  for (const kernels::MeasuredOps& ops : tuning.several) with_choice += ops.usual.microseconds;
  if (tuning.microseconds > 0)
    std::printf("a run spends %.1f us in operations, %.1f of it in those run by several kernels\n",
                tuning.microseconds, with_choice);
  if (chosen > 0)
    std::printf("a run takes %.3f ms with them, %.3f without\n", tuning.tuned_ms, tuning.usual_ms);
}

}  // namespace

std::string TextOf(const TunedModel& tuned) {
  const std::string passes =
      tuned.passes.empty() ? "" : fmt::format("{}{}\n", kPasses, fmt::join(tuned.passes, ","));
  return passes + tuned.kernels.ToText();
}

absl::StatusOr<TunedModel> ReadTuned(const std::string& path) {
  WEFT_ASSIGN_OR_RETURN(const std::string text, ReadText(path, kMaxBytes));
  std::string_view rest = text;
  Passes passes;
  if (rest.starts_with(kPasses)) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view names = rest.substr(kPasses.size(), end - kPasses.size());
    if (names.ends_with('\r')) names.remove_suffix(1);
    passes = SplitAtCommas(names);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    for (const std::string& pass : passes)
      if (absl::Status status = ir::CheckName("pass", pass, PassNames()); !status.ok())
        return ir::Annotate(status, path);
  }
  WEFT_ASSIGN_OR_RETURN(const auto providers, kernels::ProviderOrder("auto"));
  auto kernels = kernels::KernelChoices::Parse(rest, passes.empty() ? 1 : 2, providers);
  if (!kernels.ok()) return ir::Annotate(kernels.status(), path);
  return TunedModel{std::move(passes), *std::move(kernels)};
}

absl::Status TuneModel(const ir::Program& program, const TuneFlags& flags, const InputFlags& inputs,
                       const kernels::SessionOptions& options, const PassFlags& passes) {
  kernels::SessionOptions sharing = options;  // one copy of the weights for all
  sharing.packed = std::make_shared<kernels::PackedWeights>();
  std::vector<Contender> contenders;
  for (Form& form : Forms(passes)) {
    WEFT_ASSIGN_OR_RETURN(auto contender,
                          Prepare(program, std::move(form), inputs, sharing, passes));
    contenders.push_back(std::move(contender));
  }
  size_t best = 0;
  if (contenders.size() > 1) {
    WEFT_ASSIGN_OR_RETURN(
        const auto times,
        kernels::TimeInTurns(
            contenders.size(), {}, [&](size_t i) { return contenders[i].runner->Run(); },
            [&](size_t i) { kernels::TakeTurn(contenders[i].runner->pool()); }));
    for (size_t i = 0; i < times.size(); ++i) contenders[i].milliseconds = times[i];
    best = Best(contenders);
    PrintContenders(contenders, best);
  }
  const Contender chosen = std::move(contenders[best]);
  contenders.clear();
  WEFT_ASSIGN_OR_RETURN(const auto values,
                        GatherInputs(*chosen.program->context(), chosen.runner->inputs(), inputs));
  WEFT_ASSIGN_OR_RETURN(
      const kernels::Tuning tuning,
      kernels::Tune(*chosen.program, sharing, values, {.keeps_order = passes.numerics == "exact"}));
  PrintKernels(tuning);
  const TunedModel tuned{best == 0 ? Passes() : chosen.form.passes, tuning.choices};
  return WriteText(flags.tune, TextOf(tuned));
}

absl::Status ApplyTuned(const TuneFlags& flags, kernels::SessionOptions* options,
                        PassFlags* passes) {
  WEFT_ASSIGN_OR_RETURN(TunedModel tuned, ReadTuned(flags.tuned));
  const kernels::ScopedIsa isa(kernels::FindIsa(options->isa));
  const std::string machine = kernels::MachineName(options->threads);
  if (tuned.kernels.machine() != machine) {
    PrintWarning("ir-run", fmt::format("--tuned {}: not used, it is for {} and this is {}",
                                       flags.tuned, tuned.kernels.machine(), machine));
    return absl::OkStatus();
  }
  if (!tuned.passes.empty()) {
    if (!passes->passes.empty() || passes->pipeline_given)
      return ir::InvalidArgument(
          fmt::format("--tuned {} names passes, as do --pipeline and --passes", flags.tuned));
    passes->passes = std::move(tuned.passes);
  }
  options->choices = std::make_shared<kernels::KernelChoices>(std::move(tuned.kernels));
  return absl::OkStatus();
}

void WarnOfUnusedChoices(const TuneFlags& flags, const kernels::KernelChoices& choices,
                         const Runner& runner) {
  if (choices.size() == 0 || runner.FollowsSome(choices)) return;
  PrintWarning("ir-run", fmt::format("--tuned {}: none of the {} kernels that it chooses is of "
                                     "this model, its inputs and passes",
                                     flags.tuned, choices.size()));
}

}  // namespace weft::tools
