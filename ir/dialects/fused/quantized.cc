#include "ir/dialects/fused/quantized.h"

#include <fmt/format.h>

#include "ir/dialects/onnx.h"

namespace weft::ir::fused {
namespace {

// One element, or, where `channels` is given, that many.
bool CheckOnePer(InferContext& c, size_t i, int64_t* channels) {
  const Dims dims = DimsOf(c, i);
  if (!dims || dims->empty() || *dims == Shape{1}) return true;
  if (channels == nullptr) return CheckRank(c, i, 0, 1) && CheckScalar(c, i);
  if (!CheckVector(c, i, *channels, "channels")) return false;
  if (IsStaticDim((*dims)[0])) *channels = (*dims)[0];
  return true;
}

}  // namespace

bool CheckQuantized(InferContext& c, size_t i, int64_t* channels) {
  DataType dtype;
  return CheckByte(c, i) && SameDtype(c, {i, i + 2}, &dtype) &&
         CheckDtype(c, i + 1, DataType::kF32) && CheckOnePer(c, i + 1, channels) &&
         CheckOnePer(c, i + 2, channels);
}

bool CheckQuantization(InferContext& c, size_t i) {
  return CheckDtype(c, i, DataType::kF32) && CheckOnePer(c, i, nullptr) && CheckByte(c, i + 1) &&
         CheckOnePer(c, i + 1, nullptr);
}

bool CheckClamp(InferContext& c, size_t zero_point, const Ints& clamp) {
  if (clamp.empty()) return true;
  if (clamp.size() != 2 || clamp[0] > clamp[1])
    return c.Fail(
        fmt::format("clamp is {} but must be the lowest and the highest result", IntsText(clamp)));
  const DataType dtype = DtypeOf(c, zero_point);
  const int64_t low = dtype == DataType::kU8 ? 0 : INT8_MIN;
  const int64_t high = dtype == DataType::kI8 ? INT8_MAX : UINT8_MAX;
  if (low <= clamp[0] && clamp[1] <= high) return true;
  return c.Fail(fmt::format("clamp is {} but results are {} to {}", IntsText(clamp), low, high));
}

Value Dequantized(Builder& b, std::span<const Value> operands, size_t i) {
  return b.Make<ops::DequantizeLinear>({operands[i], operands[i + 1], operands[i + 2]});
}

Value QuantizedLike(Builder& b, Value y, std::span<const Value> operands, size_t i,
                    const Ints& clamp) {
  return BuildClamp(b, b.Make<ops::QuantizeLinear>({y, operands[i], operands[i + 1]}), clamp);
}

Value BuildClamp(Builder& b, Value y, const Ints& clamp) {
  if (clamp.empty()) return y;
  const DataType dtype = y.type().dtype();
  const Type scalar = b.context()->TensorType(dtype, std::span<const int64_t>());
  const auto bound = [&](int64_t value) {
    const auto byte = static_cast<std::byte>(value);
    return b.Constant(b.context()->DenseAttr(scalar, {&byte, 1}));
  };
  return b.Make<ops::Clip>({y, bound(clamp[0]), bound(clamp[1])});
}

}  // namespace weft::ir::fused
