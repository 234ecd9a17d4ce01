#include "ir/dialects/pd/creation.h"

#include <fmt/format.h>

#include "ir/analysis/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::pd {

std::optional<Ints> IntsOf(Value value) {
  const Operation op = value ? value.DefiningOp() : Operation();
  if (!op) return std::nullopt;
  if (op.Is<Full>()) {
    const auto attrs = op.attrs_of<Full>();
    if (attrs.shape != Ints{1} && !attrs.shape.empty()) return std::nullopt;
    if (!(attrs.value >= -1e6f && attrs.value <= 1e6f)) return std::nullopt;
    return Ints{static_cast<int64_t>(attrs.value)};
  }
  return ConstantInts(value);
}

bool Full::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Full>();
  for (int64_t d : attrs.shape)
    if (d < 0) return c.Fail(fmt::format("shape has the entry {}", d));
  return SetTensor(c, 0, attrs.dtype, attrs.shape);
}

bool FullIntArray::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<FullIntArray>();
  return SetTensor(c, 0, attrs.dtype, Shape{static_cast<int64_t>(attrs.value.size())});
}

bool Fetch::Infer(InferContext& c) { return c.SetResult(0, c.operand_type(0)); }

void LoadCreationOps(IrContext& context) { AddOps<Full, FullIntArray, Feed, Fetch>(context); }

}  // namespace weft::ir::pd
