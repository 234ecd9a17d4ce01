// Answers of ir-opt as JSON: tools/schemas has what is in them.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "weft/check/program_check.h"
#include "weft/optimize/explain.h"

namespace weft::tools {

std::string ExplainJson(const RuleAnswer& answer);
// `lines` is what people are told.
std::string CheckJson(const std::string& lines, const std::vector<ComparedOutput>& outputs,
                      const absl::Status& verdict);

}  // namespace weft::tools
