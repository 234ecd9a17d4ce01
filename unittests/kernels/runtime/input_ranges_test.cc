#include "kernels/runtime/input_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "kernels/runtime/random_inputs.h"
#include "unittests/ir/region_builder.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

namespace ops = ir::ops;

class InputRanges : public testing::Test {
 protected:
  InputRanges() { ir::LoadOnnxDialect(context); }

  ir::Value Input(ir::Shape dims, DataType dtype = DataType::kI64) {
    return b.AddInput("x" + std::to_string(count_++), context.TensorType(dtype, dims));
  }
  ir::Value Table(ir::Shape dims) { return Input(std::move(dims), DataType::kF32); }
  ir::Value I(int64_t value) { return b.ConstantInts({value}); }
  // "low..high", as expressions.
  static std::string RangeOf(ir::Value input) {
    const auto range = RangeOfInput(input);
    return range ? range->low.ToString() + ".." + range->high.ToString() : "any";
  }

  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder b{&program};
  const int64_t n = ir::SymbolicDim("N");

 private:
  int count_ = 0;
};

TEST_F(InputRanges, IndicesAreBelowTheSizeTheyIndex) {
  const ir::Value x = Input({2, 3}), y = Input({2, 2}), z = Input({5}), free = Input({4});
  b.Make<ops::Gather>({Table({100, 8}), x});
  b.Make<ops::GatherND>({Table({9, 7}), y});
  b.Make<ops::OneHot>({z, I(12),
                       b.Constant(context.DenseAttrOf<int64_t>(
                           context.TensorType(DataType::kI64, {2}), std::vector<int64_t>{0, 1}))});
  b.Make<ops::Mul>({free, I(2)});
  EXPECT_EQ(RangeOf(x), "0..99");
  EXPECT_EQ(RangeOf(y), "0..6");
  EXPECT_EQ(RangeOf(z), "0..11");
  EXPECT_EQ(RangeOf(free), "any");
}

TEST_F(InputRanges, AreFollowedThroughArithmeticAndMoves) {
  const ir::Value x = Input({6}, DataType::kI32);
  const ir::Value wide = b.Make<ops::Cast>({x}, {.to = DataType::kI64});
  const ir::Value row = b.Make<ops::Unsqueeze>({wide, I(0)});
  const ir::Value even = b.Make<ops::Mul>({row, I(2)});
  b.Make<ops::Gather>({Table({n, 8}), b.Make<ops::Add>({even, I(3)})});
  EXPECT_EQ(RangeOf(x), "-1..N//2 - 2");
  b.Make<ops::Gather>({Table({40, 8}), wide});
  EXPECT_EQ(RangeOf(x), "0..min(41, N//2) - 2");
}

TEST_F(InputRanges, OfLengthsCountsAndTrips) {
  const ir::Value lengths = Input({4}), k = Input({1}), trips = Input({});
  b.Make<ops::ReverseSequence>({Table({n, 4, 2}), lengths}, {.batch_axis = 1, .time_axis = 0});
  b.Make<ops::TopK>({Table({3, 9}), k}, {.axis = -1});
  MakeWithRegions<ops::Loop>(program, {trips, ir::Value()}, 0);
  EXPECT_EQ(RangeOf(lengths), "1..N");
  EXPECT_EQ(RangeOf(k), "1..9");
  EXPECT_EQ(RangeOf(trips), "1..4");
}

TEST_F(InputRanges, AreNumbersOnceSizesAreKnown) {
  const ImpliedRange range{0, ir::DimExpr::OfDim(n) - 1};
  const ir::DimBinding seven[] = {{n, 7}}, zero[] = {{n, 0}};
  EXPECT_EQ(range.For(seven), (ValueRange{0, 6}));
  EXPECT_EQ(range.For(zero), std::nullopt);
  EXPECT_EQ(range.For({}), std::nullopt);
}

TEST_F(InputRanges, RandomInputsKeepThem) {
  const ir::Value x = Input({1000});
  b.Return({{"y", b.Make<ops::Gather>({Table({300, 2}), x})}});
  const auto session = *Session::Create(program, {.provider = "reference"});
  const auto inputs = *RandomInputs(session->inputs(), 1);
  const std::vector<int64_t> values = ValuesOf<int64_t>(inputs[0]);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_LT(*low, 10);
  EXPECT_GE(*low, 0);
  EXPECT_GT(*high, 290);
  EXPECT_LT(*high, 300);
}

TEST(RandomTensor, KeepsTheRangeItIsGiven) {
  const Tensor small = *RandomTensor(DataType::kI8, {500}, 1, 0, ValueRange{-128, 3});
  const std::vector<int8_t> values = ValuesOf<int8_t>(small);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 3);
  EXPECT_LT(*std::min_element(values.begin(), values.end()), -100);
  const Tensor real = *RandomTensor(DataType::kF32, {500}, 1, 0, ValueRange{5, 9});
  for (const float value : ValuesOf<float>(real)) EXPECT_TRUE(value >= 5 && value <= 9) << value;
  EXPECT_TRUE(RandomTensor(DataType::kI64, {9}, 1, 0, ValueRange{INT64_MIN, INT64_MAX}).ok());
  for (const auto& [dtype, range] :
       std::vector<std::pair<DataType, ValueRange>>{{DataType::kI8, {0, 128}},
                                                    {DataType::kU16, {-1, 5}},
                                                    {DataType::kI64, {3, 2}},
                                                    {DataType::kBool, {0, 1}}})
    EXPECT_EQ(RandomTensor(dtype, {2}, 1, 0, range).status().code(),
              absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::kernels
