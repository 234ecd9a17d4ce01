// For people at a terminal: how wide it is, and colours. A pipe or a file gets plain text of any width.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

bool IsTerminal(std::FILE* stream);

// How many columns the terminal has that `stream` is, where COLUMNS does not say so; 0 where it is none.
size_t ColumnsOf(std::FILE* stream);

enum class Style { kPlain, kBold, kRed, kGreen, kYellow };
// The text as it is where `stream` is no terminal, NO_COLOR is set and not empty (no-color.org), or TERM is dumb.
std::string Styled(Style style, std::string_view text, std::FILE* stream);

// Bytes of UTF-8 that begin a character.
size_t CharactersIn(std::string_view text);

// One line or more of at most `columns` characters, 1 or more: parted at spaces, which go; else after punctuation; else where
// the line is full.
std::vector<std::string> WrapText(std::string_view text, size_t columns);

}  // namespace weft::tools
