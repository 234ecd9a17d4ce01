// substitution-generator: finds substitutions between small graphs and prints them as rule text, such
// as passes/superopt/substitutions.weft.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "passes/superopt/generator/rule_text.h"
#include "tools/cli/program_main.h"
#include "weft/base/files.h"

namespace weft::tools {
namespace {

struct Flags {
  std::string out;
  int depth = 3;
  size_t max_megabytes = 1024;
};

absl::Status Run(const Flags& flags) {
  passes::substitution::GenerateOptions options;
  options.depth = flags.depth;
  options.max_bytes = flags.max_megabytes << 20;
  WEFT_ASSIGN_OR_RETURN(const auto generated, passes::substitution::Generate(options));
  const std::string text = passes::substitution::RuleFileText(generated, flags.depth);
  if (flags.out.empty() || flags.out == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    WEFT_RETURN_IF_ERROR(WriteText(flags.out, text));
  }
  std::fprintf(stderr, "substitution-generator: %zu graphs, %zu pairs, %zu refuted, %zu kept\n",
               generated.graphs, generated.candidates, generated.refuted,
               generated.substitutions.size());
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::tools

int main(int argc, char** argv) {
  using namespace weft::tools;  // NOLINT
  CLI::App app("", "substitution-generator");
  SetUpApp(app, "usage: substitution-generator [options]     finds rules between small graphs",
           "exit: 0 done, 2 bad usage, or graphs that take more memory than allowed");
  Flags flags;
  app.add_option("--depth", flags.depth, "operators of a graph, 1 to 4 (3)")
      ->type_name("N")
      ->check(CLI::Range(1, weft::passes::substitution::kMaxOps));
  app.add_option("--max-megabytes", flags.max_megabytes, "memory of all graphs (1024)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 16));
  app.add_option("-o", flags.out, "write the rules; - or no -o prints them")->type_name("OUT");
  return RunMain(app, argc, argv, [&] { return Run(flags); });
}
