#include "passes/analysis/witness_stock.h"

#include <algorithm>

namespace weft::passes {
namespace {

using ir::Attribute;
using ir::AttrKind;
using ir::DataType;
using ir::Shape;
using ir::Value;

// Sizes differ so that a shape fits by right and not by chance.
const Shape kShapes[] = {{2, 3},       {2, 3, 4},    {4, 5},       {3, 4, 5, 6}, {1, 4, 6, 6},
                         {8, 4, 3, 3}, {4},          {8},          {5},          {},
                         {1},          {2, 1, 3},    {1, 6, 6, 4}, {1, 2, 3, 4}, {4, 1, 3, 3},
                         {2, 3, 4, 4}, {1, 1, 4, 5}, {6, 1, 1},    {4, 4},       {2, 2, 4, 3}};
const ir::Ints kIntLists[] = {{1, 0},       {0, 2, 1}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 2, 1, 3},
                              {0, 1, 3, 2}, {0, 1},    {0, 1, 2},    {0, 1, 2, 3}, {1, 0, 2},
                              {2, 0, 1},    {1, 1},    {0, 0, 0, 0}, {2, 2},       {1, 1, 1, 1},
                              {3, 3},       {-1},      {1},          {2},          {0}};
const double kNumbers[] = {
    0, 1, 2, 0.5, 3, 6, -1, 1.0 / 6, 1e-5, 4, 0.1, 0.7071067811865476, 1.4142135623730951};
const ir::Floats kFloatLists[] = {{}, {0, 6}, {-1, 1}, {0.5f}};
constexpr int64_t kInts[] = {0, 1, -1, 2, 3};
const ir::Ints kConstantInts[] = {{2, 3},    {6},       {3, 2},       {-1},        {2, 12},
                                  {0},       {1},       {4, 6},       {24},        {2, 3, 4},
                                  {2, 4, 3}, {1, 2, 3}, {1, 2, 3, 4}, {0, 0, 1, 1}};

}  // namespace

void Genes::Mutate() {
  if (genes_.empty()) return;
  for (uint64_t n = 1 + random_() % 3; n > 0; --n)
    genes_[random_() % genes_.size()] = static_cast<uint32_t>(random_());
}

// Mostly that of a value which is there already.
DataType Stock::DrawType(std::span<const Value> there) {
  std::vector<Value> tensors;
  for (Value v : there)
    if (v && v.type().IsTensor()) tensors.push_back(v);
  if (!tensors.empty() && genes_.Choose(4)) return genes_.Pick(tensors).type().dtype();
  constexpr DataType kTypes[] = {DataType::kF32, DataType::kF32, DataType::kF32, DataType::kI64,
                                 DataType::kF16, DataType::kI32, DataType::kBool};
  return genes_.Pick(kTypes);
}

// That of a value which is there already (whole, its last or its second dimension), or of the stock.
Shape Stock::DrawShape(std::span<const Value> there) {
  std::vector<Value> tensors;
  for (Value v : there)
    if (v && v.type().IsStatic()) tensors.push_back(v);
  if (tensors.empty() || genes_.Choose(2)) return genes_.Pick(kShapes);
  Shape shape = genes_.Pick(tensors).type().shape();
  switch (genes_.Choose(4)) {
    case 0:
      return {};
    case 1:
      return shape.empty() ? shape : Shape{shape.back()};
    case 2:
      return shape.size() < 2 ? shape : Shape{shape[1]};
    default:
      return shape;
  }
}

Attribute Stock::DrawConstant(std::span<const Value> there) {
  ir::IrContext& c = context_;
  if (genes_.Choose(4) == 0) {
    const ir::Ints& list = genes_.Pick(kConstantInts);
    return c.DenseAttrOf(c.TensorType(DataType::kI64, {static_cast<int64_t>(list.size())}),
                         std::span<const int64_t>(list));
  }
  const ir::Type type = c.TensorType(DataType::kF32, DrawShape(there));
  std::vector<float> values(static_cast<size_t>(type.NumElements()));
  if (genes_.Choose(2)) {
    std::fill(values.begin(), values.end(), static_cast<float>(genes_.Pick(kNumbers)));
  } else {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.25f + 0.125f * static_cast<float>(i % 13);
  }
  return c.DenseAttrOf(type, std::span<const float>(values));
}

Attribute Stock::DrawAttr(const ir::FieldDef& field, std::span<const Value> there) {
  if (field.make_default && genes_.Choose(2)) return field.make_default(context_);
  if (field.optional && genes_.Choose(2)) return {};
  if (!field.enumerators.empty())
    return context_.StringAttr(field.enumerators[genes_.Choose(field.enumerators.size())]);
  return DrawOfKind(field, there);
}

Attribute Stock::DrawOfKind(const ir::FieldDef& field, std::span<const Value> there) {
  ir::IrContext& c = context_;
  switch (field.kind) {
    case AttrKind::kBool:
      return c.BoolAttr(genes_.Choose(2) != 0);
    case AttrKind::kInt:
      return c.IntAttr(genes_.Pick(kInts));
    case AttrKind::kFloat:
      return c.FloatAttr(static_cast<float>(genes_.Pick(kNumbers)));
    case AttrKind::kDouble:
      return c.DoubleAttr(genes_.Pick(kNumbers));
    case AttrKind::kInts:
      return c.IntsAttr(genes_.Pick(kIntLists));
    case AttrKind::kFloats:
      return c.FloatsAttr(genes_.Pick(kFloatLists));
    case AttrKind::kStrings:
      return c.StringsAttr({});
    case AttrKind::kString:
      return c.StringAttr("");
    case AttrKind::kDataType:
      return c.DataTypeAttr(DrawType(there));
    case AttrKind::kDense:
      return DrawConstant(there);
    default:
      return field.make_default ? field.make_default(c) : Attribute();
  }
}

}  // namespace weft::passes
