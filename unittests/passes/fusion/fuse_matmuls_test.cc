// fuse-matmuls on all its golden programs: every bit stays on integers, where no order of additions
// rounds, and the second run has nothing left to do.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/text/printer.h"
#include "kernels/runtime/session.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using fixtures::GoldenFile;
using kernels::Tensor;

const std::string kFolder = fixtures::TestData("/passes/fusion/golden/fuse-matmuls");

class FuseMatmuls : public testing::TestWithParam<std::string> {
 protected:
  // The program before, whose weights are integers, and after the pass.
  void SetUp() override {
    auto file = fixtures::ReadGoldenFile(std::string(kFolder) + "/" + GetParam());
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
    auto program = fixtures::ParseGoldenProgram(file_, context_);
    ASSERT_TRUE(program.ok()) << program.status();
    before_ = *std::move(program);
    after_ = before_->Clone();
    ASSERT_TRUE(fixtures::RunGoldenPasses(file_, *after_, nullptr).ok());
  }

  // Integers from -8 to 8.
  std::vector<Tensor> LatticeInputs(uint64_t seed) {
    auto inputs = fixtures::SmallRandomInputs(*before_, seed);
    EXPECT_TRUE(inputs.ok()) << inputs.status();
    if (!inputs.ok()) return {};
    for (Tensor& input : *inputs)
      if (input.dtype() == ir::DataType::kF32)
        for (float& value : input.values<float>()) value = std::round(value * 8);
    return *std::move(inputs);
  }

  static std::vector<Tensor> Run(const ir::Program& program, const std::string& provider,
                                 const std::vector<Tensor>& inputs) {
    const auto session = kernels::Session::Create(program, {.provider = provider});
    EXPECT_TRUE(session.ok()) << session.status();
    if (!session.ok()) return {};
    std::vector<kernels::TensorView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    auto outputs = (*session)->Run(views);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? *std::move(outputs) : std::vector<Tensor>();
  }

  GoldenFile file_;
  ir::IrContext context_;
  std::unique_ptr<ir::Program> before_, after_;
};

// Those that change something and that kernels can run.
class FuseMatmulsNumbers : public FuseMatmuls {
 public:
  static std::vector<std::string> Programs() {
    std::vector<std::string> programs;
    for (const std::string& name : fixtures::GoldenFiles(kFolder)) {
      const auto file = fixtures::ReadGoldenFile(std::string(kFolder) + "/" + name);
      if (file.ok() && !file->near_miss && file->numeric.empty()) programs.push_back(name);
    }
    return programs;
  }
};

TEST_P(FuseMatmulsNumbers, KeepsEveryBitOnIntegers) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<Tensor> inputs = LatticeInputs(seed);
    for (const char* provider : {"reference", "auto"}) {
      const std::vector<Tensor> expected = Run(*before_, provider, inputs);
      const std::vector<Tensor> actual = Run(*after_, provider, inputs);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i) {
        const kernels::TensorView a = actual[i].view(), b = expected[i].view();
        ASSERT_EQ(a.NumBytes(), b.NumBytes());
        EXPECT_EQ(std::memcmp(a.data, b.data, a.NumBytes()), 0)
            << "output " << i << ", seed " << seed << ", " << provider;
      }
    }
  }
}

TEST_P(FuseMatmuls, ChangesNothingTheSecondTime) {
  const std::string once = ir::PrintProgram(*after_);
  ASSERT_TRUE(fixtures::RunGoldenPasses(file_, *after_, nullptr).ok());
  EXPECT_EQ(ir::PrintProgram(*after_), once);
}

INSTANTIATE_TEST_SUITE_P(Golden, FuseMatmuls, testing::ValuesIn(fixtures::GoldenFiles(kFolder)),
                         [](const auto& info) { return fixtures::GoldenTestName(info.param); });

INSTANTIATE_TEST_SUITE_P(Golden, FuseMatmulsNumbers,
                         testing::ValuesIn(FuseMatmulsNumbers::Programs()),
                         [](const auto& info) { return fixtures::GoldenTestName(info.param); });

}  // namespace
}  // namespace weft::passes
