// What ends a program other than through a status: no memory, a model's file that becomes
// shorter while it is mapped, an output larger than the limit of the shell.
#pragma once

namespace weft::tools {

// From now on: a file beyond RLIMIT_FSIZE is an error of its write, as a full disk is; a read of
// a mapped file beyond its new end prints one line that names the file, and exits with 2. (Before
// main already: memory that runs out is one line and exit code 2, at once.)
// Not for libraries: dispositions of signals belong to the process.
void HandleFaults();

}  // namespace weft::tools
