// Names for contents: 128 bits, in hexadecimal, that differ where the contents do, by any chance that
// matters. For files that are kept between runs of one program on one machine; no defence against
// someone who looks for two contents of one name.
#pragma once

#include <string>
#include <string_view>

namespace weft::passes {

// 32 digits.
std::string Digest(std::string_view bytes);

// Of this process: its program and the libraries that it has loaded, by their build ids or, without
// one, by what their files hold; and the kind of CPU, by which kernels are chosen. The same in every
// run until one of these changes.
const std::string& DigestOfThisProgram();

}  // namespace weft::passes
