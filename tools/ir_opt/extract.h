// ir-opt --extract FROM..TO: the part of a model between values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::tools {

// Names of values, or %N as the text of the model numbers them.
struct ExtractRange {
  std::vector<std::string> from;  // empty: the inputs that `to` needs
  std::vector<std::string> to;    // empty: the outputs
};

// "a,b..c": InvalidArgument when there is no such range in it.
absl::StatusOr<ExtractRange> ParseExtractRange(const std::string& text);

// A program whose inputs are `from`, in this order, whether anything reads them or not, and whose
// outputs are `to`. Constants go with it, and so do inputs that may be left out. InvalidArgument, which
// names it, when a value is unknown, given twice or inside of a region, or when `to` needs an input of
// the program that is not in `from`.
absl::StatusOr<std::unique_ptr<ir::Program>> ExtractBetween(const ExtractRange& range,
                                                            ir::Program& program);

}  // namespace weft::tools
