#include "ir/dialects/onnx/infer/indices.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir {

bool CheckIndices(InferContext& c, size_t i, int64_t count, std::string_view of) {
  if (!c.HasOperand(i) || !IsStaticDim(count)) return true;
  const std::optional<Ints> known = KnownInts(c, i);
  if (!known) return true;
  for (const int64_t index : *known)
    if (index < -count || index >= count)
      return c.Fail(
          fmt::format("{} {} is out of range for {} {}", OperandName(c, i), index, count, of));
  return true;
}

}  // namespace weft::ir
