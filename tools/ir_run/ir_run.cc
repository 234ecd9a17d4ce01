// ir-run: runs a model on inputs from files or random ones; compares, times and profiles it.
// `ir-run --help` has the flags.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "ir/base/contains.h"
#include "ir/base/escape.h"
#include "ir/base/suggest.h"
#include "kernels/available_cpus.h"
#include "kernels/isa.h"
#include "kernels/runtime/missing_kernels.h"
#include "kernels/runtime/registry.h"
#include "kernels/thread_pool.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/load_flags.h"
#include "tools/cli/model_stream.h"
#include "tools/cli/output_path.h"
#include "tools/cli/pass_flags.h"
#include "tools/cli/picture/picture_flags.h"
#include "tools/cli/plugin.h"
#include "tools/cli/program_main.h"
#include "tools/cli/rule_bound.h"
#include "tools/cli/shape_flags.h"
#include "tools/cli/values/tensors.h"
#include "tools/ir_run/bench.h"
#include "tools/ir_run/check_outputs.h"
#include "tools/ir_run/measurements.h"
#include "tools/ir_run/report.h"
#include "tools/ir_run/runner.h"
#include "tools/ir_run/tune.h"
#include "tools/onnx/origins.h"
#include "tools/tools.h"
#include "weft/base/numeric_kernels.h"

namespace weft::tools {
namespace {

using kernels::ThreadPool;

struct Flags {
  std::string model, format, output_dir, save_inputs;
  std::vector<std::string> plugins;
  ComparisonFlags compare;
  InputFlags inputs;
  ShapeFlags shapes;
  LoadOptions load;
  PassFlags passes{"fuse", "ir-run"};
  PictureFlags picture;
  TuneFlags tuning;
  std::string provider = "auto", isa, matmul_precision;
  int threads = std::min(kernels::AvailableCpus(), ThreadPool::kMaxThreads);
  bool oversubscribe = false;
  std::string bench, profile, report;  // table, json, or empty: not asked for
  bool bench_blocks = false, can_run = false;
};

// What CLI11 would wrap around or cut.
std::string SeedMistake(const std::string& text) {
  if (text.starts_with('-')) return text + ": expected a number of at least 0";
  errno = 0;
  std::strtoull(text.c_str(), nullptr, 0);
  return errno == ERANGE ? text + ": expected a number of at most 2^64 - 1" : "";
}

void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("MODEL", flags->model, "an .onnx or .ir file, or -: stdin, which is onnx or ir");
  AddFormatFlag(app, &flags->format);
  AddPluginFlag(app, &flags->plugins, "rules, passes, operators, kernels of yours; repeatable");
  app.add_option("--input", flags->inputs.files, "an input from a .pb or .npy file; repeatable")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--random-inputs", flags->inputs.seed, "random values for the other inputs")
      ->type_name("SEED")
      ->check(&SeedMistake);
  app.add_option("--input-range", flags->inputs.ranges)
      ->type_name("NAME=LOW,HIGH")
      ->allow_extra_args(false)
      ->group(kSameLine);
  AddDimFlag(app, &flags->shapes);
  AddInputShapeFlags(app, &flags->shapes);
  AddLoadFlags(app, &flags->load);
  app.add_option("--output-dir", flags->output_dir, "write DIR/output_<i>.pb, DIR/input_<i>.pb")
      ->type_name("DIR");
  app.add_option("--save-inputs", flags->save_inputs)->type_name("DIR")->group(kSameLine);
  AddPipelineFlag(app, &flags->passes);
  AddOtherPassFlags(app, &flags->passes);
  app.add_option("--provider", flags->provider,
                 fmt::format("kernels: {}; portable|avx2|avx512|amx",
                             fmt::join(kernels::ProviderChoices(), "|")))
      ->type_name("K");
  app.add_option("--isa", flags->isa)->type_name("I")->group(kSameLine);
  app.add_option("--matmul-precision", flags->matmul_precision,
                 "float32|bf16x2|bf16, of products on amx, with --numerics approximate")
      ->type_name("P");
  app.add_option("--threads", flags->threads,
                 "default and limit: the CPUs the process may use; lift the limit")
      ->type_name("N");
  app.add_flag("--oversubscribe", flags->oversubscribe)->group(kSameLine);
  app.add_option("--compare", flags->compare.with,
                 "with reference: as it is on reference kernels; or with another model")
      ->type_name("WITH");
  app.add_option("--expect", flags->compare.expect, "compare an output with a file; repeatable")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  app.add_option("--tolerance", flags->compare.tolerance,
                 "allowed / largest output (f32 5e-6, f16 1e-3, bf16 8e-3, integers 0)")
      ->type_name("T");
  app.add_flag("--bench{table}", flags->bench,
               "time runs: least, mean, quantiles, arena; =json; counts on stdin");
  app.add_flag("--bench-blocks", flags->bench_blocks)->group(kSameLine);
  app.add_option("--tune", flags->tuning.tune,
                 "the fastest passes and kernels: find them; use those of F")
      ->type_name("F");
  app.add_option("--tuned", flags->tuning.tuned)->type_name("F")->group(kSameLine);
  app.add_flag("--profile{table}", flags->profile,
               "time per op, with its kernel, nodes, rules; pictures");
  AddPictureFlags(app, &flags->picture);
  app.add_flag("--report{table}", flags->report,
               "rules, fused and unfused latency, difference; =json");
  app.add_flag("--can-run", flags->can_run,
               "run nothing; name all that the model needs and we lack");
}

// Which nothing may overwrite.
std::vector<std::string> FilesRead(const Flags& flags) {
  std::vector<std::string> files = {flags.model, flags.compare.with, flags.tuning.tuned};
  files.insert(files.end(), flags.passes.rules_files.begin(), flags.passes.rules_files.end());
  for (const auto* named : {&flags.inputs.files, &flags.compare.expect})
    for (const std::string& text : *named)  // a name may have a '=' itself
      for (size_t equals = text.find('='); equals < text.size();
           equals = text.find('=', equals + 1))
        files.push_back(text.substr(equals + 1));
  return files;
}

// Which values must not be written to.
std::vector<std::string> FilesBesideValues(const Flags& flags) {
  std::vector<std::string> files = FilesRead(flags);
  files.insert(files.end(), {flags.picture.html, flags.picture.svg, flags.picture.dot});
  return files;
}

// Another flag that asks for checks, files or measurements, but for those that `with` names.
absl::Status CheckAsksForNothingElse(const Flags& flags, const std::string& does,
                                     const std::vector<std::string>& with) {
  const std::pair<const char*, bool> others[] = {
      {"--tuned", !flags.tuning.tuned.empty()},      {"--bench", !flags.bench.empty()},
      {"--bench-blocks", flags.bench_blocks},        {"--profile", !flags.profile.empty()},
      {"--report", !flags.report.empty()},           {"--can-run", flags.can_run},
      {"--compare", !flags.compare.with.empty()},    {"--expect", !flags.compare.expect.empty()},
      {"a picture", flags.picture.wanted()},         {"--output-dir", !flags.output_dir.empty()},
      {"--save-inputs", !flags.save_inputs.empty()}, {"--fail-if", !flags.passes.fail_if.empty()}};
  for (const auto& [name, is_given] : others)
    if (is_given && !ir::Contains(with, name))
      return ir::InvalidArgument(fmt::format("{}, {} is for another run", does, name));
  return absl::OkStatus();
}

absl::Status CheckTuneFlags(const Flags& flags) {
  if (flags.tuning.tune.empty()) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(CheckAsksForNothingElse(flags, "--tune finds what is best", {}));
  return CheckOutputPath("--tune", flags.tuning.tune, FilesRead(flags));
}

absl::Status CheckReportAndCanRun(const Flags& flags) {
  if (flags.picture.wanted() && (!flags.report.empty() || flags.can_run))
    return ir::InvalidArgument("a picture shows one run; --report makes two, --can-run none");
  if (flags.can_run)
    return CheckAsksForNothingElse(flags, "--can-run runs nothing",
                                   {"--can-run", "--tuned", "--fail-if"});
  if (flags.report.empty()) return absl::OkStatus();
  if (!(flags.passes.passes.empty() && flags.tuning.tuned.empty()))
    return ir::InvalidArgument("--report runs the pipelines layout and fuse, no other passes");
  return CheckAsksForNothingElse(flags, "--report compares two pipelines", {"--report"});
}

absl::Status CheckFlags(const Flags& flags) {
  if (flags.model.empty()) return ir::InvalidArgument("no model given; see ir-run --help");
  WEFT_RETURN_IF_ERROR(CheckModelName(flags.model, flags.format));
  if (!flags.format.empty() && flags.model != kStream)
    return ir::InvalidArgument("--format is for stdin: - in place of a file");
  if (flags.bench_blocks && flags.model == kStream)
    return ir::InvalidArgument("--bench-blocks reads stdin, which is the model");
  WEFT_RETURN_IF_ERROR(CheckForm("--bench", flags.bench));
  WEFT_RETURN_IF_ERROR(CheckForm("--profile", flags.profile));
  if (flags.bench_blocks && (!flags.profile.empty() || flags.bench == kJson))
    return ir::InvalidArgument(
        "--bench-blocks answers with times alone, without --profile and --bench=json");
  WEFT_RETURN_IF_ERROR(CheckForm("--report", flags.report));
  WEFT_RETURN_IF_ERROR(CheckPassFlags(flags.passes));
  WEFT_RETURN_IF_ERROR(ir::CheckName("provider", flags.provider, kernels::ProviderChoices()));
  if (flags.threads < 1 || flags.threads > ThreadPool::kMaxThreads)
    return ir::InvalidArgument(
        fmt::format("--threads {}: expected 1 to {}", flags.threads, ThreadPool::kMaxThreads));
  WEFT_RETURN_IF_ERROR(CheckComparisonFlags(flags.compare));
  WEFT_RETURN_IF_ERROR(CheckTuneFlags(flags));
  WEFT_RETURN_IF_ERROR(CheckReportAndCanRun(flags));
  return CheckPictureFlags(flags.picture, FilesRead(flags));
}

// The threads to run on, and a warning when those are fewer than were asked for.
int ThreadsOf(const Flags& flags) {
  const int cpus = kernels::AvailableCpus();
  if (flags.oversubscribe || flags.threads <= cpus) return flags.threads;
  PrintWarning("ir-run", fmt::format("--threads {}: this process may use {} CPU{} and more threads "
                                     "would be slower; running on {}, or give --oversubscribe",
                                     flags.threads, cpus, cpus == 1 ? "" : "s", cpus));
  return cpus;
}

using Steps = std::vector<std::optional<double>>;

// `steps` are those of the model as it is, which is `original` when that is compared.
absl::Status CheckOutputs(const Flags& flags, const ir::Program* original,
                          const kernels::SessionOptions& options, ir::IrContext& context,
                          OutputCheck& check) {
  if (original) {
    WEFT_RETURN_IF_ERROR(check.WithReference(*original));
  } else if (!flags.compare.with.empty()) {
    WEFT_RETURN_IF_ERROR(check.WithModel(context, flags.compare.with, flags.load, options));
  }
  WEFT_RETURN_IF_ERROR(check.WithFiles(context, flags.compare.expect));
  return check.Verdict();
}

absl::Status Measure(const Flags& flags, Runner& runner) {
  const RunOnce run = [&runner] { return runner.Run(); };
  if (flags.bench_blocks) return ServeBlocks(std::cin, run);
  WEFT_ASSIGN_OR_RETURN(const auto times, TimeRuns(run));
  if (!flags.bench.empty())
    std::fputs((flags.bench == kJson ? BenchJson : BenchTable)(times, runner.arena_bytes()).c_str(),
               stdout);
  if (!flags.profile.empty())
    std::fputs((flags.profile == kJson ? ProfileJson : ProfileTable)(runner.Profile()).c_str(),
               stdout);
  return absl::OkStatus();
}

void PrintOutputs(const Runner& runner) {
  for (size_t i = 0; i < runner.outputs().size(); ++i)
    std::printf("%s: %s\n", ir::EscapeControl(runner.output_infos()[i].name).c_str(),
                Summary(runner.outputs()[i]).c_str());
}

// A line on stdout for everything that the program needs and no kernel does.
absl::Status CheckKernels(ir::Program& program, const std::string& provider) {
  WEFT_ASSIGN_OR_RETURN(const auto providers, kernels::ProviderOrder(provider));
  size_t ops = 0;
  for (const kernels::MissingKernel& missing : kernels::MissingKernels(program, providers)) {
    ops += missing.count;
    const std::string line = fmt::format("{}: {}; {} op{}{}{}", missing.op, missing.why,
                                         missing.count, missing.count == 1 ? "" : "s",
                                         missing.where.empty() ? "" : ", first ", missing.where);
    std::puts(ir::EscapeControl(line).c_str());
  }
  if (ops > 0) return ir::Unsupported(fmt::format("{} op{} cannot run", ops, ops == 1 ? "" : "s"));
  std::puts("every op has a kernel");
  return absl::OkStatus();
}

// The model after its passes, on its inputs: once, and then what is asked for.
struct Execution {
  ir::IrContext& context;
  std::unique_ptr<ir::Program> original = nullptr;  // when that is compared
  const Steps steps;                                // of the outputs of the model as it is
  std::unique_ptr<Runner> runner = nullptr;
  std::vector<kernels::RuntimeValue> inputs = {};
};

absl::Status RunOnceAndWrite(const Flags& flags, Execution& run) {
  WEFT_RETURN_IF_ERROR(run.runner->Bind(run.inputs));
  WEFT_RETURN_IF_ERROR(run.runner->Run());
  if (flags.output_dir.empty()) return absl::OkStatus();
  return WriteValues(run.context, {"--output-dir", flags.output_dir, "output"},
                     run.runner->output_infos(), run.runner->outputs(), FilesBesideValues(flags));
}

// A failed check ends it, but for the picture, which shows by how much outputs differ.
absl::Status CheckAndMeasure(const Flags& flags, const kernels::SessionOptions& options,
                             Execution& run, picture::Picture* picture) {
  const bool checks = !flags.compare.with.empty() || !flags.compare.expect.empty();
  const bool measures =
      flags.bench_blocks || !flags.bench.empty() || !flags.profile.empty() || picture != nullptr;
  const bool json_follows = flags.bench == kJson || flags.profile == kJson;
  OutputCheck check(*run.runner, run.inputs, run.steps, flags.compare.tolerance,
                    json_follows ? stderr : stdout);
  absl::Status verdict;
  if (checks) verdict = CheckOutputs(flags, run.original.get(), options, run.context, check);
  if (!verdict.ok() && (!picture || check.compared().empty())) return verdict;
  if (measures) WEFT_RETURN_IF_ERROR(Measure(flags, *run.runner));
  if (!checks && !measures && flags.output_dir.empty()) PrintOutputs(*run.runner);
  if (!picture) return verdict;
  picture::PictureInfo info = PictureInfoOf(flags.model, flags.passes);
  for (const OutputCheck::Compared& output : check.compared())
    info.outputs.push_back({output.output, output.relative, output.text});
  info.run = run.runner->DescribeRun(fmt::format(
      "{} thread{}, kernels {}, {}{}", options.threads, options.threads == 1 ? "" : "s",
      options.provider, options.isa.empty() ? kernels::IsaName(kernels::CurrentIsa()) : options.isa,
      options.matmul_precision == kernels::MatmulPrecision::kFloat32
          ? ""
          : fmt::format(", products in {}",
                        kernels::MatmulPrecisionName(options.matmul_precision))));
  WEFT_RETURN_IF_ERROR(WritePicture(flags.picture, info, *picture));
  return verdict;
}

absl::Status RunModel(Flags& flags, const kernels::SessionOptions& options, ir::Program& program,
                      Execution& run) {
  if (flags.compare.with == "reference") run.original = program.Clone();
  if (options.profile) onnx::RecordNodeOrigins(program);
  const auto picture = MakePicture(flags.picture, program, &flags.passes);
  std::vector<passes::PassReport> reports;
  WEFT_RETURN_IF_ERROR(
      RunPasses(flags.passes, program, &reports, picture ? picture->hook() : nullptr));
  WEFT_RETURN_IF_ERROR(CheckRuleBounds(flags.passes.fail_if, RuleNames(reports), reports));
  if (flags.can_run) return CheckKernels(program, flags.provider);
  WEFT_ASSIGN_OR_RETURN(run.runner, Runner::Create(program, options));
  WEFT_ASSIGN_OR_RETURN(run.inputs, GatherInputs(run.context, run.runner->inputs(), flags.inputs));
  if (!flags.save_inputs.empty())
    WEFT_RETURN_IF_ERROR(WriteValues(run.context, {"--save-inputs", flags.save_inputs, "input"},
                                     run.runner->inputs(), run.inputs, FilesBesideValues(flags)));
  WEFT_RETURN_IF_ERROR(RunOnceAndWrite(flags, run));
  if (options.choices) WarnOfUnusedChoices(flags.tuning, *options.choices, *run.runner);
  return CheckAndMeasure(flags, options, run, picture.get());
}

absl::Status Run(Flags& flags) {
  WEFT_RETURN_IF_ERROR(CheckFlags(flags));
  flags.passes.widen_floats = flags.provider != "reference";
  ir::IrContext context;
  WEFT_ASSIGN_OR_RETURN(auto program,
                        LoadModelOrStream(context, flags.model, flags.format, flags.load));
  WEFT_RETURN_IF_ERROR(ApplyShapes(flags.shapes, *program));
  WEFT_ASSIGN_OR_RETURN(std::string isa, IsaFor(flags.isa, flags.passes.numerics));
  WEFT_ASSIGN_OR_RETURN(const kernels::MatmulPrecision precision,
                        MatmulPrecisionFor(flags.matmul_precision, flags.passes.numerics));
  kernels::SessionOptions options = {.threads = ThreadsOf(flags),
                                     .provider = ProviderFor(flags.provider, flags.passes.numerics),
                                     .isa = std::move(isa),
                                     .matmul_precision = precision,
                                     .profile = !flags.profile.empty() || flags.picture.wanted(),
                                     .oversubscribe = flags.oversubscribe};
  if (!flags.tuning.tune.empty())
    return TuneModel(*program, flags.tuning, flags.inputs, options, flags.passes);
  if (!flags.tuning.tuned.empty())
    WEFT_RETURN_IF_ERROR(ApplyTuned(flags.tuning, &options, &flags.passes));
  if (!flags.report.empty())
    return PrintReport(*program, flags.model, flags.inputs, options, flags.passes,
                       flags.compare.tolerance, flags.report == kJson);
  Execution run{.context = context, .steps = OutputSteps(*program)};
  return RunModel(flags, options, *program, run);
}

}  // namespace
}  // namespace weft::tools

namespace weft {

int IrRunMain(int argc, char** argv) {
  using namespace tools;  // NOLINT
  CLI::App app("", "ir-run");
  SetUpApp(app, "usage: ir-run MODEL [options]     runs a model",
           "and the flags for passes that ir-opt has: --passes, --numerics, --rules-file, ...\n"
           "exit: 0 done, 1 outputs differ, 2 bad usage or input, 3 unsupported",
           Answers::kTextOrJson);
  Flags flags;
  AddFlags(app, &flags);
  return RunMain(app, argc, argv, [&] {
    ApplyJsonFlag(app, {&flags.passes.stats, &flags.bench, &flags.profile, &flags.report});
    WEFT_RETURN_IF_ERROR(LoadPlugins(flags.plugins));
    return Run(flags);
  });
}

}  // namespace weft
