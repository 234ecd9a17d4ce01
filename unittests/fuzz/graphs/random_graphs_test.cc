// Random graphs of fixed seeds; tools/dev fuzz graphs runs more of them, with sanitizers.
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <set>
#include <string>

#include "ir/analysis/verifier.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "unittests/fuzz/fuzz_util.h"
#include "unittests/fuzz/graphs/compare_graph.h"
#include "unittests/fuzz/graphs/random_graph.h"
#include "unittests/fuzz/graphs/reduce_graph.h"
#include "unittests/fuzz/graphs/symbolic_sizes.h"
#include "unittests/test_paths.h"

namespace weft::fuzz {
namespace {

const std::string kGolden = fixtures::TestData("/passes");

class RandomGraphs : public testing::Test {
 protected:
  RandomGraphs() { LoadDialects(context); }
  std::unique_ptr<ir::Program> Make(uint64_t seed) {
    return MakeRandomGraph(context, {.seed = seed, .golden_root = kGolden});
  }
  // How often graphs were compared. One of them may divide by an input that holds a zero.
  int CountCompared(std::initializer_list<uint64_t> seeds) {
    int compared = 0, failing = 0;
    for (const uint64_t seed : seeds) {
      const auto program = Make(seed);
      GraphCheck check(*program, seed);
      if (!check.why_not().empty()) {
        EXPECT_EQ(++failing, 1) << check.why_not() << ", seed " << seed;
        continue;
      }
      for (const Leg& leg : AllLegs())
        EXPECT_EQ(check.Difference(leg, &compared), "") << leg.Name() << ", seed " << seed;
    }
    return compared;
  }
  ir::IrContext context;
};

TEST_F(RandomGraphs, AreTheSameForTheSameSeed) {
  EXPECT_EQ(ir::PrintProgram(*Make(7)), ir::PrintProgram(*Make(7)));
  EXPECT_NE(ir::PrintProgram(*Make(7)), ir::PrintProgram(*Make(8)));
}

TEST_F(RandomGraphs, HoldManyOperatorsSharedValuesAndSeveralOutputs) {
  std::set<std::string> ops;
  int shared = 0, outputs = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto program = Make(seed);
    outputs += program->body().Terminator().num_operands() > 1;
    ir::Walk(*program, [&](ir::Operation op) {
      ops.insert(std::string(op.name()));
      for (const ir::Value result : op.results()) shared += result.use_count() > 1;
    });
  }
  EXPECT_GT(ops.size(), 100u);
  EXPECT_GT(shared, 100);
  EXPECT_GT(outputs, 20);
}

// Every fourth seed.
TEST_F(RandomGraphs, HoldControlFlowThatReadsValuesFromOutsideAndHoldsMoreOfIt) {
  std::map<std::string, int> holders;
  int captured = 0, nested = 0;
  for (uint64_t seed = 4; seed <= 160; seed += 4) {
    const auto program = Make(seed);
    ir::Walk(*program, [&](ir::Operation op) {
      if (op.num_regions() == 0) return;
      ++holders[std::string(op.name())];
      nested += !(op.block() == program->body());
      ir::Walk(op.region(0), [&](ir::Operation inner) {
        for (const ir::Value value : inner.operands())
          captured += value && value.ParentBlock() == op.block();
      });
    });
  }
  for (const char* name : {"onnx.If", "onnx.Loop", "onnx.Scan"})
    EXPECT_GT(holders[name], 9) << name;
  EXPECT_GT(captured, 50);
  EXPECT_GT(nested, 5);
}

TEST_F(RandomGraphs, WithControlFlowAreTheSameHoweverTheyAreRun) {
  EXPECT_GT(CountCompared({4, 8, 12, 16, 20, 24, 28, 32}), 100);
}

TEST_F(RandomGraphs, AreTheSameHoweverTheyAreRun) {
  EXPECT_GT(CountCompared({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), 150);
}

// Gelu gives -6e-9, which in f16 is -0.
TEST_F(RandomGraphs, MayBeRoundedToHalfPrecisionLessOftenByASession) {
  const auto program = *ir::ParseProgram(
      context, R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<f16>) {
 (%1) = "com.microsoft.BiasGelu" (%0, %0) {} : (tensor<f16>, tensor<f16>) -> tensor<f16>
 (%2) = "onnx.Floor" (%1) {} : (tensor<f16>) -> tensor<f16>
 () = "builtin.return" (%2) {} : (tensor<f16>) ->
})");
  GraphCheck check(*program, 1001385);  // x is -3 there
  EXPECT_EQ(check.Difference({.pipeline = "fuse", .provider = "auto"}), "");
}

TEST_F(RandomGraphs, AreTheSameWithSymbolsForSizes) {
  int symbolic = 0, compared = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const auto program = Make(seed);
    Random random(seed);
    const auto graph = WithSymbols(*program, random);
    if (!graph) continue;
    GraphCheck check(*graph->program, seed, graph->sizes);
    if (!check.why_not().empty()) continue;
    ++symbolic;
    for (const Leg& leg : AllLegs())
      EXPECT_EQ(check.Difference(leg, &compared), "") << leg.Name() << ", seed " << seed;
  }
  EXPECT_GT(symbolic, 4);
  EXPECT_GT(compared, 50);
}

TEST_F(RandomGraphs, AreReducedToWhatRegionsRead) {
  for (uint64_t seed = 4; seed <= 40; seed += 4) {
    const auto program = Make(seed);
    const auto count = [](ir::Program& p) {
      int holders = 0;
      ir::Walk(p, [&](ir::Operation op) { holders += op.num_regions() > 0; });
      return holders;
    };
    if (count(*program) == 0) continue;
    const auto smallest = ReduceGraph(*program, [&](ir::Program& p) { return count(p) > 0; });
    EXPECT_TRUE(ir::Verify(*smallest).ok()) << ir::PrintProgram(*smallest);
    EXPECT_GT(count(*smallest), 0);
    EXPECT_LT(smallest->body().num_ops(), program->body().num_ops());
  }
}

// A constant that is a little off, another function, a -0 that is lost.
TEST_F(RandomGraphs, AreComparedSoThatAWrongRewriteIsFound) {
  const auto parse = [&](const std::string& op) {
    return *ir::ParseProgram(
        context,
        R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<400xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.5]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<f32>, [1.5001]>} : () -> tensor<f32>
 (%3) = "builtin.constant" () {value:dense<tensor<f32>, [0.0]>} : () -> tensor<f32>
 (%4) = )" + op +
            R"( -> tensor<400xf32>
 () = "builtin.return" (%4) {} : (tensor<400xf32>) -> 
}
)");
  };
  const Leg exact{"none", drr::NumericClass::kExact, "reference"};
  const Leg rounded{"none", drr::NumericClass::kReassociates, "auto"};
  const auto difference = [&](const std::string& before, const std::string& after, const Leg& leg) {
    const auto program = parse(before), rewritten = parse(after);
    const GraphCheck check(*program, 1);
    EXPECT_EQ(check.why_not(), "");
    EXPECT_EQ(check.DifferenceOf(*program, leg), "");
    return check.DifferenceOf(*rewritten, leg);
  };
  const std::string neg = R"("onnx.Neg" (%0) {} : (tensor<400xf32>))";
  const std::string relu = R"("onnx.Relu" (%0) {} : (tensor<400xf32>))";
  const std::string scaled = R"("onnx.Mul" (%0, %1) {} : (tensor<400xf32>, tensor<f32>))";
  const std::string off = R"("onnx.Mul" (%0, %2) {} : (tensor<400xf32>, tensor<f32>))";
  const std::string same = R"("onnx.Identity" (%0) {} : (tensor<400xf32>))";
  const std::string plus_zero = R"("onnx.Add" (%0, %3) {} : (tensor<400xf32>, tensor<f32>))";
  EXPECT_NE(difference(relu, neg, exact), "");
  EXPECT_NE(difference(relu, neg, rounded), "");
  EXPECT_NE(difference(scaled, off, rounded), "");
  EXPECT_NE(difference(same, plus_zero, exact), "");
  EXPECT_EQ(difference(same, plus_zero, rounded), "");
}

// tan(1.5707) is 10381, with the next number of f32 13 more.
TEST_F(RandomGraphs, MayDifferByTheRoundingOfWhatIsComputedOfConstants) {
  const auto parse = [&](const std::string& contents) {
    return *ir::ParseProgram(
        context,
        R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<2xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<2xf32>, [)" +
            contents + R"(]>} : () -> tensor<2xf32>
 (%2) = "onnx.Tan" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%3) = "onnx.Neg" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<2xf32>, tensor<2xf32>) -> 
}
)");
  };
  const auto program = parse("1.5707,0.5");
  const GraphCheck check(*program, 1);
  const Leg rounded{"none", drr::NumericClass::kReassociates, "reference"};
  EXPECT_EQ(check.DifferenceOf(*parse("1.5707002,0.5"), rounded), "");
  EXPECT_NE(check.DifferenceOf(*parse("1.5709,0.5"), rounded), "");
  const Leg exact{"none", drr::NumericClass::kExact, "reference"};
  EXPECT_NE(check.DifferenceOf(*parse("1.5707002,0.5"), exact), "");
}

TEST_F(RandomGraphs, MayDifferByWhatIsRoundedInBetween) {
  const auto parse = [&](const std::string& op) {
    return *ir::ParseProgram(
        context,
        R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<1xf32>) {
 (%1) = ")" +
            op + R"(" (%0) {} : (tensor<1xf32>) -> tensor<1xf32>
 () = "builtin.return" (%1) {} : (tensor<1xf32>) ->
})");
  };
  const Leg rounded{"none", drr::NumericClass::kReassociates, "reference"};
  // 1 + erf(x / sqrt(2)) of an x of -4 has lost the half of its digits, and com.microsoft.Gelu keeps them.
  const auto fused = parse("fused.gelu"), microsoft = parse("com.microsoft.Gelu");
  int found = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const GraphCheck check(*fused, seed);
    EXPECT_EQ(check.DifferenceOf(*microsoft, rounded), "") << seed;
    EXPECT_EQ(GraphCheck(*microsoft, seed).DifferenceOf(*fused, rounded), "") << seed;
    found += !check.DifferenceOf(*parse("com.microsoft.FastGelu"), rounded).empty();
  }
  EXPECT_GE(found, 25);  // they are as good as equal in some places
}

TEST_F(RandomGraphs, AreReducedToTheOperationsThatFail) {
  const auto count = [](ir::Program& p) {
    int unary = 0;
    ir::Walk(p, [&](ir::Operation op) { unary += op.num_operands() == 1; });
    return unary;
  };
  // Those of regions stay with the operation that holds them.
  const auto outermost = [](ir::Program& p) {
    size_t n = 0;
    for (ir::Operation op = p.body().front(); op; op = op.next()) ++n;
    return n;
  };
  size_t before = 0, after = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto program = Make(seed);
    if (count(*program) < 2) continue;
    const auto smallest = ReduceGraph(*program, [&](ir::Program& p) { return count(p) >= 2; });
    EXPECT_GE(count(*smallest), 2);
    before += outermost(*program);
    after += outermost(*smallest);
  }
  // Two of them and the end of the program, and few others, whose results no operand can stand for.
  EXPECT_GT(before, 500u);
  EXPECT_LE(after * 10, before);
}

}  // namespace
}  // namespace weft::fuzz
