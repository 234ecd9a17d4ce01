// The committed statuses of tests, one table per source of data:
//
//   node/test_abs pass
//   node/test_foo unsupported: ai.onnx.Foo: no kernel runs this op
//   node/test_bar pass fuse=fail: output 0 (y): shape [2], expected [3]
//
// The status holds for all pipelines but those that are named with one of their own. Reasons are
// for readers and are not compared.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "unittests/conformance/outcome.h"

namespace weft::conformance {

struct Result {
  std::string suite, name;
  std::vector<Outcome> outcomes;  // by pipeline

  std::string Key() const { return suite + "/" + name; }
  const Outcome& Worst() const;
};

// One line per difference between a table and a run.
struct Changes {
  std::vector<std::string> regressions;   // a later status (see outcome.h) than the table's
  std::vector<std::string> improvements;  // an earlier one
  std::vector<std::string> unknown;       // tests that the table lacks
  std::vector<std::string> missing;       // tests of the suites that ran which the data lacks
  bool empty() const {
    return regressions.empty() && improvements.empty() && unknown.empty() && missing.empty();
  }
};

class StatusTable {
 public:
  // InvalidArgument naming the line.
  static absl::StatusOr<StatusTable> Parse(const std::string& text);
  std::string ToText() const;
  size_t size() const { return entries_.size(); }

  // `complete`: the results are of all tests of their suites, so that others are missing. Suites of
  // which there is no result are not compared.
  Changes Compare(const std::vector<std::string>& pipelines, const std::vector<Result>& results,
                  bool complete) const;
  // Takes the results over; with `complete` also drops the tests that Compare calls missing.
  void Update(const std::vector<std::string>& pipelines, const std::vector<Result>& results,
              bool complete);

 private:
  struct Entry {
    Status status = Status::kPass;
    std::map<std::string, Status> exceptions = {};  // by pipeline
    std::string reason = {};
    Status Of(const std::string& pipeline) const;
  };
  static absl::StatusOr<Entry> ParseEntry(const std::string& text);
  std::vector<std::string> Missing(const std::vector<Result>& results) const;

  std::map<std::string, Entry> entries_;  // by suite/test
};

}  // namespace weft::conformance
