#include "unittests/conformance/status_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "ir/base/suggest.h"

namespace weft::conformance {
namespace {

constexpr size_t kMaxReason = 100;

constexpr const char* kHeader =
    "# Written by tools/dev conformance --bless. See unittests/conformance/README.md.\n";

std::string Shortened(const std::string& reason) {
  return reason.size() <= kMaxReason ? reason : reason.substr(0, kMaxReason - 3) + "...";
}

absl::StatusOr<Status> StatusOf(const std::string& name) {
  const auto status = ParseStatus(name);
  if (!status) {
    const std::vector<std::string> names(kStatusNames.begin(), kStatusNames.end());
    return ir::UnknownName("status", name, names);
  }
  return *status;
}

std::string SuiteOf(const std::string& key) { return key.substr(0, key.find('/')); }

}  // namespace

const Outcome& Result::Worst() const {
  return *std::max_element(outcomes.begin(), outcomes.end(),
                           [](const auto& a, const auto& b) { return a.status < b.status; });
}

Status StatusTable::Entry::Of(const std::string& pipeline) const {
  const auto exception = exceptions.find(pipeline);
  return exception == exceptions.end() ? status : exception->second;
}

absl::StatusOr<StatusTable::Entry> StatusTable::ParseEntry(const std::string& text) {
  Entry entry;
  const size_t colon = text.find(": ");
  if (colon != std::string::npos) entry.reason = text.substr(colon + 2);
  std::istringstream words(text.substr(0, colon));
  std::string word;
  words >> word;
  WEFT_ASSIGN_OR_RETURN(entry.status, StatusOf(word));
  while (words >> word) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return ir::InvalidArgument("'" + word + "': expected PIPELINE=STATUS");
    WEFT_ASSIGN_OR_RETURN(entry.exceptions[word.substr(0, equals)],
                          StatusOf(word.substr(equals + 1)));
  }
  return entry;
}

absl::StatusOr<StatusTable> StatusTable::Parse(const std::string& text) {
  StatusTable table;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const std::string place = fmt::format("line {}", number);
    const size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    if (space == std::string::npos || key.find('/') == std::string::npos)
      return ir::InvalidArgument(place + ": expected SUITE/TEST STATUS");
    absl::StatusOr<Entry> entry = ParseEntry(line.substr(space + 1));
    if (!entry.ok()) return ir::Annotate(entry.status(), place);
    if (!table.entries_.emplace(key, *std::move(entry)).second)
      return ir::InvalidArgument(place + ": " + key + " is there twice");
  }
  return table;
}

std::string StatusTable::ToText() const {
  std::string text = kHeader;
  for (const auto& [key, entry] : entries_) {
    text += fmt::format("{} {}", key, StatusName(entry.status));
    for (const auto& [pipeline, status] : entry.exceptions)
      text += fmt::format(" {}={}", pipeline, StatusName(status));
    text += entry.reason.empty() ? "\n" : ": " + entry.reason + "\n";
  }
  return text;
}

std::vector<std::string> StatusTable::Missing(const std::vector<Result>& results) const {
  std::set<std::string> suites, keys;
  for (const Result& result : results) {
    suites.insert(result.suite);
    keys.insert(result.Key());
  }
  std::vector<std::string> missing;
  for (const auto& [key, entry] : entries_)
    if (suites.count(SuiteOf(key)) && !keys.count(key)) missing.push_back(key);
  return missing;
}

Changes StatusTable::Compare(const std::vector<std::string>& pipelines,
                             const std::vector<Result>& results, bool complete) const {
  Changes changes;
  for (const Result& result : results) {
    const auto entry = entries_.find(result.Key());
    if (entry == entries_.end()) {
      changes.unknown.push_back(result.Key());
      continue;
    }
    for (size_t i = 0; i < pipelines.size(); ++i) {
      const Status before = entry->second.Of(pipelines[i]);
      const Outcome& now = result.outcomes[i];
      if (now.status == before) continue;
      auto& list = now.status > before ? changes.regressions : changes.improvements;
      list.push_back(fmt::format("{} ({}): {}, was {}{}{}", result.Key(), pipelines[i],
                                 StatusName(now.status), StatusName(before),
                                 now.reason.empty() ? "" : ": ", now.reason));
    }
  }
  if (complete) changes.missing = Missing(results);
  return changes;
}

void StatusTable::Update(const std::vector<std::string>& pipelines,
                         const std::vector<Result>& results, bool complete) {
  if (complete)
    for (const std::string& key : Missing(results)) entries_.erase(key);
  for (const Result& result : results) {
    Entry& entry =
        entries_.try_emplace(result.Key(), Entry{result.outcomes[0].status}).first->second;
    std::map<std::string, Status> statuses = entry.exceptions;
    for (size_t i = 0; i < pipelines.size(); ++i)
      statuses[pipelines[i]] = result.outcomes[i].status;
    if (statuses.count("none")) entry.status = statuses["none"];
    entry.exceptions.clear();
    for (const auto& [pipeline, status] : statuses)
      if (status != entry.status) entry.exceptions[pipeline] = status;
    entry.reason = Shortened(result.Worst().reason);
  }
}

}  // namespace weft::conformance
