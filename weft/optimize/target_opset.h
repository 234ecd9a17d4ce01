// What follows for rules from the opset of the ONNX model that will be written.
#pragma once

#include <cstdint>
#include <string>

#include "drr/rule/rule.h"

namespace weft {

// Why the result of a rule cannot be written in opset `target`; "" when it can. Operators that the
// rule's source has too are no reason.
std::string WhyNotInOpset(const drr::Rule& rule, int64_t target);

}  // namespace weft
