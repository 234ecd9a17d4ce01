#include "ir/analysis/widen_floats.h"

#include <algorithm>
#include <array>

#include "ir/analysis/convert_floats.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/control.h"
#include "ir/walk.h"

namespace weft::ir {
namespace {

template <class... O>
bool IsAnyOf(Operation op) {
  return (op.Is<O>() || ...);
}

// Ops whose results are elements of their operands, or no numbers at all.
bool MovesElements(Operation op) {
  return op.HasTrait(kView) || op.HasTrait(kReadsShapesOnly) ||
         IsAnyOf<ops::Transpose, ops::Concat, ops::Split, ops::Slice, ops::Gather, ops::Expand,
                 ops::Tile, ops::Pad, ops::ScatterND, ops::GatherElements, ops::GatherND,
                 ops::ScatterElements, ops::TensorScatter, ops::OneHot, ops::Trilu,
                 ops::ReverseSequence, ops::DepthToSpace, ops::SpaceToDepth, ops::CenterCropPad,
                 ops::Compress>(op);
}

// Which numbers are equal depends on their digits.
bool ComparesNumbers(Operation op) {
  return IsAnyOf<ops::Equal, ops::Less, ops::LessOrEqual, ops::Greater, ops::GreaterOrEqual>(op);
}

bool Quantizes(Operation op) {
  return IsAnyOf<ops::QuantizeLinear, ops::DequantizeLinear, ops::DynamicQuantizeLinear,
                 ops::QLinearConv, ops::QLinearMatMul, microsoft::QLinearAdd, microsoft::QLinearMul,
                 microsoft::QGemm, microsoft::MatMulIntegerToFloat,
                 microsoft::DynamicQuantizeMatMul, microsoft::QLinearGlobalAveragePool,
                 microsoft::QLinearConcat>(op);
}

bool ShowsItsType(Operation op) {
  if (Quantizes(op) || IsAnyOf<ops::Cast, ops::CastLike, ops::BitCast, ops::IsInf, ops::IsNaN,
                               ops::NonZero, ops::Unique>(op))
    return true;
  const auto& fields = op.def()->fields;
  return std::any_of(fields.begin(), fields.end(),
                     [](const FieldDef& field) { return field.kind == AttrKind::kDataType; });
}

bool IsNarrow(Value value) {
  if (!value || !value.type().IsTensor()) return false;
  const DataType dtype = value.type().dtype();
  return dtype == DataType::kF16 || dtype == DataType::kBF16;
}

FloatChoice Choose(Operation op);

// A loop whose body computes with narrow floats. It carries them wide: they would be cast back and
// forth in every iteration.
bool IsLoopThatComputes(Operation op) {
  if (!IsAnyOf<ops::Loop, ops::Scan>(op)) return false;
  bool computes = false;
  Walk(op.region(0), [&](Operation inner) {
    if (computes || inner.num_regions() > 0 || Choose(inner) != FloatChoice::kConvert) return;
    const std::vector<Value> operands = inner.operands().vec();
    computes = std::any_of(operands.begin(), operands.end(), IsNarrow);
  });
  return computes;
}

FloatChoice Choose(Operation op) {
  constexpr std::string_view kDialects[] = {"onnx.", "com.microsoft.", "fused."};
  if (std::none_of(std::begin(kDialects), std::end(kDialects),
                   [&](std::string_view dialect) { return op.name().starts_with(dialect); }))
    return FloatChoice::kKeep;
  if (op.num_regions() > 0)
    return IsLoopThatComputes(op) ? FloatChoice::kConvert : FloatChoice::kKeep;
  if (ShowsItsType(op)) return FloatChoice::kKeep;
  if (MovesElements(op)) return FloatChoice::kFollow;
  return op.HasTrait(kRandom) ? FloatChoice::kKeep : FloatChoice::kConvert;
}

DataType Widened(DataType type) {
  return type == DataType::kF16 || type == DataType::kBF16 ? DataType::kF32 : type;
}

}  // namespace

size_t WidenFloats(Program& program) {
  return ConvertFloats(program,
                       {.target = &Widened, .choose = &Choose, .rounds = &ComparesNumbers});
}

}  // namespace weft::ir
