#include "tools/testing/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "drr/apply.h"
#include "drr/matcher.h"
#include "drr/text/rule_file.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/pd.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verifier.h"
#include "ir/walk.h"
#include "kernels/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/rule_registry.h"

namespace weft::fixtures {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

std::vector<std::string> SplitNames(const std::string& list) {
  return absl::StrSplit(list, ',', absl::SkipEmpty());
}

absl::Status ParseRunLine(const std::string& line, GoldenFile* file) {
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--rules") {
      file->rules = SplitNames(words[i + 1]);
    } else if (words[i] == "--rules-file") {
      file->rules_file = (std::filesystem::path(file->path).parent_path() / words[i + 1]).string();
    } else if (words[i] == "--passes") {
      file->passes = SplitNames(words[i + 1]);
    } else if (words[i] == "--pipeline") {
      const passes::Pipeline* pipeline = passes::FindPipeline(words[i + 1]);
      if (!pipeline) return ir::InvalidArgument("RUN: no pipeline " + words[i + 1]);
      file->passes = pipeline->passes;
    } else if (words[i] == "--numerics") {
      file->numerics = words[i + 1];
    } else if (words[i] == "--dim-range") {
      WEFT_ASSIGN_OR_RETURN(passes::DimRange range, passes::ParseDimRange(words[i + 1]));
      file->dim_ranges.push_back(std::move(range));
    } else {
      return ir::InvalidArgument("RUN: unknown option " + words[i]);
    }
  }
  if (words.size() % 2 != 0) return ir::InvalidArgument("RUN: an option has no value: " + line);
  if (file->RunsRules() + !file->passes.empty() != 1)
    return ir::InvalidArgument("RUN: give one of --rules, --rules-file, --passes and --pipeline");
  return absl::OkStatus();
}

// `// KEY: value` of a line; false for other lines.
bool Directive(const std::string& line, const std::string& key, std::string* value) {
  const std::string prefix = "// " + key + ":";
  if (line.compare(0, prefix.size(), prefix) != 0) return false;
  *value = line.substr(std::min(line.size(), prefix.size() + 1));
  return true;
}

bool IsNearMiss(const std::filesystem::path& path) { return path.parent_path().filename() == "no"; }

std::string WithoutBlankEnds(const std::string& text) {
  size_t begin = 0;
  while (begin < text.size() && text[begin] == '\n') ++begin;
  std::string result = text.substr(begin);
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result.empty() ? result : result + "\n";
}

AssertionResult Fail(const GoldenFile& file, const std::string& what) {
  return AssertionFailure() << file.path << ": " << what;
}
AssertionResult Fail(const GoldenFile& file, const absl::Status& status) {
  return Fail(file, std::string(ir::Message(status)));
}

std::string FirstDifference(const std::string& expected, const std::string& actual) {
  const std::vector<std::string> want = absl::StrSplit(expected, '\n');
  const std::vector<std::string> got = absl::StrSplit(actual, '\n');
  size_t i = 0;
  while (i < want.size() && i < got.size() && want[i] == got[i]) ++i;
  return fmt::format("line {} of the result differs\n  expected: {}\n  actual:   {}\nresult:\n{}",
                     i + 1, i < want.size() ? want[i] : "<end>", i < got.size() ? got[i] : "<end>",
                     actual);
}

absl::StatusOr<drr::NumericClass> ParseNumerics(const std::string& name) {
  if (name == "exact") return drr::NumericClass::kExact;
  if (name == "reassociate") return drr::NumericClass::kReassociates;
  if (name == "approximate") return drr::NumericClass::kApproximate;
  if (name == "changes-meaning") return drr::NumericClass::kChangesMeaning;
  return ir::InvalidArgument("RUN: --numerics is " + name +
                             ", expected exact, reassociate, approximate or changes-meaning");
}

// Keeps the rules of these names: "gelu" is also "gelu.2", a variant of it.
absl::Status KeepNamed(const std::vector<std::string>& names,
                       std::vector<std::unique_ptr<drr::Rule>>* rules) {
  const auto is_of = [](const drr::Rule& rule, const std::string& name) {
    return rule.name == name || rule.name.compare(0, name.size() + 1, name + ".") == 0;
  };
  for (const std::string& name : names)
    if (std::none_of(rules->begin(), rules->end(), [&](const auto& r) { return is_of(*r, name); }))
      return ir::NotFound("RUN: the file has no rule " + name);
  const auto is_other = [&](const std::unique_ptr<drr::Rule>& rule) {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return is_of(*rule, name); });
  };
  rules->erase(std::remove_if(rules->begin(), rules->end(), is_other), rules->end());
  return absl::OkStatus();
}

// "" or why the run does not use the rule.
std::string WhyNotEligible(const drr::Rule& rule, const passes::PassContext& run) {
  return passes::WhyNotEligible(rule.name, rule.numerics, /*opt_in=*/false, run);
}

// --- programs that change ---------------------------------------------------

absl::Status AddPasses(const GoldenFile& file, ir::IrContext& context, passes::PassManager* pm) {
  if (file.RunsRules()) {
    WEFT_ASSIGN_OR_RETURN(auto rules, BuildGoldenRules(file, context));
    drr::RewritePatternSet set(&context);
    for (auto& rule : rules) {
      if (!WhyNotEligible(*rule, pm->pass_context()).empty()) continue;
      drr::BuildResult built;
      built.rule = ir::Owned<drr::Rule>(rule.release());
      set.Add(std::move(built));
    }
    pm->AddPass(std::make_unique<passes::PatternRewritePass>(
        "golden", drr::FrozenRewritePatternSet(std::move(set))));
    return absl::OkStatus();
  }
  for (const std::string& name : file.passes) {
    std::unique_ptr<passes::Pass> pass = passes::MakePass(name);
    if (!pass) return ir::NotFound("RUN: no pass " + name);
    pm->AddPass(std::move(pass));
  }
  return absl::OkStatus();
}

AssertionResult EveryRuleFired(const GoldenFile& file,
                               const std::vector<passes::PassReport>& reports) {
  for (const passes::PassReport& report : reports)
    for (const passes::RuleStatistics& rule : report.rules)
      if (file.RunsRules() && rule.applied == 0)
        return Fail(file, fmt::format("rule {} did not fire{}{}", rule.rule,
                                      rule.last_decline.empty() ? "" : ": ", rule.last_decline));
  return AssertionSuccess();
}

void WriteExpectation(const GoldenFile& file, const std::string& result) {
  std::ofstream out(file.path, std::ios::binary);
  out << file.head << "// EXPECT\n" << result;
}

AssertionResult CheckResult(const GoldenFile& file, ir::Program& program) {
  std::vector<passes::PassReport> reports;
  if (absl::Status s = RunGoldenPasses(file, program, &reports); !s.ok()) return Fail(file, s);
  if (AssertionResult fired = EveryRuleFired(file, reports); !fired) return fired;
  const std::string result = WithoutBlankEnds(ir::PrintProgram(program));
  if (std::getenv("WEFT_BLESS")) {
    if (!file.has_expectation || result != file.expected) WriteExpectation(file, result);
    return AssertionSuccess();
  }
  if (!file.has_expectation) return Fail(file, "no EXPECT line; WEFT_BLESS=1 writes it");
  if (result != file.expected) return Fail(file, FirstDifference(file.expected, result));
  return AssertionSuccess();
}

// --- near misses --------------------------------------------------------------

struct Refusals {
  size_t progress = 0;
  std::vector<std::string> reasons;  // of all sites that came as far as that

  void Add(size_t p, std::string reason) {
    if (p < progress) return;
    if (p > progress) reasons.clear();
    progress = p;
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(std::move(reason));
  }
};

AssertionResult CollectRefusals(const GoldenFile& file, const drr::Rule& rule, ir::Program& program,
                                Refusals* refusals) {
  std::vector<ir::Operation> ops;
  ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
  drr::Matcher matcher(rule);
  for (ir::Operation op : ops) {
    drr::MatchContext match(&rule);
    drr::MatchFailure failure;
    if (!matcher.Match(op, &match, &failure)) {
      refusals->Add(failure.progress, failure.reason);
      continue;
    }
    const std::string site = ir::PrintOperation(op);
    ir::Rewriter rewriter(&program);
    std::string reason;
    if (drr::Apply(match, rewriter, &reason))
      return Fail(file, fmt::format("rule {} fires at {}", rule.name, site));
    refusals->Add(SIZE_MAX, reason);  // nothing comes closer
  }
  return AssertionSuccess();
}

AssertionResult CheckNearMiss(const GoldenFile& file, ir::Program& program) {
  const std::string before = ir::PrintProgram(program);
  auto rules = BuildGoldenRules(file, *program.context());
  if (!rules.ok()) return Fail(file, rules.status());
  passes::PassContext run;
  auto numerics = ParseNumerics(file.numerics);
  if (!numerics.ok()) return Fail(file, numerics.status());
  run.numerics = *numerics;
  Refusals refusals;
  for (const auto& rule : *rules) {
    if (std::string why = WhyNotEligible(*rule, run); !why.empty()) {
      refusals.Add(SIZE_MAX, std::move(why));
    } else if (AssertionResult r = CollectRefusals(file, *rule, program, &refusals); !r) {
      return r;
    }
  }
  if (file.RunsRules()) {
    if (file.refused_by.empty()) return Fail(file, "no REFUSED-BY line");
    const bool named = std::any_of(
        refusals.reasons.begin(), refusals.reasons.end(),
        [&](const auto& reason) { return reason.find(file.refused_by) != std::string::npos; });
    if (!named)
      return Fail(file, fmt::format("refused by \"{}\", expected \"{}\"",
                                    fmt::join(refusals.reasons, "\" or \""), file.refused_by));
  }
  if (absl::Status s = RunGoldenPasses(file, program, nullptr); !s.ok()) return Fail(file, s);
  const std::string after = ir::PrintProgram(program);
  if (after != before) return Fail(file, "the program changed: " + FirstDifference(before, after));
  return AssertionSuccess();
}

}  // namespace

absl::StatusOr<GoldenFile> ReadGoldenFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return ir::NotFound(path + ": cannot be read");
  GoldenFile file;
  file.path = path;
  file.near_miss = IsNearMiss(path);
  std::string line, run;
  while (std::getline(in, line)) {
    if (file.has_expectation) {
      file.expected += line + "\n";
      continue;
    }
    if (line == "// EXPECT") {
      file.has_expectation = true;
      continue;
    }
    file.head += line + "\n";
    Directive(line, "RUN", &run);
    Directive(line, "REFUSED-BY", &file.refused_by);
    Directive(line, "NUMERIC", &file.numeric);
    Directive(line, "SEED", &file.seed);
    if (line.compare(0, 2, "//") != 0) file.program_text += line;
    file.program_text += "\n";
  }
  file.expected = WithoutBlankEnds(file.expected);
  if (run.empty()) return ir::InvalidArgument(path + ": no RUN line");
  WEFT_RETURN_IF_ERROR(ir::Annotate(ParseRunLine(run, &file), path));
  return file;
}

std::vector<std::string> GoldenFiles(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (it->path().extension() == ".ir")
      files.push_back(it->path().lexically_relative(folder).string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> FiringGoldenFiles(const std::string& folder) {
  std::vector<std::string> files = GoldenFiles(folder);
  std::erase_if(files, IsNearMiss);
  return files;
}

std::vector<std::string> NearMissGoldenFiles(const std::string& folder) {
  std::vector<std::string> files = GoldenFiles(folder);
  std::erase_if(files, [](const std::string& file) { return !IsNearMiss(file); });
  return files;
}

std::string GoldenTestName(const std::string& relative_path) {
  std::string name = relative_path.substr(0, relative_path.rfind(".ir"));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

void LoadGoldenDialects(ir::IrContext& context) {
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadPdDialect(context);
}

absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> ReadRulesFile(const std::string& path,
                                                                      ir::IrContext& context) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return ir::NotFound("RUN: " + path + " cannot be read");
  std::stringstream text;
  text << in.rdbuf();
  drr::text::RuleFile file = drr::text::ReadRules(text.str(), path, &context);
  if (!file.errors.empty()) return ir::InvalidArgument(file.errors[0]);
  return std::move(file.rules);
}

absl::StatusOr<std::unique_ptr<ir::Program>> ParseGoldenProgram(const GoldenFile& file,
                                                                ir::IrContext& context,
                                                                const GoldenOptions& options) {
  LoadGoldenDialects(context);
  if (options.load_dialects) options.load_dialects(context);
  const std::string folder = std::filesystem::path(file.path).parent_path().string();
  WEFT_ASSIGN_OR_RETURN(auto program,
                        ir::ParseProgram(context, file.program_text,
                                         {.file_name = file.path, .weights_dir = folder}));
  WEFT_RETURN_IF_ERROR(ir::Annotate(ir::Verify(*program), file.path));
  return program;
}

absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> BuildGoldenRules(const GoldenFile& file,
                                                                         ir::IrContext& context) {
  std::vector<std::unique_ptr<drr::Rule>> rules;
  if (!file.rules_file.empty()) {
    WEFT_ASSIGN_OR_RETURN(rules, ReadRulesFile(file.rules_file, context));
    if (!file.rules.empty()) WEFT_RETURN_IF_ERROR(KeepNamed(file.rules, &rules));
    return rules;
  }
  for (const std::string& name : file.rules) {
    const passes::RegisteredRule* rule = passes::FindRule(name);
    if (!rule) return ir::NotFound("RUN: no rule " + name);
    drr::BuildResult built = rule->build(&context);
    if (!built.ok()) return ir::InvalidArgument(built.errors[0]);
    rules.push_back(std::move(built.rule));
  }
  return rules;
}

absl::Status RunGoldenPasses(const GoldenFile& file, ir::Program& program,
                             std::vector<passes::PassReport>* reports, uint64_t seed) {
  WEFT_ASSIGN_OR_RETURN(auto evaluator, kernels::KernelEvaluator::Create("reference"));
  passes::PassManager pm(program.context());
  pm.pass_context().evaluator = evaluator.get();
  WEFT_ASSIGN_OR_RETURN(pm.pass_context().numerics, ParseNumerics(file.numerics));
  pm.pass_context().paranoid = true;
  pm.pass_context().dim_ranges = file.dim_ranges;
  pm.pass_context().seed = seed;
  pm.set_verify_each(true);
  WEFT_RETURN_IF_ERROR(AddPasses(file, *program.context(), &pm));
  absl::Status status = pm.Run(program);
  if (reports) *reports = pm.reports();
  return status;
}

AssertionResult RunGolden(const std::string& path, const GoldenOptions& options) {
  auto file = ReadGoldenFile(path);
  if (!file.ok()) return AssertionFailure() << std::string(ir::Message(file.status()));
  ir::IrContext context;
  auto program = ParseGoldenProgram(*file, context, options);
  if (!program.ok()) return AssertionFailure() << std::string(ir::Message(program.status()));
  return file->near_miss ? CheckNearMiss(*file, **program) : CheckResult(*file, **program);
}

AssertionResult GoldenIsIdempotent(const std::string& path, const GoldenOptions& options) {
  auto file = ReadGoldenFile(path);
  if (!file.ok()) return AssertionFailure() << std::string(ir::Message(file.status()));
  ir::IrContext context;
  auto program = ParseGoldenProgram(*file, context, options);
  if (!program.ok()) return AssertionFailure() << std::string(ir::Message(program.status()));
  if (absl::Status s = RunGoldenPasses(*file, **program, nullptr); !s.ok()) return Fail(*file, s);
  const std::string once = ir::PrintProgram(**program);
  if (absl::Status s = RunGoldenPasses(*file, **program, nullptr); !s.ok()) return Fail(*file, s);
  const std::string twice = ir::PrintProgram(**program);
  if (once != twice)
    return Fail(*file, "the second time it changes more: " + FirstDifference(once, twice));
  return AssertionSuccess();
}

}  // namespace weft::fixtures
