// How far a long command is, in one line of a terminal that is written over: "3 of 120 models done, 1 failed, 0:41 left".
#pragma once

#include <chrono>
#include <string>

namespace weft::tools {

// On stderr; nothing where that is no terminal.
class ProgressLine {
 public:
  // `what`: "models".
  ProgressLine(std::string what, size_t count);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // The time that is left is what those that are done have taken, for each of the others.
  void Show(size_t done, size_t failed);
  // Must be called before anything else is printed.
  void Clear();

 private:
  const std::string what_;
  const size_t count_, columns_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

// "0:07", "12:34", "1:02:03".
std::string ClockText(double seconds);

}  // namespace weft::tools
