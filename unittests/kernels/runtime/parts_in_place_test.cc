// What is concatenated is written into the whole at once, where nothing keeps it from that; the
// results are those of a session that copies.
#include <gtest/gtest.h>

#include "unittests/kernels/runtime/parts_fixture.h"

namespace weft::kernels {
namespace {

using ir::Value;

class PartsInPlace : public PartsFixture {
 protected:
  Value Conv(Value x, int64_t channels, uint32_t seed) {
    return builder.Make<ir::fused::Conv2d>({x, Weights({channels, 3, 1, 1}, seed)});
  }

  // The number of parts that a Concat finds in place.
  size_t Count(const std::vector<Value>& outputs, const std::vector<ir::Shape>& inputs) {
    const Plan* const plan = Run(outputs, inputs);
    if (plan == nullptr) return 0;
    size_t count = 0;
    for (const Step& step : plan->steps()) {
      if (step.op != "onnx.Concat") continue;
      for (size_t i = 0; i < step.inputs.size(); ++i)
        if (step.inputs[i].values<float>().data() ==
            step.outputs[0].values<float>().data() + step.kernel->PlacementOf(i)->offset)
          ++count;
    }
    return count;
  }
};

TEST_F(PartsInPlace, WhereTheyFollowEachOther) {
  const Value x = Input(F({2, 5})), y = Input(F({3, 5}));
  EXPECT_EQ(Count({Exp(Concat({Exp(x), Exp(y)}, 0))}, {{2, 5}, {3, 5}}), 2u);
}

TEST_F(PartsInPlace, InAnOutput) {
  const Value x = Input(F({2, 5})), y = Input(F({3, 5}));
  EXPECT_EQ(Count({Concat({Exp(x), Exp(y)}, 0)}, {{2, 5}, {3, 5}}), 2u);
}

TEST_F(PartsInPlace, InAPartOfAnother) {
  const Value x = Input(F({2, 5})), y = Input(F({3, 5}));
  const Value inner = Concat({Exp(x), Exp(y)}, 0);
  EXPECT_EQ(Count({Exp(Concat({Exp(y), inner, Exp(x)}, 0))}, {{2, 5}, {3, 5}}), 5u);
}

// Behind whose end is nothing to read.
TEST_F(PartsInPlace, NotInAPartOfAnOutputWhatIsReadPastItsEnd) {
  const Value x = Input(F({4, 64})), y = Input(F({4, 64})), part = Exp(y);
  const Value whole = Concat({Exp(x), Concat({Exp(x), part}, 0)}, 0);
  ASSERT_EQ(MakeSession({whole, builder.Make<ops::Sigmoid>({part})}), "");
  session = Load({.provider = "xnnpack"});
  const Tensor in = Random({4, 64}, 1), out = *Tensor::Create(DataType::kF32, {12, 64}),
               sigmoid = *Tensor::Create(DataType::kF32, {4, 64});
  const TensorView inputs[] = {in.view(), in.view()}, outputs[] = {out.view(), sigmoid.view()};
  ASSERT_TRUE(session->Run(inputs, outputs).ok());
  for (const Step& step : PlanOf(*session, {{4, 64}, {4, 64}})->steps()) {
    if (!step.kernel->ReadsPastEnd()) continue;
    EXPECT_TRUE(step.inputs[0].data < out.view().data ||
                step.inputs[0].data >= out.view().data + out.view().NumBytes())
        << step.op;
  }
}

TEST_F(PartsInPlace, AlsoWhereOthersReadThem) {
  const Value x = Input(F({2, 5})), part = Exp(x);
  EXPECT_EQ(Count({Exp(Concat({part, Exp(part)}, 0)), Exp(part)}, {{2, 5}}), 2u);
}

TEST_F(PartsInPlace, OnceWhereOneIsThereTwice) {
  const Value x = Input(F({2, 5})), part = Exp(x);
  EXPECT_EQ(Count({Exp(Concat({part, part}, 0))}, {{2, 5}}), 1u);
}

TEST_F(PartsInPlace, NotInputsConstantsAndOutputs) {
  const Value x = Input(F({2, 5})), output = Exp(x);
  EXPECT_EQ(Count({Exp(Concat({x, Weights({1, 5}, 3), output}, 0)), output}, {{2, 5}}), 0u);
}

TEST_F(PartsInPlace, ChannelsOfConvolutions) {
  const Value x = Input(F({1, 4, 5, 3}));
  EXPECT_EQ(
      Count({Exp(Concat({Conv(x, 7, 1), Conv(x, 33, 2), Conv(x, 16, 3)}, 3))}, {{1, 4, 5, 3}}), 3u);
}

TEST_F(PartsInPlace, ColumnsOfProducts) {
  const Value x = Input(F({9, 3}));
  const auto product = [&](int64_t columns, uint32_t seed) {
    return builder.Make<ir::fused::Linear>({x, Weights({3, columns}, seed)});
  };
  EXPECT_EQ(Count({Exp(Concat({product(7, 1), Exp(x), product(40, 2)}, 1))}, {{9, 3}}), 2u);
}

// But not where they are scaled or something is added afterwards.
TEST_F(PartsInPlace, ColumnsOfBatchedProducts) {
  const Value a = Input(F({2, 3, 5, 8})), b = Input(F({2, 3, 7, 8})), c = Input(F({3, 8, 20}));
  const Value addend = Input(F({5, 7})), v = Input(F({8}));
  const auto scores = [&](std::vector<Value> operands, float scale) {
    return builder.Make<ir::fused::BatchMatMul>(operands, {.perm_b = {0, 1, 3, 2}, .scale = scale});
  };
  const Value wide = Concat(
      {scores({a, b}, 1), builder.Make<ops::MatMul>({a, c}), scores({a, b, addend}, 0.5f)}, 3);
  const Value rows = builder.Make<ops::MatMul>({v, c});
  EXPECT_EQ(Count({Exp(wide), Exp(Concat({rows, Exp(rows)}, 1))},
                  {{2, 3, 5, 8}, {2, 3, 7, 8}, {3, 8, 20}, {5, 7}, {8}}),
            2u);
}

TEST_F(PartsInPlace, NotChannelsThatOthersRead) {
  const Value x = Input(F({1, 4, 5, 3})), part = Conv(x, 7, 1);
  EXPECT_EQ(Count({Exp(Concat({part, Conv(x, 8, 2)}, 3)), Exp(part)}, {{1, 4, 5, 3}}), 1u);
}

TEST_F(PartsInPlace, NotRowsOfAnotherLength) {
  const Value x = Input(F({2, 2, 5, 3}));
  EXPECT_EQ(Count({Exp(Concat({Conv(x, 7, 1), Conv(x, 7, 2)}, 2))}, {{2, 2, 5, 3}}), 0u);
}

}  // namespace
}  // namespace weft::kernels
