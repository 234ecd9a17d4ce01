// Operands as listings of pd make them.
#pragma once

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {

class PdTest : public InferTest {
 protected:
  Value Array(const Ints& value) { return b.Make<pd::FullIntArray>({}, {.value = value}); }
  Value Number(float value, DataType dtype = DataType::kF32) {
    return b.Make<pd::Full>({}, {.dtype = dtype, .shape = {1}, .value = value});
  }
  Value Classes(const Shape& dims) { return X(dims, DataType::kI64); }
};

}  // namespace weft::ir
