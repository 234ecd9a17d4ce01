// What is said besides the status that is returned. Each may be null: then it is not said.
#pragma once

#include <functional>
#include <string>

namespace weft {

struct Notices {
  std::function<void(const std::string&)> warning = nullptr;  // one line
  std::function<void(const std::string&)> error = nullptr;    // one line: another mistake
  std::function<void(const std::string&)> text = nullptr;     // lines, e.g. of a program

  void Warn(const std::string& line) const {
    if (warning) warning(line);
  }
  void Fail(const std::string& line) const {
    if (error) error(line);
  }
  void Show(const std::string& lines) const {
    if (text) text(lines);
  }
};

}  // namespace weft
