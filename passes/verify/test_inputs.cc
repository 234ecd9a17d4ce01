#include "passes/verify/test_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/base/contains.h"
#include "ir/builder.h"
#include "ir/walk.h"

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

double Nearby(std::span<const double> numbers, std::mt19937_64& random) {
  const double number = numbers[random() % numbers.size()];
  const double near[] = {number, number - 1, number + 1, -number, 2 * number, 10 * number};
  return near[random() % std::size(near)];
}

double RealNumber(InputKind kind, SpecialNumbers& special, std::span<const double> numbers,
                  std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return static_cast<double>(random() % n); };
  switch (kind) {
    case InputKind::kNearby:
      return static_cast<float>(Nearby(numbers, random));
    case InputKind::kPositive:
      return (1 + below(16)) / 4;
    case InputKind::kReal:
      return static_cast<float>(std::ldexp(below(uint64_t{1} << 40), -38) - 2);
    case InputKind::kSpecial:
      if (random() % 2 == 0) return special.Next();
      [[fallthrough]];
    default:
      return below(7) - 3;
  }
}

// Integers that f16, f32 and f64 round, and any of up to 53 bits.
double ManyDigits(bool is_signed, std::mt19937_64& random) {
  constexpr int kDigits[] = {11, 24, 53};
  const double number = random() % 2 == 0
                            ? std::ldexp(1, kDigits[random() % std::size(kDigits)]) + 1
                            : static_cast<double>(random() >> (11 + random() % 53));
  return is_signed && random() % 2 == 0 ? -number : number;
}

// Of integers and bool.
double WholeNumber(DataType dtype, InputKind kind, std::span<const double> numbers,
                   std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return static_cast<double>(random() % n); };
  if (dtype == DataType::kBool) return below(2);
  const bool is_signed = !IsUnsigned(dtype);
  const size_t bits = 8 * ir::ElementSize(dtype);
  const double most = std::ldexp(1, static_cast<int>(bits) - is_signed) - (bits < 64 ? 1 : 2048);
  switch (kind) {
    case InputKind::kNearby:
      return Nearby(numbers, random);
    case InputKind::kPositive:
      return 1 + below(3);
    case InputKind::kReal:
      return below(3);
    case InputKind::kSpecial:
      if (random() % 2 == 0) return random() % 2 == 0 ? most : is_signed ? -most - 1 : 0;
      if (random() % 2 == 0) return ManyDigits(is_signed, random);
      [[fallthrough]];
    default:
      return is_signed ? below(7) - 3 : below(7);
  }
}

}  // namespace

std::string_view InputKindName(InputKind kind) {
  constexpr std::string_view kNames[] = {"small integers", "positive numbers", "real numbers",
                                         "special values", "numbers near its own"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<InputKind> InputKindsFor(drr::NumericClass numerics, std::span<const ir::Type> types,
                                     std::span<const double> numbers) {
  using drr::NumericClass;
  std::vector<InputKind> kinds = {InputKind::kLattice, InputKind::kPositive, InputKind::kReal};
  const bool has_floats = std::any_of(types.begin(), types.end(),
                                      [](ir::Type type) { return ir::IsFloat(type.dtype()); });
  if (numerics == NumericClass::kExact ||
      (!has_floats && numerics != NumericClass::kChangesMeaning))
    kinds.push_back(InputKind::kSpecial);
  if (!numbers.empty()) kinds.push_back(InputKind::kNearby);
  return kinds;
}

std::vector<ir::Attribute> MakeInputs(std::span<const ir::Type> types, InputKind kind,
                                      uint64_t seed, std::span<const double> numbers) {
  std::vector<ir::Attribute> inputs;
  std::mt19937_64 random(seed * 4 + static_cast<uint64_t>(kind));
  for (const ir::Type type : types) {
    std::vector<std::byte> bytes;
    SpecialNumbers special(type.dtype(), random);
    for (int64_t i = 0, n = type.NumElements(); i < n; ++i) {
      const double number = ir::IsFloat(type.dtype())
                                ? RealNumber(kind, special, numbers, random)
                                : WholeNumber(type.dtype(), kind, numbers, random);
      std::vector<std::byte> element = ir::ElementBytes(type.dtype(), number);
      // 2^53 + 1, which no double is.
      if (number == 0x1p53 && !ir::IsFloat(type.dtype()) && element.size() == 8)
        element[0] |= std::byte{1};
      bytes.insert(bytes.end(), element.begin(), element.end());
    }
    inputs.push_back(type.context()->DenseAttr(type, bytes));
  }
  return inputs;
}

std::vector<double> NumbersToApproach(ir::Program& program, std::span<const ir::Type> types) {
  constexpr int64_t kMostElements = 16;
  std::vector<double> numbers;
  const auto add = [&](double number) {
    const double size = std::abs(number);
    if (size >= 3 && size <= 64 && !ir::Contains(numbers, number)) numbers.push_back(number);
  };
  ir::Walk(program, [&](ir::Operation op) {
    for (const ir::NamedAttribute& a : op.attrs()) {
      if (a.value.Is(ir::AttrKind::kFloat) || a.value.Is(ir::AttrKind::kDouble))
        add(a.value.AsDouble());
      if (!a.value.Is(ir::AttrKind::kDense) || !a.value.dense_type().IsStatic()) continue;
      const ir::Type type = a.value.dense_type();
      const bool concerns = std::any_of(types.begin(), types.end(), [&](ir::Type input) {
        return input.dtype() == type.dtype();
      });
      // Those of one byte, zero points for one, are near all inputs.
      if (!concerns || type.NumElements() > kMostElements || ir::ElementSize(type.dtype()) == 1)
        continue;
      for (int64_t i = 0; i < type.NumElements(); ++i) add(ir::DenseElement(a.value, i));
    }
  });
  return numbers;
}

}  // namespace weft::passes
