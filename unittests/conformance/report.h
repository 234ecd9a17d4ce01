// What a run shows: totals on the console, and a report in Markdown with a line per operator.
#pragma once

#include <string>
#include <vector>

#include "unittests/conformance/status_table.h"
#include "unittests/conformance/test_case.h"

namespace weft::conformance {

struct RunResults {
  std::vector<TestCase> cases;
  std::vector<Result> results;  // by case
};

// A test counts with the worst of its outcomes. A line per suite and
// source, a column per status.
std::string TotalsTable(const RunResults& run);

// Totals, a table of the ops that the tests of suites called node are about, and every test that is
// neither pass, disputed nor unsupported, with its reason.
std::string MarkdownReport(const RunResults& run, const std::vector<std::string>& pipelines);

}  // namespace weft::conformance
