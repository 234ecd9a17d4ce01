#include "tools/cli/tables/progress_line.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "tools/cli/tables/terminal.h"

namespace weft::tools {

ProgressLine::ProgressLine(std::string what, size_t count)
    : what_(std::move(what)), count_(count), columns_(ColumnsOf(stderr)) {}

void ProgressLine::Show(size_t done, size_t failed) {
  if (columns_ == 0) return;
  std::string text = fmt::format("{} of {} {} done", done, count_, what_);
  if (failed > 0) text += fmt::format(", {} failed", failed);
  if (done > 0 && done < count_) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    text += fmt::format(", {} left", ClockText(spent.count() * static_cast<double>(count_ - done) /
                                               static_cast<double>(done)));
  }
  Clear();
  std::fputs(text.substr(0, columns_ - 1).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

std::string ClockText(double seconds) {
  const auto whole = static_cast<uint64_t>(std::ceil(std::max(0.0, seconds)));
  const uint64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace weft::tools
