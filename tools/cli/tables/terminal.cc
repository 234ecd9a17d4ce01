#include "tools/cli/tables/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace weft::tools {
namespace {

constexpr size_t kUsualColumns = 80;  // where a terminal does not tell

std::string_view Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Where a text is longer than `columns` characters: the byte after them.
size_t EndOfLine(std::string_view text, size_t columns) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (BeginsCharacter(text[i]) && ++characters > columns) return i;
  return text.size();
}

}  // namespace

bool IsTerminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

size_t ColumnsOf(std::FILE* stream) {
  if (!IsTerminal(stream)) return 0;
  const std::string_view said = Environment("COLUMNS");
  size_t columns = 0;
  if (std::from_chars(said.data(), said.data() + said.size(), columns).ec == std::errc() &&
      columns > 0)
    return columns;
  winsize size = {};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kUsualColumns;
}

std::string Styled(Style style, std::string_view text, std::FILE* stream) {
  const bool plain = style == Style::kPlain || !Environment("NO_COLOR").empty() ||
                     Environment("TERM") == "dumb" || !IsTerminal(stream);
  if (plain) return std::string(text);
  const char* const codes[] = {"0", "1", "1;31", "1;32", "1;33"};  // by Style; of ECMA-48, SGR
  return std::string("\x1b[") + codes[static_cast<size_t>(style)] + "m" + std::string(text) +
         "\x1b[0m";
}

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::vector<std::string> WrapText(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  while (true) {
    const size_t end = EndOfLine(text, columns);
    if (end == text.size()) break;
    size_t next = text.find_last_of(' ', end);  // a space may be what no longer fits
    size_t last = next;
    if (next == std::string_view::npos || next == 0) {
      last = text.substr(0, end).find_last_of(",;:/-_.");
      last = next = last == std::string_view::npos ? end : last + 1;
    } else {
      ++next;
    }
    while (last > 0 && text[last - 1] == ' ') --last;
    while (next < text.size() && text[next] == ' ') ++next;
    lines.emplace_back(text.substr(0, last));
    text.remove_prefix(next);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace weft::tools
