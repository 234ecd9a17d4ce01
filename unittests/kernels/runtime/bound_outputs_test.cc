// Outputs that lie where an input lies: what a run writes there is what a session of the same program writes
// elsewhere, whoever still reads the input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

namespace ops = ir::ops;
using ir::Value;
using testing::HasSubstr;

constexpr ir::DataType kF32 = ir::DataType::kF32;

class BoundOutputs : public SessionFixture {
 protected:
  // Ends the program and binds y<i> to x<inputs[i]>, where that is not -1. Empty, or why that cannot be.
  std::string Bind(const std::vector<Value>& results, const std::vector<int>& inputs) {
    if (const std::string why = MakeSession(results); !why.empty()) return why;
    SessionOptions options;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] >= 0)
        options.bound_outputs.push_back({"y" + std::to_string(i), "x" + std::to_string(inputs[i])});
    auto created = Session::Create(program, options);
    if (!created.ok()) return std::string(created.status().message());
    bound = *std::move(created);
    return "";
  }

  // Runs both sessions on random inputs of these shapes, the bound one over its inputs, and compares the outputs.
  // Returns the arena that the bound one takes.
  size_t Compare(const std::vector<ir::Shape>& shapes, const std::vector<int>& inputs) {
    std::vector<Tensor> tensors;
    std::vector<TensorView> views;
    std::vector<std::span<const int64_t>> dims;
    for (const ir::Shape& shape : shapes) tensors.push_back(Random(shape, tensors.size() + 1));
    for (const Tensor& tensor : tensors) views.push_back(tensor.view());
    for (const TensorView& view : views) dims.push_back(view.dims);
    const auto expected = session->Run(views);
    EXPECT_TRUE(expected.ok()) << expected.status();
    // Twice as much memory as any tensor needs, so that what is written there fits.
    constexpr size_t kFloats = 4096;
    std::vector<std::vector<float>> memory(shapes.size() + expected->size(),
                                           std::vector<float>(kFloats, -1));
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i].NumBytes() > 0)
        std::memcpy(memory[i].data(), views[i].data, views[i].NumBytes());
      views[i].data = reinterpret_cast<std::byte*>(memory[i].data());
    }
    std::vector<TensorView> outputs;
    for (size_t i = 0; i < expected->size(); ++i) {
      TensorView view = (*expected)[i].view();
      const bool is_bound = i < inputs.size() && inputs[i] >= 0;
      view.data = reinterpret_cast<std::byte*>(
          memory[is_bound ? static_cast<size_t>(inputs[i]) : shapes.size() + i].data());
      outputs.push_back(view);
    }
    const absl::Status status = bound->Run(views, outputs);
    EXPECT_TRUE(status.ok()) << status;
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(std::memcmp(outputs[i].data, (*expected)[i].view().data, outputs[i].NumBytes()), 0)
          << "output " << i;
    const auto plan = bound->PlanFor(dims);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return (*plan)->arena_bytes();
  }

  std::unique_ptr<Session> bound;
};

// No step holds the cache a second time: it grows where it is.
TEST_F(BoundOutputs, GrowByWhatIsConcatenated) {
  const Value cache = Input(F({6, 8})), row = Input(F({1, 8}));
  const Value grown = Concat({cache, Exp(row)}, 0);
  ASSERT_EQ(Bind({grown, Exp(grown)}, {0}), "");
  EXPECT_LT(Compare({{6, 8}, {1, 8}}, {0}), 6 * 8 * sizeof(float));
}

TEST_F(BoundOutputs, GrowThoughTheOldCacheIsReadLater) {
  const Value cache = Input(F({6, 8})), row = Input(F({1, 8}));
  const Value grown = Concat({cache, Exp(row)}, 0);
  ASSERT_EQ(Bind({grown, builder.Make<ops::Add>({Exp(cache), Exp(row)})}, {0}), "");
  Compare({{6, 8}, {1, 8}}, {0});
}

TEST_F(BoundOutputs, GrowFromNothingRunByRun) {
  const ir::Shape any = {ir::SymbolicDim("n"), 4};
  const Value cache = Input(F(any)), row = Input(F({1, 4}));
  ASSERT_EQ(Bind({Concat({cache, row}, 0)}, {0}), "");
  std::vector<float> memory(64, -1);
  for (int64_t n = 0; n < 10; ++n) {
    std::vector<float> added(4);
    std::iota(added.begin(), added.end(), static_cast<float>(4 * n));
    const ir::Shape before = {n, 4}, one = {1, 4}, after = {n + 1, 4};
    const auto view = [](const ir::Shape& dims, std::vector<float>& at) {
      return TensorView{kF32, dims, reinterpret_cast<std::byte*>(at.data())};
    };
    const TensorView inputs[] = {view(before, memory), view(one, added)};
    const TensorView outputs[] = {view(after, memory)};
    ASSERT_TRUE(bound->Run(inputs, outputs).ok());
    for (int64_t i = 0; i < 4 * (n + 1); ++i) EXPECT_EQ(memory[static_cast<size_t>(i)], i) << n;
  }
}

// Along an inner axis every row of the cache moves, over no memory but the cache's.
TEST_F(BoundOutputs, GrowAlongAnInnerAxis) {
  const Value cache = Input(F({3, 2, 6, 8})), rows = Input(F({3, 2, 2, 8}));
  const Value grown = Concat({cache, Exp(rows), rows}, 2);
  ASSERT_EQ(Bind({grown, builder.Make<ops::ReduceMean>({grown})}, {0}), "");
  EXPECT_LT(Compare({{3, 2, 6, 8}, {3, 2, 2, 8}}, {0}), 3 * 2 * 6 * 8 * sizeof(float));
}

// What would be computed in its place in the grown cache is computed before the old one has made room.
TEST_F(BoundOutputs, GrowAlongAnInnerAxisByProducts) {
  const Value cache = Input(F({2, 6, 16})), x = Input(F({2, 1, 8})), w = Input(F({2, 8, 16}));
  const Value grown = Concat({cache, builder.Make<ops::MatMul>({x, w})}, 1);
  ASSERT_EQ(Bind({grown}, {0}), "");
  EXPECT_LT(Compare({{2, 6, 16}, {2, 1, 8}, {2, 8, 16}}, {0}), 2 * 6 * 16 * sizeof(float));
}

TEST_F(BoundOutputs, GrowAlongAnInnerAxisFromNothing) {
  const ir::Shape any = {2, ir::SymbolicDim("n")};
  const Value cache = Input(F(any)), column = Input(F({2, 1}));
  ASSERT_EQ(Bind({Concat({cache, column}, 1)}, {0}), "");
  std::vector<float> memory(64, -1), added = {0, 100};
  for (int64_t n = 0; n < 10; ++n, ++added[0], ++added[1]) {
    const ir::Shape before = {2, n}, one = {2, 1}, after = {2, n + 1};
    const auto view = [](const ir::Shape& dims, std::vector<float>& at) {
      return TensorView{kF32, dims, reinterpret_cast<std::byte*>(at.data())};
    };
    const TensorView inputs[] = {view(before, memory), view(one, added)};
    const TensorView outputs[] = {view(after, memory)};
    ASSERT_TRUE(bound->Run(inputs, outputs).ok());
    for (int64_t i = 0; i <= n; ++i) {
      EXPECT_EQ(memory[static_cast<size_t>(i)], i) << n;
      EXPECT_EQ(memory[static_cast<size_t>(n + 1 + i)], 100 + i) << n;
    }
  }
}

TEST_F(BoundOutputs, AreCopiedWhereTheCacheMovesButIsReadLater) {
  const Value cache = Input(F({3, 6})), part = Input(F({3, 1}));
  ASSERT_EQ(Bind({Concat({cache, part}, 1), Exp(cache)}, {0}), "");
  Compare({{3, 6}, {3, 1}}, {0});
}

TEST_F(BoundOutputs, AreCopiedWhereTheCacheMovesAndAPartOfItIsAdded) {
  const Value cache = Input(F({3, 6, 16}));
  const Value last = builder.Make<ops::Slice>(
      {cache, builder.ConstantInts({4}), builder.ConstantInts({6}), builder.ConstantInts({1})});
  ASSERT_EQ(Bind({Concat({cache, last}, 1)}, {0}), "");
  Compare({{3, 6, 16}}, {0});
}

// A part of the cache that is read where it lies is still the old one.
TEST_F(BoundOutputs, AreCopiedWhereAPartOfTheOldOnesIsReadLater) {
  const Value cache = Input(F({6, 4})), rows = Input(F({6, 4}));
  const Value first = builder.Make<ops::Slice>(
      {cache, builder.ConstantInts({0}), builder.ConstantInts({2}), builder.ConstantInts({0})});
  const Value sum = builder.Make<ops::Add>({cache, rows});
  ASSERT_EQ(Bind({sum, builder.Make<ops::Mul>({builder.Make<ops::ReduceMean>({sum}), first})}, {0}),
            "");
  Compare({{6, 4}, {6, 4}}, {0});
}

TEST_F(BoundOutputs, AreCopiedWhereTheNewRowsComeFirst) {
  const Value cache = Input(F({6, 3})), part = Input(F({1, 3}));
  ASSERT_EQ(Bind({Concat({part, cache}, 0), Exp(cache)}, {0}), "");
  Compare({{6, 3}, {1, 3}}, {0});
}

TEST_F(BoundOutputs, GrowByThemselves) {
  const Value cache = Input(F({6, 3}));
  ASSERT_EQ(Bind({Concat({cache, cache}, 0)}, {0}), "");
  Compare({{6, 3}}, {0});
}

TEST_F(BoundOutputs, ChangeWhereTheyAre) {
  const Value cache = Input(F({2, 16, 4})), rows = Input(F({2, 3, 4}));
  const ir::Ints starts = {2, 13};
  const Value changed = builder.Make<ops::TensorScatter>(
      {cache, Exp(rows), builder.ConstantInts(starts)}, {.axis = 1});
  ASSERT_EQ(Bind({changed, Exp(changed)}, {0}), "");
  EXPECT_LT(Compare({{2, 16, 4}, {2, 3, 4}}, {0}), 2 * 16 * 4 * sizeof(float));
}

TEST_F(BoundOutputs, AreCopiedWhereTheOldOnesAreReadLater) {
  const Value cache = Input(F({2, 16, 4})), rows = Input(F({2, 3, 4}));
  const ir::Ints starts = {2, 13};
  const Value changed =
      builder.Make<ops::TensorScatter>({cache, rows, builder.ConstantInts(starts)}, {.axis = 1});
  ASSERT_EQ(Bind({changed, builder.Make<ops::Sub>({Exp(changed), cache})}, {0}), "");
  Compare({{2, 16, 4}, {2, 3, 4}}, {0});
}

// The result of one step over that of another, which an input still waits for.
TEST_F(BoundOutputs, AreCopiedWhereSeveralStepsWriteThere) {
  const Value x = Input(F({5, 7})), z = Input(F({5, 7}));
  const Value early = Exp(z);
  const Value late = builder.Make<ops::Neg>({builder.Make<ops::Mul>({early, x})});
  ASSERT_EQ(Bind({late, Exp(x)}, {0}), "");
  Compare({{5, 7}, {5, 7}}, {0});
}

TEST_F(BoundOutputs, MayBeElementwise) {
  const Value x = Input(F({5, 7})), z = Input(F({5, 7}));
  ASSERT_EQ(Bind({builder.Make<ops::Mul>({x, z})}, {0}), "");
  Compare({{5, 7}, {5, 7}}, {0});
}

TEST_F(BoundOutputs, MayBeTheInputItself) {
  const Value x = Input(F({5, 7}));
  ASSERT_EQ(Bind({x, Exp(x)}, {0}), "");
  Compare({{5, 7}}, {0});
}

TEST_F(BoundOutputs, MaySwapTwoInputs) {
  const Value x = Input(F({5, 7})), z = Input(F({5, 7}));
  ASSERT_EQ(Bind({z, x}, {0, 1}), "");
  Compare({{5, 7}, {5, 7}}, {0, 1});
}

TEST_F(BoundOutputs, LeaveTheInputToAnotherOutput) {
  const Value x = Input(F({5, 7})), z = Input(F({1, 7}));
  ASSERT_EQ(Bind({builder.Make<ops::Add>({x, z}), x}, {0}), "");
  Compare({{5, 7}, {1, 7}}, {0});
}

TEST_F(BoundOutputs, AreTwiceTheSameValue) {
  const Value x = Input(F({5, 7})), z = Input(F({5, 7}));
  const Value sum = builder.Make<ops::Add>({x, z});
  ASSERT_EQ(Bind({sum, sum}, {0, 1}), "");
  Compare({{5, 7}, {5, 7}}, {0, 1});
}

TEST_F(BoundOutputs, MustBeGivenTheAddressOfTheInput) {
  const Value x = Input(F({2}));
  ASSERT_EQ(Bind({Exp(x)}, {0}), "");
  const Tensor given = Random({2}, 1), other = Random({2}, 2);
  const TensorView inputs[] = {given.view()}, outputs[] = {other.view()};
  EXPECT_THAT(std::string(bound->Run(inputs, outputs).message()),
              HasSubstr("output 'y0' must be given the address of input 'x0'"));
  EXPECT_THAT(std::string(bound->Run(inputs).status().message()),
              HasSubstr("must be given the address"));
}

TEST_F(BoundOutputs, MustExistAndFit) {
  const Value x = Input(F({2})), ints = Input(Of(ir::DataType::kI64, {2}));
  ASSERT_EQ(MakeSession({Exp(x), Exp(Exp(x)), ints}), "");
  const auto why = [&](std::vector<BoundOutput> names) {
    SessionOptions options;
    options.bound_outputs = std::move(names);
    return std::string(Session::Create(program, options).status().message());
  };
  EXPECT_THAT(why({{"y7", "x0"}}), HasSubstr("no such output"));
  EXPECT_THAT(why({{"y0", "x7"}}), HasSubstr("no such input"));
  EXPECT_THAT(why({{"y0", "x0"}, {"y1", "x0"}}), HasSubstr("bound already"));
  EXPECT_THAT(why({{"y2", "x0"}}), HasSubstr("one element type"));
  EXPECT_EQ(why({{"y0", "x0"}, {"y2", "x1"}}), "");
}

}  // namespace
}  // namespace weft::kernels
