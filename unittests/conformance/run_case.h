// One test, in this process.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "unittests/conformance/outcome.h"
#include "unittests/conformance/test_case.h"

namespace weft::conformance {

// Imports the model once, optimises a copy of it with each pipeline and runs that on all data sets
// of the test. `report` is called with each pipeline's outcome as soon as it is known.
void RunCase(const TestCase& test, std::span<const std::string> pipelines,
             const std::function<void(const Outcome&)>& report);

}  // namespace weft::conformance
