/* The header of the version is C, too, and says what the library that runs says. */
#include <stdio.h>
#include <string.h>
#include <weft/c_api.h>
#include <weft/version.h>

#if !WEFT_VERSION_AT_LEAST(0, 1, 0) ||                                      \
    WEFT_VERSION_AT_LEAST(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR + 1, 0) || \
    WEFT_VERSION_AT_LEAST(WEFT_VERSION_MAJOR + 1, 0, 0) ||                  \
    !WEFT_VERSION_AT_LEAST(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)
#error "versions are not compared as they should be"
#endif

int main(int argc, char** argv) {
  if (argc != 2 || strcmp(argv[1], WEFT_VERSION_STRING) != 0)
    return puts("not the version of the package"), 1;
  if (strcmp(weft_version(), WEFT_VERSION_STRING) != 0)
    return puts("another version than the library's"), 1;
  return 0;
}
