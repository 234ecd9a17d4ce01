// README.md shows what the programs print.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "unittests/fixtures/generated_text.h"
#include "unittests/test_paths.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

// Paths from the root of the tree; of an explanation what it says of the program before the run.
std::string Shown(std::string text) {
  text = absl::StrReplaceAll(text, {{fixtures::TestData("/../"), ""}});
  constexpr std::string_view kBefore = "\n\nbefore pass ";
  if (const size_t before = text.find(kBefore); before != text.npos)
    text = text.substr(text.find('\n', before + kBefore.size()) + 1);
  return text.substr(0, text.find("\nafter the run"));
}

// A block of code: each command and what it prints, with paths from the root of the tree.
std::string Session(const std::vector<std::vector<std::string>>& commands) {
  std::string text = "```\n";
  for (std::vector<std::string> arguments : commands) {
    text += fmt::format("$ {}\n", fmt::join(arguments, " "));
    arguments[1] = fixtures::TestData("/../") + arguments[1];
    const Outcome outcome = RunProgram(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    text += Shown(outcome.out);
  }
  return text + "```\n";
}

TEST(GeneratedReference, ShowsWhatIrOptPrints) {
  EXPECT_TRUE(fixtures::HoldsGenerated(
      fixtures::TestData("/../README.md"), "example",
      Session({{"ir-opt", "unittests/models/unit_factor.ir", "--pipeline", "none"},
               {"ir-opt", "unittests/models/unit_factor.ir"},
               {"ir-opt", "unittests/models/unit_factor_broadcasts.ir", "--explain",
                "drop-unit-factor"}})));
}

}  // namespace
}  // namespace weft::tools
