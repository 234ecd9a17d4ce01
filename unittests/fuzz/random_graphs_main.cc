// random_graphs: makes valid random programs, one per seed, and compares every way to run them.
// `tools/dev fuzz graphs` builds it with sanitizers and runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "ir/walk.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/program_main.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/graphs/compare_graph.h"
#include "unittests/fuzz/graphs/random_graph.h"
#include "unittests/fuzz/graphs/reduce_graph.h"
#include "unittests/fuzz/graphs/symbolic_sizes.h"
#include "unittests/test_paths.h"
#include "weft/base/files.h"
#include "weft/io/model_io.h"

namespace weft::fuzz {
namespace {

struct Flags {
  uint64_t seed = 1, count = 0;
  double seconds = 60;
  int steps = 16;
  std::string golden_root = fixtures::TestData("/passes"), output_dir = ".";
  bool list = false;
};

void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("--seed", flags->seed, "of the first graph (1); the next has the next")
      ->type_name("N");
  app.add_option("--count", flags->count, "this many graphs, whatever time they take")
      ->type_name("N");
  app.add_option("--seconds", flags->seconds, "stop after this time (60)")->type_name("N");
  app.add_option("--steps", flags->steps, "operators or golden programs in a graph (16)")
      ->type_name("N");
  app.add_option("--golden", flags->golden_root, "golden programs that graphs have parts of")
      ->type_name("DIR");
  app.add_option("--output-dir", flags->output_dir, "for graphs that fail, made smaller (.)")
      ->type_name("DIR");
  app.add_flag("--list", flags->list, "how often each operator was there, each rule was applied");
}

struct Totals {
  uint64_t graphs = 0, symbolic = 0, comparisons = 0, findings = 0, not_run = 0, operations = 0;
  std::map<std::string, uint64_t> ops, rules;
};

// Which seed it was, after a crash.
absl::Status NoteSeed(const Flags& flags, uint64_t seed) {
  return WriteText(flags.output_dir + "/graph_seed", std::to_string(seed) + "\n");
}

// Saves the smallest program that differs in the same leg, and names it with what to run.
absl::Status Report(const Flags& flags, uint64_t seed, const Leg& leg,
                    const std::string& difference, const SymbolicGraph& graph) {
  const auto fails = [&](ir::Program& candidate) {
    GraphCheck check(candidate, seed, graph.sizes);
    return check.why_not().empty() && !check.Difference(leg).empty();
  };
  const std::unique_ptr<ir::Program> smallest = ReduceGraph(*graph.program, fails);
  std::string file = leg.Name();
  std::replace(file.begin(), file.end(), '/', '-');
  const std::string path = fmt::format("{}/graph_{}_{}.ir", flags.output_dir, seed, file);
  WEFT_RETURN_IF_ERROR(SaveModel(*smallest, path, {.full_weights = true}));
  fmt::print("seed {}, {}: {}\n  {}\n  random_graphs --seed {} --count 1 --steps {}\n", seed,
             leg.Name(), difference, path, seed, flags.steps);
  std::fflush(stdout);
  return absl::OkStatus();
}

// In every leg. False when the program itself does not run.
absl::StatusOr<bool> Compare(const Flags& flags, uint64_t seed, const SymbolicGraph& graph,
                             const std::shared_ptr<LegPasses>& passes, Totals* totals) {
  GraphCheck check(*graph.program, seed, graph.sizes, passes);
  if (!check.why_not().empty()) return false;
  for (const Leg& leg : AllLegs()) {
    int compared = 0;
    const std::string difference = check.Difference(leg, &compared);
    totals->comparisons += static_cast<uint64_t>(compared);
    if (difference.empty()) continue;
    ++totals->findings;
    WEFT_RETURN_IF_ERROR(Report(flags, seed, leg, difference, graph));
  }
  for (const auto& [rule, count] : check.applied()) totals->rules[rule] += count;
  return true;
}

// What graphs share; replaced now and then, because a context keeps every constant.
struct Shared {
  Shared() { LoadDialects(context); }

  ir::IrContext context;
  std::shared_ptr<LegPasses> passes = std::make_shared<LegPasses>(&context);
  int graphs = 0;
};

// The graph of a seed, and the same with symbols for sizes.
absl::Status CheckOne(const Flags& flags, uint64_t seed, Shared& shared, Totals* totals) {
  SymbolicGraph graph{
      MakeRandomGraph(shared.context,
                      {.seed = seed, .steps = flags.steps, .golden_root = flags.golden_root}),
      {}};
  ++totals->graphs;
  ir::Walk(*graph.program, [&](ir::Operation op) {
    ++totals->operations;
    ++totals->ops[std::string(op.name())];
  });
  WEFT_ASSIGN_OR_RETURN(const bool runs, Compare(flags, seed, graph, shared.passes, totals));
  if (!runs) {
    ++totals->not_run;
    return absl::OkStatus();
  }
  Random random(seed);
  if (const auto symbolic = WithSymbols(*graph.program, random)) {
    WEFT_ASSIGN_OR_RETURN(const bool symbolic_runs,
                          Compare(flags, seed, *symbolic, shared.passes, totals));
    totals->symbolic += symbolic_runs;
  }
  return absl::OkStatus();
}

absl::Status Run(const Flags& flags) {
  std::error_code error;
  std::filesystem::create_directories(flags.output_dir, error);
  if (error) return ir::InvalidArgument(flags.output_dir + ": " + error.message());
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  constexpr int kGraphsOfOneContext = 100;
  Totals totals;
  auto shared = std::make_unique<Shared>();
  for (uint64_t seed = flags.seed;
       flags.count > 0 ? totals.graphs < flags.count : elapsed() < flags.seconds; ++seed) {
    WEFT_RETURN_IF_ERROR(NoteSeed(flags, seed));
    if (++shared->graphs > kGraphsOfOneContext) shared = std::make_unique<Shared>();
    WEFT_RETURN_IF_ERROR(CheckOne(flags, seed, *shared, &totals));
  }
  for (const auto& counts : {totals.ops, totals.rules})
    for (const auto& [name, count] : counts)
      if (flags.list) fmt::print("{:8} {}\n", count, name);
  fmt::print(
      "seeds {} to {}: {} graphs of {} operations, {} also with symbolic sizes, {} operators, {} "
      "rules applied, {} comparisons, {} differences, {} graphs that do not run, {:.0f} s\n",
      flags.seed, flags.seed + totals.graphs - 1, totals.graphs, totals.operations, totals.symbolic,
      totals.ops.size(), totals.rules.size(), totals.comparisons, totals.findings, totals.not_run,
      elapsed());
  if (totals.findings > 0) return CheckFailed(fmt::format("{} differences", totals.findings));
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::fuzz

int main(int argc, char** argv) {
  using namespace weft;  // NOLINT
  CLI::App app("", "random_graphs");
  tools::SetUpApp(app, "usage: random_graphs [options]     compares every way to run random graphs",
                  "exit: 0 all agree, 1 differences, 2 bad usage");
  fuzz::Flags flags;
  fuzz::AddFlags(app, &flags);
  return tools::RunMain(app, argc, argv, [&] { return fuzz::Run(flags); });
}
