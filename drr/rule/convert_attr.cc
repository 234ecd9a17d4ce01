#include "drr/rule/convert_attr.h"

#include "ir/type.h"

namespace weft::drr {

using ir::AttrKind;
using ir::Floats;
using ir::Ints;

ir::Attribute ConvertAttr(ir::IrContext& c, ir::Attribute from, ir::AttrKind kind) {
  if (!from || from.kind() == kind) return from;
  const bool is_integer = from.Is(AttrKind::kInt) || from.Is(AttrKind::kBool);
  const bool is_real = from.Is(AttrKind::kDouble) || from.Is(AttrKind::kFloat);
  const double real = is_integer ? static_cast<double>(from.AsInt()) : from.AsDouble();
  switch (kind) {
    case AttrKind::kBool:
      if (is_integer && (from.AsInt() == 0 || from.AsInt() == 1)) return c.BoolAttr(from.AsInt());
      return {};
    case AttrKind::kInt:
      return is_integer ? c.IntAttr(from.AsInt()) : ir::Attribute();
    case AttrKind::kFloat:
      return is_integer || is_real ? c.FloatAttr(static_cast<float>(real)) : ir::Attribute();
    case AttrKind::kDouble:
      return is_integer || is_real ? c.DoubleAttr(real) : ir::Attribute();
    case AttrKind::kDataType: {
      ir::DataType dtype;
      if (from.Is(AttrKind::kString) && ir::ParseDataType(from.AsString(), &dtype))
        return c.DataTypeAttr(dtype);
      return {};
    }
    case AttrKind::kFloats:
      if (!from.Is(AttrKind::kInts)) return {};
      return c.FloatsAttr(Floats(from.AsInts().begin(), from.AsInts().end()));
    case AttrKind::kDense: {  // integers: a constant of rank 1
      if (!from.Is(AttrKind::kInts)) return {};
      const Ints& values = from.AsInts();
      const auto size = static_cast<int64_t>(values.size());
      return c.DenseAttrOf(c.TensorType(ir::DataType::kI64, {size}),
                           std::span<const int64_t>(values));
    }
    default:
      return {};
  }
}

}  // namespace weft::drr
