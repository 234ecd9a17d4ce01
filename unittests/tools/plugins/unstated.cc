// Says no version, so that none of its code may run.
#include <cstdlib>

[[gnu::constructor]] static void EndTheProgram() { std::abort(); }
