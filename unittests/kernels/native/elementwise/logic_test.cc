// Functions of bools and bits, and tests of floats, against the reference: equal in every element.
#include <cmath>
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

template <class T>
Tensor RandomBits(DataType dtype, ir::Shape dims, uint64_t seed) {
  Tensor tensor = *Tensor::Create(dtype, std::move(dims));
  for (T& value : tensor.values<T>()) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<T>(seed >> 33 ^ seed << 31);
  }
  return tensor;
}
Tensor RandomBools(ir::Shape dims, uint64_t seed) {
  Tensor tensor = RandomBits<uint8_t>(DataType::kBool, std::move(dims), seed);
  for (uint8_t& value : tensor.values<uint8_t>()) value &= 1;
  return tensor;
}

struct Broadcast {
  ir::Shape a, b, result;
};
// Equal shapes, each side a scalar, an inner and an outer broadcast, both at once.
std::vector<Broadcast> Broadcasts() {
  std::vector<Broadcast> all = {{{}, {5, 70}, {5, 70}},
                                {{5, 70}, {1}, {5, 70}},
                                {{7, 1, 66}, {66}, {7, 1, 66}},
                                {{3, 1, 40}, {3, 9, 1}, {3, 9, 40}},
                                {{1, 1, 130, 129}, {8, 1, 1, 129}, {8, 1, 130, 129}}};
  for (const int64_t n : {1, 15, 33, 67}) all.push_back({{n}, {n}, {n}});
  all.push_back({{3, 40000}, {3, 40000}, {3, 40000}});  // for several threads
  return all;
}

template <class O, class Make>
void ExpectEqual(DataType dtype, const Make& make,
                 const typename O::template Attrs<ir::BuilderSlot>& attrs = {}) {
  SCOPED_TRACE(O::kInfo.name);
  for (const Broadcast& shapes : Broadcasts())
    Agreement<O>({make(shapes.a, 1), make(shapes.b, 2)}, attrs, {{dtype, shapes.result}})
        .Of("native", 0);
}

TEST(NativeLogic, AgreesWithTheReference) {
  ExpectEqual<ops::And>(DataType::kBool, &RandomBools);
  ExpectEqual<ops::Or>(DataType::kBool, &RandomBools);
  ExpectEqual<ops::Xor>(DataType::kBool, &RandomBools);
  for (const int64_t n : {1, 31, 64, 67, 100000})
    Agreement<ops::Not>({RandomBools({n}, 3)}, {}, {{DataType::kBool, {n}}}).Of("native", 0);
}

TEST(NativeLogic, TakesEveryByteButZeroForTrue) {
  const Tensor a = RandomBits<uint8_t>(DataType::kBool, {300}, 1);
  Tensor b = RandomBits<uint8_t>(DataType::kBool, {300}, 2);
  for (size_t i = 0; i < 300; i += 3) b.values<uint8_t>()[i] = 0;
  const auto copy = [](const Tensor& t) { return Bool({300}, ValuesOf<uint8_t>(t)); };
  Agreement<ops::And>({copy(a), copy(b)}, {}, {{DataType::kBool, {300}}}).Of("native", 0);
  Agreement<ops::Or>({copy(a), copy(b)}, {}, {{DataType::kBool, {300}}}).Of("native", 0);
  Agreement<ops::Xor>({copy(a), copy(b)}, {}, {{DataType::kBool, {300}}}).Of("native", 0);
  Agreement<ops::Not>({copy(b)}, {}, {{DataType::kBool, {300}}}).Of("native", 0);
}

template <class T>
void ExpectBitwise(DataType dtype) {
  SCOPED_TRACE(ir::DataTypeName(dtype));
  const auto make = [&](ir::Shape dims, uint64_t seed) {
    return RandomBits<T>(dtype, std::move(dims), seed);
  };
  ExpectEqual<ops::BitwiseAnd>(dtype, make);
  ExpectEqual<ops::BitwiseOr>(dtype, make);
  ExpectEqual<ops::BitwiseXor>(dtype, make);
  for (const int64_t n : {1, 7, 33, 100000})
    Agreement<ops::BitwiseNot>({make({n}, 3)}, {}, {{dtype, {n}}}).Of("native", 0);
  if (std::is_signed_v<T>) return;
  // By less than the width and by more.
  const auto shifts = [&](ir::Shape dims, uint64_t seed) {
    Tensor tensor = make(std::move(dims), seed);
    if (seed == 2)
      for (T& value : tensor.values<T>()) value = static_cast<T>(value % (10 * sizeof(T)));
    return tensor;
  };
  for (const auto direction : {ops::ShiftDirection::kLeft, ops::ShiftDirection::kRight}) {
    ExpectEqual<ops::BitShift>(dtype, shifts, {.direction = direction});
    ExpectEqual<ops::BitShift>(dtype, make, {.direction = direction});
  }
}

TEST(NativeBitwise, AgreesWithTheReference) {
  ExpectBitwise<uint8_t>(DataType::kU8);
  ExpectBitwise<int8_t>(DataType::kI8);
  ExpectBitwise<uint16_t>(DataType::kU16);
  ExpectBitwise<int16_t>(DataType::kI16);
  ExpectBitwise<uint32_t>(DataType::kU32);
  ExpectBitwise<int32_t>(DataType::kI32);
  ExpectBitwise<uint64_t>(DataType::kU64);
  ExpectBitwise<int64_t>(DataType::kI64);
}

// Random bits, among which every kind of number is; then what the classes end with.
template <class T>
Tensor AllKinds(DataType dtype, int64_t n, std::initializer_list<T> special) {
  Tensor tensor = RandomBits<T>(dtype, {n}, 5);
  size_t i = 0;
  for (const T value : special)
    if (i < static_cast<size_t>(n)) tensor.values<T>()[i++] = value;
  return tensor;
}
template <class T>
void ExpectClasses(DataType dtype, std::initializer_list<T> special) {
  SCOPED_TRACE(ir::DataTypeName(dtype));
  for (const int64_t n : {1, 9, 15, 67, 100001}) {
    const ResultType result = {DataType::kBool, {n}};
    Agreement<ops::IsNaN>({AllKinds<T>(dtype, n, special)}, {}, {result}).Of("native", 0);
    for (const int64_t detect : {0, 1, 2, 3})
      Agreement<ops::IsInf>({AllKinds<T>(dtype, n, special)},
                            {.detect_negative = detect & 1, .detect_positive = detect >> 1},
                            {result})
          .Of("native", 0);
  }
}

TEST(NativeFloatClasses, AgreeWithTheReference) {
  // Infinities, NaNs of the least and the most bits, the largest numbers, zeros.
  ExpectClasses<uint32_t>(DataType::kF32,
                          {0x7f800000, 0xff800000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff,
                           0x7fc00000, 0x7f7fffff, 0xff7fffff, 0, 0x80000000, 1});
  ExpectClasses<uint64_t>(DataType::kF64,
                          {0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001,
                           0xfff0000000000001, 0xffffffffffffffff, 0x7ff8000000000000,
                           0x7fefffffffffffff, 0xffefffffffffffff, 0, 0x8000000000000000});
  ExpectClasses<uint16_t>(DataType::kF16,
                          {0x7c00, 0xfc00, 0x7c01, 0xfc01, 0xffff, 0x7bff, 0xfbff, 0, 0x8000});
  ExpectClasses<uint16_t>(DataType::kBF16,
                          {0x7f80, 0xff80, 0x7f81, 0xff81, 0xffff, 0x7f7f, 0xff7f, 0, 0x8000});
}

}  // namespace
}  // namespace weft::kernels
