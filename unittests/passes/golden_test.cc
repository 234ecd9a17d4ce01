// Every .ir file below golden/ is a test, named by its path; see tools/testing/golden.h.
#include "tools/testing/golden.h"

namespace weft::fixtures {
namespace {

WEFT_GOLDEN_TESTS(Rules, WEFT_TEST_DATA_DIR "/passes/golden");

}  // namespace
}  // namespace weft::fixtures
