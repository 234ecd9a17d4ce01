#include "kernels/runtime/random_inputs.h"

#include <cmath>
#include <string>
#include <utility>

#include "ir/element/low_precision.h"
#include "kernels/float16.h"
#include "kernels/strings_result.h"

namespace weft::kernels {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): a good stream from any seed, the same on every machine,
// which the distributions of <random> are not.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // Uniform in [-1, 1), a multiple of 2^-23: exact in f32.
  float NextFloat() { return static_cast<float>(Next() >> 40) * 0x1p-23f - 1; }

 private:
  uint64_t state_;
};

template <class T, class Make>
void Fill(const Tensor& tensor, const Make& make) {
  for (T& value : tensor.values<T>()) value = static_cast<T>(make());
}

// Whether the integers of the range are elements of the type.
bool Fits(ir::DataType dtype, ValueRange range) {
  const bool is_signed = dtype == ir::DataType::kI8 || dtype == ir::DataType::kI16 ||
                         dtype == ir::DataType::kI32 || dtype == ir::DataType::kI64;
  const int bits = static_cast<int>(ir::ElementBits(dtype)) - is_signed;
  if (!is_signed && range.low < 0) return false;
  if (bits >= 63) return true;
  const int64_t largest = (int64_t{1} << bits) - 1;
  return range.low >= (is_signed ? -largest - 1 : 0) && range.high <= largest;
}

absl::Status CheckRange(ir::DataType dtype, ValueRange range) {
  const std::string text = std::to_string(range.low) + " to " + std::to_string(range.high);
  if (range.low > range.high) return ir::InvalidArgument("the range " + text + " is empty");
  if (ir::IsFloat(dtype) || (ir::IsInteger(dtype) && Fits(dtype, range))) return absl::OkStatus();
  return ir::InvalidArgument("the range " + text + " does not fit the element type " +
                             std::string(ir::DataTypeName(dtype)));
}

absl::StatusOr<Tensor> RandomWords(ir::Shape dims, SplitMix& random) {
  WEFT_ASSIGN_OR_RETURN(StringsResult words, StringsResult::Create(std::move(dims)));
  for (size_t i = 0; i < words.num_strings(); ++i) {
    std::string word(1 + random.Next() % 8, 'a');
    for (char& letter : word) letter = static_cast<char>('a' + random.Next() % 26);
    WEFT_RETURN_IF_ERROR(words.Add(std::move(word)));
  }
  return std::move(words).Finish();
}

}  // namespace

absl::StatusOr<Tensor> RandomTensor(ir::DataType dtype, ir::Shape dims, uint64_t seed,
                                    uint64_t stream, std::optional<ValueRange> range) {
  if (range) WEFT_RETURN_IF_ERROR(CheckRange(dtype, *range));
  SplitMix mix(seed);
  SplitMix random(mix.Next() ^ SplitMix(stream).Next());
  if (dtype == ir::DataType::kString) return RandomWords(std::move(dims), random);
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(dtype, std::move(dims)));
  const ValueRange bounds = range.value_or(ValueRange{0, 1});
  const uint64_t width = static_cast<uint64_t>(bounds.high) - static_cast<uint64_t>(bounds.low);
  const auto integer = [&] {
    const uint64_t next = random.Next();
    if (!range) return next >> 63;
    return static_cast<uint64_t>(bounds.low) + (width == UINT64_MAX ? next : next % (width + 1));
  };
  const auto real = [&] {
    const float value = random.NextFloat();
    if (!range) return value;
    const auto low = static_cast<float>(bounds.low), high = static_cast<float>(bounds.high);
    return low + (value + 1) / 2 * (high - low);
  };
  switch (dtype) {
    case ir::DataType::kF32:
      Fill<float>(tensor, real);
      return tensor;
    case ir::DataType::kF64:
      Fill<double>(tensor, real);
      return tensor;
    case ir::DataType::kF16:
      Fill<uint16_t>(tensor, [&] { return FloatToHalf(real()); });
      return tensor;
    case ir::DataType::kBF16:
      Fill<uint16_t>(tensor, [&] { return FloatToBFloat16(real()); });
      return tensor;
    default:
      break;
  }
  if (ir::IsLowPrecisionInteger(dtype)) {
    Fill<uint8_t>(tensor, integer);
    return tensor;
  }
  if (ir::IsLowPrecision(dtype)) {
    const bool is_scale = dtype == ir::DataType::kF8E8M0;  // which has no negative numbers
    Fill<uint8_t>(tensor, [&] {
      const float value = real();
      return ir::ToLowPrecision(dtype, is_scale ? std::fabs(value) : value);
    });
    return tensor;
  }
  if (!range && (dtype == ir::DataType::kI8 || dtype == ir::DataType::kU8)) {  // quantised
    Fill<uint8_t>(tensor, [&] { return random.Next() >> 56; });
    return tensor;
  }
  switch (dtype == ir::DataType::kBool || ir::IsInteger(dtype) ? ir::ElementSize(dtype) : 0) {
    case 1:
      Fill<uint8_t>(tensor, integer);
      return tensor;
    case 2:
      Fill<uint16_t>(tensor, integer);
      return tensor;
    case 4:
      Fill<uint32_t>(tensor, integer);
      return tensor;
    case 8:
      Fill<uint64_t>(tensor, integer);
      return tensor;
    default:
      return ir::Unsupported("no random values of type " + std::string(ir::DataTypeName(dtype)));
  }
}

absl::StatusOr<std::vector<Tensor>> RandomInputs(std::span<const TensorInfo> inputs,
                                                 uint64_t seed) {
  std::vector<Tensor> tensors;
  for (const TensorInfo& input : inputs) {
    const std::string subject = "input '" + input.name + "'";
    if (!input.type.IsStatic())
      return ir::InvalidArgument(subject + " has type " + input.type.ToString() +
                                 ", whose dimensions are not all known");
    auto tensor = RandomTensor(input.type.dtype(), input.type.shape(), seed, tensors.size(),
                               input.range ? input.range->For({}) : std::nullopt);
    if (!tensor.ok()) return ir::Annotate(tensor.status(), subject);
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

}  // namespace weft::kernels
