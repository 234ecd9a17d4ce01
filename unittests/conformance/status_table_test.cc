#include "unittests/conformance/status_table.h"

#include <gmock/gmock.h>

namespace weft::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kPipelines = {"none", "fuse"};

constexpr const char* kTable =
    "# comment\n"
    "node/test_abs pass\n"
    "node/test_foo unsupported: onnx.Foo: no kernel runs this op\n"
    "node/test_mix pass fuse=fail: shape [2], expected [3]\n"
    "simple/test_loop unsupported\n";

StatusTable Table(const std::string& text = kTable) {
  auto table = StatusTable::Parse(text);
  EXPECT_EQ(table.status().message(), "");
  return table.ok() ? *table : StatusTable();
}

Result Both(const std::string& name, Status none, Status fuse) {
  return {"node", name, {{none, "why"}, {fuse, "why"}}};
}

std::vector<Result> AsInTable() {
  return {Both("test_abs", Status::kPass, Status::kPass),
          Both("test_foo", Status::kUnsupported, Status::kUnsupported),
          Both("test_mix", Status::kPass, Status::kFail)};
}

std::string Refusal(const std::string& text) {
  return std::string(StatusTable::Parse(text).status().message());
}

TEST(StatusTable, AcceptsWhatItHolds) {
  EXPECT_TRUE(Table().Compare(kPipelines, AsInTable(), /*complete=*/true).empty());
}

TEST(StatusTable, CallsALaterStatusARegression) {
  std::vector<Result> results = AsInTable();
  results[0].outcomes[1] = {Status::kFail, "shape"};
  const Changes changes = Table().Compare(kPipelines, results, true);
  EXPECT_THAT(changes.regressions, ElementsAre("node/test_abs (fuse): fail, was pass: shape"));
  EXPECT_THAT(changes.improvements, IsEmpty());
}

TEST(StatusTable, CallsAWrongResultWorseThanARefusal) {
  std::vector<Result> results = AsInTable();
  results[1] = Both("test_foo", Status::kFail, Status::kCrash);
  EXPECT_THAT(Table().Compare(kPipelines, results, true).regressions,
              ElementsAre("node/test_foo (none): fail, was unsupported: why",
                          "node/test_foo (fuse): crash, was unsupported: why"));
}

TEST(StatusTable, CallsAnEarlierStatusAnImprovement) {
  std::vector<Result> results = AsInTable();
  results[2].outcomes[1] = {};
  const Changes changes = Table().Compare(kPipelines, results, true);
  EXPECT_THAT(changes.improvements, ElementsAre("node/test_mix (fuse): pass, was fail"));
  EXPECT_THAT(changes.regressions, IsEmpty());
}

TEST(StatusTable, ListsTestsThatItLacks) {
  std::vector<Result> results = AsInTable();
  results.push_back(Both("test_new", Status::kCrash, Status::kCrash));
  const Changes changes = Table().Compare(kPipelines, results, true);
  EXPECT_THAT(changes.unknown, ElementsAre("node/test_new"));
  EXPECT_THAT(changes.regressions, IsEmpty());
}

TEST(StatusTable, ListsTestsThatTheDataLacksOfSuitesThatRan) {
  std::vector<Result> results = AsInTable();
  results.erase(results.begin());
  EXPECT_THAT(Table().Compare(kPipelines, results, true).missing, ElementsAre("node/test_abs"));
  EXPECT_THAT(Table().Compare(kPipelines, results, false).missing, IsEmpty());
}

TEST(StatusTable, HoldsForPipelinesThatItDoesNotName) {
  std::vector<Result> results = {{"node", "test_mix", {{Status::kFail, "x"}}}};
  EXPECT_THAT(Table().Compare({"layout"}, results, false).regressions,
              ElementsAre("node/test_mix (layout): fail, was pass: x"));
}

TEST(StatusTable, TakesOverResultsAndDropsMissingTests) {
  StatusTable table = Table();
  std::vector<Result> results = {Both("test_abs", Status::kPass, Status::kPass),
                                 Both("test_mix", Status::kPass, Status::kUnsupported),
                                 Both("test_new", Status::kError, Status::kError)};
  results[0].outcomes[0].reason = results[0].outcomes[1].reason = "";
  table.Update(kPipelines, results, true);
  EXPECT_THAT(table.ToText(), HasSubstr("README.md.\n"
                                        "node/test_abs pass\n"
                                        "node/test_mix pass fuse=unsupported: why\n"
                                        "node/test_new error: why\n"
                                        "simple/test_loop unsupported\n"));
  EXPECT_TRUE(table.Compare(kPipelines, results, true).empty());
  EXPECT_TRUE(Table(table.ToText()).Compare(kPipelines, results, true).empty());
}

TEST(StatusTable, KeepsTheStatusOfOthersWhenOnePipelineIsUpdated) {
  StatusTable table = Table();
  table.Update({"fuse"}, {{"node", "test_foo", {{Status::kPass, ""}}}}, false);
  EXPECT_THAT(table.ToText(), HasSubstr("\nnode/test_foo unsupported fuse=pass\n"));
  EXPECT_EQ(table.size(), 4u);
}

TEST(StatusTable, RefusesWhatIsNoTable) {
  EXPECT_EQ(Refusal("node/test_abs\n"), "line 1: expected SUITE/TEST STATUS");
  EXPECT_EQ(Refusal("# x\ntest_abs pass\n"), "line 2: expected SUITE/TEST STATUS");
  EXPECT_THAT(Refusal("node/a pas\n"), HasSubstr("line 1: unknown status 'pas'"));
  EXPECT_EQ(Refusal("node/a pass fuse\n"), "line 1: 'fuse': expected PIPELINE=STATUS");
  EXPECT_EQ(Refusal("node/a pass\nnode/a fail\n"), "line 2: node/a is there twice");
}

}  // namespace
}  // namespace weft::conformance
