// Literals of Python and of JSON: None/null, True/true, numbers, strings in either quotes, lists,
// tuples, dicts with keys of any scalar kind, trailing commas, `#` comments. Nothing is evaluated.
// The text need not be trusted: its size, depth and number of values are limited.
//
//   Diagnostics mistakes("rules.py");
//   std::optional<Literal> value = ParseLiteral("{'axis': (0, 1)}", &mistakes);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drr/text/diagnostics.h"

namespace weft::drr::text {

inline constexpr size_t kMaxRuleFileBytes = size_t{4} << 20;

struct Literal {
  enum Kind : uint8_t { kNone, kBool, kInt, kReal, kString, kList, kTuple, kDict };
  Kind kind = kNone;
  Position at;
  int64_t integer = 0;  // of a bool: 0 or 1
  double real = 0;
  std::string text;
  std::vector<Literal> items;  // of a dict: key, value, key, value, ...

  bool Is(Kind k) const { return kind == k; }
  bool IsSequence() const { return kind == kList || kind == kTuple; }
  bool IsNumber() const { return kind == kInt || kind == kReal; }
  double AsDouble() const { return kind == kInt ? static_cast<double>(integer) : real; }
  // The value of a key that is this string; null if there is none.
  const Literal* Find(std::string_view key) const;
  // For messages: "a list", "the string 'x'", "3".
  std::string Describe() const;
};

// One literal that fills the whole text, but for an assignment to a name in front of it
// (`pattern = {`). Nothing on a mistake, which then is in *mistakes.
std::optional<Literal> ParseLiteral(std::string_view text, Diagnostics* mistakes);

}  // namespace weft::drr::text
