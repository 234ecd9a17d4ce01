#include "kernels/reference/strings/letter_case.h"

#include <locale.h>  // NOLINT: newlocale is POSIX
#include <wctype.h>  // NOLINT: and so is towlower_l

#include <cstdint>

namespace weft::kernels::reference {
namespace {

char AsciiToCase(char c, LetterCase to) {
  if (to == LetterCase::kLower) return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// Takes one character from the front of `text`, which is not empty. False for what is no UTF-8.
bool TakeCharacter(std::string_view* text, uint32_t* character) {
  const auto byte_at = [&](size_t i) { return static_cast<unsigned char>((*text)[i]); };
  const unsigned char first = byte_at(0);
  const size_t length = first < 0x80             ? 1
                        : (first & 0xe0) == 0xc0 ? 2
                        : (first & 0xf0) == 0xe0 ? 3
                        : (first & 0xf8) == 0xf0 ? 4
                                                 : 0;
  if (length == 0 || text->size() < length) return false;
  uint32_t value = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte_at(i) & 0xc0) != 0x80) return false;
    value = value << 6 | (byte_at(i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
    return false;
  text->remove_prefix(length);
  *character = value;
  return true;
}

void Append(uint32_t character, std::string* text) {
  if (character < 0x80) {
    *text += static_cast<char>(character);
    return;
  }
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;  // bytes
  const uint32_t mark = 0xff00u >> (more + 1) & 0xffu;
  *text += static_cast<char>(mark | character >> (6 * more));
  for (int i = more - 1; i >= 0; --i)
    *text += static_cast<char>(0x80u | (character >> (6 * i) & 0x3fu));
}

}  // namespace

absl::StatusOr<std::string> ToCase(std::string_view text, LetterCase to) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string mapped;
  mapped.reserve(text.size());
  while (!text.empty()) {
    uint32_t character = 0;
    if (!TakeCharacter(&text, &character)) return ir::InvalidArgument("a string is no UTF-8");
    if (character < 0x80) {
      mapped += AsciiToCase(static_cast<char>(character), to);
      continue;
    }
    if (unicode == nullptr)
      return ir::Unsupported("letters beyond ASCII, for this machine lacks the locale C.UTF-8");
    const auto letter = static_cast<wint_t>(character);
    Append(static_cast<uint32_t>(to == LetterCase::kLower ? towlower_l(letter, unicode)
                                                          : towupper_l(letter, unicode)),
           &mapped);
  }
  return mapped;
}

}  // namespace weft::kernels::reference
