// Every .ir file of this folder is a test, named by its path; see unittests/fixtures/golden.h.
#include "unittests/fixtures/golden.h"

namespace weft::fixtures {
namespace {

WEFT_GOLDEN_TESTS(Rules, WEFT_TEST_DATA_DIR "/passes");

}  // namespace
}  // namespace weft::fixtures
