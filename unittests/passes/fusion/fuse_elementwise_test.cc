// fuse-elementwise on all its golden programs: every bit stays as the kernels of the ops by themselves
// give it, the text of what it makes is read back, and the second run has nothing left to do.
#include <gtest/gtest.h>

#include <cstring>

#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/session.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using fixtures::GoldenFile;
using kernels::Tensor;

const std::string kFolder = fixtures::TestData("/passes/fusion/golden/fuse-elementwise");

class FuseElementwise : public testing::TestWithParam<std::string> {
 protected:
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

  static std::vector<Tensor> Run(const ir::Program& program, const kernels::SessionOptions& options,
                                 const std::vector<Tensor>& inputs) {
    const auto session = kernels::Session::Create(program, options);
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

TEST_P(FuseElementwise, KeepsEveryBit) {
  if (file_.near_miss || !file_.numeric.empty()) return;
  for (const char* provider : {"reference", "auto"}) {
    for (const uint64_t seed : {1, 2, 3}) {
      const auto inputs = fixtures::SmallRandomInputs(*before_, seed);
      ASSERT_TRUE(inputs.ok()) << inputs.status();
      const auto expected = Run(*before_, {.provider = provider}, *inputs);
      const auto actual = Run(*after_, {.provider = provider}, *inputs);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < actual.size(); ++i) {
        const kernels::TensorView a = actual[i].view(), b = expected[i].view();
        ASSERT_EQ(a.NumBytes(), b.NumBytes());
        EXPECT_TRUE(a.NumBytes() == 0 || std::memcmp(a.data, b.data, a.NumBytes()) == 0)
            << "output " << i << ", seed " << seed << ", " << provider;
      }
    }
  }
}

TEST_P(FuseElementwise, ChangesNothingTheSecondTime) {
  const std::string once = ir::PrintProgram(*after_);
  ASSERT_TRUE(fixtures::RunGoldenPasses(file_, *after_, nullptr).ok());
  EXPECT_EQ(ir::PrintProgram(*after_), once);
}

TEST_P(FuseElementwise, MakesATextThatIsReadBack) {
  EXPECT_EQ(ir::Verify(*after_).message(), "");
  const std::string text = ir::PrintProgram(*after_);
  const auto again = ir::ParseProgram(context_, text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ir::Verify(**again).message(), "");
  EXPECT_EQ(ir::PrintProgram(**again), text);
}

INSTANTIATE_TEST_SUITE_P(Golden, FuseElementwise, testing::ValuesIn(fixtures::GoldenFiles(kFolder)),
                         [](const auto& info) { return fixtures::GoldenTestName(info.param); });

// Other passes come to what is in a body: none may leave something there that is refused. Those that
// refuse the program leave it as it is.
TEST(FuseElementwiseBefore, EveryOtherPass) {
  const auto evaluator = kernels::KernelEvaluator::Create("reference");
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  for (const std::string& name : fixtures::GoldenFiles(kFolder)) {
    for (const RegisteredPass& pass : RegisteredPasses()) {
      SCOPED_TRACE(name + ", " + pass.name);
      const auto file = fixtures::ReadGoldenFile(std::string(kFolder) + "/" + name);
      ASSERT_TRUE(file.ok());
      ir::IrContext context;
      const auto program = fixtures::ParseGoldenProgram(*file, context);
      ASSERT_TRUE(program.ok()) << program.status();
      PassManager fuse(&context), other(&context);
      fuse.AddPass(MakePass("fuse-elementwise"));
      ASSERT_EQ(fuse.Run(**program).message(), "");
      const std::string fused = ir::PrintProgram(**program);
      other.pass_context().evaluator = evaluator->get();
      other.AddPass(pass.make());
      const absl::Status status = other.Run(**program);
      EXPECT_EQ(ir::Verify(**program).message(), "");
      if (!status.ok()) {
        EXPECT_EQ(ir::PrintProgram(**program), fused) << status;
      }
    }
  }
}

// A value that very many groups read is looked at briefly in each.
TEST(FuseElementwiseTime, IsLinearInTheReadersOfOneValue) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::Program program(&context);
  ir::Builder b(&program);
  const ir::Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2}));
  const ir::Value shared = b.Make<ir::ops::Tanh>({x});
  std::vector<std::pair<std::string, ir::Value>> outputs;
  constexpr int kReaders = 20'000;
  for (int i = 0; i < kReaders; ++i)
    outputs.emplace_back("y" + std::to_string(i),
                         b.Make<ir::ops::Neg>({b.Make<ir::ops::Exp>({shared})}));
  b.Return(std::move(outputs));
  PassManager pm(&context);
  pm.AddPass(MakePass("fuse-elementwise"));
  ASSERT_EQ(pm.Run(program).message(), "");
  int groups = 0;
  for (const ir::Operation op : program.body()) groups += op.Is<ir::fused::Elementwise>();
  EXPECT_EQ(groups, kReaders);
}

}  // namespace
}  // namespace weft::passes
