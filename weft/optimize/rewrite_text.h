// A rewrite in words.
#pragma once

#include <string>
#include <vector>

#include "passes/rewrite_trace.h"

namespace weft {

// "2 onnx.Transpose, onnx.Relu", in the order in which the names come first; "nothing".
std::string CountedNames(const std::vector<std::string>& names);
// "3 canonicalize: drop-unit-factor at onnx.Mul %y (/mul): onnx.Mul -> nothing".
std::string DescribeRewrite(const passes::TracedRewrite& rewrite);

}  // namespace weft
