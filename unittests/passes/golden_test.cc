// Every .ir file of this folder is a test, named by its path; see unittests/fixtures/golden.h.
#include "unittests/fixtures/golden.h"

#include "unittests/test_paths.h"

namespace weft::fixtures {
namespace {

WEFT_GOLDEN_TESTS(Rules, fixtures::TestData("/passes"));

}  // namespace
}  // namespace weft::fixtures
