// What a program leaves behind when it finds a mistake of its own, or crashes: a folder with the files
// that its command line names and a script that runs it again. Folders are not copied.
#pragma once

#include <memory>
#include <string>

namespace weft::tools {

// Where such folders go; by default that of temporary files. Empty: none is written.
inline constexpr const char* kReproducersVariable = "WEFT_REPRODUCERS";

// From now on a crash leaves a reproducer and names it on stderr.
void PrepareReproducer(const std::string& program, int argc, const char* const* argv);
// What stdin held: it goes into a reproducer too, unless it is more than 256 MiB, which memory is not held for.
void KeepStdin(std::shared_ptr<const std::string> text);
// In a copy of the process: crashes are for its parent to see.
void DropReproducer();

// Writes it now. The folder; empty when there is none.
std::string WriteReproducer();

}  // namespace weft::tools
