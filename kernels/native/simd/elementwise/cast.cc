#include "kernels/native/simd/elementwise/cast.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/native/simd/elementwise/rows.h"

namespace weft::kernels::simd {

using RangeFunction = void (*)(const void*, void*, int64_t, int64_t);

}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/elementwise/cast_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

template <typename T>
constexpr bool kIsShort = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
// Whether VectorCast has it.
template <typename From, typename To>
constexpr bool kIsVector = kIsShort<From> || std::is_same_v<From, Bool> ||
                           (std::is_same_v<To, Half> && !std::is_same_v<From, double>) ||
                           (std::is_same_v<To, BFloat16> && std::is_same_v<From, float>) ||
                           (std::is_floating_point_v<From> &&
                            (std::is_integral_v<To> || std::is_same_v<To, Bool>));

// double to float so that a later rounding to fewer bits gives what one rounding would have ("round
// to odd": an inexact result gets an odd last bit, hence never looks like a tie).
inline float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  if (nearest == value || value != value || std::isinf(nearest)) return nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1) return nearest;
  const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>(away ? bits - 1 : bits + 1);
}

template <typename To, typename From>
inline To Convert(From value) {
  if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<uint8_t>(value != 0)};
  } else if constexpr (std::is_same_v<To, Half>) {
    return {FloatToHalf(RoundToOdd(value))};
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return {FloatToBFloat16(RoundToOdd(static_cast<double>(value)))};
  } else {
    return static_cast<To>(value);
  }
}

template <typename From, typename To>
void CastRange(const void* x, void* y, int64_t begin, int64_t end) {
  const From* from = static_cast<const From*>(x);
  To* to = static_cast<To*>(y);
  for (int64_t i = begin; i < end; ++i) to[i] = Convert<To>(from[i]);
}

// Calls visit(T{}) with the C++ type of `type`.
template <typename Visitor>
auto Visit(ScalarType type, const Visitor& visit) {
  switch (type) {
    case ScalarType::kFloat:
      return visit(float{});
    case ScalarType::kDouble:
      return visit(double{});
    case ScalarType::kFloat16:
      return visit(Half{});
    case ScalarType::kBFloat16:
      return visit(BFloat16{});
    case ScalarType::kInt8:
      return visit(int8_t{});
    case ScalarType::kInt16:
      return visit(int16_t{});
    case ScalarType::kInt32:
      return visit(int32_t{});
    case ScalarType::kInt64:
      return visit(int64_t{});
    case ScalarType::kUint8:
      return visit(uint8_t{});
    case ScalarType::kUint16:
      return visit(uint16_t{});
    case ScalarType::kUint32:
      return visit(uint32_t{});
    case ScalarType::kUint64:
      return visit(uint64_t{});
    case ScalarType::kBool:
      break;
  }
  return visit(Bool{});
}

}  // namespace

int SizeOf(ScalarType type) {
  return Visit(type, [](auto value) { return static_cast<int>(sizeof(value)); });
}

void Cast(ScalarType from, const void* x, ScalarType to, void* y, int64_t n, ThreadPool& pool) {
  RangeFunction range = WEFT_DISPATCH(VectorCast)(from, to);
  if (range == nullptr) {
    range = Visit(from, [to](auto from_value) -> RangeFunction {
      return Visit(to, [](auto to_value) -> RangeFunction {
        using From = decltype(from_value);
        using To = decltype(to_value);
        if constexpr (kIsVector<From, To>)
          return nullptr;
        else
          return &CastRange<From, To>;
      });
    });
  }
  pool.ParallelFor(n, TileFor(n, 3), [=](int64_t begin, int64_t end) { range(x, y, begin, end); });
}

void IntegersToFloatsOnRow(const int32_t* x, int64_t x_stride, float* y, int64_t n) {
  if (x_stride == 1) {
    WEFT_DISPATCH(WidenIntegers)(x, y, n);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i * x_stride]);
  }
}

}  // namespace weft::kernels::simd
