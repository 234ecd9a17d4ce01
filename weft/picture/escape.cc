#include "weft/picture/escape.h"

#include <cstdint>

namespace weft::picture {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Of the character that begins there; 0 when none does (RFC 3629, section 4).
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xc2 && first < 0xe0   ? 2
                      : first >= 0xe0 && first < 0xf0 ? 3
                      : first >= 0xf0 && first < 0xf5 ? 4
                                                      : 0;
  if (size == 0 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool is_overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool is_beyond = first == 0xf4 && byte(1) >= 0x90;
  // U+FFFE and U+FFFF are no characters of XML.
  const bool is_none = first == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;
  return is_overlong || is_surrogate || is_beyond || is_none ? 0 : size;
}

template <class EscapeAscii>
std::string Escape(std::string_view text, const EscapeAscii& escape_ascii) {
  std::string escaped;
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    if (size == 0) {
      escaped += kReplacement;
    } else if (size > 1) {
      escaped += text.substr(0, size);
    } else if (static_cast<uint8_t>(text[0]) < 0x20 || text[0] == 0x7f) {
      escaped += ' ';
    } else {
      escape_ascii(text[0], &escaped);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return escaped;
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  return Escape(text, [](char c, std::string* out) {
    if (c == '<') {
      *out += "&lt;";
    } else if (c == '>') {
      *out += "&gt;";
    } else if (c == '&') {
      *out += "&amp;";
    } else if (c == '"') {
      *out += "&quot;";
    } else {
      *out += c;
    }
  });
}

std::string EscapeDot(std::string_view text) {
  return Escape(text, [](char c, std::string* out) {
    if (c == '"' || c == '\\') *out += '\\';
    *out += c;
  });
}

std::string Shorten(std::string_view utf8, size_t characters) {
  size_t count = 0, end = 0;
  for (size_t i = 0; i < utf8.size(); ++i) {
    if ((static_cast<uint8_t>(utf8[i]) & 0xc0) == 0x80) continue;  // inside of a character
    if (++count == characters) end = i;
    if (count > characters) return std::string(utf8.substr(0, end)) + "…";
  }
  return std::string(utf8);
}

}  // namespace weft::picture
