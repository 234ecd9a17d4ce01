// What LiteRT's rewrites do together and to the seed's graphs: operation counts, the numbers of
// quantised products, the pipeline `litert`, and the lowering of what comes out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "ir/builder.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/litert.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "kernels/runtime/session.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using fixtures::GoldenFile;
namespace litert = ir::litert;

std::string Folder(const std::string& rewrite) {
  return fixtures::TestData("/passes/targets/litert/golden/") + rewrite;
}

GoldenFile Read(const std::string& path) {
  auto file = fixtures::ReadGoldenFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : GoldenFile();
}

// The files that a rewrite changes.
std::vector<GoldenFile> Files(const std::string& rewrite) {
  std::vector<GoldenFile> files;
  for (const std::string& name : fixtures::GoldenFiles(Folder(rewrite))) {
    GoldenFile file = Read(Folder(rewrite) + "/" + name);
    if (!file.near_miss) files.push_back(std::move(file));
  }
  EXPECT_FALSE(files.empty());
  return files;
}

std::unique_ptr<ir::Program> Parse(const GoldenFile& file, ir::IrContext& context) {
  auto program = fixtures::ParseGoldenProgram(file, context);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : nullptr;
}

GoldenFile Running(GoldenFile file, std::vector<std::string> passes) {
  file.rules.clear();
  file.passes = std::move(passes);
  file.numerics = "approximate";
  return file;
}

// --- counts of the seed's figures -------------------------------------------------------

size_t NumOps(ir::Program& program) {
  size_t count = 0;
  ir::Walk(program,
           [&](ir::Operation op) { count += !op.Is<ir::ConstantOp>() && !op.Is<ir::ReturnOp>(); });
  return count;
}

struct Figure {
  const char* file;
  size_t before, after;
};

class LitertFigure : public testing::TestWithParam<Figure> {};

TEST_P(LitertFigure, HasTheOperationsOfTheSeed) {
  const GoldenFile file = Read(Folder(GetParam().file));
  ir::IrContext context;
  const auto program = Parse(file, context);
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(NumOps(*program), GetParam().before);
  ASSERT_TRUE(fixtures::RunGoldenPasses(file, *program, nullptr).ok());
  EXPECT_EQ(NumOps(*program), GetParam().after);
}

// The prefill's figure has two ops that make the new keys and values, beside the 18.
INSTANTIATE_TEST_SUITE_P(Seed, LitertFigure,
                         testing::Values(Figure{"fuse-matmul-convert/seed.ir", 4, 3},
                                         Figure{"mha-to-sha-prefill/gemma3_1b.ir", 20, 51},
                                         Figure{"mha-to-sha-decode/gemma3_1b.ir", 14, 47},
                                         Figure{"masked-softmax-select-to-add/seed.ir", 12, 42}),
                         [](const auto& info) {
                           return fixtures::GoldenTestName(info.param.file);
                         });

// --- the pipeline and the lowering ------------------------------------------------------

class LitertRewrite : public testing::TestWithParam<const char*> {};

TEST_P(LitertRewrite, LeavesThePipelineNothingToDoASecondTime) {
  for (GoldenFile file : Files(GetParam())) {
    file = Running(std::move(file), FindPipeline("litert")->passes);
    ir::IrContext context;
    const auto program = Parse(file, context);
    ASSERT_NE(program, nullptr);
    ASSERT_TRUE(fixtures::RunGoldenPasses(file, *program, nullptr).ok()) << file.path;
    const std::string once = ir::PrintProgram(*program);
    ASSERT_TRUE(fixtures::RunGoldenPasses(file, *program, nullptr).ok()) << file.path;
    EXPECT_EQ(ir::PrintProgram(*program), once) << file.path;
  }
}

TEST_P(LitertRewrite, KeepsNumbersInThePipelineAndLowered) {
  std::vector<std::string> passes = FindPipeline("litert")->passes;
  passes.emplace_back("lower-litert");
  for (GoldenFile file : Files(GetParam())) {
    if (!file.numeric.empty()) continue;
    file = Running(std::move(file), passes);
    ir::IrContext context;
    const auto before = Parse(file, context);
    ASSERT_NE(before, nullptr);
    const std::unique_ptr<ir::Program> after = before->Clone();
    ASSERT_TRUE(fixtures::RunGoldenPasses(file, *after, nullptr).ok()) << file.path;
    EXPECT_THAT(ir::PrintProgram(*after), testing::Not(testing::HasSubstr("litert."))) << file.path;
    EXPECT_TRUE(fixtures::SameNumbers(*before, *after, {.seeds = 5})) << file.path;
  }
}

INSTANTIATE_TEST_SUITE_P(Rewrites, LitertRewrite,
                         testing::Values("masked-softmax-select-to-add", "mha-to-sha-decode",
                                         "mha-to-sha-prefill"),
                         [](const auto& info) { return fixtures::GoldenTestName(info.param); });

std::vector<kernels::Tensor> Results(const ir::Program& program,
                                     const std::vector<kernels::Tensor>& inputs) {
  auto session = kernels::Session::Create(program, {.provider = "reference"});
  EXPECT_TRUE(session.ok()) << session.status();
  std::vector<kernels::TensorView> views;
  for (const kernels::Tensor& input : inputs) views.push_back(input.view());
  auto results = (*session)->Run(views);
  EXPECT_TRUE(results.ok()) << results.status();
  return *std::move(results);
}

// --- fully masked rows ------------------------------------------------------------------

// masked.ir with row 1 of batch 0 of the mask, which keeps two entries there, masked whole or kept
// whole.
std::unique_ptr<ir::Program> WithRow(const char* row, ir::IrContext& context) {
  GoldenFile file = Read(Folder("masked-softmax-select-to-add/masked.ir"));
  const std::string kept = "[1.0,0.0,0.0,1.0,0.0,2.0,0.0,0.0,";
  const size_t at = file.program_text.find(kept);
  EXPECT_NE(at, std::string::npos);
  file.program_text.replace(at, kept.size(), "[1.0,0.0,0.0,1.0," + std::string(row) + ",");
  return Parse(file, context);
}

// Select gives such a row equal weights, a sum with the mask those of the row without a mask: it is
// outside of what the rewrite promises. All other rows stay as they are.
TEST(MaskedSoftmaxSelectToAdd, GivesAFullyMaskedRowTheWeightsOfAnUnmaskedOne) {
  ir::IrContext context;
  const auto before = WithRow("0.0,0.0,0.0,0.0", context);
  const auto unmasked = WithRow("1.0,1.0,1.0,1.0", context);
  ASSERT_TRUE(before && unmasked);
  const std::unique_ptr<ir::Program> after = before->Clone();
  const GoldenFile file = Read(Folder("masked-softmax-select-to-add/masked.ir"));
  ASSERT_EQ(fixtures::RunGoldenPasses(file, *after, nullptr).message(), "");
  const auto inputs = fixtures::SmallRandomInputs(*before, 1);
  ASSERT_TRUE(inputs.ok()) << inputs.status();
  for (size_t i : {0, 1})  // q and k: weights that differ
    for (float& x : (*inputs)[i].values<float>()) x *= 4;
  const auto want = Results(*before, *inputs), got = Results(*after, *inputs),
             open = Results(*unmasked, *inputs);
  constexpr size_t kRow = 4;              // outputs of one position, over both heads
  constexpr float kRoundedAway = 0x1p-6;  // scores near -65472 have steps of 2^-7
  float moved = 0;
  for (size_t i = 0; i < want[0].values<float>().size(); ++i) {
    const float y = got[0].values<float>()[i], before_y = want[0].values<float>()[i];
    if (i / kRow != 1) {
      EXPECT_NEAR(y, before_y, 1e-6) << i;
      continue;
    }
    EXPECT_NEAR(y, open[0].values<float>()[i], kRoundedAway) << i;
    moved = std::max(moved, std::abs(y - before_y));
  }
  EXPECT_GT(moved, 2 * kRoundedAway);
}

// --- quantised products -----------------------------------------------------------------

TEST(FuseMatmulConvert, MovesResultsByOneStepAtMost) {
  const GoldenFile file = Read(Folder("fuse-matmul-convert/seed.ir"));
  ir::IrContext context;
  const auto before = Parse(file, context);
  ASSERT_NE(before, nullptr);
  const std::unique_ptr<ir::Program> after = before->Clone();
  ASSERT_TRUE(fixtures::RunGoldenPasses(file, *after, nullptr).ok());
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto inputs = fixtures::SmallRandomInputs(*before, seed);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    const auto want = Results(*before, *inputs), got = Results(*after, *inputs);
    const auto expected = want[0].values<int16_t>(), actual = got[0].values<int16_t>();
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE(std::abs(expected[i] - actual[i]), 1) << i;
    EXPECT_NE(*std::ranges::min_element(actual), *std::ranges::max_element(actual));
  }
}

// 100 * 100 in steps of 1 is 127 at most, which is 1 in steps of 100; in those at once it is 100.
TEST(FuseMatmulConvert, IsRightWhereTheFirstQuantisationSaturates) {
  ir::IrContext context;
  ir::LoadLitertDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Type type = context.TensorType(ir::DataType::kI8, {1, 1});
  const ir::Value x = b.AddInput("x", type), y = b.AddInput("y", type);
  const ir::Value product =
      b.Make<litert::MatMul>({x, y}, {.out_scale = 1.0f, .x_scale = 1.0f, .y_scale = 1.0f});
  const ir::Value out = b.Make<litert::Convert>(
      {product}, {.from_scale = 1.0f, .to = ir::DataType::kI8, .to_scale = 100.0f});
  b.Return({{"out", out}});

  std::vector<kernels::Tensor> inputs;
  for (int i = 0; i < 2; ++i) {
    inputs.push_back(*kernels::Tensor::Create(ir::DataType::kI8, ir::Shape{1, 1}));
    inputs.back().values<int8_t>()[0] = 100;
  }
  EXPECT_EQ(Results(program, inputs)[0].values<int8_t>()[0], 1);
  const GoldenFile file = Read(Folder("fuse-matmul-convert/seed.ir"));
  ASSERT_TRUE(fixtures::RunGoldenPasses(file, program, nullptr).ok());
  EXPECT_EQ(Results(program, inputs)[0].values<int8_t>()[0], 100);
}

}  // namespace
}  // namespace weft::passes
