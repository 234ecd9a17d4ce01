// How fast programs are built, walked, verified, printed, parsed, cleaned and rewritten.
//
//   bench_rewriting --mode rewrite --wl cascade --n 100000 --reps 5
//
// Modes: rewrite, none (rewrite with no rule), build (also walk, verify, print, parse, destroy),
// pass (cse, dce), freeze (of the rules of a workload, or of `library`: kilobytes of the heap of the
// rules, with their automaton too, and with --ir FILE when that program was rewritten). One CSV line
// per figure, in the form of peers/mlir:
//   mode,workload,form,config,N,metric,median s,least s,ns/op,ns/rewrite,ops,rewrites,peak KB,extra
// `--with library` adds the rules that run by default, of which none matches in a workload.
// Times are CPU times of the one thread; only the call itself is timed, on a fresh graph each time,
// and what rewriting leaves is checked against what the workload says.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/rewriting/bench_dialect.h"
#include "benchmarks/rewriting/rules.h"
#include "benchmarks/rewriting/workloads.h"
#include "drr/engine/automaton.h"
#include "ir/analysis/verifier.h"
#include "ir/dialects/fused.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/greedy_driver.h"
#include "passes/pass_registry.h"

namespace weft::bench {
namespace {

struct Flags {
  std::string workload = "transpose_pairs", mode = "rewrite", config = "default", ir, with;
  int64_t n = 1000;
  int reps = 9;
};

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "bench_rewriting: %s\n", why.c_str());
  std::exit(1);
}

double Now() {
  timespec ts;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
  return static_cast<double>(ts.tv_sec) + static_cast<double>(ts.tv_nsec) * 1e-9;
}

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const size_t n = v.size();
  return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

long PeakKb() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

class Benchmark {
 public:
  explicit Benchmark(Flags flags) : flags_(std::move(flags)) {
    LoadBenchDialect(context_);
    if (flags_.workload == "library" || flags_.with == "library") ir::LoadFusedDialect(context_);
  }

  void Rewrite(bool with_rules) {
    const drr::FrozenRewritePatternSet patterns = with_rules ? Freeze() : EmptySet();
    passes::GreedyRewriteConfig config;
    config.use_top_down_traversal = flags_.config == "topdown";
    std::vector<double> seconds;
    int64_t body_ops = 0, rewrites = 0, ops_after = 0;
    for (int rep = 0; rep < flags_.reps; ++rep) {
      const Workload w = Make();
      body_ops = w.body_ops;
      const double start = Now();
      const auto result = passes::ApplyPatternsGreedily(*w.program, patterns, config);
      seconds.push_back(Now() - start);
      if (!result.ok()) Die(std::string(ir::Message(result.status())));
      rewrites = 0;
      for (const auto& rule : result->rules) rewrites += static_cast<int64_t>(rule.applied);
      ops_after = w.program->num_operations() - 2;  // without module and graph
      Check(w, with_rules, rewrites, ops_after);
      if (rep == 0) Verify(*w.program);
    }
    Line("greedy", seconds, body_ops, rewrites, "opsAfter=" + std::to_string(ops_after));
  }

  void Build() {
    std::vector<double> build, walk, verify, print, parse, destroy;
    double heap = 0, graph = 0;
    size_t bytes = 0;
    int64_t ops = 0;
    long peak = 0;
    for (int rep = 0; rep < flags_.reps; ++rep) {
      const size_t heap_before = HeapBytes();
      Workload w;
      build.push_back(Time([&] { w = Make(); }));
      ops = w.body_ops;
      graph = static_cast<double>(w.program->graph_bytes()) / static_cast<double>(ops);
      // Large arrays of the graph are pages of their own, which malloc does not know.
      heap = static_cast<double>(HeapBytes() - heap_before) / static_cast<double>(ops);
      if (heap < graph) heap += graph;
      if (rep == 0) peak = PeakKb();
      walk.push_back(Time([&] { WalkAll(*w.program); }));
      verify.push_back(Time([&] { Verify(*w.program); }));
      std::string text;
      print.push_back(Time([&] { ir::PrintProgram(*w.program, &text); }));
      bytes = text.size();
      const uint32_t count = w.program->num_operations();
      destroy.push_back(Time([&] { w.program.reset(); }));
      std::unique_ptr<ir::Program> parsed;
      parse.push_back(Time([&] { parsed = Parse(text); }));
      if (parsed->num_operations() != count) Die("parsing gives another program");
    }
    const auto n = static_cast<double>(ops);
    const std::string size = " bytes=" + std::to_string(bytes) + Fixed(" B/op=", bytes / n);
    Line(
        "build", build, ops, 0,
        Fixed("heapB/op=", heap) + Fixed(" graphB/op=", graph) + " peakKB=" + std::to_string(peak));
    Line("walk", walk, ops, 0, "");
    Line("verify", verify, ops, 0, "");
    Line("print_generic", print, ops, 0, Fixed("MB/s=", bytes / Median(print) / 1e6) + size);
    Line("parse_text", parse, ops, 0, Fixed("MB/s=", bytes / Median(parse) / 1e6) + size);
    Line("destroy", destroy, ops, 0, "");
  }

  void Passes() {
    const std::pair<const char*, const char*> kPasses[] = {
        {"cse", "common-subexpression-elimination"}, {"dce", "dead-code-elimination"}};
    for (const auto& [metric, name] : kPasses) {
      std::vector<double> seconds;
      int64_t ops = 0, ops_after = 0;
      for (int rep = 0; rep < flags_.reps; ++rep) {
        const Workload w = Make();
        ops = w.body_ops;
        const std::unique_ptr<passes::Pass> pass = passes::MakePass(name);
        absl::Status status;
        seconds.push_back(Time([&] {
          status = pass->Initialize(context_, {});
          if (status.ok()) status = pass->Run(*w.program);
        }));
        if (!status.ok()) Die(std::string(ir::Message(status)));
        ops_after = w.program->num_operations() - 2;
        if (rep == 0) Verify(*w.program);
      }
      Line(metric, seconds, ops, 0, "opsAfter=" + std::to_string(ops_after));
    }
  }

  void FreezeRules() {
    std::vector<double> record, freeze;
    size_t rules = 0;
    for (int rep = 0; rep < flags_.reps; ++rep) {
      double start = Now();
      drr::RewritePatternSet set = Rules();
      record.push_back(Now() - start);
      start = Now();
      const drr::FrozenRewritePatternSet frozen(std::move(set));
      freeze.push_back(Now() - start);
      rules = frozen.rules().size();
    }
    const std::string extra = "rules=" + std::to_string(rules);
    Line("record_rules", record, 0, 0, extra);
    Line("freeze_patterns", freeze, 0, 0, extra + FrozenMemory());
  }

 private:
  // What is given back with the rules, with the rules once frozen, and once a program was rewritten:
  // attributes that the context keeps are no part of it.
  std::string FrozenMemory() {
    const auto freed = [](auto owned) {
      const size_t held = HeapBytes();
      { const auto gone = std::move(owned); }
      return static_cast<double>(held - HeapBytes()) / 1024;
    };
    std::string text = Fixed(" rulesKB=", freed(Rules())) + Fixed(" frozenKB=", freed(Freeze()));
    if (flags_.ir.empty()) return text;
    drr::FrozenRewritePatternSet used = Rewritten(Freeze());
    const size_t states = used.automaton().num_states();
    return text + Fixed(" usedKB=", freed(std::move(used))) + " states=" + std::to_string(states);
  }
  // The rules again, after the program of --ir.
  drr::FrozenRewritePatternSet Rewritten(drr::FrozenRewritePatternSet rules) {
    std::ifstream file(flags_.ir);
    if (!file) Die("cannot read " + flags_.ir);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::unique_ptr<ir::Program> program = Parse(text);
    const auto result = passes::ApplyPatternsGreedily(*program, rules, {});
    if (!result.ok()) Die(std::string(ir::Message(result.status())));
    return rules;
  }
  template <class F>
  static double Time(F&& run) {
    const double start = Now();
    run();
    return Now() - start;
  }
  static std::string Fixed(const char* label, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%s%.1f", label, value);
    return text;
  }

  Workload Make() {
    Workload w = MakeWorkload(context_, flags_.workload, flags_.n);
    if (!w.program) Die("there is no workload " + flags_.workload);
    return w;
  }
  drr::RewritePatternSet Rules() {
    drr::RewritePatternSet set(&context_);
    AddRulesOf(flags_.workload, &set);
    if (!flags_.with.empty()) AddRulesOf(flags_.with, &set);
    return set;
  }
  drr::FrozenRewritePatternSet Freeze() {
    drr::RewritePatternSet set = Rules();
    for (const std::string& error : set.errors()) Die(error);
    return drr::FrozenRewritePatternSet(std::move(set));
  }
  drr::FrozenRewritePatternSet EmptySet() {
    return drr::FrozenRewritePatternSet(drr::RewritePatternSet(&context_));
  }

  static void Check(const Workload& w, bool with_rules, int64_t rewrites, int64_t ops_after) {
    const int64_t expected_rewrites = with_rules ? w.rewrites : 0;
    const bool all_stay = !with_rules && w.body_ops_after != 0;  // dead ops go without rules too
    const int64_t expected = (all_stay ? w.body_ops : w.body_ops_after) + w.sinks + 1;
    if (rewrites != expected_rewrites)
      Die("expected " + std::to_string(expected_rewrites) + " rewrites, got " +
          std::to_string(rewrites));
    if (ops_after != expected)
      Die("expected " + std::to_string(expected) + " ops to be left, got " +
          std::to_string(ops_after));
  }
  static void Verify(ir::Program& program) {
    if (const auto status = ir::Verify(program); !status.ok())
      Die(std::string(ir::Message(status)));
  }
  static void WalkAll(ir::Program& program) {
    uint64_t sum = 0;
    ir::Walk(program, [&](ir::Operation op) {
      for (ir::Value v : op.operands()) sum += v.DefiningOp().id();
    });
    if (sum == 42) std::puts("!");  // so that the walk is not optimised away
  }
  std::unique_ptr<ir::Program> Parse(const std::string& text) {
    auto program = ir::ParseProgram(context_, text);
    if (!program.ok()) Die(std::string(ir::Message(program.status())));
    return *std::move(program);
  }

  void Line(const char* metric, const std::vector<double>& seconds, int64_t ops, int64_t rewrites,
            const std::string& extra) {
    const double median = Median(seconds);
    const auto per = [&](int64_t n) { return n ? median / static_cast<double>(n) * 1e9 : 0.0; };
    std::printf("%s,%s,drr,%s,%lld,%s,%.9f,%.9f,%.2f,%.2f,%lld,%lld,%ld,%s\n", flags_.mode.c_str(),
                flags_.workload.c_str(), flags_.config.c_str(), static_cast<long long>(flags_.n),
                metric, median, *std::min_element(seconds.begin(), seconds.end()), per(ops),
                per(rewrites), static_cast<long long>(ops), static_cast<long long>(rewrites),
                PeakKb(), extra.c_str());
    std::fflush(stdout);
  }

  Flags flags_;
  ir::IrContext context_;
};

Flags ParseFlags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (i + 1 == argc) Die(flag + " wants a value");
    const std::string value = argv[++i];
    if (flag == "--wl") {
      flags.workload = value;
    } else if (flag == "--mode") {
      flags.mode = value;
    } else if (flag == "--cfg") {
      flags.config = value;
    } else if (flag == "--with") {
      flags.with = value;
    } else if (flag == "--ir") {
      flags.ir = value;
    } else if (flag == "--n") {
      flags.n = std::atoll(value.c_str());
    } else if (flag == "--reps") {
      flags.reps = std::atoi(value.c_str());
    } else {
      Die("unknown flag " + flag);
    }
  }
  if (flags.n < 1 || flags.reps < 1) Die("--n and --reps must be positive");
  if (!flags.with.empty() && flags.with != "library") Die("--with is library, not " + flags.with);
  if (flags.config != "default" && flags.config != "topdown")
    Die("--cfg is default or topdown, not " + flags.config);
  return flags;
}

void Run(const Flags& flags) {
  Benchmark benchmark(flags);
  if (flags.mode == "rewrite" || flags.mode == "none") {
    benchmark.Rewrite(flags.mode == "rewrite");
  } else if (flags.mode == "build") {
    benchmark.Build();
  } else if (flags.mode == "pass") {
    benchmark.Passes();
  } else if (flags.mode == "freeze") {
    benchmark.FreezeRules();
  } else {
    Die("unknown mode " + flags.mode);
  }
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) { weft::bench::Run(weft::bench::ParseFlags(argc, argv)); }
