#include "unittests/conformance/isolation.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace weft::conformance {
namespace {

using ::testing::HasSubstr;
using Report = std::function<void(const Outcome&)>;

std::vector<std::vector<Outcome>> Isolate(size_t tests, size_t parts, const RunParts& run,
                                          const IsolationOptions& options = {.jobs = 2}) {
  auto outcomes = RunIsolated(tests, parts, options, run);
  EXPECT_EQ(outcomes.status().message(), "");
  return outcomes.ok() ? *outcomes : std::vector<std::vector<Outcome>>(tests);
}

TEST(Isolation, ReportsEveryPartOfEveryTest) {
  const auto outcomes = Isolate(20, 2, [](size_t index, size_t, const Report& report) {
    report({Status::kUnsupported, "test " + std::to_string(index) + "\nfirst\tpart"});
    report({});
  });
  for (size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_EQ(outcomes[i].size(), 2u);
    EXPECT_EQ(outcomes[i][0].status, Status::kUnsupported);
    EXPECT_EQ(outcomes[i][0].reason, "test " + std::to_string(i) + " first part");
    EXPECT_EQ(outcomes[i][1].status, Status::kPass);
  }
}

TEST(Isolation, RunsThePartsAfterACrash) {
  const auto outcomes = Isolate(2, 3, [](size_t index, size_t first_part, const Report& report) {
    for (size_t part = first_part; part < 3; ++part) {
      if (index == 1 && part == 1) {
        std::fputs("noise\nwhat went wrong\n", stderr);
        std::abort();
      }
      report({Status::kFail, std::to_string(part)});
    }
  });
  EXPECT_EQ(outcomes[0][1].reason, "1");
  ASSERT_EQ(outcomes[1].size(), 3u);
  EXPECT_EQ(outcomes[1][0].reason, "0");
  EXPECT_EQ(outcomes[1][1].status, Status::kCrash);
  EXPECT_EQ(outcomes[1][1].reason, "Aborted: what went wrong");
  EXPECT_EQ(outcomes[1][2].reason, "2");
}

TEST(Isolation, CallsAnEarlyExitACrash) {
  const auto outcomes = Isolate(1, 1, [](size_t, size_t, const Report&) { _exit(7); });
  ASSERT_EQ(outcomes[0].size(), 1u);
  EXPECT_EQ(outcomes[0][0].status, Status::kCrash);
  EXPECT_EQ(outcomes[0][0].reason, "exit 7");
}

TEST(Isolation, EndsWhatTakesTooLong) {
  const auto outcomes = Isolate(1, 1,
                                [](size_t, size_t, const Report&) {
                                  for (;;) pause();
                                },
                                {.timeout_seconds = 1});
  ASSERT_EQ(outcomes[0].size(), 1u);
  EXPECT_EQ(outcomes[0][0].status, Status::kTimeout);
  EXPECT_EQ(outcomes[0][0].reason, "more than 1 s");
}

}  // namespace
}  // namespace weft::conformance
