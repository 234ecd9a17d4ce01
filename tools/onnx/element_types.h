// Which element types ONNX's operators take and give, as the standard says for each opset.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program.h"

namespace weft::onnx {

// An operand or result of an operator of ai.onnx.
struct OperatorSlot {
  std::string_view op_type;
  bool is_result = false;
  uint32_t index = 0;
};

// Whether a tensor of this element type may stand there in `opset`, 13 or later. True for what the
// standard of that opset does not know: operators that came later are written as others.
bool TakesElementType(const OperatorSlot& slot, ir::DataType type, int64_t opset);

// What tensor of an op, of the default domain, has a type that `opset` does not allow, as text;
// empty when none has.
std::string WrongElementType(ir::Operation op, int64_t opset);

}  // namespace weft::onnx
