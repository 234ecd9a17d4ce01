#include "drr/text/literal.h"

#include <fmt/format.h>

#include <charconv>

namespace weft::drr::text {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxValues = 200'000;

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(std::string* out, uint32_t code) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | code >> 6);
    *out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | code >> 12);
    *out += static_cast<char>(0x80 | (code >> 6 & 63));
    *out += static_cast<char>(0x80 | (code & 63));
  } else {
    *out += static_cast<char>(0xf0 | code >> 18);
    *out += static_cast<char>(0x80 | (code >> 12 & 63));
    *out += static_cast<char>(0x80 | (code >> 6 & 63));
    *out += static_cast<char>(0x80 | (code & 63));
  }
}

class Parser {
 public:
  Parser(std::string_view text, Diagnostics* mistakes) : text_(text), mistakes_(*mistakes) {}
  std::optional<Literal> Run();

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  void Advance();
  // The next character that is no white space; '\0' at the end
  char Peek();
  bool Consume(char c);
  bool Fail(const std::string& what) { return mistakes_.Error(at_, what); }
  bool Fail(Position at, const std::string& what) { return mistakes_.Error(at, what); }
  std::string Found();
  std::string_view Word();
  void SkipAssignment();
  bool Value(Literal* value, int depth);
  bool Name(Literal* value);
  bool Number(Literal* value);
  bool Hex(int digits, uint32_t* code);
  bool Escape(std::string* out);
  bool String(Literal* value);
  bool Sequence(Literal* value, Literal::Kind kind, char close, int depth);
  static bool SameScalar(const Literal& a, const Literal& b) {
    return a.kind == b.kind && a.integer == b.integer && a.real == b.real && a.text == b.text;
  }
  bool Dict(Literal* value, int depth);
  static constexpr size_t kMaxKeys = 2000;  // keys are compared with each other

  std::string_view text_;
  Diagnostics& mistakes_;
  size_t i_ = 0, num_values_ = 0;
  Position at_;
};

std::optional<Literal> Parser::Run() {
  Literal value;
  if (text_.size() > kMaxRuleFileBytes) {
    Fail(fmt::format("the text has {} bytes but must have at most {}", text_.size(),
                     kMaxRuleFileBytes));
    return {};
  }
  SkipAssignment();
  if (!Value(&value, 0)) return {};
  if (Peek() != '\0' || i_ < text_.size()) {
    Fail(fmt::format("expected the end of the file but found {}", Found()));
    return {};
  }
  return value;
}

void Parser::Advance() {
  if (text_[i_++] == '\n') {
    ++at_.line;
    at_.column = 1;
  } else {
    ++at_.column;
  }
}

char Parser::Peek() {
  while (i_ < text_.size()) {
    const char c = text_[i_];
    if (c == '#' || (c == '/' && At(i_ + 1) == '/')) {
      while (i_ < text_.size() && text_[i_] != '\n') Advance();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      Advance();
    } else {
      return c;
    }
  }
  return '\0';
}

bool Parser::Consume(char c) {
  if (Peek() != c || i_ == text_.size()) return false;
  Advance();
  return true;
}

std::string Parser::Found() {
  const char c = Peek();
  if (i_ == text_.size()) return "the end of the file";
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f ? fmt::format("the byte 0x{:02x}", byte)
                                     : fmt::format("'{}'", c);
}

std::string_view Parser::Word() {
  const size_t begin = i_;
  while (IsWordStart(At(i_)) || IsDigit(At(i_))) Advance();
  return text_.substr(begin, i_ - begin);
}

void Parser::SkipAssignment() {
  if (!IsWordStart(Peek())) return;
  const size_t begin = i_;
  const Position at = at_;
  Word();
  if (Consume('=')) return;
  i_ = begin;
  at_ = at;
}

bool Parser::Value(Literal* value, int depth) {
  const char c = Peek();
  value->at = at_;
  if (depth > kMaxDepth) return Fail(fmt::format("more than {} levels deep", kMaxDepth));
  if (++num_values_ > kMaxValues) return Fail(fmt::format("more than {} values", kMaxValues));
  if (c == '{') return Dict(value, depth);
  if (c == '[') return Sequence(value, Literal::kList, ']', depth);
  if (c == '(') return Sequence(value, Literal::kTuple, ')', depth);
  if (c == '\'' || c == '"') return String(value);
  if (IsDigit(c) || c == '-' || c == '+' || c == '.') return Number(value);
  if (IsWordStart(c)) return Name(value);
  return Fail(fmt::format("expected a value but found {}", Found()));
}

bool Parser::Name(Literal* value) {
  const std::string_view word = Word();
  if (word == "None" || word == "null") return true;
  value->kind = Literal::kBool;
  value->integer = word == "True" || word == "true";
  if (value->integer || word == "False" || word == "false") return true;
  if (At(i_) == '\'' || At(i_) == '"')
    return Fail(value->at, fmt::format("strings with the prefix '{}' are not read", word));
  return Fail(value->at, fmt::format("expected a value but found the name '{}'", word));
}

bool Parser::Number(Literal* value) {
  const size_t begin = i_;
  if (At(i_) == '-' || At(i_) == '+') Advance();
  bool real = false;
  while (IsDigit(At(i_)) || IsWordStart(At(i_)) || At(i_) == '.' ||
         ((At(i_) == '-' || At(i_) == '+') && (At(i_ - 1) == 'e' || At(i_ - 1) == 'E'))) {
    real |= !IsDigit(At(i_));
    Advance();
  }
  const std::string_view whole = text_.substr(begin, i_ - begin);
  const std::string_view digits = whole.substr(whole.starts_with('+') ? 1 : 0);
  const char* end = digits.data() + digits.size();
  std::from_chars_result result{};
  if (real) {
    value->kind = Literal::kReal;
    result = std::from_chars(digits.data(), end, value->real);
  } else {
    value->kind = Literal::kInt;
    result = std::from_chars(digits.data(), end, value->integer);
  }
  // Infinities and NaNs are words, which from_chars reads too.
  const std::string_view bare = digits.substr(digits.starts_with('-') ? 1 : 0);
  if (result.ec == std::errc::invalid_argument || result.ptr != end || bare.empty() ||
      !(IsDigit(bare[0]) || bare[0] == '.'))
    return Fail(value->at, fmt::format("'{}' is no number", whole.substr(0, 40)));
  if (result.ec != std::errc())
    return Fail(value->at, fmt::format("the number {} is out of range", whole.substr(0, 40)));
  return true;
}

bool Parser::Hex(int digits, uint32_t* code) {
  *code = 0;
  for (int k = 0; k < digits; ++k) {
    const char c = At(i_);
    const char lower = static_cast<char>(c | 0x20);
    if (!IsDigit(c) && (lower < 'a' || lower > 'f'))
      return Fail(fmt::format("expected {} hexadecimal digits", digits));
    *code = *code * 16 + static_cast<uint32_t>(IsDigit(c) ? c - '0' : lower - 'a' + 10);
    Advance();
  }
  return true;
}

bool Parser::Escape(std::string* out) {
  const char c = At(i_);
  const Position at = at_;
  if (i_ < text_.size()) Advance();
  constexpr std::string_view kLetters = "nrtbf0\\'\"/";
  constexpr std::string_view kMeanings("\n\r\t\b\f\0\\'\"/", 10);
  if (const size_t k = kLetters.find(c); k != std::string_view::npos && c != '\0') {
    *out += kMeanings[k];
    return true;
  }
  if (c != 'x' && c != 'u') return Fail(at, "unknown escape in a string");
  uint32_t code = 0, low = 0;
  if (!Hex(c == 'x' ? 2 : 4, &code)) return false;
  if (code >= 0xd800 && code < 0xdc00 && At(i_) == '\\' && At(i_ + 1) == 'u') {
    Advance(), Advance();
    if (!Hex(4, &low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return Fail(at, "half a surrogate pair in a string");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xd800 && code <= 0xdfff) {
    return Fail(at, "half a surrogate pair in a string");
  }
  AppendUtf8(out, code);
  return true;
}

bool Parser::String(Literal* value) {
  value->kind = Literal::kString;
  const char quote = At(i_);
  Advance();
  while (At(i_) != quote) {
    if (i_ == text_.size() || At(i_) == '\n') return Fail(value->at, "the string has no end");
    if (At(i_) == '\\') {
      Advance();
      if (!Escape(&value->text)) return false;
    } else {
      value->text += At(i_);
      Advance();
    }
  }
  Advance();
  return true;
}

bool Parser::Sequence(Literal* value, Literal::Kind kind, char close, int depth) {
  value->kind = kind;
  Advance();
  bool comma = false;
  while (!Consume(close)) {
    if (!value->items.empty() && !comma)
      return Fail(fmt::format("expected ',' or '{}' but found {}", close, Found()));
    if (!Value(&value->items.emplace_back(), depth + 1)) return false;
    comma = Consume(',');
  }
  if (kind == Literal::kTuple && value->items.size() == 1 && !comma) {  // only parentheses
    Literal inner = std::move(value->items[0]);
    *value = std::move(inner);
  }
  return true;
}

bool Parser::Dict(Literal* value, int depth) {
  value->kind = Literal::kDict;
  Advance();
  bool comma = true;
  while (!Consume('}')) {
    if (!comma) return Fail(fmt::format("expected ',' or '}}' but found {}", Found()));
    Literal key;
    if (!Value(&key, depth + 1)) return false;
    if (key.IsSequence() || key.Is(Literal::kDict))
      return Fail(key.at,
                  fmt::format("a key must be a string or a number, not {}", key.Describe()));
    if (!Consume(':')) return Fail(fmt::format("expected ':' after the key but found {}", Found()));
    for (size_t k = 0; k < value->items.size(); k += 2)
      if (SameScalar(value->items[k], key))
        return Fail(key.at, fmt::format("the key {} is there twice", key.Describe()));
    value->items.push_back(std::move(key));
    if (value->items.size() > kMaxKeys)
      return Fail(fmt::format("more than {} keys in one dict", kMaxKeys / 2));
    if (!Value(&value->items.emplace_back(), depth + 1)) return false;
    comma = Consume(',');
  }
  return true;
}

}  // namespace

const Literal* Literal::Find(std::string_view key) const {
  if (kind != kDict) return nullptr;
  for (size_t i = 0; i < items.size(); i += 2)
    if (items[i].Is(kString) && items[i].text == key) return &items[i + 1];
  return nullptr;
}

std::string Literal::Describe() const {
  switch (kind) {
    case kNone:
      return "None";
    case kBool:
      return integer ? "True" : "False";
    case kInt:
      return fmt::format("{}", integer);
    case kReal:
      return fmt::format("{}", real);
    case kString:
      return text.size() > 60 ? std::string("a long string") : fmt::format("'{}'", text);
    case kList:
      return items.empty() ? "an empty list" : "a list";
    case kTuple:
      return items.empty() ? "an empty tuple" : "a tuple";
    case kDict:
      return "a dict";
  }
  return "";
}

std::optional<Literal> ParseLiteral(std::string_view text, Diagnostics* mistakes) {
  return Parser(text, mistakes).Run();
}

}  // namespace weft::drr::text
