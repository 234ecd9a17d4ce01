// The mistakes in one rule file, as file:line:column: error: what.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/escape.h"

namespace weft::drr::text {

struct Position {
  int line = 1, column = 1;
};

class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  // Always false, so that a reader can end in `return mistakes->Error(...)`. Mistakes beyond the
  // first kMaxErrors only count.
  bool Error(Position at, std::string_view what) {
    if (++num_errors_ <= kMaxErrors) errors_.push_back(Line(at, "error", what));
    return false;
  }
  void Warning(Position at, std::string_view what) {
    if (warnings_.size() < kMaxErrors) warnings_.push_back(Line(at, "warning", what));
  }
  // A mistake that names its place already.
  void Add(std::string line) {
    if (++num_errors_ <= kMaxErrors) errors_.push_back(std::move(line));
  }
  const std::string& file() const { return file_; }
  bool ok() const { return num_errors_ == 0; }
  size_t num_errors() const { return num_errors_; }
  const std::vector<std::string>& errors() const { return errors_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  static constexpr size_t kMaxErrors = 20;
  std::string Line(Position at, std::string_view kind, std::string_view what) const {
    std::string line = file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
    return line.append(": ").append(kind).append(": ").append(ir::EscapeControl(what));
  }

  std::string file_;
  size_t num_errors_ = 0;
  std::vector<std::string> errors_, warnings_;
};

}  // namespace weft::drr::text
