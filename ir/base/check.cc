#include "ir/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weft::ir {

void CheckFailed(const char* file, int line, const char* condition, std::string_view message) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace weft::ir
