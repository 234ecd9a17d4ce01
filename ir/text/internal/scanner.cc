#include "ir/text/internal/scanner.h"

#include <fmt/format.h>

#include <cstring>

namespace weft::ir::text {
namespace {

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool EndsBareValue(char c) {
  return static_cast<unsigned char>(c) <= ' ' || std::strchr(",:(){}[]<>\"", c) != nullptr;
}

}  // namespace

Scanner::Scanner(std::string_view text, std::string file, bool excerpt)
    : begin_(text.data()),
      p_(text.data()),
      end_(text.data() + text.size()),
      file_(std::move(file)),
      excerpt_(excerpt),
      counted_to_(begin_),
      line_start_(begin_) {
  StartLine();
}

void Scanner::SkipLine() {
  const void* newline = std::memchr(p_, '\n', static_cast<size_t>(end_ - p_));
  p_ = newline ? static_cast<const char*>(newline) : end_;
}

void Scanner::SkipPrefix() {
  const char* p = p_;
  while (p != end_ && IsDigit(*p)) ++p;
  if (p == p_ || p == end_ || *p != ':') return;
  ++p;
  if (p != end_ && *p != ' ' && *p != '\n' && *p != '\r') return;
  p_ = p != end_ && *p == ' ' ? p + 1 : p;
}

bool Scanner::AtRule() const {
  return std::string_view(p_, static_cast<size_t>(end_ - p_)).substr(0, 4) == "===-";
}

void Scanner::StartLine() {
  if (p_ == end_) return;
  if (IsDigit(*p_)) SkipPrefix();
  if (excerpt_ && std::string_view(p_, static_cast<size_t>(end_ - p_)).substr(0, 4) == "....") {
    SkipLine();
    return;
  }
  if (!AtRule()) return;
  const char* first_rule = p_;
  for (int line = 0; line < 2; ++line) {
    SkipLine();
    if (p_ != end_) ++p_;
    SkipPrefix();
  }
  if (AtRule()) {
    SkipLine();
  } else {
    Fail(first_rule, "the banner has no second rule below its title");
    p_ = end_;
  }
}

bool Scanner::Consume(std::string_view token) {
  SkipSpace();
  if (std::string_view(p_, static_cast<size_t>(end_ - p_)).substr(0, token.size()) != token)
    return false;
  p_ += token.size();
  return true;
}

bool Scanner::ConsumeWord(std::string_view word) {
  SkipSpace();
  const char* start = p_;
  if (!Consume(word)) return false;
  if (p_ == end_ || !IsNameChar(*p_)) return true;
  p_ = start;
  return false;
}

bool Scanner::Expect(char c, const char* where) {
  if (Consume(c)) return true;
  return Fail(fmt::format("expected '{}' {} but found {}", c, where, Found()));
}

std::string_view Scanner::Name() {
  SkipSpace();
  const char* start = p_;
  if (p_ != end_ && IsWordStart(*p_))
    while (p_ != end_ && IsNameChar(*p_)) ++p_;
  return {start, static_cast<size_t>(p_ - start)};
}

std::string_view Scanner::BareValue() {
  SkipSpace();
  const char* start = p_;
  while (p_ != end_ && !EndsBareValue(*p_)) ++p_;
  return {start, static_cast<size_t>(p_ - start)};
}

bool Scanner::Digits(uint64_t* value) {
  const char* start = position();
  *value = 0;
  while (p_ != end_ && IsDigit(*p_)) {
    if (*value > (UINT64_MAX - 9) / 10) return Fail(start, "the number is out of range");
    *value = *value * 10 + static_cast<uint64_t>(*p_++ - '0');
  }
  return p_ != start || Fail("expected a number but found " + Found());
}

bool Scanner::Escape(std::string* out) {
  const char* start = p_++;
  const char c = p_ == end_ ? '\0' : *p_++;
  switch (c) {
    case '"':
    case '\\':
      *out += c;
      return true;
    case 'n':
      *out += '\n';
      return true;
    case 't':
      *out += '\t';
      return true;
    case 'x': {
      const int high = end_ - p_ >= 2 ? HexDigit(p_[0]) : -1;
      const int low = end_ - p_ >= 2 ? HexDigit(p_[1]) : -1;
      if (high < 0 || low < 0) return Fail(start, "\\x wants two hexadecimal digits");
      *out += static_cast<char>(high * 16 + low);
      p_ += 2;
      return true;
    }
    default:
      return Fail(start, "unknown escape in a string; known are \\\" \\\\ \\n \\t \\xHH");
  }
}

bool Scanner::String(std::string_view* value) {
  const char* start = position();
  if (!Consume('"')) return Fail("expected a quoted string but found " + Found());
  std::string* copy = nullptr;
  const char* run = p_;
  for (;; ++p_) {
    if (p_ == end_ || *p_ == '\n') return Fail(start, "the string is not closed on its line");
    if (*p_ == '"') break;
    if (*p_ != '\\') continue;
    if (!copy) copy = unescaped_.emplace_back(std::make_unique<std::string>()).get();
    copy->append(run, p_);
    if (!Escape(copy)) return false;
    run = p_--;
  }
  if (copy) {
    copy->append(run, p_);
    *value = *copy;
  } else {
    *value = {run, static_cast<size_t>(p_ - run)};
  }
  ++p_;
  return true;
}

std::string Scanner::Found() {
  if (AtEnd()) return "the end of the text";
  const auto c = static_cast<unsigned char>(*p_);
  if (c >= ' ' && c < 127) return fmt::format("'{}'", *p_);
  return fmt::format("the byte 0x{:02x}", c);
}

// Line numbers are counted on from the last place asked for: warnings come in the order of the
// text.
std::string Scanner::Where(const char* at) const {
  if (at < counted_to_) {
    counted_to_ = line_start_ = begin_;
    line_ = 1;
  }
  for (; counted_to_ != at; ++counted_to_) {
    if (*counted_to_ != '\n') continue;
    ++line_;
    line_start_ = counted_to_ + 1;
  }
  return fmt::format("{}:{}:{}", file_, line_, at - line_start_ + 1);
}

bool Scanner::Fail(const char* at, const std::string& message) {
  if (error_.empty()) error_ = fmt::format("{}: error: {}", Where(at), message);
  return false;
}

std::string Scanner::Warning(const char* at, const std::string& message) const {
  return fmt::format("{}: warning: {}", Where(at), message);
}

absl::Status Scanner::status() const {
  return error_.empty() ? absl::OkStatus() : InvalidArgument(error_);
}

}  // namespace weft::ir::text
