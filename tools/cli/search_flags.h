// The flags of the pass superopt, and what a run of it needs: a cost model, ^C, progress on a
// terminal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "passes/superopt/search.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

struct SearchFlags {
  int budget = 1000;
  double seconds = 60, alpha = 1.05;
  std::optional<int64_t> seed = {};
  std::string cost = "measured";
};

void AddSearchFlags(CLI::App& app, SearchFlags* flags);
absl::Status CheckSearchFlags(const SearchFlags& flags);
// Those that are not as they are by default, as a shell takes them, each with a space before it.
std::string FlagsText(const SearchFlags& flags);

// While it exists, the first SIGINT ends the search and a second one the program, and what the
// search says of itself goes to stderr: progress only where that is a terminal.
class SearchRun {
 public:
  explicit SearchRun(const SearchFlags& flags);
  ~SearchRun();
  SearchRun(const SearchRun&) = delete;
  SearchRun& operator=(const SearchRun&) = delete;

  const passes::SearchOptions& options() const { return options_; }

 private:
  void ShowProgress(const passes::SearchProgress& progress);

  std::unique_ptr<passes::CostModel> model_;
  passes::SearchOptions options_;
  double shown_ = 0;  // when, as seconds left
  bool on_screen_ = false;
};

}  // namespace weft::tools
