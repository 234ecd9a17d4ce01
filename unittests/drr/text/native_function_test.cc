// Functions that are given with the text of rules.
#include "drr/rule/native_function.h"

#include "drr/rule/vocabulary.h"
#include "drr/text/rule_text.h"
#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kRelus =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%2) {} : (tensor<2x3xf32>) ->
}
)";

// relu(relu(x)) => relu(x)
std::string ReluRelu(const std::string& constraint) {
  return R"weft(rule relu-relu {
  algebra "relu(relu(x)) => relu(x)"
  numerics exact
  benefit 2
  source {
    %0 = onnx.Relu(%x)
    %1 = onnx.Relu(%0)
  }
  )weft" +
         constraint + R"weft(
  result {
    !0 = onnx.Relu(%x)
  }
  replace %1 with !0
}
)weft";
}

class NativeFunctionTest : public TextRuleTest {
 protected:
  // Notes what it is given.
  NativeFunctions Functions(bool holds) {
    return {{"other", [](std::span<const NativeArgument>) { return false; }},
            {"fits", [this, holds](std::span<const NativeArgument> given) {
               seen.assign(given.begin(), given.end());
               return holds;
             }}};
  }
  size_t Applied(const std::string& constraint, const NativeFunctions& functions) {
    return Apply(ReadRules(ReluRelu(constraint), "r.weft", &context, nullptr, &functions));
  }
  std::string Refused(const std::string& constraint, const NativeFunctions& functions) {
    const RuleFile file = ReadRules(ReluRelu(constraint), "r.weft", &context, nullptr, &functions);
    EXPECT_EQ(file.errors.size(), 1u) << testing::PrintToString(file.errors);
    return file.errors.empty() ? "" : file.errors[0];
  }
  std::vector<NativeArgument> seen;
};

TEST_F(NativeFunctionTest, LetsPassOrRefuses) {
  const std::string constraint = "require \"x fits\" native fits(%x)";
  Parse(kRelus);
  EXPECT_EQ(Applied(constraint, Functions(false)), 0u);
  EXPECT_EQ(reason, "does not hold: x fits");
  EXPECT_EQ(Applied(constraint, Functions(true)), 1u) << reason;
  EXPECT_EQ(Count("onnx.Relu"), 1u);
}

TEST_F(NativeFunctionTest, IsToldOfValuesVariablesAndLiterals) {
  Parse(R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Gemm" (%0, %0) {transB:1} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<2x2xf32>) -> tensor<2x2xf32>
 () = "builtin.return" (%2) {} : (tensor<2x2xf32>) ->
}
)");
  const NativeFunctions functions = Functions(true);
  const std::string text = R"(rule gemm {
  source {
    %0 = onnx.Gemm{transB: $t, ...}(%x, %w, %c)
    %1 = onnx.Relu(%0)
    optional %c
  }
  require "all fits" native fits(%x, %c, $t, 4, "four", array[4,5])
  result { !0 = onnx.Tanh(%x) }
  replace %1 with !0
}
)";
  const RuleFile file = ReadRules(text, "r.weft", &context, nullptr, &functions);
  ASSERT_TRUE(file.errors.empty()) << file.errors[0];
  ir::Walk(*program, [&](ir::Operation op) {
    MatchContext match(file.rules[0].get());
    Matcher(*file.rules[0]).Match(op, &match);
  });
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen[0].kind, NativeArgument::kValue);
  EXPECT_EQ(seen[0].value.type().ToString(), "tensor<2x3xf32>");
  EXPECT_EQ(seen[1].kind, NativeArgument::kAbsent);
  EXPECT_EQ(ir::PrintAttribute(seen[2].attribute), "1");
  EXPECT_EQ(seen[3].attribute.AsInt(), 4);
  EXPECT_EQ(seen[4].attribute.AsString(), "four");
  EXPECT_THAT(seen[5].attribute.AsInts(), ElementsAre(4, 5));
}

TEST_F(NativeFunctionTest, IsToldOfLists) {
  Parse(
      R"(module {input_names:strings["a","b"],output_names:strings["y"]} (%0: tensor<2xf32>, %1: tensor<3xf32>) {
 (%2) = "onnx.Concat" (%0, %1) {axis:0} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
 () = "builtin.return" (%2) {} : (tensor<5xf32>) ->
}
)");
  const NativeFunctions functions = Functions(false);
  const RuleFile file = ReadRules(R"(rule concat {
  source {
    %0 = onnx.Concat{axis: any}(%xs)
    list %xs
  }
  require "xs fit" native fits(%xs)
  result { !0 = onnx.Concat{axis: 0}(%xs*) }
  replace %0 with !0
}
)",
                                  "r.weft", &context, nullptr, &functions);
  EXPECT_EQ(Apply(file), 0u);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].kind, NativeArgument::kList);
  EXPECT_EQ(seen[0].list.size(), 2u);
}

TEST_F(NativeFunctionTest, IsPrintedAndReadAgain) {
  const NativeFunctions functions = Functions(true);
  const std::string text = ReluRelu("require \"x fits\" native fits(%x, 4)");
  const RuleFile file = ReadRules(text, "r.weft", &context, nullptr, &functions);
  ASSERT_TRUE(file.errors.empty()) << file.errors[0];
  EXPECT_EQ(PrintRule(*file.rules[0]), text);
  // The rule has them itself, those that it names.
  const NativeFunctions own = FunctionsOf(file.rules[0]->graph);
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].name, "fits");
  EXPECT_TRUE(ReadRules(text, "r.weft", &context, nullptr, &own).errors.empty());
}

TEST_F(NativeFunctionTest, IsRefusedWhereItIsNotGiven) {
  EXPECT_EQ(Refused("require \"x fits\" native fit(%x)", Functions(true)),
            "r.weft:9:27: error: no function 'fit' is given with the rules; did you mean 'fits'?");
  EXPECT_EQ(
      Refused("require \"x fits\" native fits(%x)", {}),
      "r.weft:9:20: error: the constraint \"x fits\" is native code: it can only be written in "
      "C++");
  EXPECT_THAT(Refused("require \"x fits\" native fits(%x?)", Functions(true)),
              HasSubstr("r.weft:9:32: error: a function is told what is absent: without '?'"));
  EXPECT_THAT(Refused("require \"x fits\" native fits %x", Functions(true)),
              HasSubstr("after the name of the function"));
  EXPECT_THAT(Refused("require \"z fits\" native fits(%z)", Functions(true)), HasSubstr("z"));
}

}  // namespace
}  // namespace weft::drr::text
