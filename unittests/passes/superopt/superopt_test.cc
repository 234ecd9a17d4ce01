// The search of superopt: costs, what it tells apart, its limits, and what it never does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "passes/superopt/program_hash.h"
#include "passes/superopt/search.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using ir::DataType;
using ir::Value;
using testing::HasSubstr;
namespace ops = ir::ops;

const std::string kGolden = fixtures::TestData("/passes/superopt/golden/superopt");

class Superopt : public testing::Test {
 protected:
  Superopt() { ir::LoadOnnxDialect(context_); }

  // (a @ b) @ c, better from the right; `size` is that of a and b.
  std::unique_ptr<ir::Program> Chain(int64_t size) {
    auto program = std::make_unique<ir::Program>(&context_);
    ir::Builder b(program.get());
    const Value x = Input(b, "a", {size, size}), y = Input(b, "b", {size, size});
    const Value product = b.Make<ops::MatMul>({x, y});
    b.Return({{"y", b.Make<ops::MatMul>({product, Input(b, "c", {size, 1})})}});
    return program;
  }
  // a sum of `n` inputs, which may be added in any order.
  std::unique_ptr<ir::Program> Sum(int n) {
    auto program = std::make_unique<ir::Program>(&context_);
    ir::Builder b(program.get());
    Value sum = Input(b, "x0", {4, 4});
    for (int i = 1; i < n; ++i)
      sum = b.Make<ops::Add>({sum, Input(b, "x" + std::to_string(i), {4, 4})});
    b.Return({{"y", sum}});
    return program;
  }
  Value Input(ir::Builder& b, const std::string& name, ir::Shape shape) {
    return b.AddInput(name, context_.TensorType(DataType::kF32, shape));
  }

  // Runs the pass alone; returns its report.
  PassReport Run(ir::Program& program, const SearchOptions& options,
                 drr::NumericClass numerics = drr::NumericClass::kReassociates) {
    PassManager pm(&context_);
    pm.AddPass(MakePass("superopt"));
    pm.pass_context().options.Set(options);
    pm.pass_context().fold_constants = false;
    pm.pass_context().numerics = numerics;
    EXPECT_TRUE(pm.Run(program).ok());
    return pm.reports().at(0);
  }
  static uint64_t Statistic(const PassReport& report, std::string_view name) {
    for (const auto& [what, count] : report.statistics)
      if (what == name) return count;
    return 0;
  }

  ir::IrContext context_;
};

// Every operation costs the same, or none is known.
class FlatCost : public CostModel {
 public:
  explicit FlatCost(bool known) : known_(known) {}
  std::string_view name() const override { return "flat"; }
  absl::StatusOr<double> Seconds(ir::Operation op) override {
    if (known_) return 1.0;
    return ir::Unsupported(std::string(op.name()) + ": no kernel");
  }

 private:
  bool known_;
};

TEST_F(Superopt, TakesTheCheaperOrderOfTwoProducts) {
  const auto program = Chain(64);
  const auto before = program->Clone();
  const PassReport report = Run(*program, {});
  EXPECT_TRUE(report.changed);
  EXPECT_GT(Statistic(report, "analytic nanoseconds before"),
            Statistic(report, "analytic nanoseconds after"));
  ASSERT_EQ(report.rules.size(), 1u);
  EXPECT_THAT(report.rules[0].rule, HasSubstr("substitution-"));
  EXPECT_TRUE(fixtures::SameNumbers(*before, *program));
}

TEST_F(Superopt, LeavesTheOrderAloneWhereNumbersMustStay) {
  const auto program = Chain(64);
  EXPECT_FALSE(Run(*program, {}, drr::NumericClass::kExact).changed);
}

TEST_F(Superopt, ReturnsTheProgramGivenWhereNothingIsCheaper) {
  const auto program = Sum(5);
  const std::string before = ir::PrintProgram(*program);
  FlatCost flat(true);
  const PassReport report = Run(*program, {.cost = &flat, .budget = 40});
  EXPECT_FALSE(report.changed);
  EXPECT_GT(Statistic(report, "candidates"), 10u);
  EXPECT_EQ(ir::PrintProgram(*program), before);
}

TEST_F(Superopt, WantsTheLeastGain) {
  EXPECT_FALSE(Run(*Chain(64), {.least_gain = 0.99}).changed);
  EXPECT_TRUE(Run(*Chain(64), {.least_gain = 0.01}).changed);
}

TEST_F(Superopt, SaysWhichCostIsNotKnown) {
  FlatCost unknown(false);
  std::string why;
  const auto program = Chain(4);
  EXPECT_FALSE(
      Run(*program, {.cost = &unknown, .warn = [&](std::string_view w) { why = w; }}).changed);
  EXPECT_THAT(why, HasSubstr("onnx.MatMul: no kernel"));
}

TEST_F(Superopt, SaysWhichShapeIsNotStatic) {
  ir::Program program(&context_);
  ir::Builder b(&program);
  const Value x = Input(b, "x", {ir::SymbolicDim("N"), 4});
  b.Return({{"y", b.Make<ops::Relu>({x})}});
  std::string why;
  EXPECT_FALSE(Run(program, {.warn = [&](std::string_view w) { why = w; }}).changed);
  EXPECT_THAT(why, HasSubstr("of onnx.Relu has the type tensor<"));
}

TEST_F(Superopt, SaysWhichInputIsNotStatic) {
  ir::Program program(&context_);
  ir::Builder b(&program);
  const Value x = Input(b, "x", {ir::SymbolicDim("N"), 4});
  b.Return({{"y", b.Make<ops::ReduceSum>({x, b.ConstantInts({0})}, {.keepdims = 0})}});
  std::string why;
  EXPECT_FALSE(Run(program, {.warn = [&](std::string_view w) { why = w; }}).changed);
  EXPECT_THAT(why, HasSubstr(", which onnx.ReduceSum reads, has the type tensor<\"N\"x4xf32>"));
}

TEST_F(Superopt, DoesNotMindAnInputThatNobodyReads) {
  const auto program = Chain(64);
  ir::Builder b(program.get());
  Input(b, "unused", {ir::SymbolicDim("N")});
  EXPECT_TRUE(Run(*program, {}).changed);
}

TEST_F(Superopt, EndsWithItsBudgetItsTimeAndWhenTold) {
  EXPECT_EQ(Statistic(Run(*Sum(7), {.budget = 3}), "programs expanded"), 3u);
  EXPECT_LE(Statistic(Run(*Sum(7), {.seconds = 1e-9}), "programs expanded"), 1u);
  int asked = 0;
  const PassReport report = Run(*Sum(7), {.stop = [&] { return ++asked > 5; }});
  EXPECT_LE(Statistic(report, "candidates"), 5u);
}

TEST_F(Superopt, KeepsTheBestFoundWhenItIsStopped) {
  const auto program = Chain(64);
  bool found = false;
  const SearchOptions options = {
      .stop = [&] { return found; },
      .progress = [&](const SearchProgress& p) { found = p.best_cost < p.first_cost; }};
  EXPECT_TRUE(Run(*program, options).changed);
}

TEST_F(Superopt, DrawsTheSameWithTheSameSeed) {
  const auto costs = [&](std::optional<uint64_t> seed) {
    std::vector<double> seen;
    const SearchOptions options = {
        .budget = 30, .seed = seed, .progress = [&](const SearchProgress& p) {
          seen.push_back(static_cast<double>(p.queued));
        }};
    Run(*Sum(7), options);
    return seen;
  };
  EXPECT_EQ(costs(1), costs(1));
  EXPECT_NE(costs(1), costs(2));
  EXPECT_TRUE(Run(*Chain(64), {.seed = 7}).changed);
}

TEST_F(Superopt, TellsProgramsApartWhateverTheirOrder) {
  const auto program = [&](bool swapped, bool relu) {
    auto made = std::make_unique<ir::Program>(&context_);
    ir::Builder b(made.get());
    const Value x = Input(b, "x", {4, 4}), y = Input(b, "y", {4, 4});
    const Value first = swapped ? Value() : b.Make<ops::Tanh>({x});
    const Value second = relu ? b.Make<ops::Relu>({y}) : b.Make<ops::Exp>({y});
    const Value tanh = swapped ? b.Make<ops::Tanh>({x}) : first;
    b.Return(
        {{"z", swapped ? b.Make<ops::Add>({second, tanh}) : b.Make<ops::Add>({tanh, second})}});
    return made;
  };
  const uint64_t hash = ProgramHash(*program(false, false));
  EXPECT_EQ(hash, ProgramHash(*program(true, false)));
  EXPECT_NE(hash, ProgramHash(*program(false, true)));
  EXPECT_EQ(ProgramHash(*Chain(4)), ProgramHash(*Chain(4)->Clone()));
  EXPECT_NE(ProgramHash(*Chain(4)), ProgramHash(*Chain(5)));
}

TEST_F(Superopt, CountsWhatDependsOnConstantsAloneAsFree) {
  ir::Program program(&context_);
  ir::Builder b(&program);
  const Value weights = b.ConstantFloats(std::vector<float>{1, 2, 3, 4}, ir::Shape{2, 2});
  const Value joined = b.Make<ops::Concat>({weights, weights}, {.axis = 1});
  b.Return({{"y", b.Make<ops::MatMul>({Input(b, "x", {2, 2}), joined})}});
  FlatCost flat(true);
  EXPECT_EQ(*ProgramCost(program, flat, /*folds=*/true), 1.0);
  EXPECT_EQ(*ProgramCost(program, flat, /*folds=*/false), 2.0);
}

// What the pipeline made of a golden program, it leaves as it is.
TEST_F(Superopt, ChangesNothingInItsOwnResults) {
  for (const std::string& name : fixtures::GoldenFiles(kGolden)) {
    ir::IrContext context;
    const auto file = fixtures::ReadGoldenFile(std::string(kGolden) + "/" + name);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto program = fixtures::ParseGoldenProgram(*file, context);
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_TRUE(fixtures::RunGoldenPasses(*file, **program, nullptr).ok()) << name;
    const std::string once = ir::PrintProgram(**program);
    ASSERT_TRUE(fixtures::RunGoldenPasses(*file, **program, nullptr).ok()) << name;
    EXPECT_EQ(ir::PrintProgram(**program), once) << name;
  }
}

}  // namespace
}  // namespace weft::passes
