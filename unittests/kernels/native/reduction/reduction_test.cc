// Reductions, against the reference.
#include <algorithm>
#include <limits>
#include <type_traits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// `dims` with 1 in place of those that `axes` name, all of them where there are none.
ir::Shape Reduced(ir::Shape dims, const Ints& axes) {
  if (axes.empty()) std::fill(dims.begin(), dims.end(), 1);
  for (const int64_t axis : axes) dims[ir::NormalAxis(axis, dims.size())] = 1;
  return dims;
}

template <class O>
AgreementOf Over(Tensor x, const Ints& axes) {
  const ResultType result = {x.dtype(), Reduced(x.dims(), axes)};
  return Agreement<O>({std::move(x)}, {.axes = axes}, {result});
}

// Runs test.operator()<O>() for every reduction.
template <class Test>
void ForEachReduction(const Test& test) {
  test.template operator()<ops::ReduceMean>();
  test.template operator()<ops::ReduceMax>();
  test.template operator()<ops::ReduceMin>();
  test.template operator()<ops::ReduceSum>();
  test.template operator()<ops::ReduceProd>();
  test.template operator()<ops::ReduceL1>();
  test.template operator()<ops::ReduceL2>();
  test.template operator()<ops::ReduceSumSquare>();
  test.template operator()<ops::ReduceLogSum>();
  test.template operator()<ops::ReduceLogSumExp>();
}

TEST(NativeReduce, ReducesAnyAxes) {
  const std::vector<Ints> side_by_side = {{}, {-1}, {0}, {1}, {0, 1}, {1, 2}, {3, 4}};
  const std::vector<Ints> apart = {{0, 2}, {0, 1, 3}, {0, 2, 3}, {0, 2, 4}, {4, 1, -2}};
  ForEachReduction([&]<class O>() {
    const auto test = [](const Ints& axes) {
      Over<O>(RandomIn({4, 3, 5, 2, 17}, 1, 0.5f, 1.4f), axes).Of("native", 3e-6);
      Over<O>(RandomIn({2, 1, 3, 1, 70}, 2, 0.5f, 1.4f), axes).Of("native", 3e-6);
    };
    for (const Ints& axes : side_by_side) test(axes);
    if constexpr (!std::is_same_v<O, ops::ReduceProd>)
      for (const Ints& axes : apart) test(axes);
  });
}

TEST(NativeReduce, ProductsOverflowOnlyAsAWhole) {
  std::vector<float> x(5 * 40000, 1);
  for (size_t i = 0; i < 8; ++i) x[i] = 1e30f, x[39000 + i] = 1e-30f;
  Over<ops::ReduceProd>(F32({5, 40000}, x), {1}).Of("native");
  Over<ops::ReduceProd>(F32({40000, 5}, x), {0}).Of("native");
  Over<ops::ReduceProd>(Random({3, 4, 5}, 1), {0, 2}).Of("reference");
}

TEST(NativeReduce, TakesTheAxesOfAConstant) {
  Agreement<ops::ReduceSum>({Random({4, 9, 50}, 1), Constant(I64({2}, {1, 2}))}, {},
                            {FloatResult({4, 1, 1})})
      .Of("native");
  Agreement<ops::ReduceSum>({Random({4, 9, 50}, 1), I64({2}, {1, 2})}, {}, {FloatResult({4, 1, 1})})
      .Of("reference");
  Agreement<ops::ReduceL1>({Random({4, 9}, 1)}, {.noop_with_empty_axes = 1}, {FloatResult({4, 9})})
      .Of("reference");
}

TEST(NativeReduce, DropsReducedDimensions) {
  Agreement<ops::ReduceMin>({Random({4, 9, 50}, 1)}, {.keepdims = 0}, {FloatResult({})})
      .Of("native");
  Agreement<ops::ReduceMax>({Random({4, 9, 50}, 1)}, {.axes = Ints{0, 2}, .keepdims = 0},
                            {FloatResult({9})})
      .Of("native");
}

// Few long columns, which threads share by rows.
TEST(NativeReduce, ReducesLongAxes) {
  ForEachReduction([&]<class O>() {
    const auto values = [](ir::Shape dims) { return RandomIn(dims, 1, 0.9999f, 1.0001f); };
    Over<O>(values({1, 70000}), {1}).Of("native", 1e-5);
    Over<O>(values({3, 30001, 2}), {1}).Of("native", 1e-5);
    Over<O>(values({3001, 129}), {0}).Of("native", 1e-5);
    if constexpr (!std::is_same_v<O, ops::ReduceProd>)
      Over<O>(values({301, 3, 129}), {0, 2}).Of("native", 1e-5);
  });
}

// Equal numbers, whose sums are rounded to one side again and again.
TEST(NativeReduce, KeepsWhatLongSumsLose) {
  const auto shape = [](ir::Shape dims) { return std::vector<ResultType>{FloatResult(dims)}; };
  for (const ir::Shape& dims : {ir::Shape{1000000, 2}, ir::Shape{1, 4000000}}) {
    const int64_t axis = dims[0] == 1 ? 1 : 0;
    ir::Shape result = dims;
    result[static_cast<size_t>(axis)] = 1;
    const auto tenths = [&] { return RandomIn(dims, 1, 0.1f, 0.1f); };
    Agreement<ops::ReduceMean>({tenths()}, {.axes = Ints{axis}}, shape(result)).Of("native");
    Agreement<ops::ReduceSumSquare>({tenths()}, {.axes = Ints{axis}}, shape(result)).Of("native");
  }
  std::vector<float> infinite(3 * 5000, 1);
  infinite[7] = INFINITY;
  Agreement<ops::ReduceSum>({F32({3, 5000}, infinite), Constant(I64({1}, {1}))}, {}, shape({3, 1}))
      .Of("native");
}

TEST(NativeReduce, KeepsWhatIsNotFinite) {
  ForEachReduction([&]<class O>() {
    for (const float special : {kInfinity, -kInfinity, kNaN}) {
      for (const int64_t axis : {0, 1}) {
        std::vector<float> x(40 * 37);
        for (size_t i = 0; i < x.size(); ++i) x[i] = 0.25f + static_cast<float>(i % 11);
        x[5 * 37 + 36] = special;
        Over<O>(F32({40, 37}, x), {axis}).Of("native", 1e-5);
        std::fill(x.begin(), x.end(), special);
        Over<O>(F32({40, 37}, x), {axis}).Of("native", 1e-5);
      }
    }
  });
}

// Whose squares and exponentials no float holds.
TEST(NativeReduce, NormsAndExponentialsDoNotOverflow) {
  for (const float magnitude : {3e30f, 2e-30f, 1e-42f, 0.0f}) {
    std::vector<float> x(6 * 50);
    for (size_t i = 0; i < x.size(); ++i) x[i] = magnitude * static_cast<float>(i % 7);
    for (const Ints& axes : {Ints{0}, Ints{1}, Ints{}})
      Over<ops::ReduceL2>(F32({6, 50}, x), axes).Of("native");
  }
  for (const float shift : {1000.0f, -1000.0f}) {
    for (const Ints& axes : {Ints{0}, Ints{1}, Ints{}})
      Over<ops::ReduceLogSumExp>(RandomIn({6, 50}, 1, shift - 3, shift + 3), axes).Of("native");
  }
}

// Random values of all of the range of T.
template <class T>
Tensor AllOf(DataType dtype, ir::Shape dims) {
  Tensor x = *RandomTensor(dtype, std::move(dims), 1, 0);
  uint64_t state = 1;
  for (T& value : x.values<T>()) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<T>(state >> 17);
  }
  return x;
}

template <class T, class O>
void TestIntegers(DataType dtype) {
  for (const Ints& axes : {Ints{2}, Ints{1}, Ints{0, 2}, Ints{}}) {
    Over<O>(AllOf<T>(dtype, {5, 7, 90}), axes).Of("native", 0);
    Over<O>(AllOf<T>(dtype, {2, 3001, 7}), axes).Of("native", 0);
  }
}
template <class T>
void TestIntegers(DataType dtype) {
  SCOPED_TRACE(ir::DataTypeName(dtype));
  TestIntegers<T, ops::ReduceSum>(dtype);
  TestIntegers<T, ops::ReduceMax>(dtype);
  TestIntegers<T, ops::ReduceMin>(dtype);
  TestIntegers<T, ops::ReduceProd>(dtype);
  TestIntegers<T, ops::ReduceL1>(dtype);
  TestIntegers<T, ops::ReduceSumSquare>(dtype);
  Over<ops::ReduceMean>(AllOf<T>(dtype, {5, 7}), {1}).Of("reference", 0);
}

TEST(NativeReduce, IntegersWrapAsInTheReference) {
  TestIntegers<int8_t>(DataType::kI8);
  TestIntegers<uint8_t>(DataType::kU8);
  TestIntegers<int16_t>(DataType::kI16);
  TestIntegers<uint16_t>(DataType::kU16);
  TestIntegers<int32_t>(DataType::kI32);
  TestIntegers<uint32_t>(DataType::kU32);
  TestIntegers<int64_t>(DataType::kI64);
  TestIntegers<uint64_t>(DataType::kU64);
}

TEST(NativeReduce, BoolHasExtremaAlone) {
  const auto some = [] { return *RandomTensor(DataType::kBool, {9, 70}, 1, 0); };
  Over<ops::ReduceMax>(some(), {0}).Of("native", 0);
  Over<ops::ReduceMin>(some(), {1}).Of("native", 0);
}

TEST(NativeReduce, TakesDoubles) {
  std::vector<double> x(40 * 1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.6 + 0.001 * static_cast<double>(i * 7919 % 1000);
  const auto test = [&](auto over) {
    for (const Ints& axes : {Ints{0}, Ints{1}, Ints{}}) over(F64({40, 1000}, x), axes);
  };
  test([](Tensor t, const Ints& axes) {
    Over<ops::ReduceMean>(std::move(t), axes).Of("native", 1e-14);
  });
  test([](Tensor t, const Ints& axes) {
    Over<ops::ReduceSum>(std::move(t), axes).Of("native", 1e-14);
  });
  test([](Tensor t, const Ints& axes) {
    Over<ops::ReduceL2>(std::move(t), axes).Of("native", 1e-14);
  });
  test(
      [](Tensor t, const Ints& axes) { Over<ops::ReduceMax>(std::move(t), axes).Of("native", 0); });
  x[777] = std::numeric_limits<double>::quiet_NaN();
  test(
      [](Tensor t, const Ints& axes) { Over<ops::ReduceMin>(std::move(t), axes).Of("native", 0); });
  test([](Tensor t, const Ints& axes) {
    Over<ops::ReduceLogSum>(std::move(t), axes).Of("reference", 0);
  });
}

}  // namespace
}  // namespace weft::kernels
