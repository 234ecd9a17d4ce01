// What the refusal of an op says of an operand, for whoever wants to make one that fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"

namespace weft::passes {

// "a is f32 but must be i8 or u8", "a is f32 but b is u8", "w has rank 3 but must have 4",
// "bias is [11] but must be [12]".
struct Complaint {
  std::string is;                    // "f32", "rank", "[11]"
  std::vector<ir::DataType> dtypes;  // that would do
  std::vector<int64_t> ranks;        // likewise, up to 5
  std::optional<ir::Shape> shape{};  // likewise, of numbers
};

// Nothing where the message does not name the operand.
std::optional<Complaint> ComplaintOf(const std::string& error, std::string_view operand);

}  // namespace weft::passes
