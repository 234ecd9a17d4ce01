// Outputs that lie where an input lies: a cache that grows or changes in place gives what one of a session gives that
// makes a new cache each time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "weft/weft.h"

namespace weft {
namespace {

using testing::HasSubstr;

// present = past and the new rows; y = how the last row agrees with each.
constexpr const char* kGrow =
    R"(module {input_names:strings["past","row"],output_names:strings["present","y"]} (%0: tensor<"P"x4xf32>, %1: tensor<1x4xf32>) {
 (%2) = "onnx.Exp" (%1) {} : (tensor<1x4xf32>) -> tensor<1x4xf32>
 (%3) = "onnx.Concat" (%0, %2) {axis:0} : (tensor<"P"x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
 (%4) = "onnx.Transpose" (%3) {perm:array[1,0]} : (tensor<?x4xf32>) -> tensor<4x?xf32>
 (%5) = "onnx.MatMul" (%1, %4) {} : (tensor<1x4xf32>, tensor<4x?xf32>) -> tensor<1x?xf32>
 () = "builtin.return" (%3, %5) {} : (tensor<?x4xf32>, tensor<1x?xf32>) ->
}
)";

// The row at `at` of a cache of a fixed size is another.
constexpr const char* kChange =
    R"(module {input_names:strings["cache","row","at"],output_names:strings["changed"]} (%0: tensor<8x4xf32>, %1: tensor<1x4xf32>, %2: tensor<1x1xi64>) {
 (%3) = "onnx.ScatterND" (%0, %2, %1) {} : (tensor<8x4xf32>, tensor<1x1xi64>, tensor<1x4xf32>) -> tensor<8x4xf32>
 () = "builtin.return" (%3) {} : (tensor<8x4xf32>) ->
}
)";

// The places of what is not zero, whose number follows from values.
constexpr const char* kNonZero =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<1x3xi64>) {
 (%1) = "onnx.NonZero" (%0) {} : (tensor<1x3xi64>) -> tensor<2x"K"xi64>
 () = "builtin.return" (%1) {} : (tensor<2x"K"xi64>) ->
}
)";

constexpr int64_t kRows = 12;

template <class T>
T Must(absl::StatusOr<T> value) {
  EXPECT_TRUE(value.ok()) << value.status();
  return *std::move(value);
}

std::string Refusal(const absl::Status& status,
                    absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  EXPECT_EQ(status.code(), code) << status;
  std::string message(ir::Message(status));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

std::vector<float> Row(int64_t step) {
  std::vector<float> row(4);
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<float>((step * 37 + static_cast<int64_t>(i) * 11) % 29) / 29 - 0.5F;
  return row;
}

std::vector<float> ValuesOf(const Tensor& tensor) {
  const std::span<const float> values = tensor.values<float>();
  return {values.begin(), values.end()};
}

class BoundOutputsTest : public testing::Test {
 protected:
  // Grows a cache of the caller's from nothing, and one that each run of the other session makes anew; how often they,
  // or what is computed of them, differ.
  int GrowAndCompare() const {
    std::vector<float> cache(kRows * 4, -1), y(kRows);
    Tensor past(DataType::kF32, {0, 4});
    int wrong = 0;
    for (int64_t n = 0; n < kRows; ++n) {
      std::vector<float> row = Row(n);
      const absl::Status status = bound_.RunInto(
          {{"past", At(cache, n)}, {"row", {row, {1, 4}}}},
          {{"present", At(cache, n + 1)}, {"y", {DataType::kF32, y.data(), {1, n + 1}}}});
      Outputs made = Must(unbound_.Run({{"past", past}, {"row", {row, {1, 4}}}}));
      past = std::move(made.at("present"));
      const std::vector<float> present = ValuesOf(past), products = ValuesOf(made.at("y"));
      wrong += !status.ok() || !std::equal(present.begin(), present.end(), cache.begin()) ||
               !std::equal(products.begin(), products.end(), y.begin());
      wrong += std::count(cache.begin() + 4 * (n + 1), cache.end(), -1) != 4 * (kRows - n - 1);
    }
    return wrong;
  }

  // As many rows as are said of the cache.
  static TensorRef At(std::vector<float>& cache, int64_t rows) {
    return {DataType::kF32, cache.data(), {rows, 4}};
  }

  Model model_ = Must(Model::FromText(kGrow));
  Session unbound_ = Must(Session::Create(model_, {.threads = 1}));
  Session bound_ =
      Must(Session::Create(model_, {.threads = 1, .bound_outputs = {{"present", "past"}}}));
};

TEST_F(BoundOutputsTest, GrowInMemoryOfTheCaller) { EXPECT_EQ(GrowAndCompare(), 0); }

TEST_F(BoundOutputsTest, GrowForManyThreadsAtOnce) {
  std::atomic<int> wrong = 0;
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads) thread = std::thread([&] { wrong += GrowAndCompare(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(BoundOutputsTest, ChangeInMemoryOfTheCaller) {
  const Model model = Must(Model::FromText(kChange));
  const Session session =
      Must(Session::Create(model, {.threads = 1, .bound_outputs = {{"changed", "cache"}}}));
  std::vector<float> cache(8 * 4, -1), expected = cache;
  for (int64_t at : {5, 0, 7, 5}) {
    std::vector<float> row = Row(at);
    std::copy(row.begin(), row.end(), expected.begin() + 4 * at);
    const TensorRef place(DataType::kI64, &at, {1, 1});
    const NamedTensors inputs = {{"cache", At(cache, 8)}, {"row", {row, {1, 4}}}, {"at", place}};
    ASSERT_EQ(session.RunInto(inputs, {{"changed", At(cache, 8)}}), absl::OkStatus());
    EXPECT_EQ(cache, expected);
  }
}

TEST_F(BoundOutputsTest, MustExistAndBeBoundOnce) {
  const auto create = [&](std::vector<BoundOutput> bound) {
    return Refusal(Session::Create(model_, {.bound_outputs = std::move(bound)}).status());
  };
  EXPECT_THAT(create({{"presents", "past"}}),
              HasSubstr("output 'presents' cannot lie where input 'past' lies: the program has no "
                        "such output"));
  EXPECT_THAT(create({{"present", "pasta"}}), HasSubstr("the program has no such input"));
  EXPECT_THAT(create({{"present", "past"}, {"y", "past"}}), HasSubstr("is bound already"));
  EXPECT_THAT(create({{"present", "past"}, {"present", "row"}}), HasSubstr("is bound already"));
}

TEST_F(BoundOutputsTest, MustBeGivenTheAddressOfTheInput) {
  std::vector<float> cache(8, 1), other(8), y(2), row = Row(0);
  const NamedTensors inputs = {{"past", At(cache, 1)}, {"row", {row, {1, 4}}}};
  const std::string why = "output 'present' must be given the address of input 'past'";
  EXPECT_EQ(Refusal(bound_.RunInto(inputs, {{"present", At(other, 2)}, {"y", {y, {1, 2}}}})), why);
  EXPECT_THAT(Refusal(bound_.RunInto(inputs, {{"y", {y, {1, 2}}}})),
              HasSubstr("output 'present' is not given"));
  EXPECT_EQ(Refusal(bound_.Run(inputs).status()), why);
  EXPECT_EQ(
      Refusal(bound_.RunValues({{"past", At(cache, 1)}, {"row", TensorRef(row, {1, 4})}}).status()),
      why);
}

// It runs on memory of its own, in which outputs are bound as in the first.
TEST_F(BoundOutputsTest, AreThoseOfARunAtTheSameTimeToo) {
  std::vector<float> cache(8, 1), other(8), y(2), row = Row(0);
  const NamedTensors inputs = {{"past", At(cache, 1)}, {"row", {row, {1, 4}}}};
  const NamedTensors outputs = {{"present", At(cache, 2)}, {"y", {y, {1, 2}}}};
  ASSERT_EQ(bound_.RunInto(inputs, outputs), absl::OkStatus());  // now it has a plan
  absl::Status meanwhile;
  const auto run_another = [&] {
    std::thread([&] {
      meanwhile = bound_.RunInto(inputs, {{"present", At(other, 2)}, {"y", {y, {1, 2}}}});
    }).join();
    return false;
  };
  ASSERT_EQ(bound_.RunInto(inputs, outputs, {.stop = run_another}), absl::OkStatus());
  EXPECT_THAT(Refusal(meanwhile), HasSubstr("must be given the address"));
}

TEST_F(BoundOutputsTest, AreNotSupportedWhereSizesFollowFromValues) {
  const Model model = Must(Model::FromText(kNonZero));
  const Session session = Must(Session::Create(model, {.bound_outputs = {{"y", "x"}}}));
  std::vector<int64_t> x = {0, 1, 1, 0};
  const TensorRef input(DataType::kI64, x.data(), {1, 3}), output(x, {2, 2});
  EXPECT_THAT(
      Refusal(session.RunInto({{"x", input}}, {{"y", output}}), absl::StatusCode::kUnimplemented),
      HasSubstr("outputs that lie where inputs lie"));
}

}  // namespace
}  // namespace weft
