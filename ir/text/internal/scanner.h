// Reads the text form character by character: white space, comments, names, numbers, strings; and
// turns the first mistake into a message with file, line and column. No allocation but for strings
// with escapes.
//
// Skipped as white space: `//` to the end of the line; at the start of a line a log prefix of
// digits and a colon (`332: `); a banner (a rule ===---...---===, a title line, a rule). In an
// excerpt also lines that begin with four dots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/text/internal/literals.h"

namespace weft::ir::text {

class Scanner {
 public:
  Scanner(std::string_view text, std::string file, bool excerpt);

  // The next character that is no white space, not consumed; '\0' at the end.
  char Peek() {
    SkipSpace();
    return p_ == end_ ? '\0' : *p_;
  }
  bool AtEnd() {
    SkipSpace();
    return p_ == end_;
  }
  bool Consume(char c) {
    if (Peek() != c || p_ == end_) return false;
    ++p_;
    return true;
  }
  bool Consume(std::string_view token);  // exactly these characters, whatever follows them
  bool ConsumeWord(std::string_view word);
  bool Expect(char c, const char* where);  // where: "after the operands"

  // [A-Za-z_][A-Za-z0-9_.]*; empty if there is none.
  std::string_view Name();
  // What an unquoted attribute value consists of: up to a space or one of ,:(){}[]<>"
  std::string_view BareValue();
  bool Digits(uint64_t* value);  // an unsigned decimal number
  // A quoted string. The result lives as long as the text and the scanner.
  bool String(std::string_view* value);

  const char* position() {  // of the next thing
    SkipSpace();
    return p_;
  }
  const char* raw_position() const { return p_; }
  const char* end() const { return end_; }
  void set_position(const char* p) { p_ = p; }
  size_t size() const { return static_cast<size_t>(end_ - begin_); }

  // Notes the mistake (the first one only) and returns false.
  bool Fail(const char* at, const std::string& message);
  bool Fail(const std::string& message) { return Fail(position(), message); }
  // What is at the current position, for messages: 'x' or the end of the text.
  std::string Found();
  std::string Warning(const char* at, const std::string& message) const;
  absl::Status status() const;
  bool failed() const { return !error_.empty(); }
  void ForgetFailure() { error_.clear(); }  // to go on elsewhere

 private:
  void SkipSpace() {
    while (p_ != end_ && static_cast<unsigned char>(*p_) <= '/') {
      if (*p_ == ' ' || *p_ == '\t' || *p_ == '\r') {
        ++p_;
      } else if (*p_ == '\n') {
        ++p_;
        StartLine();
      } else if (*p_ == '/' && p_ + 1 != end_ && p_[1] == '/') {
        SkipLine();
      } else {
        return;
      }
    }
  }
  void StartLine();  // p_ is at the first column
  void SkipLine();   // to the newline, which is left
  void SkipPrefix();
  bool AtRule() const;
  bool Escape(std::string* out);
  std::string Where(const char* at) const;

  const char *begin_, *p_, *end_;
  std::string file_;
  bool excerpt_;
  std::string error_;
  mutable const char *counted_to_, *line_start_;  // see Where
  mutable size_t line_ = 1;
  std::vector<std::unique_ptr<std::string>> unescaped_;
};

}  // namespace weft::ir::text
