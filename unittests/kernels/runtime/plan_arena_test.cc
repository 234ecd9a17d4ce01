// Where a plan puts what its steps write: memory is used again, by nobody while somebody still reads it.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "unittests/kernels/run_op.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

class PlanArena : public SessionFixture {
 protected:
  // Of a program of one input of 256 floats.
  void ExpectAgreesWithReference(Session& tested) {
    const Tensor in = Random({256}, 1);
    const auto actual = tested.Run({in.view()}), expected = Load()->Run({in.view()});
    ASSERT_TRUE(actual.ok() && expected.ok());
    EXPECT_LE(RelativeDifference((*actual)[0].view(), (*expected)[0].view()), 5e-6);
  }
};

// Every address range that is written or read by a step, against every other that must hold its
// contents at that time.
void ExpectNoLiveBuffersOverlap(const Plan& plan) {
  const auto buffers = plan.arena_buffers();
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_LE(buffers[i].offset + buffers[i].lifetime.bytes, plan.arena_bytes());
    for (size_t j = 0; j < i; ++j) {
      const ArenaBuffer &a = buffers[i], &b = buffers[j];
      const bool together =
          a.lifetime.first <= b.lifetime.last && b.lifetime.first <= a.lifetime.last;
      EXPECT_FALSE(together && a.offset < b.offset + b.lifetime.bytes &&
                   b.offset < a.offset + a.lifetime.bytes)
          << "buffers " << i << " and " << j;
    }
  }
}

// A chain that could keep everything: it must need two buffers only.
TEST_F(PlanArena, ReusesTheArena) {
  ir::Value x = builder.AddInput("x", F({256}));
  for (int i = 0; i < 20; ++i) x = builder.Make<ops::Tanh>({x});
  builder.Return({{"y", x}});
  const auto session = Load();
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->arena_bytes(), 2 * 1024u);
  ExpectNoLiveBuffersOverlap(*plan);
}

// In place the same chain needs no memory but its output's; behind it, one buffer.
TEST_F(PlanArena, RunsAChainInTheMemoryOfItsOutput) {
  ir::Value x = builder.AddInput("x", F({256}));
  for (int i = 0; i < 20; ++i) x = builder.Make<ops::Tanh>({x});
  builder.Return({{"y", x}});
  const auto session = Load({.provider = "auto"});
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->arena_bytes(), 0u);
  ExpectAgreesWithReference(*session);
}

// Each value has a reader after the op that could have written over it.
TEST_F(PlanArena, KeepsWhatIsReadLater) {
  const ir::Value x = builder.AddInput("x", F({256}));
  const ir::Value a = builder.Make<ops::Tanh>({x}), b = builder.Make<ops::Sigmoid>({a}),
                  c = builder.Make<ops::Exp>({a});
  builder.Return(
      {{"y", builder.Make<ops::Concat>({builder.Make<ops::Sub>({b, c}), a, b}, {.axis = 0})}});
  const auto session = Load({.provider = "auto"});
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->arena_bytes(), 1024u);  // c; the others are parts of the output
  ExpectNoLiveBuffersOverlap(*plan);
  ExpectAgreesWithReference(*session);
}

// XNNPACK reads behind the end of its inputs, which a caller's memory must not be read at: the chain
// stays in the arena, in one buffer, up to the op that writes the output.
TEST_F(PlanArena, DoesNotPutWhatIsReadPastItsEndIntoAnOutput) {
  ir::Value x = builder.AddInput("x", F({256}));
  for (int i = 0; i < 4; ++i) x = builder.Make<ops::Sigmoid>({x});
  builder.Return({{"y", x}});
  const auto session = Load({.provider = "xnnpack"});
  const Plan* plan = PlanOf(*session, {{256}});
  EXPECT_EQ(plan->steps()[0].provider, "xnnpack");
  EXPECT_EQ(plan->arena_bytes(), 2 * 1024u);  // the input, copied, and the chain
  ExpectNoLiveBuffersOverlap(*plan);
}

// Random functions of matrices of two shapes, many made of parts of others.
class RandomGraph : public SessionFixture, public testing::WithParamInterface<int> {
 protected:
  RandomGraph()
      : weights{builder.ConstantFloats(std::vector<float>{0.25}, ir::Shape{1}),
                builder.ConstantFloats(std::vector<float>{-0.5}, ir::Shape{1, 1})},
        values{Input(F({10, 80})), Input(F({10, 80})), Input(F({80, 10}))} {}

  // Ends a program of 40 of them, of which every sixth and the last are outputs; the last is an input that has grown.
  void End() {
    for (int i = 0; i < 40; ++i) values.push_back(Next());
    std::vector<std::pair<std::string, ir::Value>> outputs;
    for (size_t i = 0; i < values.size(); i += 6)
      outputs.emplace_back("y" + std::to_string(i), values[i]);
    const auto axis = static_cast<int64_t>(random() % 2);
    const ir::Value added = values.back().type() == values[0].type() ? values.back() : values[1];
    outputs.emplace_back("grown", builder.Make<ops::Concat>({values[0], added}, {.axis = axis}));
    builder.Return(outputs);
  }

  std::mt19937 random{static_cast<uint32_t>(GetParam())};
  std::vector<ir::Value> weights, values;

 private:
  ir::Value Part(ir::Value x, int64_t axis, int64_t begin, int64_t end) {
    return builder.Make<ops::Slice>({x, builder.ConstantInts({begin}), builder.ConstantInts({end}),
                                     builder.ConstantInts({axis})});
  }

  // Parts that are read where they lie: dense, in long rows, or in rows that only products and Concat read so.
  ir::Value OfParts(ir::Value x, ir::Value y) {
    const auto axis = static_cast<int64_t>(random() % 2);
    const int64_t extent = x.type().dims()[static_cast<size_t>(axis)], cut = extent / 10 * 8;
    const ir::Value large = Part(x, axis, 0, cut), small = Part(y, axis, cut, extent);
    switch (random() % 4) {
      case 0:
        return builder.Make<ops::Concat>({large, small}, {.axis = axis});
      case 1:
        return builder.Make<ops::Concat>(
            {small, builder.Make<ops::Mul>({large, Part(y, axis, 0, cut)})}, {.axis = axis});
      case 2:
        return builder.Make<ops::Concat>({builder.Make<ops::Tanh>({small}), large}, {.axis = axis});
      default: {
        const ir::Value across =
            builder.Make<ops::Transpose>({Part(y, axis, 0, cut)}, {.perm = ir::Ints{1, 0}});
        const ir::Value square =
            builder.Make<ops::MatMul>({axis == 1 ? large : across, axis == 1 ? across : large});
        return builder.Make<ops::MatMul>(
            x.type().dims()[0] == square.type().dims()[0]
                ? std::vector{builder.Make<ops::Softmax>({square}), x}
                : std::vector{x, builder.Make<ops::Softmax>({square}, {.axis = 0})});
      }
    }
  }

  // Of random values made before; reshapes and transposes keep the element count.
  ir::Value Next() {
    const auto pick = [&] { return values[random() % values.size()]; };
    const ir::Value x = pick();
    ir::Value y = pick();
    if (y.type() != x.type()) y = x;
    switch (random() % 12) {
      case 0:
        return builder.Make<ops::Add>({x, y});
      case 1:
        return builder.Make<ops::Mul>({x, y});
      case 2:
        return builder.Make<ops::Sub>({y, x});
      case 3:
        return builder.Make<ops::Tanh>({x});
      case 4:
        return builder.Make<ops::Sigmoid>({x});
      case 5:
        return builder.Make<ops::Transpose>({x}, {.perm = ir::Ints{1, 0}});
      case 6:
        return builder.Make<ops::Reshape>(
            {x, builder.ConstantInts({x.type().dims()[1], x.type().dims()[0]})});
      case 7:
        return builder.Make<ops::Softmax>({x});
      case 8:
        return builder.Make<ops::Add>({x, weights[random() % 2]});
      default:
        return OfParts(x, y);
    }
  }
};

TEST_P(RandomGraph, AgreesWithTheReferenceAndNeverOverlapsLiveBuffers) {
  End();
  const auto oracle = Load();
  const auto inputs = RandomInputs(oracle->inputs(), 3);
  std::vector<TensorView> views;
  for (const Tensor& input : *inputs) views.push_back(input.view());
  const auto expected = oracle->Run(views);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const auto& [threads, provider] :
       {std::pair(1, "auto"), std::pair(2, "auto"), std::pair(2, "xnnpack")}) {
    const auto session = Load({.threads = threads, .provider = provider, .oversubscribe = true});
    for (int run = 0; run < 2; ++run) {  // a second run finds the first one's memory
      const auto actual = session->Run(views);
      ASSERT_TRUE(actual.ok()) << actual.status();
      for (size_t i = 0; i < actual->size(); ++i)
        EXPECT_LE(RelativeDifference((*actual)[i].view(), (*expected)[i].view()), 5e-6) << i;
    }
    ExpectNoLiveBuffersOverlap(*PlanOf(*session, {{10, 80}, {10, 80}, {80, 10}}));
  }
}

// The same bits, whoever reads the input that the output takes the place of.
TEST_P(RandomGraph, GivesTheSameWhereAnOutputLiesInAnInput) {
  End();
  const auto apart = Load({.provider = "auto"});
  const std::string& grown = apart->outputs().back().name;
  const auto together =
      Load({.provider = "auto", .bound_outputs = {{grown, apart->inputs()[0].name}}});
  const auto inputs = RandomInputs(apart->inputs(), 3);
  std::vector<TensorView> views, outputs;
  for (const Tensor& input : *inputs) views.push_back(input.view());
  const auto expected = apart->Run(views);
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::vector<Tensor> results;
  for (const Tensor& tensor : *expected) {
    results.push_back(*Tensor::Create(DataType::kF32, ir::Shape(tensor.dims())));
    outputs.push_back(results.back().view());
  }
  CopyElements(views[0], {DataType::kF32, views[0].dims, outputs.back().data});
  views[0].data = outputs.back().data;
  const absl::Status status = together->Run(views, outputs);
  ASSERT_TRUE(status.ok()) << status;
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(std::memcmp(outputs[i].data, (*expected)[i].view().data, outputs[i].NumBytes()), 0)
        << i;
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraph, testing::Range(1, 41));

}  // namespace
}  // namespace weft::kernels
