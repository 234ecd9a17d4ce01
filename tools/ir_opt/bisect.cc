#include "tools/ir_opt/bisect.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ir/base/escape.h"
#include "passes/transformation.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/process.h"
#include "tools/cli/program_main.h"
#include "tools/ir_opt/check_flags.h"
#include "tools/ir_opt/neighbourhood.h"
#include "weft/base/files.h"
#include "weft/check/model_check.h"
#include "weft/optimize/rewrite_text.h"

namespace weft::tools {
namespace {

using passes::TracedRewrite;

constexpr size_t kMore[] = {0, 3, 8, kMaxNeighbours};  // neighbours, until the part fails alone
// Passes that flags of their own ask for.
constexpr const char* kRulesFilePass = "rules-file";
constexpr const char* kConvertPass = "convert-floats";

// Written by a copy of the process, read by the process when that has ended or crashed.
struct Progress {
  uint64_t count = 0;             // rewrites made
  uint64_t attempts = 0;          // to make the next one
  uint64_t attempts_at_last = 0;  // before the last one that was made
  bool in_passes = false;
  bool has_part = false;
  char made[1024] = {}, made_by[128] = {};    // the last one, and its pass
  char tried[1024] = {}, tried_by[128] = {};  // the last attempt, of a later pass perhaps
};

template <size_t kSize>
void Put(const std::string& text, char (&to)[kSize]) {
  const size_t size = std::min(text.size(), kSize - 1);
  std::memcpy(to, text.data(), size);
  to[size] = '\0';
}

class SharedProgress {
 public:
  SharedProgress()
      : memory_(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {}
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  ~SharedProgress() {
    if (ok()) munmap(memory_, sizeof(Progress));
  }
  bool ok() const { return memory_ != MAP_FAILED; }
  Progress& operator*() const { return *static_cast<Progress*>(memory_); }
  Progress* operator->() const { return static_cast<Progress*>(memory_); }

 private:
  void* memory_;
};

struct Probe {
  uint64_t limit = 0;
  ProcessEnd end;
  Progress progress;
  bool fails() const { return !end.ok(); }
};

class Bisection {
 public:
  Bisection(const BisectOptions& options, ir::Program& program)
      : options_(options), program_(program) {
    PassFlags& flags = options_.passes;
    trusts_rules_ = flags.trust.trust;
    flags.stats.clear();
    flags.print_before.clear();
    flags.print_after.clear();
    flags.timing = false;
    flags.rewrites.print.clear();
  }

  absl::Status Run() {
    if (!shared_.ok()) return ir::InvalidArgument("--bisect: no memory to share");
    WEFT_RETURN_IF_ERROR(JudgeRulesOfFiles(options_.passes, program_));
    options_.passes.trust = {.trust = true};  // not in every run
    if (options_.test.empty()) {
      WEFT_ASSIGN_OR_RETURN(
          check_, ModelCheck::Create(CheckOptionsOf(options_.check, options_.passes), Numerics(),
                                     program_, 1));
      std::fputs(check_->Preface().c_str(), stderr);
    }
    const Interrupts interrupts;  // or the folder would stay
    WEFT_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create());
    const bool is_onnx = ModelFormatOf(options_.out).value() == ModelFormat::kOnnx;
    model_ = folder.PathOf(is_onnx ? "model.onnx" : "model.ir");
    WEFT_ASSIGN_OR_RETURN(const Probe first, FindFirst());
    PrintAnswer(first);
    return WriteNeighbourhood(first);
  }

 private:
  drr::NumericClass Numerics() const {
    return drr::FindNumericClass(options_.passes.numerics).value();
  }

  // --- in a copy of the process ---

  // 0 when the program is right, 1 when it is wrong, 3 when nobody can tell. The check, if there is one,
  // has watched it.
  int Judge(ir::Program& program) const {
    if (check_) {
      std::string text;
      const absl::Status status = check_->Judge(&text);
      std::fputs(text.c_str(), stdout);
      if (!status.ok()) std::puts(ir::EscapeControl(ir::Message(status)).c_str());
      return ExitCodeOf(status);
    }
    const absl::Status saved = SaveModel(program, model_, options_.save);
    const auto end = saved.ok() ? RunCommand(options_.test, model_) : saved;
    if (!end.ok()) {
      std::puts(ir::EscapeControl(ir::Message(end.status())).c_str());
      return ExitCodeOf(end.status());
    }
    std::fputs(end->text.c_str(), stdout);
    if (!end->ok()) std::printf("the test ended with %s\n", end->ToString().c_str());
    return end->ok() ? kDone : kCheckFailed;
  }

  int RunPassesOn(const PassFlags& flags, ir::Program& program) const {
    const absl::Status status = RunPasses(flags, program);
    if (status.ok()) return kDone;
    std::puts(ir::EscapeControl(ir::Message(status)).c_str());
    return kCheckFailed;
  }

  int RunProbe(uint64_t limit) {
    const std::unique_ptr<ir::Program> program = program_.Clone();
    if (check_) check_->Watch(*program);
    PassFlags flags = options_.passes;
    flags.rewrites.most = limit;
    flags.rewrites.before_rewrite = [this](const TracedRewrite& rewrite, ir::Program&) {
      ++shared_->attempts;
      Put(DescribeAttempt(rewrite), shared_->tried);
      Put(rewrite.pass, shared_->tried_by);
    };
    flags.rewrites.on_rewrite = [this](const TracedRewrite& rewrite) {
      shared_->count = rewrite.number;
      Put(DescribeRewrite(rewrite), shared_->made);
      Put(rewrite.pass, shared_->made_by);
      shared_->attempts_at_last = std::exchange(shared_->attempts, 0);
    };
    shared_->in_passes = true;
    if (const int code = RunPassesOn(flags, *program); code != kDone) return code;
    shared_->in_passes = false;
    return Judge(*program);
  }

  static std::string DescribeAttempt(const TracedRewrite& rewrite) {
    std::string text = fmt::format("{} {}", rewrite.number, rewrite.pass);
    if (!rewrite.rule.empty()) text += fmt::format(": {} at {}", rewrite.rule, rewrite.site);
    return ir::EscapeControl(text);
  }

  // --- the search ---

  absl::StatusOr<Probe> RunOnce(uint64_t limit) {
    *shared_ = Progress();
    ++runs_;
    WEFT_ASSIGN_OR_RETURN(ProcessEnd end, RunInCopy([&] { return RunProbe(limit); }));
    if (end.signal == 0 && end.exit_code == kBadInput)
      return ir::InvalidArgument("--bisect: " + FirstLine(end));
    if (end.signal == 0 && end.exit_code == kUnsupported)
      return ir::Unsupported(fmt::format("--bisect: {}", FirstLine(end)));
    return Probe{limit, std::move(end), *shared_};
  }

  absl::StatusOr<Probe> FindFirst() {
    const uint64_t most = options_.passes.rewrites.most.value_or(UINT64_MAX);
    WEFT_ASSIGN_OR_RETURN(Probe bad, RunOnce(most));
    total_ = bad.progress.count;
    if (!bad.fails())
      return CheckFailed(fmt::format("--bisect: nothing is wrong after all {} rewrites", total_));
    // With an end within the passes, it may be the next one that is wrong.
    bad.limit = bad.progress.in_passes ? total_ + 1 : total_;
    uint64_t good = 0;
    WEFT_ASSIGN_OR_RETURN(const Probe none, RunOnce(0));
    if (none.fails())
      return CheckFailed("--bisect: the program is wrong before any rewrite: " +
                         FirstLine(none.end));
    if (bad.progress.in_passes && total_ > 0) {
      WEFT_ASSIGN_OR_RETURN(Probe made, RunOnce(total_));
      if (made.fails()) {
        bad = std::move(made);
      } else {
        good = total_;
      }
    }
    while (bad.limit - good > 1) {
      const uint64_t middle = good + (bad.limit - good) / 2;
      WEFT_ASSIGN_OR_RETURN(Probe probe, RunOnce(middle));
      if (probe.fails()) {
        bad = std::move(probe);
      } else {
        good = middle;
      }
    }
    return bad;
  }

  static std::string FirstLine(const ProcessEnd& end) {
    const std::string line = end.text.substr(0, end.text.find('\n'));
    return line.empty() ? end.ToString() : line;
  }

  // Whether the rewrite itself did not come to its end.
  static bool IsUnfinished(const Probe& probe) { return probe.progress.count < probe.limit; }

  static std::string PassOf(const Probe& probe) {
    return IsUnfinished(probe) ? probe.progress.tried_by : probe.progress.made_by;
  }

  void PrintAnswer(const Probe& first) const {
    std::printf("bisect: %llu rewrites, %d runs; the first one that is wrong:\n%s%s\n",
                static_cast<unsigned long long>(total_), runs_,
                IsUnfinished(first) ? first.progress.tried : first.progress.made,
                IsUnfinished(first) ? ", which does not end" : "");
    if (first.end.signal != 0) std::printf("it crashes: %s\n", first.end.ToString().c_str());
    std::fputs(first.end.text.c_str(), stdout);
  }

  // --- the part around the rewrite ---

  // The one pass, on a part of the program.
  PassFlags FlagsOf(const std::string& pass) const {
    PassFlags flags = options_.passes;
    flags.rewrites = {};
    flags.passes.clear();
    flags.pipeline = "none";
    if (pass != kRulesFilePass) flags.rules_files.clear();
    if (pass != kConvertPass) flags.convert.reset();
    if (pass != kRulesFilePass && pass != passes::kEnabledRules && pass != kConvertPass)
      flags.passes = {pass};
    return flags;
  }

  // Whether the part is wrong after the pass, as an exit code.
  int JudgePart(ir::Program& part, const std::string& pass) {
    if (const absl::Status saved = SaveModel(part, options_.out, options_.save); !saved.ok()) {
      std::puts(std::string(ir::Message(saved)).c_str());
      return kUnsupported;
    }
    shared_->has_part = true;
    const std::unique_ptr<ir::Program> original = part.Clone();
    PassFlags flags = FlagsOf(pass);
    if (check_) {
      auto check = ModelCheck::Create(CheckOptionsOf(options_.check, options_.passes), Numerics(),
                                      *original, 1);
      if (!check.ok()) return kDone;
      check_ = *std::move(check);
      check_->Watch(part);
      flags.rewrites.before_rewrite = [](const TracedRewrite&, ir::Program&) {};
    }
    if (const int code = RunPassesOn(flags, part); code != kDone) return code;
    return Judge(part);
  }

  // In a copy of the process: runs up to the rewrite, and through it unless it does not end.
  int RunPart(const Probe& first, size_t more) {
    std::optional<Neighbourhood> around;
    const uint64_t attempt =
        IsUnfinished(first) ? first.progress.attempts : first.progress.attempts_at_last;
    uint64_t attempts = 0;
    const std::unique_ptr<ir::Program> program = program_.Clone();
    PassFlags flags = options_.passes;
    flags.rewrites.most = first.limit;
    flags.rewrites.before_rewrite = [&](const TracedRewrite& rewrite, ir::Program& before) {
      if (rewrite.number != first.limit || ++attempts != attempt) return;
      around.emplace(before, rewrite.root);
      if (!IsUnfinished(first)) return;
      const int code = JudgePart(*around->Part(more, kMaxNeighbours), PassOf(first));
      std::fflush(nullptr);
      _exit(code);
    };
    RunPassesOn(flags, *program);
    if (!around) return kUnsupported;
    around->Settle();
    return JudgePart(*around->Part(more, kMaxNeighbours), PassOf(first));
  }

  absl::Status WriteNeighbourhood(const Probe& first) {
    bool fails = false;
    for (const size_t more : kMore) {
      *shared_ = Progress();
      WEFT_ASSIGN_OR_RETURN(const ProcessEnd end, RunInCopy([&] { return RunPart(first, more); }));
      if (!shared_->has_part)
        return ir::InvalidArgument(
            fmt::format("{}: cannot be written: {}", options_.out, end.text));
      fails = end.signal != 0 || end.exit_code == kCheckFailed;
      if (fails) break;
    }
    const std::string command = "ir-opt " + ShellWord(options_.out) + CommandOf(PassOf(first));
    if (fails) {
      std::printf("%s holds what is around it and is wrong after %s\n", options_.out.c_str(),
                  command.c_str());
    } else {
      std::printf("%s holds what is around it; alone, with other inputs, it is right after %s\n",
                  options_.out.c_str(), command.c_str());
    }
    return absl::OkStatus();
  }

  std::string CommandOf(const std::string& pass) const {
    const PassFlags flags = FlagsOf(pass);
    std::string text = flags.passes.empty() ? " --pipeline none" : " --passes " + pass;
    const auto add = [&text](const char* flag, const std::vector<std::string>& values) {
      for (const std::string& value : values) text += fmt::format(" {} {}", flag, ShellWord(value));
    };
    add("--load", options_.plugins);
    if (pass == kConvertPass) text += FlagsText(options_.convert);
    if (pass == "superopt") text += FlagsText(flags.search);
    if (flags.numerics != PassFlags().numerics) add("--numerics", {flags.numerics});
    add("--rules-file", flags.rules_files);
    if (trusts_rules_ && !flags.rules_files.empty()) text += " --trust-rules";
    add("--enable-rule", flags.enabled_rules);
    add("--disable-rule", flags.disabled_rules);
    add("--dim-range", flags.dim_ranges);
    if (flags.verify_each) text += " --verify-each";
    if (flags.paranoid) text += " --paranoid";
    if (flags.target_opset > 0) text += fmt::format(" --target-opset {}", flags.target_opset);
    if (!check_) {
      if (options_.save.inline_functions) text += " --export inline";
      return text + " -o MODEL, with " + options_.test + " MODEL";
    }
    text += " --check";
    if (const int inputs = CheckOptionsOf(options_.check, options_.passes).inputs;
        inputs != CheckOptions().inputs)
      text += fmt::format("={}", inputs);
    if (options_.check.tolerance) text += fmt::format(" --tolerance {}", *options_.check.tolerance);
    return text;
  }

  BisectOptions options_;
  ir::Program& program_;
  std::string model_;  // what the test is called with
  std::optional<ModelCheck> check_;
  SharedProgress shared_;
  bool trusts_rules_ = false;  // as the user said
  uint64_t total_ = 0;
  int runs_ = 0;
};

}  // namespace

absl::Status Bisect(const BisectOptions& options, ir::Program& program) {
  return Bisection(options, program).Run();
}

}  // namespace weft::tools
