#include "kernels/runtime/value_type.h"

#include <string>

#include "ir/infer.h"

namespace weft::kernels {
namespace {

bool NothingKnown(ir::Type type) {
  return !type || (type.IsTensor() && !type.HasRank() && type.dtype() == ir::DataType::kNull);
}

}  // namespace

bool Fits(const RuntimeValue& value, ir::Type stated, ir::IrContext& context) {
  if (NothingKnown(stated)) return true;
  if (stated.IsOptional()) return !value || Fits(value, stated.element(), context);
  if (stated.IsSequence()) return value.IsSequence();
  return value.IsTensor() &&
         ir::Compatible(context.TensorType(value.view.dtype, value.view.dims), stated);
}

bool IsInPlans(ir::Type type) { return type.IsTensor() && type.dtype() != ir::DataType::kString; }

bool HoldsStrings(ir::Type type) {
  while (type && type.HasElement()) type = type.element();
  return type && type.IsTensor() && type.dtype() == ir::DataType::kString;
}

ir::Type TypeOf(const RuntimeValue& value, ir::Type stated, ir::IrContext& context) {
  if (stated && stated.HasElement()) return stated;
  if (value.IsTensor()) return context.TensorType(value.view.dtype, value.view.dims);
  const bool has_element = value.IsSequence() && !value.sequence->empty();
  const ir::DataType dtype = has_element ? value.sequence->front()->dtype() : ir::DataType::kNull;
  const ir::Type element = context.UnrankedTensorType(dtype);
  return value.IsSequence() ? context.SequenceType(element) : context.OptionalType(element);
}

std::string Describe(const RuntimeValue& value) {
  if (value.IsSequence()) return "a sequence of " + std::to_string(value.sequence->size());
  if (!value.IsTensor()) return "nothing";
  return std::string(ir::DataTypeName(value.view.dtype)) + ir::ToString(value.view.dims);
}

}  // namespace weft::kernels
