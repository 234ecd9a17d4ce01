#include "unittests/test_paths.h"

namespace weft::fixtures {

std::string TestData(std::string_view path) { return WEFT_TEST_DATA_DIR + std::string(path); }
std::string BuildPath(std::string_view path) { return WEFT_BINARY_DIR + std::string(path); }

}  // namespace weft::fixtures
