#include "tools/cli/search_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "ir/base/suggest.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/terminal.h"
#include "weft/optimize/measured_cost.h"

namespace weft::tools {
namespace {

constexpr double kSecondsBetweenProgress = 0.2;

volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int) { interrupted = 1; }

}  // namespace

void AddSearchFlags(CLI::App& app, SearchFlags* flags) {
  app.add_option("--search-budget", flags->budget,
                 fmt::format("end of superopt: programs ({}), seconds ({:g}), or ^C", flags->budget,
                             flags->seconds))
      ->type_name("N");
  app.add_option("--search-seconds", flags->seconds)->type_name("S")->group(kSameLine);
  app.add_option("--search-alpha", flags->alpha,
                 fmt::format("below A x best ({:g}); seed; measured|analytic", flags->alpha))
      ->type_name("A");
  app.add_option("--search-seed", flags->seed)->type_name("N")->group(kSameLine);
  app.add_option("--search-cost", flags->cost)->type_name("C")->group(kSameLine);
}

absl::Status CheckSearchFlags(const SearchFlags& flags) {
  if (flags.budget < 1) return ir::InvalidArgument("--search-budget must be 1 or more");
  if (!(flags.seconds > 0) || !std::isfinite(flags.seconds))
    return ir::InvalidArgument("--search-seconds must be more than 0");
  if (!(flags.alpha >= 1) || !std::isfinite(flags.alpha))
    return ir::InvalidArgument("--search-alpha must be 1 or more");
  if (flags.seed && (*flags.seed < 0 || *flags.seed == INT64_MAX))  // where too large ones end
    return ir::InvalidArgument("--search-seed must be 0 or more, and less than 2^63 - 1");
  const std::string models[] = {"measured", "analytic"};
  return ir::CheckName("cost model", flags.cost, models);
}

std::string FlagsText(const SearchFlags& flags) {
  const SearchFlags usual;
  std::string text;
  if (flags.budget != usual.budget) text += fmt::format(" --search-budget {}", flags.budget);
  if (flags.seconds != usual.seconds) text += fmt::format(" --search-seconds {}", flags.seconds);
  if (flags.alpha != usual.alpha) text += fmt::format(" --search-alpha {}", flags.alpha);
  if (flags.seed) text += fmt::format(" --search-seed {}", *flags.seed);
  if (flags.cost != usual.cost) text += " --search-cost " + flags.cost;
  return text;
}

SearchRun::SearchRun(const SearchFlags& flags) {
  // Two measurements of one kernel differ by as much.
  constexpr double kMeasuringError = 0.01;
  options_.budget = flags.budget;
  options_.seconds = flags.seconds;
  options_.alpha = flags.alpha;
  if (flags.seed) options_.seed = static_cast<uint64_t>(*flags.seed);
  if (flags.cost == "measured") {
    model_ = std::make_unique<MeasuredCostModel>();
    options_.least_gain = kMeasuringError;
  } else {
    model_ = std::make_unique<passes::AnalyticCostModel>();
  }
  options_.cost = model_.get();
  options_.stop = [] { return interrupted != 0; };
  options_.warn = [](std::string_view why) { PrintWarning("superopt", why); };
  if (IsTerminal(stderr))
    options_.progress = [this](const passes::SearchProgress& p) { ShowProgress(p); };
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESETHAND;  // a second one ends the program
  sigaction(SIGINT, &action, nullptr);
}

SearchRun::~SearchRun() {
  std::signal(SIGINT, SIG_DFL);
  if (on_screen_) std::fputs("\r\033[K", stderr);
  if (interrupted)
    std::fputs("superopt: interrupted: the best program found so far is the result\n", stderr);
}

void SearchRun::ShowProgress(const passes::SearchProgress& progress) {
  if (on_screen_ && shown_ - progress.seconds_left < kSecondsBetweenProgress) return;
  shown_ = progress.seconds_left;
  on_screen_ = true;
  const std::string line =
      fmt::format("\rsuperopt: {} candidates, best {:.3f} ms of {:.3f} ms, {:.0f} s left\033[K",
                  progress.candidates, progress.best_cost * 1e3, progress.first_cost * 1e3,
                  std::max(progress.seconds_left, 0.0));
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace weft::tools
