#include "passes/verify/test_inputs.h"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "ir/builder.h"

namespace weft::passes {
namespace {

using ir::DataType;

bool IsUnsigned(DataType dtype) {
  return dtype == DataType::kU8 || dtype == DataType::kU16 || dtype == DataType::kU32 ||
         dtype == DataType::kU64;
}

// In an order of their own for each tensor, over and over, so that few elements have many of them.
class SpecialNumbers {
 public:
  SpecialNumbers(DataType dtype, std::mt19937_64& random) {
    const double largest = dtype == DataType::kF16 ? 65504 : 3e38;
    const double least = dtype == DataType::kF16 ? 6e-8 : 1e-42;  // subnormal
    const double infinity = std::numeric_limits<double>::infinity();
    numbers_ = {std::numeric_limits<double>::quiet_NaN(),
                infinity,
                -infinity,
                0.0,
                -0.0,
                least,
                -least,
                largest,
                -largest};
    for (size_t i = numbers_.size(); i > 1; --i) std::swap(numbers_[i - 1], numbers_[random() % i]);
  }
  double Next() { return numbers_[next_++ % numbers_.size()]; }

 private:
  std::array<double, 9> numbers_;
  size_t next_ = 0;
};

double RealNumber(InputKind kind, SpecialNumbers& special, std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return static_cast<double>(random() % n); };
  switch (kind) {
    case InputKind::kPositive:
      return (1 + below(16)) / 4;
    case InputKind::kReal:
      return static_cast<float>(below(1 << 20) / (1 << 18) - 2);
    case InputKind::kSpecial:
      if (random() % 2 == 0) return special.Next();
      [[fallthrough]];
    default:
      return below(7) - 3;
  }
}

// Of integers and bool.
double WholeNumber(DataType dtype, InputKind kind, std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return static_cast<double>(random() % n); };
  if (dtype == DataType::kBool) return below(2);
  const bool is_signed = !IsUnsigned(dtype);
  const size_t bits = 8 * ir::ElementSize(dtype);
  const double most = std::ldexp(1, static_cast<int>(bits) - is_signed) - (bits < 64 ? 1 : 2048);
  switch (kind) {
    case InputKind::kPositive:
      return 1 + below(3);
    case InputKind::kReal:
      return below(3);
    case InputKind::kSpecial:
      if (random() % 2 == 0) return random() % 2 == 0 ? most : is_signed ? -most - 1 : 0;
      [[fallthrough]];
    default:
      return is_signed ? below(7) - 3 : below(7);
  }
}

}  // namespace

std::string_view InputKindName(InputKind kind) {
  constexpr std::string_view kNames[] = {"small integers", "positive numbers", "real numbers",
                                         "special values"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<ir::Attribute> MakeInputs(std::span<const ir::Type> types, InputKind kind,
                                      uint64_t seed) {
  std::vector<ir::Attribute> inputs;
  std::mt19937_64 random(seed * 4 + static_cast<uint64_t>(kind));
  for (const ir::Type type : types) {
    std::vector<std::byte> bytes;
    SpecialNumbers special(type.dtype(), random);
    for (int64_t i = 0, n = type.NumElements(); i < n; ++i) {
      const double number = ir::IsFloat(type.dtype()) ? RealNumber(kind, special, random)
                                                      : WholeNumber(type.dtype(), kind, random);
      const std::vector<std::byte> element = ir::ElementBytes(type.dtype(), number);
      bytes.insert(bytes.end(), element.begin(), element.end());
    }
    inputs.push_back(type.context()->DenseAttr(type, bytes));
  }
  return inputs;
}

}  // namespace weft::passes
