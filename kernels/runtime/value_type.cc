#include "kernels/runtime/value_type.h"

#include <string>

#include "ir/infer.h"
#include "kernels/shape_math.h"

namespace weft::kernels {
namespace {

bool NothingKnown(ir::Type type) {
  return !type || (type.IsTensor() && !type.HasRank() && type.dtype() == ir::DataType::kNull);
}

// More than any machine has; keeps sums of sizes from overflowing.
constexpr size_t kMaxTensorBytes = size_t{1} << 40;

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

std::string WhyNoTensors(ir::Type type) {
  if (type.rank() > static_cast<size_t>(kMaxRank))
    return "more than " + std::to_string(kMaxRank) + " dimensions";
  size_t bytes = ir::ElementSize(type.dtype());
  if (bytes == 0) return "elements of type " + std::string(ir::DataTypeName(type.dtype()));
  for (const int64_t dim : type.dims()) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes) || bytes > kMaxTensorBytes)
      return "more than " + std::to_string(kMaxTensorBytes >> 30) + " GiB";
  }
  return "";
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
