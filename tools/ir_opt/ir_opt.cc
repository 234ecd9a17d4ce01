// ir-opt: reads a model (ONNX or text), runs passes on it, writes it. `ir-opt --help` has the
// flags.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "ir/base/contains.h"
#include "ir/base/suggest.h"
#include "ir/text/printer.h"
#include "kernels/available_cpus.h"
#include "passes/pass_registry.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/load_flags.h"
#include "tools/cli/model_stream.h"
#include "tools/cli/pass_flags.h"
#include "tools/cli/picture/picture_flags.h"
#include "tools/cli/plugin.h"
#include "tools/cli/program_main.h"
#include "tools/cli/rule_bound.h"
#include "tools/cli/shape_flags.h"
#include "tools/cli/tables/size_table.h"
#include "tools/cli/tables/terminal.h"
#include "tools/cli/target_opset.h"
#include "tools/ir_opt/analyse.h"
#include "tools/ir_opt/answers_json.h"
#include "tools/ir_opt/batch.h"
#include "tools/ir_opt/bisect.h"
#include "tools/ir_opt/check_flags.h"
#include "tools/ir_opt/convert.h"
#include "tools/ir_opt/describe_rule.h"
#include "tools/ir_opt/extract.h"
#include "tools/ir_opt/lists.h"
#include "tools/ir_opt/lists_json.h"
#include "tools/ir_opt/quantize.h"
#include "tools/ir_opt/reduce.h"
#include "tools/ir_opt/verify_rules.h"
#include "tools/onnx/export.h"
#include "tools/onnx/origins.h"
#include "tools/tools.h"
#include "weft/base/files.h"
#include "weft/check/model_check.h"
#include "weft/optimize/explain.h"

namespace weft::tools {
namespace {

struct Flags {
  std::vector<std::string> inputs;
  std::string in, out, output_dir, format, extract, explain, rule, export_form = "functions";
  bool full_weights = false, print_origins = false;
  std::string list_passes, list_ops, list_constraints;  // table, json, or empty
  bool json = false, analyse_rules = false;
  const CLI::Option* list_rules = nullptr;    // may have a value: the rule
  const CLI::Option* verify_rules = nullptr;  // may have a value: the rules
  std::vector<std::string> rules_to_verify, plugins;
  PassFlags passes{"simplify"};
  CheckFlags check;
  bool bisect = false, reduce = false;
  std::string test;
  ConvertFlags convert;
  ShapeFlags shapes;
  QuantizeFlags quantize;
  PictureFlags picture;
  LoadOptions load;
  int64_t target_opset = 0, jobs = 1;
};

constexpr int64_t kMaxJobs = 1024;

void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("IN", flags->inputs, ".onnx, .ir, folders, or -");
  app.add_option("-o", flags->out)->type_name("OUT")->group(kSameLine);
  app.add_option("--output-dir", flags->output_dir)->type_name("DIR")->group(kSameLine);
  app.add_option("-j", flags->jobs)->type_name("N")->group(kSameLine);
  AddFormatFlag(app, &flags->format);
  app.add_flag("--print-origins", flags->print_origins)->group(kSameLine);
  AddPipelineFlag(app, &flags->passes);
  AddPassFlags(app, &flags->passes);
  AddCheckFlag(app, &flags->check);
  AddToleranceFlag(app, &flags->check);
  app.add_flag("--bisect", flags->bisect)->group(kSameLine);
  app.add_flag("--reduce", flags->reduce)->group(kSameLine);
  app.add_option("--test", flags->test)->type_name("CMD")->group(kSameLine);
  AddSearchFlags(app, &flags->passes.search);
  AddPluginFlag(app, &flags->plugins, "yours; why R did not apply; pictures");
  app.add_option("--explain", flags->explain)->type_name("R[@V]")->group(kSameLine);
  AddPictureFlags(app, &flags->picture);
  AddRulesFileFlag(app, &flags->passes);
  AddConvertFlags(app, &flags->convert);
  AddDimFlag(app, &flags->shapes);
  AddDimRangeFlag(app, &flags->passes);
  AddInputShapeFlags(app, &flags->shapes);
  AddLoadFlags(app, &flags->load, "constant defaults; hard links; a part");
  app.add_option("--extract", flags->extract)->type_name("A..B")->group(kSameLine);
  AddQuantizeFlags(app, &flags->quantize);
  app.add_option("--export", flags->export_form, "fused ops: functions|inline|ort; opset; weights")
      ->type_name("FORM");
  AddTargetOpsetFlag(app, &flags->target_opset);
  app.add_flag("--full-weights", flags->full_weights)->group(kSameLine);
  app.add_flag("--analyse-rules", flags->analyse_rules,
               "rules that undo, grow or shadow; that change numbers");
  flags->verify_rules = app.add_option("--verify-rules", flags->rules_to_verify)
                            ->type_name("[R,...]")
                            ->delimiter(',')
                            ->expected(0, -1)
                            ->group(kSameLine);
  app.add_flag("--list-passes{table}", flags->list_passes, "what there is; =json; one rule");
  flags->list_rules = app.add_option("--list-rules", flags->rule)
                          ->type_name("[R]")
                          ->expected(0, 1)
                          ->group(kSameLine);
  app.add_flag("--list-ops{table}", flags->list_ops)->group(kSameLine);
  app.add_flag("--list-constraints{table}", flags->list_constraints)->group(kSameLine);
}

// Of the passes that the user chose, or of all there are; CheckFailed when something was found.
absl::Status Analyse(const Flags& flags) {
  WEFT_RETURN_IF_ERROR(CheckPassFlags(flags.passes));
  std::vector<std::string> names = PassesOf(flags.passes);
  if (flags.passes.passes.empty() && !flags.passes.pipeline_given) {
    names.clear();
    for (const passes::RegisteredPass& pass : passes::RegisteredPasses())
      names.push_back(pass.name);
  }
  size_t findings = 0;
  WEFT_ASSIGN_OR_RETURN(const std::string text, AnalyseRulesOf(names, flags.passes, &findings));
  std::fputs(text.c_str(), stdout);
  if (findings == 0) return absl::OkStatus();
  return CheckFailed(fmt::format("{} finding{} about rules", findings, findings == 1 ? "" : "s"));
}

// CheckFailed when a rule is refuted.
absl::Status Verify(const Flags& flags) {
  size_t refuted = 0;
  std::vector<std::string> names = flags.rules_to_verify;
  std::erase(names, "");  // that of all rules
  WEFT_ASSIGN_OR_RETURN(const std::string text,
                        VerifyRules(names, flags.passes.rules_files, 1, &refuted));
  std::fputs(text.c_str(), stdout);
  if (refuted == 0) return absl::OkStatus();
  return CheckFailed(fmt::format("{} rule{} refuted", refuted, refuted == 1 ? " is" : "s are"));
}

bool ToStdout(const Flags& flags) { return flags.out.empty() || flags.out == kStream; }

// What the model is written as, to a file or stdout; none when it is printed for people.
std::optional<ModelFormat> OutputFormat(const Flags& flags) {
  if (flags.out.empty()) return std::nullopt;
  if (flags.out == kStream) return ParseFormat(flags.format).value();  // CheckFlags() saw it
  return ModelFormatOf(flags.out).value();
}

// What --bisect and --reduce would leave undone.
absl::Status CheckSearchesOnly(const Flags& flags) {
  const std::pair<const char*, bool> of_one_run[] = {{"--explain", !flags.explain.empty()},
                                                     {"--fail-if", !flags.passes.fail_if.empty()}};
  for (const auto& [name, is_given] : of_one_run)
    if (is_given)
      return ir::InvalidArgument(fmt::format(
          "{}, {} is for one run",
          flags.bisect ? "--bisect runs the passes many times" : "--reduce runs no pass", name));
  const std::pair<const char*, bool> of_passes[] = {{"--check", !flags.check.inputs.empty()},
                                                    {"--convert", !flags.convert.to.empty()},
                                                    {"--quantize", !flags.quantize.mode.empty()},
                                                    {"--stats", !flags.passes.stats.empty()}};
  for (const auto& [name, is_given] : of_passes)
    if (is_given && flags.reduce)
      return ir::InvalidArgument(
          fmt::format("--reduce runs no pass, so that there is nothing for {}", name));
  return absl::OkStatus();
}

absl::Status CheckSearchForFaults(const Flags& flags) {
  if (!flags.bisect && !flags.reduce)
    return flags.test.empty() ? absl::OkStatus()
                              : ir::InvalidArgument("--test needs --bisect or --reduce");
  if (flags.bisect && flags.reduce)
    return ir::InvalidArgument("--bisect and --reduce are two searches: first one, then the other");
  const std::string name = flags.bisect ? "--bisect" : "--reduce";
  if (ToStdout(flags))
    return ir::InvalidArgument(name + " needs -o OUT, a model, for what it finds");
  if (flags.reduce && flags.test.empty())
    return ir::InvalidArgument("--reduce needs --test CMD, which is called with a model");
  return CheckSearchesOnly(flags);
}

// What does not depend on the model.
absl::Status CheckOptions(const Flags& flags) {
  WEFT_RETURN_IF_ERROR(CheckPassFlags(flags.passes));
  WEFT_RETURN_IF_ERROR(CheckTargetOpset(flags.target_opset));
  WEFT_RETURN_IF_ERROR(CheckConvertFlags(flags.convert));
  WEFT_RETURN_IF_ERROR(CheckQuantizeFlags(flags.quantize));
  WEFT_RETURN_IF_ERROR(CheckCheckFlags(flags.check));
  WEFT_RETURN_IF_ERROR(CheckSearchForFaults(flags));
  const bool checks = !flags.check.inputs.empty() || (flags.bisect && flags.test.empty());
  if (checks && !(flags.convert.to.empty() && flags.quantize.mode.empty()))
    return ir::InvalidArgument(
        "--check is for programs that keep their numbers; --convert and --quantize tell themselves "
        "what they do to outputs");
  const std::string forms[] = {"functions", "inline", "ort"};
  WEFT_RETURN_IF_ERROR(ir::CheckName("export form", flags.export_form, forms));
  if (!flags.extract.empty()) WEFT_RETURN_IF_ERROR(ParseExtractRange(flags.extract).status());
  if (!flags.explain.empty())
    WEFT_RETURN_IF_ERROR(RuleExplainer::Create(flags.explain, RuleNamesOf(flags.passes)).status());
  return absl::OkStatus();
}

absl::Status CheckFlags(const Flags& flags) {
  if (flags.in.empty()) return ir::InvalidArgument("no model given; see ir-opt --help");
  WEFT_RETURN_IF_ERROR(CheckModelName(flags.in, flags.format));
  if (!flags.format.empty() && flags.in != kStream && flags.out != kStream)
    return ir::InvalidArgument(
        "--format is for stdin, stdout (- in place of a file) and --output-dir");
  WEFT_RETURN_IF_ERROR(CheckOptions(flags));
  if (flags.picture.wanted() && (flags.bisect || flags.reduce))
    return ir::InvalidArgument(
        "--html, --svg and --dot are for one run of the passes, not for --bisect or --reduce");
  std::vector<std::string> others = flags.passes.rules_files;
  others.insert(others.end(), {flags.in, flags.out});
  WEFT_RETURN_IF_ERROR(CheckPictureFlags(flags.picture, others));
  if (ToStdout(flags)) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(ModelFormatOf(flags.out).status());
  // The side files that go with each of the two count as well.
  for (const char* in_side : {"", ".weights", ".data"})
    for (const char* out_side : {"", ".weights", ".data"})
      if (SameFile(flags.in + in_side, flags.out + out_side))
        return ir::InvalidArgument(flags.out + ": would overwrite the input " + flags.in + in_side);
  return absl::OkStatus();
}

absl::StatusOr<std::string> TextOfRules(const Flags& flags) {
  const std::vector<std::string>& files = flags.passes.rules_files;
  const bool all = flags.rule.empty() || flags.rule == kJson;
  if (flags.json || flags.rule == kJson)
    return all ? RulesJson(files) : RuleJson(flags.rule, files);
  return all ? ListRules(files) : DescribeRule(flags.rule, files);
}

absl::Status List(const Flags& flags) {
  WEFT_RETURN_IF_ERROR(CheckForm("--list-passes", flags.list_passes));
  WEFT_RETURN_IF_ERROR(CheckForm("--list-ops", flags.list_ops));
  WEFT_RETURN_IF_ERROR(CheckForm("--list-constraints", flags.list_constraints));
  const auto print = [](const std::string& form, std::string (*table)(), std::string (*json)()) {
    if (!form.empty()) std::fputs((form == kJson ? json : table)().c_str(), stdout);
  };
  print(flags.list_passes, &ListPasses, &PassesJson);
  if (flags.list_rules->count() > 0) {
    WEFT_ASSIGN_OR_RETURN(const std::string rules, TextOfRules(flags));
    std::fputs(rules.c_str(), stdout);
  }
  print(flags.list_ops, &ListOps, &OpsJson);
  print(flags.list_constraints, &ListConstraints, &ConstraintsJson);
  return absl::OkStatus();
}

SaveOptions SaveOptionsOf(const Flags& flags) {
  return {.full_weights = flags.full_weights,
          .inline_functions = flags.export_form != "functions",
          .target_opset = flags.passes.target_opset};
}

absl::Status WriteProgram(const Flags& flags, ir::Program& program) {
  if (!ToStdout(flags)) return SaveModel(program, flags.out, SaveOptionsOf(flags));
  if (const auto format = OutputFormat(flags))
    return WriteModelToStdout(program, *format, SaveOptionsOf(flags));
  // The answer, or the picture, is what was asked for.
  if ((!flags.explain.empty() || flags.picture.wanted()) && flags.out.empty())
    return absl::OkStatus();
  const std::string text = ir::PrintProgram(
      program, {.full_weights = flags.full_weights, .locations = flags.print_origins});
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

passes::PassManager::Hook Together(const passes::PassManager::Hook& a,
                                   const passes::PassManager::Hook& b) {
  if (!a || !b) return a ? a : b;
  return [a, b](const passes::Pass& pass, bool after, bool changed, ir::Program& program) {
    a(pass, after, changed, program);
    b(pass, after, changed, program);
  };
}

// Runs the passes and explains what is to be explained; `hook` may be null.
absl::Status Optimise(const Flags& flags, const Conversion& conversion, ir::Program& program,
                      const passes::PassManager::Hook& hook) {
  std::vector<passes::PassReport> reports;
  const std::unique_ptr<ir::Program> original = flags.passes.convert ? program.Clone() : nullptr;
  if (flags.explain.empty()) {
    WEFT_RETURN_IF_ERROR(RunPasses(flags.passes, program, &reports, hook));
  } else {
    WEFT_ASSIGN_OR_RETURN(RuleExplainer explainer,
                          RuleExplainer::Create(flags.explain, RuleNamesOf(flags.passes)));
    WEFT_RETURN_IF_ERROR(
        RunPasses(flags.passes, program, &reports, Together(explainer.hook(), hook)));
    WEFT_ASSIGN_OR_RETURN(const RuleAnswer answer,
                          explainer.Answer(program, RuleNames(reports), reports));
    std::fputs((flags.json ? ExplainJson(answer) : answer.ToString()).c_str(),
               flags.out == "-" ? stderr : stdout);
  }
  if (original) conversion.Report(*original, program, reports);
  return CheckRuleBounds(flags.passes.fail_if, RuleNames(reports), reports);
}

drr::NumericClass NumericsOf(const Flags& flags) {
  return drr::FindNumericClass(flags.passes.numerics).value();  // CheckPassFlags() saw it
}

// The same, between two runs of --check, whose comparisons go to `outputs`.
absl::Status OptimiseChecked(const Flags& flags, const Conversion& conversion, ir::Program& program,
                             const passes::PassManager::Hook& hook,
                             std::vector<ComparedOutput>* outputs) {
  if (flags.check.inputs.empty()) return Optimise(flags, conversion, program, hook);
  const std::unique_ptr<ir::Program> original = program.Clone();
  WEFT_ASSIGN_OR_RETURN(ModelCheck check,
                        ModelCheck::Create(CheckOptionsOf(flags.check, flags.passes),
                                           NumericsOf(flags), *original, kernels::AvailableCpus()));
  if (!flags.json) std::fputs(check.Preface().c_str(), stderr);
  check.Watch(program);
  Flags traced = flags;
  traced.passes.rewrites.before_rewrite = [](const passes::TracedRewrite&, ir::Program&) {};
  WEFT_RETURN_IF_ERROR(Optimise(traced, conversion, program, hook));
  std::string text;
  absl::Status verdict = check.Judge(&text, outputs);
  if (flags.json) text = CheckJson(check.Preface() + text, *outputs, verdict);
  std::fputs(text.c_str(), stderr);
  return verdict;
}

absl::Status QuantizeIfAsked(const Flags& flags, ir::Program& program,
                             const passes::PassManager::Hook& hook) {
  if (flags.quantize.mode.empty()) return absl::OkStatus();
  return Quantize(flags.quantize, flags.passes, program, hook);
}

// The same, and the picture of it, which is there after a failed check, too.
absl::Status OptimisePictured(Flags flags, const Conversion& conversion, ir::Program& program) {
  std::vector<ComparedOutput> outputs;
  const auto picture = MakePicture(flags.picture, program, &flags.passes);
  WEFT_RETURN_IF_ERROR(QuantizeIfAsked(flags, program, picture ? picture->hook() : nullptr));
  if (!picture) return OptimiseChecked(flags, conversion, program, nullptr, &outputs);
  absl::Status status = OptimiseChecked(flags, conversion, program, picture->hook(), &outputs);
  if (!status.ok() && outputs.empty()) return status;
  picture::PictureInfo info = PictureInfoOf(flags.in, flags.passes);
  for (const ComparedOutput& output : outputs)
    info.outputs.push_back({output.name, output.worst.relative, output.worst.Text("the original")});
  WEFT_RETURN_IF_ERROR(WritePicture(flags.picture, info, *picture));
  return status;
}

// The first with LayerNormalization, which ONNX Runtime has one kernel for.
constexpr int64_t kOrtOpset = 17;

bool ForOnnxRuntime(const Flags& flags) { return flags.export_form == "ort"; }

// Rules have to know what the model will be written as.
absl::StatusOr<int64_t> TargetOpsetOf(const Flags& flags, ir::Program& program) {
  if (OutputFormat(flags) != ModelFormat::kOnnx || flags.target_opset != 0)
    return flags.target_opset;
  const int64_t opset = ChooseTargetOpset(program, flags.target_opset, "ir-opt");
  return OpsetToConvertIn(flags.convert, program,
                          ForOnnxRuntime(flags) ? std::max(opset, kOrtOpset) : opset);
}

// Written ONNX has them always: they cost next to nothing there.
bool ShowsOrigins(const Flags& flags) {
  const bool writes_onnx = OutputFormat(flags) == ModelFormat::kOnnx;
  return flags.print_origins || !flags.explain.empty() || flags.picture.wanted() ||
         (writes_onnx && !flags.bisect);
}

// --stats=json has them itself.
bool TellsSizes(const Flags& flags) {
  return flags.passes.stats.empty() ? IsTerminal(stderr) : flags.passes.stats != "json";
}

// The model, or the part of it that was asked for.
absl::StatusOr<std::unique_ptr<ir::Program>> ReadModel(const Flags& flags, ir::IrContext& context) {
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Program> program,
                        LoadModelOrStream(context, flags.in, flags.format, flags.load));
  if (flags.extract.empty()) return program;
  WEFT_ASSIGN_OR_RETURN(const ExtractRange range, ParseExtractRange(flags.extract));
  return ExtractBetween(range, *program);
}

absl::Status OptimiseModelOf(Flags flags, OpCounts* ops) {
  ir::IrContext context;
  WEFT_ASSIGN_OR_RETURN(auto program, ReadModel(flags, context));
  ops->before = program->num_operations() - 1;  // but the module
  WEFT_RETURN_IF_ERROR(ApplyShapes(flags.shapes, *program));
  WEFT_ASSIGN_OR_RETURN(flags.passes.target_opset, TargetOpsetOf(flags, *program));
  if (flags.reduce) return Reduce({flags.test, SaveOptionsOf(flags), flags.out}, *program);
  if (ShowsOrigins(flags)) onnx::RecordNodeOrigins(*program);
  const int64_t opset = flags.passes.target_opset;
  Conversion conversion(flags.convert, opset > 0 ? opset : onnx::TargetOpset(*program));
  flags.passes.convert = conversion.options();
  if (flags.bisect) {
    WEFT_RETURN_IF_ERROR(QuantizeIfAsked(flags, *program, nullptr));
    return Bisect({flags.test, flags.check, flags.passes, SaveOptionsOf(flags), flags.out,
                   flags.plugins, flags.convert},
                  *program);
  }
  const bool tells_sizes = TellsSizes(flags);
  SizedModel before, after;
  if (tells_sizes) before = {MeasureSize(*program), FileBytes(flags.in)};
  WEFT_RETURN_IF_ERROR(OptimisePictured(flags, conversion, *program));
  ops->after = program->num_operations() - 1;
  WEFT_RETURN_IF_ERROR(WriteProgram(flags, *program));
  if (!tells_sizes) return absl::OkStatus();
  after = {MeasureSize(*program), FileBytes(flags.out)};
  std::fputs(SizeTable(before, after).c_str(), stderr);
  return absl::OkStatus();
}

bool IsBatch(const Flags& flags) {
  std::error_code error;
  return flags.inputs.size() > 1 || !flags.output_dir.empty() ||
         (flags.inputs.size() == 1 && std::filesystem::is_directory(flags.inputs[0], error));
}

absl::Status CheckBatchFlags(const Flags& flags) {
  if (flags.inputs.empty()) return ir::InvalidArgument("no model given; see ir-opt --help");
  if (flags.output_dir.empty())
    return ir::InvalidArgument("several models, or a folder of them, need --output-dir DIR");
  if (!flags.out.empty())
    return ir::InvalidArgument("-o is for one model, --output-dir for several");
  if (ir::Contains(flags.inputs, kStream))
    return ir::InvalidArgument("- is one model; --output-dir is for files and folders");
  if (!flags.explain.empty() || flags.bisect || flags.reduce || flags.picture.wanted())
    return ir::InvalidArgument("--explain, --bisect, --reduce and pictures are for one model");
  if (flags.jobs < 1 || flags.jobs > kMaxJobs)
    return ir::InvalidArgument(fmt::format("-j {}: expected 1 to {}", flags.jobs, kMaxJobs));
  WEFT_RETURN_IF_ERROR(ParseFormat(flags.format).status());
  return CheckOptions(flags);
}

absl::Status OptimiseMany(const Flags& flags) {
  WEFT_RETURN_IF_ERROR(CheckBatchFlags(flags));
  WEFT_ASSIGN_OR_RETURN(const std::vector<BatchModel> models,
                        PlanBatch(flags.inputs, flags.output_dir, flags.format));
  const bool json = flags.json || flags.passes.stats == kJson;
  return RunBatch(models, static_cast<size_t>(flags.jobs), json,
                  [&](const BatchModel& model, OpCounts* ops) {
                    Flags one = flags;
                    one.in = model.in;
                    one.out = model.out;
                    return OptimiseModelOf(std::move(one), ops);
                  });
}

absl::Status Run(Flags flags) {
  if (flags.list_rules->count() > 0 ||
      !(flags.list_passes + flags.list_ops + flags.list_constraints).empty())
    return List(flags);
  if (flags.analyse_rules) return Analyse(flags);
  if (flags.verify_rules->count() > 0) return Verify(flags);
  // The fused ops of the pipeline `fuse` are for our kernels, and in another layout.
  if (ForOnnxRuntime(flags) && (!flags.passes.pipeline_given || flags.passes.pipeline == "fuse"))
    flags.passes.pipeline = "ort";
  if (IsBatch(flags)) return OptimiseMany(flags);
  if (!flags.inputs.empty()) flags.in = flags.inputs[0];
  WEFT_RETURN_IF_ERROR(CheckFlags(flags));
  OpCounts ops;
  return OptimiseModelOf(std::move(flags), &ops);
}

}  // namespace
}  // namespace weft::tools

namespace weft {

int IrOptMain(int argc, char** argv) {
  using namespace tools;  // NOLINT
  CLI::App app("", "ir-opt");
  SetUpApp(app,
           "usage: ir-opt IN... [-o OUT|- | --output-dir DIR] [options]     optimises models and "
           "writes them",
           "exit: 0 done, 1 a check failed, 2 bad usage or input, 3 unsupported",
           Answers::kTextOrJson);
  Flags flags;
  AddFlags(app, &flags);
  return RunMain(app, argc, argv, [&] {
    flags.json = ApplyJsonFlag(
        app, {&flags.passes.stats, &flags.list_passes, &flags.list_ops, &flags.list_constraints});
    WEFT_RETURN_IF_ERROR(LoadPlugins(flags.plugins));
    return Run(flags);
  });
}

}  // namespace weft
