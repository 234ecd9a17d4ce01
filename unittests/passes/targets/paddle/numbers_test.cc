// The golden programs of rules on pd compute the same before and after, on five random inputs, by the
// plain loops of pd_evaluate: no kernel knows pd.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "unittests/fixtures/golden.h"
#include "unittests/passes/pd/evaluate.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

const std::string kFolder = fixtures::TestData("/passes/targets/paddle/golden/");

std::vector<PdTensor> RandomInputs(ir::Program& program, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<PdTensor> inputs;
  for (const ir::Value argument : program.body().arguments()) {
    PdTensor input{argument.type().shape(), {}};
    for (int64_t i = 0; i < argument.type().NumElements(); ++i)
      input.data.push_back(uniform(random));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

class PdNumbers : public testing::TestWithParam<std::string> {};

TEST_P(PdNumbers, AreKeptOnFiveInputs) {
  const auto file = fixtures::ReadGoldenFile(kFolder + GetParam());
  ASSERT_TRUE(file.ok()) << file.status();
  ir::IrContext context;
  const auto before = fixtures::ParseGoldenProgram(*file, context);
  ASSERT_TRUE(before.ok()) << before.status();
  const std::unique_ptr<ir::Program> after = (*before)->Clone();
  ASSERT_EQ(fixtures::RunGoldenPasses(*file, *after, nullptr).message(), "");
  constexpr double kRounding = 1e-12;  // the loops compute in double precision
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const std::vector<PdTensor> inputs = RandomInputs(**before, seed);
    const PdTensor want = EvaluatePd(**before, inputs)[0], got = EvaluatePd(*after, inputs)[0];
    ASSERT_EQ(got.dims, want.dims);
    for (size_t i = 0; i < want.data.size(); ++i)
      EXPECT_NEAR(got.data[i], want.data[i], kRounding) << "element " << i << ", seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, PdNumbers,
    testing::Values("drop-noop-pd-cast/input.ir", "drop-noop-pd-reshape/input.ir",
                    "drop-noop-pd-transpose/input.ir", "fold-pd-expand/added.ir",
                    "fuse-pd-multihead-matmul/random_weights.ir", "merge-pd-casts/input.ir",
                    "merge-pd-reshapes/input.ir", "merge-pd-transposes/input.ir"),
    [](const auto& info) { return fixtures::GoldenTestName(info.param); });

}  // namespace
}  // namespace weft::passes
