// What the examples share: a main function around one that returns a status.
#pragma once

#include <weft/weft.h>

#include <cstdio>
#include <string>

// Prints the message of an error on stderr; what main returns.
inline int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n",
               std::string(status.message().data(), status.message().size()).c_str());
  return 1;
}
