// Golden tests of rules and passes: one .ir file holds how to run, the program and what comes out.
//
//   // Two transposes are one.                  (free comment)
//   // RUN: --rules compose-transposes
//   module ... { ... }
//   // EXPECT
//   module ... { ... }                          (WEFT_BLESS=1 rewrites everything below EXPECT)
//
// RUN takes one of --rules r1,r2 (of the registry, opt-in ones too), --rules-file f (rules as text,
// beside the .ir file; with --rules, those of its rules alone, in all their variants), --passes
// p1,p2 and --pipeline p; and --numerics exact|reassociate|approximate|changes-meaning,
// and --dim-range n=1..64.
// Every rule named or in f must fire, unless --numerics keeps it from running.
//
// A file in a folder `no` is a near miss: the program must stay as it is, and with rules a line
// `// REFUSED-BY: text` says what the reason must contain that the rule gives at the site where it
// came furthest.
//
// `// SEED: what it shows` marks the program that the document shows from which the transformation
// comes; tools/testing/transformation_table.h counts its operations before and after.
//
//   WEFT_GOLDEN_TESTS(MyRules, "/path/to/golden");   // in a test file: tests of every .ir below
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "drr/pattern.h"
#include "ir/program.h"
#include "passes/pass_manager.h"

namespace weft::fixtures {

struct GoldenOptions {
  // Loads dialects of the caller's; those of Weft are loaded already.
  std::function<void(ir::IrContext&)> load_dialects = {};
};

// The .ir files below `folder`, relative to it, sorted. Empty if there is no such folder.
std::vector<std::string> GoldenFiles(const std::string& folder);
// Those that change, and the near misses.
std::vector<std::string> FiringGoldenFiles(const std::string& folder);
std::vector<std::string> NearMissGoldenFiles(const std::string& folder);

// Runs one file; a failure says what differs and where.
::testing::AssertionResult RunGolden(const std::string& path, const GoldenOptions& options = {});

// Runs the program before and after on five random inputs, rewritten in the usual and in random
// orders, on the reference kernels and on those that a session picks. Bit for bit where all that
// RUN names is exact. A near miss, which changes nothing, and a program with a `// NUMERIC: off,
// because` line pass.
::testing::AssertionResult GoldenKeepsNumbers(const std::string& path,
                                              const GoldenOptions& options = {});

// What RUN says changes nothing in its own result.
::testing::AssertionResult GoldenIsIdempotent(const std::string& path,
                                              const GoldenOptions& options = {});

// "compose-transposes/no/perm.ir" as a GoogleTest parameter name.
std::string GoldenTestName(const std::string& relative_path);

// One parsed file.
struct GoldenFile {
  std::string path;
  bool near_miss = false;
  std::vector<std::string> rules, passes;
  std::string rules_file;  // a path
  std::string numerics = "reassociate";
  std::vector<passes::DimRange> dim_ranges;
  std::string refused_by;    // near misses
  std::string numeric;       // the NUMERIC line
  std::string seed;          // the SEED line
  std::string program_text;  // comment lines blanked, so that line numbers are those of the file
  std::string expected;      // below EXPECT
  bool has_expectation = false;
  std::string head;  // all lines above EXPECT, as they stand

  bool RunsRules() const { return !rules.empty() || !rules_file.empty(); }
};
absl::StatusOr<GoldenFile> ReadGoldenFile(const std::string& path);
void LoadGoldenDialects(ir::IrContext& context);
// A file of rules as text.
absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> ReadRulesFile(const std::string& path,
                                                                      ir::IrContext& context);
absl::StatusOr<std::unique_ptr<ir::Program>> ParseGoldenProgram(const GoldenFile& file,
                                                                ir::IrContext& context,
                                                                const GoldenOptions& options = {});
// The rules that RUN names; none when it names passes.
absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> BuildGoldenRules(const GoldenFile& file,
                                                                         ir::IrContext& context);
// What RUN says, in paranoid mode (see passes::GreedyRewriteConfig; `seed` too); constants are
// folded by the reference kernels. `reports` may be null.
absl::Status RunGoldenPasses(const GoldenFile& file, ir::Program& program,
                             std::vector<passes::PassReport>* reports, uint64_t seed = 0);

// Of every file that changes: it fires, keeps its numbers, and changes nothing the second time; of
// every near miss: it stays as it is.
#define WEFT_GOLDEN_TESTS(Suite, folder)                                                           \
  class Suite : public ::testing::TestWithParam<std::string> {                                     \
   protected:                                                                                      \
    static std::string Path() { return std::string(folder) + "/" + GetParam(); }                   \
  };                                                                                               \
  using Suite##NearMiss = Suite;                                                                   \
  TEST_P(Suite, Fires) { EXPECT_TRUE(::weft::fixtures::RunGolden(Path())); }                       \
  TEST_P(Suite, KeepsNumbersOnFiveInputs) {                                                        \
    EXPECT_TRUE(::weft::fixtures::GoldenKeepsNumbers(Path()));                                     \
  }                                                                                                \
  TEST_P(Suite, ChangesNothingTheSecondTime) {                                                     \
    EXPECT_TRUE(::weft::fixtures::GoldenIsIdempotent(Path()));                                     \
  }                                                                                                \
  TEST_P(Suite##NearMiss, StaysAsItIs) { EXPECT_TRUE(::weft::fixtures::RunGolden(Path())); }       \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite);                                            \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite##NearMiss);                                  \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      Golden, Suite, ::testing::ValuesIn(::weft::fixtures::FiringGoldenFiles(folder)),             \
      [](const auto& info) { return ::weft::fixtures::GoldenTestName(info.param); });              \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      Golden, Suite##NearMiss, ::testing::ValuesIn(::weft::fixtures::NearMissGoldenFiles(folder)), \
      [](const auto& info) { return ::weft::fixtures::GoldenTestName(info.param); })

}  // namespace weft::fixtures
