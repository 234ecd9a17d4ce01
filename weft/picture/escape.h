// Names of models, which are any bytes, as text of other languages. What is no UTF-8 becomes U+FFFD, a
// control character a space.
#pragma once

#include <string>
#include <string_view>

namespace weft::picture {

// Between tags and in quoted attributes of XML and HTML.
std::string EscapeXml(std::string_view text);
// Between the quotes of a string of Graphviz.
std::string EscapeDot(std::string_view text);

// At most that many characters, "…" in place of the others.
std::string Shorten(std::string_view utf8, size_t characters);

}  // namespace weft::picture
