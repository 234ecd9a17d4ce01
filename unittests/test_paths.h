// Where tests find their files. Only one source knows the folders, so that a compiler cache serves every
// checkout.
#pragma once

#include <string>
#include <string_view>

namespace weft::fixtures {

// A path below unittests/, e.g. TestData("/models/bert_tiny.onnx"), or TestData("/../README.md").
std::string TestData(std::string_view path);
// A path below the build folder, e.g. BuildPath("/bin/ir-opt").
std::string BuildPath(std::string_view path);

}  // namespace weft::fixtures
