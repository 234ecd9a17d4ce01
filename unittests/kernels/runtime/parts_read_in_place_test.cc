// What is split off or sliced out is read where it lies, by those who can; the results are those of a session that
// copies.
#include <gtest/gtest.h>

#include "unittests/kernels/runtime/parts_fixture.h"

namespace weft::kernels {
namespace {

using ir::Shape;
using ir::Value;

class PartsReadInPlace : public PartsFixture {
 protected:
  std::vector<Value> Split(Value x, const ir::Ints& sizes, int64_t axis) {
    const ir::Operation split = builder.Create<ops::Split>(
        {x, builder.ConstantInts(sizes)}, {.axis = axis}, static_cast<int>(sizes.size()));
    std::vector<Value> parts;
    for (uint32_t i = 0; i < split.num_results(); ++i) parts.push_back(split.result(i));
    return parts;
  }
  Value Slice(Value x, int64_t axis, int64_t start, int64_t end, int64_t step = 1) {
    return builder.Make<ops::Slice>({x, builder.ConstantInts({start}), builder.ConstantInts({end}),
                                     builder.ConstantInts({axis}), builder.ConstantInts({step})});
  }
  Value Reshape(Value x, const ir::Ints& dims) {
    return builder.Make<ops::Reshape>({x, builder.ConstantInts(dims)});
  }
  Value MatMul(Value a, Value b) { return builder.Make<ops::MatMul>({a, b}); }
  Value Linear(Value x, int64_t depth, int64_t columns, uint32_t seed) {
    return builder.Make<ir::fused::Linear>({x, Weights({depth, columns}, seed)});
  }

  // The number of results of Splits and Slices that lie in their operand.
  size_t Count(const std::vector<Value>& outputs, const std::vector<Shape>& inputs,
               std::string_view pass = "") {
    const Plan* const plan = Run(outputs, inputs, pass);
    if (plan == nullptr) return 0;
    size_t count = 0;
    for (const Step& step : plan->steps()) {
      if (step.op != "onnx.Split" && step.op != "onnx.Slice") continue;
      for (size_t i = 0; i < step.outputs.size(); ++i) {
        const auto placement = step.kernel->PlacementInOperand(i);
        if (placement && step.outputs[i].values<float>().data() ==
                             step.inputs[0].values<float>().data() + placement->offset)
          ++count;
      }
    }
    return count;
  }
};

TEST_F(PartsReadInPlace, ByAllWhereTheyAreDense) {
  const Value x = Input(F({5, 7}));
  const std::vector<Value> parts = Split(Exp(x), {2, 3}, 0);
  EXPECT_EQ(Count({Exp(parts[0]), builder.Make<ops::Softmax>({parts[1]}, {.axis = 1})}, {{5, 7}}),
            2u);
}

TEST_F(PartsReadInPlace, InInputs) {
  const Value x = Input(F({1, 5, 7}));
  EXPECT_EQ(Count({Exp(Slice(x, 1, 1, 4)), Exp(Slice(x, 1, -2, 100))}, {{1, 5, 7}}), 2u);
}

TEST_F(PartsReadInPlace, InPartsOfOthers) {
  const Value x = Input(F({8, 7}));
  const std::vector<Value> outer = Split(Exp(x), {6, 2}, 0);
  const std::vector<Value> inner = Split(outer[0], {1, 5}, 0);
  EXPECT_EQ(Count({Exp(inner[0]), Exp(inner[1]), Exp(outer[1])}, {{8, 7}}), 4u);
}

TEST_F(PartsReadInPlace, NotByOutputsNorOfConstants) {
  const Value x = Input(F({5, 7}));
  const Value part = Slice(Exp(x), 0, 1, 3);
  EXPECT_EQ(
      Count({part, Exp(part), builder.Make<ops::Add>({x, Exp(Slice(Weights({6, 7}, 1), 0, 0, 5))})},
            {{5, 7}}),
      0u);
}

// The whole outlives what reads only its parts.
TEST_F(PartsReadInPlace, WhileOthersTakeMemory) {
  const Value x = Input(F({4, 8}));
  const Value whole = Exp(x);
  const std::vector<Value> parts = Split(whole, {2, 2}, 0);
  Value busy = x;
  for (int i = 0; i < 4; ++i) busy = builder.Make<ops::Softmax>({Exp(busy)}, {.axis = i % 2});
  EXPECT_EQ(Count({busy, builder.Make<ops::Mul>({Exp(parts[0]), Exp(parts[1])})}, {{4, 8}}), 2u);
}

// Which keeps the whole from them.
TEST_F(PartsReadInPlace, NotLongerThanTheWholeWhereTheyAreSmall) {
  const Value x = Input(F({8, 16}));
  const Value small = Slice(Exp(x), 0, 7, 8), large = Slice(Exp(x), 0, 4, 8);
  const Value busy = builder.Make<ops::Softmax>({builder.Make<ops::Softmax>({x})});
  EXPECT_EQ(Count({builder.Make<ops::Add>({busy, small}), Exp(large)}, {{8, 16}}), 1u);
}

// Nobody writes over the whole while a part is read, be it in the same step.
TEST_F(PartsReadInPlace, WhereTheWholeCannotBeWrittenOver) {
  const Value x = Input(F({3, 8}));
  const Value whole = Exp(x);
  const Value row = Slice(whole, 0, 1, 2);
  EXPECT_EQ(Count({Exp(builder.Make<ops::Add>({whole, row}))}, {{3, 8}}), 1u);
}

TEST_F(PartsReadInPlace, AsRowsOfAProduct) {
  const Value x = Input(F({3, 4, 72}));
  const std::vector<Value> parts = Split(Exp(x), {17, 40, 15}, 2);
  EXPECT_EQ(Count({Linear(parts[0], 17, 5, 1), MatMul(parts[1], Weights({40, 40}, 2)),
                   Linear(parts[2], 15, 3, 3)},  // shorter than a cache line
                  {{3, 4, 72}}),
            2u);
}

// Of which all must be able to, under whatever shape they see it.
TEST_F(PartsReadInPlace, ByAllOrNone) {
  const Value x = Input(F({6, 48}));
  const std::vector<Value> parts = Split(Exp(x), {16, 32}, 1);
  const Value halves = Reshape(parts[1], {12, 16});
  EXPECT_EQ(Count({Linear(parts[0], 16, 5, 1), Exp(parts[0]), Linear(parts[1], 32, 5, 2),
                   Linear(halves, 16, 5, 3)},
                  {{6, 48}}),
            0u);
}

TEST_F(PartsReadInPlace, NotElementsApart) {
  const Value x = Input(F({6, 24}));
  EXPECT_EQ(
      Count({Linear(Slice(x, 1, 0, 24, 2), 12, 5, 1), Linear(Slice(x, 1, 23, 11, -1), 12, 5, 2)},
            {{6, 24}}),
      0u);
}

TEST_F(PartsReadInPlace, EveryOtherRow) {
  const Value x = Input(F({7, 16}));
  EXPECT_EQ(Count({Linear(Slice(x, 0, 0, 7, 2), 16, 5, 1), Linear(Slice(x, 0, 1, 6, 3), 16, 5, 2)},
                  {{7, 16}}),
            2u);
}

// Of many rows and of few; B is read as it lies, packed, or transposed.
TEST_F(PartsReadInPlace, AsOperandsOfBatchedProducts) {
  std::vector<Value> outputs;
  std::vector<Shape> shapes;
  const auto input = [&](const Shape& shape) {
    shapes.push_back(shape);
    return Input(F(shape));
  };
  const Value rows = Slice(input({2, 4, 9, 16}), 2, 2, 8);
  const std::vector<Value> columns = Split(input({2, 1, 16, 48}), {32, 16}, 3);
  for (const int64_t m : {1, 3, 70}) {
    const std::vector<Value> q = Split(input({2, 4, m, 48}), {16, 32}, 3);
    outputs.push_back(builder.Make<ir::fused::BatchMatMul>({q[0], rows}, {.perm_b = {0, 1, 3, 2}}));
    outputs.push_back(MatMul(q[0], columns[0]));
    outputs.push_back(MatMul(q[1], input({32, 5})));
    outputs.push_back(MatMul(q[0], columns[1]));
    // Heads among the columns of a wider matrix.
    const std::vector<Value> packed = Split(input({2, m, 80}), {64, 16}, 2);
    outputs.push_back(
        builder.Make<ir::fused::BatchMatMul>({Reshape(packed[0], {2, m, 4, 16}), rows},
                                             {.perm_a = {0, 2, 1, 3}, .perm_b = {0, 1, 3, 2}}));
    outputs.push_back(Linear(packed[1], 16, 3, 1));
  }
  EXPECT_EQ(Count(outputs, shapes), 3 + 3 * 4u);
}

// As vectors would be read across cache lines.
TEST_F(PartsReadInPlace, NotRowsOfDotProductsAtOddDistances) {
  const Value x = Input(F({2, 3, 17})), keys = Input(F({2, 9, 16}));
  EXPECT_EQ(Count({builder.Make<ir::fused::BatchMatMul>({Slice(x, 2, 0, 16), keys},
                                                        {.perm_b = {0, 2, 1}})},
                  {{2, 3, 17}, {2, 9, 16}}),
            0u);
}

// Which would not be at equal distances as one matrix, for which B is packed.
TEST_F(PartsReadInPlace, NotRowsOfSeveralMatrices) {
  const Value x = Input(F({2, 9, 8})), b = Input(F({1, 8, 16}));
  EXPECT_EQ(Count({MatMul(Slice(x, 1, 2, 8), b)}, {{2, 9, 8}, {1, 8, 16}}), 0u);
}

TEST_F(PartsReadInPlace, AsHeadsOfAttention) {
  const Value x = Input(F({2, 5, 3 * 4 * 16}));
  const std::vector<Value> parts = Split(Exp(x), {64, 64, 64}, 2);
  std::vector<Value> heads;
  for (const Value part : parts) heads.push_back(Reshape(part, {2, 5, 4, 16}));
  const Value y = builder.Make<ir::fused::Attention>(
      heads, {.scale = 0.25f, .layout = ir::fused::AttentionLayout::kBshd});
  EXPECT_EQ(Count({Exp(y)}, {{2, 5, 3 * 4 * 16}}), 3u);
}

// The last positions of a cache, of fewer heads than the queries.
TEST_F(PartsReadInPlace, AsAWindowOfACache) {
  const Value q = Input(F({2, 4, 3, 16})), k = Input(F({2, 2, 9, 16})), v = Input(F({2, 2, 9, 20}));
  const Value y = builder.Make<ir::fused::Attention>({q, Slice(k, 2, -6, 9), Slice(v, 2, -6, 9)},
                                                     {.scale = 0.25f});
  EXPECT_EQ(Count({Exp(y)}, {{2, 4, 3, 16}, {2, 2, 9, 16}, {2, 2, 9, 20}}), 2u);
}

TEST_F(PartsReadInPlace, AsLongRowsOfElementwiseFunctions) {
  const Value x = Input(F({3, 2 * 64})), y = Input(F({3, 2, 64})), z = Input(F({3, 2 * 8}));
  const std::vector<Value> halves = Split(x, {64, 64}, 1), channels = Split(y, {1, 1}, 1);
  const std::vector<Value> short_rows = Split(z, {8, 8}, 1);
  EXPECT_EQ(Count({builder.Make<ops::Mul>({halves[0], halves[1]}),
                   builder.Make<ops::Sub>({Reshape(halves[1], {3, 4, 16}), Weights({4, 16}, 1)}),
                   builder.Make<ops::Add>({channels[0], Weights({2, 3, 7, 64}, 2)}),
                   builder.Make<ops::Mul>({short_rows[0], short_rows[1]})},
                  {{3, 128}, {3, 2, 64}, {3, 16}}),
            3u + 1);  // channels[1], which nobody reads
}

TEST_F(PartsReadInPlace, AsPixelsOfConvolutions) {
  const Value x = Input(F({2, 15, 14, 3 * 32}));
  const std::vector<Value> parts = Split(Exp(x), {32, 32, 32}, 3);
  const auto conv = [&](Value of, ir::Shape kernel, int64_t group, int64_t stride) {
    return builder.Make<ir::fused::Conv2d>(
        {of, Weights(kernel, 1)},
        {.strides = {stride, stride}, .pads = {1, 1, 1, 1}, .group = group});
  };
  EXPECT_EQ(Count({conv(parts[0], {32, 32, 3, 3}, 1, 1), conv(parts[1], {6, 16, 3, 3}, 2, 2),
                   Concat({parts[1], parts[0]}, 3), conv(parts[2], {32, 1, 3, 3}, 32, 1)},
                  {{2, 15, 14, 3 * 32}}),
            2u);
}

// Of a loop over rows, made of several functions, run several times.
TEST_F(PartsReadInPlace, AsOperandsOfAGroup) {
  const Value x = Input(F({5, 2 * 96}));
  const std::vector<Value> halves = Split(Exp(x), {96, 96}, 1);
  const Value gated = builder.Make<ops::Mul>(
      {builder.Make<ops::Mul>({halves[0], builder.Make<ops::Sigmoid>({halves[0]})}), halves[1]});
  EXPECT_EQ(Count({gated}, {{5, 2 * 96}}, "fuse-elementwise"), 2u);
}

// What is put together and taken apart again.
TEST_F(PartsReadInPlace, OfWhatIsWrittenInParts) {
  const Value x = Input(F({6, 8}));
  const Value whole = Concat({Linear(x, 8, 16, 1), Linear(x, 8, 24, 2)}, 1);
  const std::vector<Value> parts = Split(whole, {20, 20}, 1);
  EXPECT_EQ(Count({Linear(parts[0], 20, 3, 3), Linear(parts[1], 20, 5, 4), Exp(whole)}, {{6, 8}}),
            2u);
}

TEST_F(PartsReadInPlace, NotOfAWholeWhoseRowsLieApart) {
  const Value x = Input(F({6, 8}));
  const Value part = Linear(x, 8, 48, 1);
  const std::vector<Value> parts = Split(part, {16, 32}, 1);
  EXPECT_EQ(Count({Exp(Concat({part, Linear(x, 8, 24, 2)}, 1)), Linear(parts[0], 16, 3, 3),
                   Linear(parts[1], 32, 3, 4)},
                  {{6, 8}}),
            2u);
}

}  // namespace
}  // namespace weft::kernels
