// The table of measured kernels as text, and whether a session follows it.
#include "kernels/kernel_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "ir/dialects/onnx/nn/normalization.h"
#include "kernels/runtime/random_inputs.h"
#include "unittests/kernels/runtime/session_fixture.h"

namespace weft::kernels {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kText[] = R"(weft kernel choices 1
machine: a CPU; amx; 2 threads
onnx.Softmax {axis:-1} (f32[2,3]) -> f32[2,3]: reference - 1.25
onnx.Tanh {} (f32[4]) -> f32[4]: native avx2 2.00
)";

TEST(KernelChoices, AreReadAsTheyAreWritten) {
  const auto choices = KernelChoices::Parse(kText);
  ASSERT_TRUE(choices.ok()) << choices.status();
  EXPECT_EQ(choices->size(), 2u);
  EXPECT_EQ(choices->machine(), "a CPU; amx; 2 threads");
  EXPECT_EQ(choices->ToText(), kText);
}

TEST(KernelChoices, SayOnWhichLineTextIsNone) {
  const auto error = [](const std::string& text) {
    return std::string(KernelChoices::Parse(text).status().message());
  };
  const std::string head = "weft kernel choices 1\nmachine: m\n";
  EXPECT_THAT(error(""), HasSubstr("line 1: expected 'weft kernel choices 1'"));
  EXPECT_THAT(error("weft kernel choices 2\nmachine: m\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("weft kernel choices 1\n"), HasSubstr("line 2: expected 'machine: '"));
  EXPECT_THAT(error(head + "\nx: native - fast"), HasSubstr("line 4: 'fast' is no speed"));
  EXPECT_THAT(error(head + "x: native - 0"), HasSubstr("'0' is no speed"));
  EXPECT_THAT(error(head + "x: native - nan"), HasSubstr("'nan' is no speed"));
  EXPECT_THAT(error(head + "x: native neon 1"), HasSubstr("'neon' is no instruction set"));
  EXPECT_THAT(error(head + "native - 1"), HasSubstr("line 3: expected OP: PROVIDER"));
  EXPECT_THAT(error(head + "1"), HasSubstr("line 3"));
}

class FollowedChoices : public SessionFixture {
 protected:
  FollowedChoices() {
    const ir::Value y = builder.Make<ir::ops::Softmax>({Input(F({2, 3}))}, {.axis = int64_t{-1}});
    builder.Return({{"y", y}});
  }
  // Which kernel runs the softmax with this in the table, and its key.
  std::string KernelWith(const std::string& choice, std::string* key = nullptr,
                         const std::string& provider = "auto") {
    auto choices = KernelChoices::Parse("weft kernel choices 1\nmachine: m\n" + choice);
    EXPECT_TRUE(choices.ok()) << choices.status();
    auto made =
        Session::Create(program, {.provider = provider,
                                  .profile = true,
                                  .choices = std::make_shared<KernelChoices>(*std::move(choices))});
    EXPECT_TRUE(made.ok()) << made.status();
    const auto x = RandomTensor(ir::DataType::kF32, {2, 3}, 1, 0);
    EXPECT_TRUE((*made)->Run({x->view()}).ok());
    const Step& step = (*made)->last_run()[0].steps()[0];
    if (key != nullptr) *key = step.key;
    return step.provider + (step.isa ? " " + std::string(IsaName(*step.isa)) : "");
  }
};

TEST_F(FollowedChoices, DecideWhichKernelRuns) {
  std::string key;
  EXPECT_EQ(KernelWith("", &key), "native");
  EXPECT_THAT(key, StartsWith("onnx.Softmax {axis:"));
  EXPECT_EQ(KernelWith(key + ": reference - 1.5\n"), "reference");
  EXPECT_EQ(KernelWith(key + ": native portable 1.5\n"), "native portable");
}

TEST_F(FollowedChoices, AreForTypesAttributesAndProvidersAsTheyWere) {
  std::string key;
  KernelWith("", &key);
  std::string other = key;
  other.replace(other.find("f32[2,3]"), 8, "f32[2,4]");
  EXPECT_EQ(KernelWith(other + ": reference - 1.5\n"), "native");
  EXPECT_EQ(KernelWith(key + ": nobody - 1.5\n"), "native");
  EXPECT_EQ(KernelWith(key + ": native - 1.5\n", nullptr, "reference"), "reference");
}

// A table of a better machine: its instructions are not here, or not wanted.
TEST_F(FollowedChoices, NeverUseABetterInstructionSet) {
  std::string key;
  KernelWith("", &key);
  const ScopedIsa scope(Isa::kPortable);
  auto choices =
      KernelChoices::Parse("weft kernel choices 1\nmachine: m\n" + key + ": native avx2 1.5\n");
  auto made = Session::Create(
      program,
      {.isa = "portable", .profile = true, .choices = std::make_shared<KernelChoices>(*choices)});
  ASSERT_TRUE(made.ok());
  const auto x = RandomTensor(ir::DataType::kF32, {2, 3}, 1, 0);
  ASSERT_TRUE((*made)->Run({x->view()}).ok());
  EXPECT_FALSE((*made)->last_run()[0].steps()[0].isa.has_value());
}

TEST(MachineName, SaysWhatTimesDependOn) {
  const ScopedIsa scope(Isa::kPortable);
  EXPECT_THAT(MachineName(1), HasSubstr("; portable; 1 thread"));
  EXPECT_THAT(MachineName(3), HasSubstr("; portable; 3 threads"));
}

}  // namespace
}  // namespace weft::kernels
