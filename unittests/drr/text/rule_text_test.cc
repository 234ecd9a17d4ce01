// The text form of rules: printing, reading, and what is refused.
#include "drr/text/rule_text.h"

#include "drr/drr.h"
#include "drr/rule/vocabulary.h"
#include "ir/dialects/onnx.h"
#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

namespace ops = ir::ops;
using testing::ElementsAre;
using testing::HasSubstr;

class RuleText : public TextRuleTest {
 protected:
  std::string Printed(const BuildResult& built) {
    for (const std::string& e : built.errors) ADD_FAILURE() << e;
    return built.rule ? PrintRule(*built.rule) : "";
  }
  // Of the one rule in `text`.
  std::string Reprinted(std::string_view text) {
    const RuleFile file = ReadRules(text, "r.weft", &context, program.get());
    for (const std::string& e : file.errors) ADD_FAILURE() << e;
    return file.rules.size() == 1 ? PrintRule(*file.rules[0]) : "";
  }
  std::string Refusal(std::string_view text) {
    const RuleFile file = ReadRules(text, "r.weft", &context, program.get());
    EXPECT_EQ(file.errors.size(), 1u) << testing::PrintToString(file.errors);
    return file.errors.empty() ? "" : file.errors[0];
  }
};

// transpose(transpose(x, p), q) => transpose(x, p[q])
constexpr std::string_view kCompose = R"weft(rule compose {
  algebra "transpose(transpose(x, p), q) => transpose(x, p[q])"
  numerics exact
  benefit 2
  source {
    %0 = onnx.Transpose{perm: $p}(%x)
    %1 = onnx.Transpose{perm: $q}(%0)
  }
  require "x has rank 3" rank_is(%x, 3)
  result {
    !0 = onnx.Transpose{perm: = compose($p, $q)}(%x)
  }
  replace %1 with !0
}
)weft";

TEST_F(RuleText, IsAppliedAsItReads) {
  Parse(R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3x4xf32>) {
 (%1) = "onnx.Transpose" (%0) {perm:array[1,2,0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
 (%2) = "onnx.Transpose" (%1) {perm:array[0,2,1]} : (tensor<3x4x2xf32>) -> tensor<3x2x4xf32>
 () = "builtin.return" (%2) {} : (tensor<3x2x4xf32>) ->
}
)");
  EXPECT_EQ(ApplyText(kCompose), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("\"onnx.Transpose\" (%0) {perm:array[1,0,2]}"));
  EXPECT_EQ(Count("onnx.Transpose"), 1u);
}

TEST_F(RuleText, PrintsWhatWasRead) { EXPECT_EQ(Reprinted(kCompose), kCompose); }

TEST_F(RuleText, PrintsEverythingThatARuleCanSay) {
  constexpr std::string_view kAll = R"weft(rule "all of it" {
  numerics approximate
  benefit 7
  source {
    %0 = onnx.Relu | onnx.LeakyRelu{alpha: in(0.5, 0.25)}(%x)
    %1 = onnx.Gemm{..., alpha: $alpha, beta: default, transA: any}(%0, %"odd name", %b)
    %2 = any[pure elementwise](%1)
    %3 = named "custom.Gate"(%2)
    %4 = repeat 0..4 onnx.Tanh | onnx.Sigmoid(%3)
    %5 = onnx.Conv{auto_pad: in("VALID", "SAME_UPPER"), group: given(1)}(%4, %w, none)
    %6 = onnx.Abs(%5)
    %7 = onnx.Exp(%8)
    %9 = onnx.Concat{axis: $0}(%list)
    %8 = skip(%10, onnx.Identity, onnx.Cast same_type)
    %10 = either(%6, %5)
    outside %x
    optional %b
    not %6 %9
    list %list
  }
  require "w is a constant" constant(%w)
  require "x has rank 2" rank_is(%x, 2)
  result {
    !0 = onnx.LeakyRelu{alpha: $alpha}(%x)
    !1 = onnx.Gemm{attrs of %1, beta: 0.5}(!0, %w, none) at %5
    !2 = like %0(!1) named "gate"
  }
  replace %7 with !2
}
)weft";
  const RuleFile file = ReadRules(kAll, "r.weft", &context);
  ASSERT_EQ(file.rules.size(), 1u) << testing::PrintToString(file.errors);
  EXPECT_EQ(PrintRule(*file.rules[0]), kAll);
}

class ComposeInCpp : public DrrPatternBase<ComposeInCpp> {
 public:
  static constexpr std::string_view kName = "compose";
  static constexpr std::string_view kAlgebra =
      "transpose(transpose(x, p), q) => transpose(x, p[q])";
  static constexpr NumericClass kNumerics = NumericClass::kExact;
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto p = src.Attr<Ints>("p"), q = src.Attr<Ints>("q");
    auto inner = src.Op<ops::Transpose>({.perm = p})(x);
    auto outer = src.Op<ops::Transpose>({.perm = q})(inner);
    ResultPattern res = src.ResultPattern();
    auto y = res.Op<ops::Transpose>({.perm = [=](const MatchContext& m) { return m[p]; }})(x);
    res.Tensor(outer) = y;
    // The named forms of a constraint and of a computed attribute print as text.
    ctx->graph().constraints.push_back(MakeConstraint(
        {"rank_is", {ValueArgument(x.id()), LiteralArgument(ctx->graph().context()->IntAttr(3))}},
        "x has rank 3", {}));
    ResultAttr& perm = ctx->graph().result_ops[ResultOpId(0)].attrs[0];
    perm = MakeComputedAttr(*ir::OpDefOf<ops::Transpose>().FindField(perm.name),
                            {"compose", {VariableArgument(p.id()), VariableArgument(q.id())}},
                            ResultOpId(0));
  }
};

TEST_F(RuleText, PrintsARuleOfCppAsTheSameRuleIsWritten) {
  EXPECT_EQ(Printed(ComposeInCpp().Build(&context)), kCompose);
}

class ReluOfBias : public DrrPatternBase<ReluOfBias> {
 public:
  static constexpr std::string_view kName = "relu-of-bias";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), w = src.Tensor("w"), b = src.Tensor("b");
    auto alpha = src.Attr<float>("alpha");
    auto gemm = src.Op<ops::Gemm>({.alpha = In{1.0f, 2.0f}})(x, w, src.Optional(b));
    auto leaky = src.Op<ops::LeakyRelu>({.alpha = alpha})(gemm);
    auto out = src.Either(src.Op<ops::Relu>()(leaky), src.OneOf<ops::Abs, ops::Neg>()(leaky));
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) = res.Op<ops::Elu>({.alpha = alpha})(res.Op<ops::Gemm>()(x, w, b));
  }
};

TEST_F(RuleText, ARuleWithoutNativeCodeIsReadAsItWasPrinted) {
  const std::string text = Printed(ReluOfBias().Build(&context));
  EXPECT_EQ(Reprinted(text), text);
  EXPECT_THAT(text, HasSubstr("%0 = onnx.Gemm{alpha: in(1.0, 2.0)}(%x, %w, %b)"));
  EXPECT_THAT(text, HasSubstr("optional %b"));
}

class NativeRelu : public DrrPatternBase<NativeRelu> {
 public:
  static constexpr std::string_view kName = "native-relu";
  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Relu>()(x);
    src.RequireNativeCall("x is large", [=](const MatchContext& m) { return m[x].rank() > 3; });
    ResultPattern res = src.ResultPattern();
    res.Tensor(out) =
        res.Op<ops::LeakyRelu>({.alpha = [](const MatchContext&) { return 0.5f; }})(x);
  }
};

TEST_F(RuleText, NativeCodePrintsAsSuchAndIsRefused) {
  std::string text = Printed(NativeRelu().Build(&context));
  EXPECT_THAT(text, HasSubstr("require \"x is large\" native"));
  EXPECT_THAT(text, HasSubstr("{alpha: native}"));
  EXPECT_EQ(Refusal(text),
            "r.weft:7:24: error: the constraint \"x is large\" is native code: it can only be "
            "written in C++");
  const std::string line = "  require \"x is large\" native\n";
  text.erase(text.find(line), line.size());
  EXPECT_THAT(Refusal(text), HasSubstr("attribute 'alpha' is computed by native code"));
}

TEST_F(RuleText, AMappingDictPrintsAsARuleThatDoesTheSame) {
  const RuleFile dict = ReadRules(
      "{'patterns': {'in': [[(0, 'MatMul'), (1, 'Add')]], 'out': [[(0, 'InnerProduct')]]},\n"
      "'input_tensors': {0: [[{0: [0]}, {0: [1]}, {1: [0, 1]}], [[0, 1, 2], 3]]},\n"
      "'output_tensors': {0: [[{1: [0]}], [[0], 1]]}, 'node_names': {0: 1}}",
      "linear.py", &context);
  ASSERT_EQ(dict.rules.size(), 1u);
  const std::string text = PrintRule(*dict.rules[0]);
  EXPECT_EQ(Reprinted(text), text);
  Parse(
      R"(module {input_names:strings["x","w","b"],output_names:strings["y"]} (%0: tensor<2x4xf32>, %1: tensor<4x3xf32>, %2: tensor<3xf32>) {
 (%3) = "onnx.MatMul" (%0, %1) {} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
 (%4) = "onnx.Add" (%2, %3) {} : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%4) {} : (tensor<2x3xf32>) ->
}
)");
  EXPECT_EQ(ApplyText(text), 1u) << reason;
  EXPECT_EQ(Count("fused.linear"), 1u);
}

// Nothing is known of the size that is split, so every value has one type.
constexpr std::string_view kTwoOfThreeParts =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<-1x3xf32>) {
 (%1) = "onnx.Identity" (%0) {} : (tensor<-1x3xf32>) -> tensor<-1x3xf32>
 (%2, %3, %4) = "onnx.Split" (%1) {axis:0} : (tensor<-1x3xf32>) -> tensor<-1x3xf32>, tensor<-1x3xf32>, tensor<-1x3xf32>
 (%5) = "onnx.Concat" (%2, %3) {axis:0} : (tensor<-1x3xf32>, tensor<-1x3xf32>) -> tensor<-1x3xf32>
 () = "builtin.return" (%5) {} : (tensor<-1x3xf32>) ->
}
)";

TEST_F(RuleText, AnOpOfAnyNumberOfResultsHasAsManyAsTheRuleNames) {
  const auto rule = [](const std::string& parts) {
    return "rule r { source { " + parts +
           " = onnx.Split{...}(%x) %y = onnx.Concat{...}(%a, %b) } result { } replace %y with %x }";
  };
  Parse(kTwoOfThreeParts);
  EXPECT_EQ(ApplyText(rule("%a, %b")), 0u);
  EXPECT_EQ(reason, "onnx.Split has 3 results but the rule names 2");
  EXPECT_EQ(ApplyText(rule("%a, %b, %c")), 1u) << reason;
}

TEST_F(RuleText, ANewOpOfAnyNumberOfResultsHasThoseThatAreNamed) {
  constexpr std::string_view kHalves = R"weft(rule halves {
  numerics exact
  benefit 1
  source {
    %y = onnx.Relu(%x)
  }
  result {
    !0, !1 = onnx.Split(%x)
    !2 = onnx.Concat{axis: 0}(!1, !0)
  }
  replace %y with !2
}
)weft";
  EXPECT_EQ(Reprinted(kHalves), kHalves);
}

TEST_F(RuleText, WhatFollowsFromAnotherLineIsNotPrinted) {
  constexpr std::string_view kRule = R"weft(rule follows {
  numerics exact
  benefit 4
  source {
    %a = onnx.Abs(%x)
    %e = onnx.Exp(%a)
    %n = each onnx.Neg(%list)
    %c = onnx.Concat{axis: 0}(%n)
    %y = onnx.Mul(%either, %c)
    %either = either(%e, %a)
    list %list
    recompute %either
  }
  result {
  }
  replace %y with %x
}
)weft";
  EXPECT_EQ(Reprinted(kRule), kRule);
}

TEST_F(RuleText, AnyOpIsMadeAgainWithAllItsResults) {
  Parse(kTwoOfThreeParts);
  ir::Rewriter(program.get())
      .SetOperand(program->body().Terminator().operand(0).DefiningOp(), 1,
                  program->body().argument(0));
  EXPECT_EQ(ApplyText("rule r { source { %i = onnx.Identity(%x) %y = any[](%i) } "
                      "result { !0 = like %y(%x) } replace %y with !0 }"),
            1u)
      << reason;
  EXPECT_THAT(Print(), HasSubstr("(%1, %2, %3) = \"onnx.Split\" (%0)"));
}

TEST_F(RuleText, EveryFormulaOfTheVocabularyIsChecked) {
  const PatternGraph graph("r", &context);
  for (const VocabularyEntry& entry : Vocabulary()) {
    Formula formula{std::string(entry.name), {}};
    EXPECT_EQ(CheckFormula(graph, formula, entry.is_constraint).empty(), entry.arguments.empty())
        << entry.name;
    EXPECT_NE(CheckFormula(graph, formula, !entry.is_constraint), "") << entry.name;
    EXPECT_FALSE(entry.doc.empty());
  }
}

// A rule on relu(x) with a constraint; how often it applies to a program with a constant.
TEST_F(RuleText, ConstraintsHoldOnlyWhereTheyAreProved) {
  const auto holds = [&](const std::string& constraint) {
    Parse(
        R"(module {input_names:strings["x","u"],output_names:strings["y"]} (%0: tensor<2x?xf32>, %1: tensor<*xf32>) {
 (%2) = "builtin.constant" () {value:dense<tensor<1xf32>, [0.5]>} : () -> tensor<1xf32>
 (%3) = "onnx.Sub" (%0, %2) {} : (tensor<2x?xf32>, tensor<1xf32>) -> tensor<2x?xf32> loc("sum")
 (%4) = "onnx.Mul" (%3, %1) {} : (tensor<2x?xf32>, tensor<*xf32>) -> tensor<*xf32>
 () = "builtin.return" (%4) {} : (tensor<*xf32>) ->
}
)");
    return ApplyText(
               "rule r {\n source { %s = onnx.Sub(%x, %c) %y = onnx.Mul(%s, %u) }\n require "
               "\"c\" " +
               constraint + "\n result { !0 = onnx.Add(%x, %u) } replace %y with !0\n}") == 1;
  };
  EXPECT_TRUE(holds("constant(%c)"));
  EXPECT_FALSE(holds("constant(%x)"));
  EXPECT_TRUE(holds("rank_is(%x, 2)"));
  EXPECT_FALSE(holds("rank_is(%u, 2)"));
  EXPECT_TRUE(holds("dim_is(%x, 0, 2)"));
  EXPECT_TRUE(holds("dim_is(%x, -2, 2)"));
  EXPECT_FALSE(holds("dim_is(%x, 1, 2)"));
  EXPECT_FALSE(holds("dim_is(%x, 1, -1)"));
  EXPECT_FALSE(holds("same_dim(%x, 1, %x, 1)"));
  EXPECT_TRUE(holds("same_dim(%x, 0, %s, 0)"));
  EXPECT_TRUE(holds("static(%c)"));
  EXPECT_FALSE(holds("static(%x)"));
  EXPECT_TRUE(holds("dtype_is(%x, float32)"));
  EXPECT_FALSE(holds("dtype_is(%x, float16)"));
  EXPECT_TRUE(holds("same_type(%c, %c)"));
  EXPECT_FALSE(holds("same_type(%x, %s)"));
  EXPECT_FALSE(holds("same_shape(%x, %c)"));
  EXPECT_TRUE(holds("one_element(%c)"));
  EXPECT_FALSE(holds("one_element(%u)"));
  EXPECT_TRUE(holds("splat_is(%c, 0.5)"));
  EXPECT_FALSE(holds("splat_is(%c, 0.51)"));
  EXPECT_TRUE(holds("splat_is(%c, 0.51, 0.1)"));
  EXPECT_FALSE(holds("splat_is(%x, 0.5)"));
  EXPECT_TRUE(holds("positive(%c)"));
  EXPECT_FALSE(holds("positive(%u)"));
  EXPECT_TRUE(holds("named(%s, \"sum\")"));
  EXPECT_FALSE(holds("named(%y, \"sum\")"));
  EXPECT_FALSE(holds("attribute_is(%s, \"axis\", 1)"));
}

TEST_F(RuleText, ASymbolIsOneSizeAndAnUnknownSizeIsNone) {
  const auto holds = [&](const std::string& constraint, const std::string& a,
                         const std::string& b) {
    Parse("module {input_names:strings[\"a\",\"b\"],output_names:strings[\"y\"]} (%0: tensor<" + a +
          ">, %1: tensor<" + b +
          ">) {\n"
          " (%2) = \"onnx.Less\" (%0, %1) {} : (tensor<" +
          a + ">, tensor<" + b +
          ">) -> tensor<*xbool>\n"
          " () = \"builtin.return\" (%2) {} : (tensor<*xbool>) ->\n}\n");
    return ApplyText("rule r {\n source { %y = onnx.Less(%a, %b) }\n require \"c\" " + constraint +
                     "(%a, %b)\n result { !0 = onnx.Greater(%b, %a) } replace %y with !0\n}") == 1;
  };
  for (const std::string constraint : {"same_type", "same_shape"}) {
    EXPECT_TRUE(holds(constraint, "\"N\"x8xf32", "\"N\"x8xf32")) << constraint << reason;
    EXPECT_TRUE(holds(constraint, "2x8xf32", "2x8xf32")) << constraint << reason;
    EXPECT_FALSE(holds(constraint, "\"N\"x8xf32", "\"M\"x8xf32")) << constraint;
    EXPECT_FALSE(holds(constraint, "\"N\"x8xf32", "2x8xf32")) << constraint;
    EXPECT_FALSE(holds(constraint, "?x8xf32", "?x8xf32")) << constraint;
    EXPECT_FALSE(holds(constraint, "*xf32", "*xf32")) << constraint;
  }
}

TEST_F(RuleText, NamesTheMistakeAndItsPlace) {
  const auto refusal = [&](std::string_view source, std::string_view rest) {
    return Refusal("rule r {\nsource {\n" + std::string(source) + "\n}\n" + std::string(rest) +
                   "\n}");
  };
  const std::string ok = "result { !0 = onnx.Abs(%x) } replace %y with !0";
  EXPECT_EQ(refusal("%y = onnx.Relux(%x)", ok),
            "r.weft:3:6: error: no op is called 'onnx.Relux'; did you mean 'onnx.Relu'?");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x, %z)", ok),
            "r.weft:3:15: error: onnx.Relu takes at most 1 operands, not 2");
  EXPECT_EQ(refusal("%y = onnx.Add(%x)", ok),
            "r.weft:3:14: error: operand 'y' of onnx.Add is not given");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x) %y = onnx.Abs(%x)", ok),
            "r.weft:3:20: error: %y is made twice");
  EXPECT_EQ(refusal("%y = onnx.LeakyRelu{alhpa: 1.0}(%x)", ok),
            "r.weft:3:21: error: onnx.LeakyRelu has no attribute 'alhpa'; did you mean 'alpha'?");
  EXPECT_EQ(refusal("%y = onnx.Cast(%x)", ok),
            "r.weft:3:15: error: attribute 'to' of onnx.Cast has no default: give a value, a "
            "variable or any");
  EXPECT_EQ(refusal("%y = onnx.Relu(%a) %a = onnx.Abs(%y)", ok),
            "r.weft:6:2: error: rule r: %y is made from itself");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x)", "result { !0 = onnx.Abs(!1) } replace %y with !0"),
            "r.weft:5:24: error: !1 is not made above");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x)", "require \"c\" contsant(%x) " + ok),
            "r.weft:5:13: error: unknown constraint 'contsant'; did you mean 'constant'?");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x)", "require \"c\" rank_is(%x) " + ok),
            "r.weft:5:13: error: constraint 'rank_is' takes 2 arguments but has 1");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x)", "require \"c\" rank_is(%x, \"2\") " + ok),
            "r.weft:5:13: error: argument 2 of 'rank_is' must be an integer");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x)",
                    "result { !0 = onnx.LeakyRelu{alpha: $a}(%x) } replace %y with !0"),
            "r.weft:5:37: error: no source op binds this variable");
  EXPECT_EQ(refusal("%y = onnx.Relu(%x)", ""), "r.weft:6:2: error: rule r replaces nothing");
  EXPECT_EQ(
      refusal("%y = onnx.Relu(%x)", "result { !0 = onnx.Abs(%x) } replace %x with !0"),
      "r.weft:3: error: [r] onnx.Relu ends the source block but nothing replaces %y; add 'replace "
      "%y with ...'");
  EXPECT_EQ(Refusal("rule r {\n after native }"),
            "r.weft:2:2: error: what runs after the replacement is native code: it can only be "
            "written in C++");
  EXPECT_EQ(Refusal("rule r {\n"),
            "r.weft:2:1: error: expected algebra, numerics, benefit, source, require, profitable, "
            "result or "
            "replace but found the end of the text");
}

TEST_F(RuleText, EveryWrongRuleOfAFileIsNamed) {
  const std::string rest = " result { !0 = onnx.Abs(%x) } replace %y with !0 }\n";
  const RuleFile file = ReadRules(
      "rule a { source { %y = onnx.Relux(%x) }" + rest + "rule b { source { %y = onnx.Relu(%x) }" +
          rest + "rule c { sorce { %y = onnx.Relu(%x) }" + rest +
          "rule { source { %y = onnx.Relu(%x) }" + rest +
          "rule \"d e\" { source { %y = onnx.Relu(%x, %z) }" + rest +
          "rule b { source { %y = onnx.Relu(%x) }" + rest +
          "rule f { source { %y = onnx.Relu(%x) %1 = onnx.Abs(%x) }" + rest,
      "r.weft", &context);
  EXPECT_TRUE(file.rules.empty());
  EXPECT_THAT(
      file.errors,
      ElementsAre(
          "r.weft:1:24: error: no op is called 'onnx.Relux'; did you mean 'onnx.Relu'?",
          "r.weft:3:10: error: expected algebra, numerics, benefit, source, require, profitable, "
          "result or "
          "replace but found 'sorce'",
          "r.weft:4:6: error: expected the name of the rule but found '{'",
          "r.weft:5:37: error: onnx.Relu takes at most 1 operands, not 2",
          "r.weft:6:8: error: two rules are called 'b'",
          "r.weft:7: error: [f] onnx.Abs ends the source block but nothing replaces %1; add "
          "'replace %1 with ...'"));
}

TEST_F(RuleText, OnlyARuleIsTakenForTheNextRule) {
  const std::string ok = "rule ok { source { %y = onnx.Relu(%x) } replace %y with %x }\n";
  const auto errors = [&](const std::string& text) {
    const RuleFile file = ReadRules(text, "r.weft", &context);
    EXPECT_TRUE(file.rules.empty());
    return file.errors;
  };
  // In a string, in a comment, as a part of another word, as the name of a value.
  EXPECT_THAT(
      errors("rule a { wrong \"\nrule b { \" // rule c {\n overrule d { %rule e { }\n" + ok),
      ElementsAre(HasSubstr("but found 'wrong'"), HasSubstr("r.weft:2:10: error: ")));
  // A brace or a quote is missing: the next rule is found all the same.
  EXPECT_THAT(errors("rule a { source { %y = onnx.Relu(%x) } replace %y with %x\n" + ok),
              ElementsAre(HasSubstr("r.weft:2:1: error: expected algebra, ")));
  EXPECT_THAT(errors("rule a { require \"c constant(%x)\n" + ok + "rule z { z }"),
              ElementsAre(HasSubstr("r.weft:1:18: error: "), HasSubstr("but found 'z'")));
}

TEST_F(RuleText, MistakesBeyondTheFirstTwentyAreCounted) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += "rule r" + std::to_string(i) + " { wrong }\n";
  const RuleFile file = ReadRules(text, "r.weft", &context);
  ASSERT_EQ(file.errors.size(), 21u);
  EXPECT_THAT(file.errors[19], HasSubstr("r.weft:20:"));
  EXPECT_EQ(file.errors[20], "r.weft: error: 5 more mistakes");
}

TEST_F(RuleText, SpeaksOfARuleInTheWordsOfTheText) {
  const RuleFile file = ReadRules(
      R"(rule r {
 source { %y = onnx.Softmax{axis: $a}(%2) optional %b list %xs %u = onnx.Concat{...}(%xs) not %2 %3 }
 result { !0 = onnx.Add(%2, %w) !1 = like %u(%xs*) !2 = each onnx.Abs(%2) !3 = onnx.Relu(none) }
 replace %y with !0
})",
      "r.weft", &context);
  EXPECT_GE(file.errors.size(), 8u) << testing::PrintToString(file.errors);
  for (const std::string& error : file.errors)
    for (const char* cpp : {"()", "Tensor", "res.", "src.", "value of line", "pattern", "'b'"})
      EXPECT_THAT(error, testing::Not(HasSubstr(cpp)));
}

}  // namespace
}  // namespace weft::drr::text
