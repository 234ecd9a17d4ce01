// How the text form spells single things: quoted strings, numbers, types. Each Append function
// writes what the scanner and the value parser read back as the same value, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/attribute.h"
#include "ir/type.h"

namespace weft::ir::text {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool IsNameChar(char c) { return IsWordStart(c) || IsDigit(c) || c == '.'; }

// Whether `text` can stand as an attribute or parameter name without quotes.
bool IsBareName(std::string_view text);
// Whether `text` is a token such as Place(cpu), which stands without quotes.
bool IsCallToken(std::string_view text);

void AppendInt(std::string* out, int64_t value);
void AppendUInt(std::string* out, uint64_t value);
void AppendHex(std::string* out, uint64_t value, int digits);
// "..." with \" \\ \n \t and \xHH for other control characters; all else as it is.
void AppendQuoted(std::string* out, std::string_view text);
void AppendName(std::string* out, std::string_view name);  // bare where possible

// The shortest digits that read back as the same value, always with '.' or 'e'; inf, -inf, nan; a
// NaN with other bits than the usual ones as nan0x7fc00001.
void AppendFloat(std::string* out, float value);
void AppendDouble(std::string* out, double value);  // the same; no suffix

void AppendType(std::string* out, Type type);

// One element of dense contents; complex numbers as (re,im).
void AppendElement(std::string* out, Attribute dense, int64_t index);

// A hash of contents that is the same in every run and on every machine (not cryptographic).
uint64_t HashBytes(std::span<const std::byte> bytes);

}  // namespace weft::ir::text
