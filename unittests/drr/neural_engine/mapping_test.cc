// Mapping dicts: what each key means, and what is refused.
#include <fmt/format.h>

#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The body of a program on x, y [2,4] and b [4] whose outputs are the last values.
std::string Program(std::string_view body, std::string_view outputs, std::string_view types) {
  const bool two = outputs.find(',') != std::string_view::npos;
  return fmt::format(
      "module {{input_names:strings[\"x\",\"y\",\"b\"],output_names:strings[{}]}} (%0: "
      "tensor<2x4xf32>, %1: tensor<2x4xf32>, %2: tensor<4xf32>) {{\n{}\n () = \"builtin.return\" "
      "({}) {{}} : ({}) ->\n}}\n",
      two ? "\"u\",\"v\"" : "\"u\"", body, outputs, types);
}
std::string Unary(int to, std::string_view op, int from, std::string_view name = "") {
  return fmt::format("(%{}) = \"onnx.{}\" (%{}) {{}} : (tensor<2x4xf32>) -> tensor<2x4xf32>{}\n",
                     to, op, from, name.empty() ? "" : fmt::format(" loc(\"{}\")", name));
}
std::string Binary(int to, std::string_view op, int a, int b, std::string_view name = "") {
  const auto type = [](int v) { return v == 2 ? "tensor<4xf32>" : "tensor<2x4xf32>"; };
  return fmt::format("(%{}) = \"onnx.{}\" (%{}, %{}) {{}} : ({}, {}) -> tensor<2x4xf32>{}\n", to,
                     op, a, b, type(a), type(b),
                     name.empty() ? "" : fmt::format(" loc(\"{}\")", name));
}
std::string Returns(std::string_view body, int value) {
  return Program(body, fmt::format("%{}", value), "tensor<2x4xf32>");
}

// A dict with the parts given.
std::string Dict(std::string_view in, std::string_view out, std::string_view inputs,
                 std::string_view outputs, std::string_view more = "") {
  return fmt::format(
      "{{'patterns': {{'in': {}, 'out': {}}},\n'search_mode': 'op_type',\n"
      "'input_tensors': {},\n'output_tensors': {},\n'returns': []{}{}}}",
      in, out, inputs, outputs, more.empty() ? "" : ",\n", more);
}

class MappingDict : public TextRuleTest {};

// Div(Tanh(x), y) or Div(y, Tanh(x)) => Sub
constexpr std::string_view kEitherSide = "{0: [[{0: [0]}, {1: [0, 1]}], [[0, 1], 2]]}";

TEST_F(MappingDict, AnEdgeLeadsToAnyOperandAndAlternativeIndicesNameTheOtherOne) {
  const std::string dict = Dict("[[(0, 'Tanh'), (1, 'Div')]]", "[[(0, 'Sub')]]", kEitherSide,
                                "{0: [[{1: [0]}], [[0], 1]]}");
  for (const bool swapped : {false, true}) {
    Parse(Returns(Unary(3, "Tanh", 0) + Binary(4, "Div", swapped ? 1 : 3, swapped ? 3 : 1), 4));
    EXPECT_EQ(ApplyText(dict), 1u) << reason;
    EXPECT_THAT(Print(), HasSubstr("\"onnx.Sub\" (%0, %1)"));
  }
}

TEST_F(MappingDict, AFixedIndexLeavesTheOtherOperandToTheChain) {
  const std::string dict =
      Dict("[[(0, 'Tanh'), (1, 'Div')]]", "[[(0, 'Sub')]]",
           "{0: [[{0: [0]}, {1: [1]}], [[0, 1], 2]]}", "{0: [[{1: [0]}], [[0], 1]]}");
  Parse(Returns(Unary(3, "Tanh", 0) + Binary(4, "Div", 3, 1), 4));
  EXPECT_EQ(ApplyText(dict), 1u);
  Parse(Returns(Unary(3, "Tanh", 0) + Binary(4, "Div", 1, 3), 4));
  EXPECT_EQ(ApplyText(dict), 0u);
}

TEST_F(MappingDict, OperandsSayWhereAnEdgeLeads) {
  const std::string dict = Dict("[[(0, 'Tanh'), (1, 'Div')]]", "[[(0, 'Sub')]]", kEitherSide,
                                "{0: [[{1: [0]}], [[0], 1]]}", "'operands': {1: {0: 1}}");
  Parse(Returns(Unary(3, "Tanh", 0) + Binary(4, "Div", 1, 3), 4));
  EXPECT_EQ(ApplyText(dict), 1u) << reason;
  Parse(Returns(Unary(3, "Tanh", 0) + Binary(4, "Div", 3, 1), 4));
  EXPECT_EQ(ApplyText(dict), 0u);
}

TEST_F(MappingDict, TypesMayBeAlternativesOfOneArityOrOfSeveral) {
  const std::string dict =
      Dict("[[(0, ['Tanh', 'Relu', 'Add']), (1, 'Exp')]]", "[[(0, 'Sigmoid')]]",
           "{0: [[{0: [0]}], [[0], 1]]}", "{0: [[{1: [0]}], [[0], 1]]}");
  EXPECT_EQ(Read(dict).rules.size(), 2u);  // the unary types, and Add
  for (const std::string& first :
       {Unary(3, "Tanh", 0), Unary(3, "Relu", 0), Binary(3, "Add", 0, 1)}) {
    Parse(Returns(first + Unary(4, "Exp", 3), 4));
    EXPECT_EQ(ApplyText(dict), 1u) << first;
  }
  Parse(Returns(Unary(3, "Abs", 0) + Unary(4, "Exp", 3), 4));
  EXPECT_EQ(ApplyText(dict), 0u);
}

TEST_F(MappingDict, ASubChainJoinsTwoNodesOfTheFirstChain) {
  // x * tanh(exp(x)) with exp shared: Exp -> Tanh -> Mul and Exp -> Mul.
  const std::string dict =
      Dict("[[(0, 'Exp'), (1, 'Tanh'), (3, 'Mul')], [(0, 'Exp'), (2, 'Relu'), (3, 'Mul')]]",
           "[[(0, 'Sigmoid')]]", "{0: [[{0: [0]}], [[0], 1]]}", "{0: [[{3: [0]}], [[0], 1]]}");
  Parse(Returns(
      Unary(3, "Exp", 0) + Unary(4, "Tanh", 3) + Unary(5, "Relu", 3) + Binary(6, "Mul", 5, 4), 6));
  EXPECT_EQ(ApplyText(dict), 1u) << reason;
  Parse(Returns(Unary(3, "Exp", 0) + Unary(7, "Exp", 1) + Unary(4, "Tanh", 3) +
                    Unary(5, "Relu", 7) + Binary(6, "Mul", 5, 4),
                6));
  EXPECT_EQ(ApplyText(dict), 0u);
}

TEST_F(MappingDict, ASubChainWithAnEmptyHeadStartsOutside) {
  const std::string dict =
      Dict("[[(0, 'Tanh'), (2, 'Mul')], [(), (1, 'Relu'), (2, 'Mul')]]", "[[(0, 'Add')]]",
           "{0: [[{0: [0]}, {1: [0]}], [[0, 1], 2]]}", "{0: [[{2: [0]}], [[0], 1]]}");
  Parse(Returns(Unary(3, "Tanh", 0) + Unary(4, "Relu", 1) + Binary(5, "Mul", 4, 3), 5));
  EXPECT_EQ(ApplyText(dict), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("\"onnx.Add\" (%0, %1)"));
}

TEST_F(MappingDict, NewNodesInAChainReadEachOther) {
  const std::string dict = Dict("[[(0, 'Exp')]]", "[[(0, 'Tanh'), (1, 'Add')]]",
                                "{0: [[{0: [0]}], [[0], 1]], 1: [[{0: [0]}], [[1], 2]]}",
                                "{0: [[], [[], 1]], 1: [[{0: [0]}], [[0], 1]]}");
  Parse(Returns(Unary(3, "Exp", 0), 3));
  EXPECT_EQ(ApplyText(dict), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("(%3) = \"onnx.Tanh\" (%0)"));
  EXPECT_THAT(Print(), HasSubstr("\"onnx.Add\" (%3, %0)"));
}

TEST_F(MappingDict, NewNodesAreNamedAfterOldOnesOrByTheFile) {
  const std::string body = Unary(3, "Tanh", 0, "first") + Unary(4, "Exp", 3, "last");
  const auto named = [&](std::string_view names) {
    Parse(Returns(body, 4));
    EXPECT_EQ(ApplyText(Dict("[[(0, 'Tanh'), (1, 'Exp')]]", "[[(0, 'Relu')]]",
                             "{0: [[{0: [0]}], [[0], 1]]}", "{0: [[{1: [0]}], [[0], 1]]}", names)),
              1u);
    return Print();
  };
  EXPECT_THAT(named("'node_names': {0: 0}"), HasSubstr("loc(\"first\")"));
  EXPECT_THAT(named("'node_names': {0: 1}"), HasSubstr("loc(\"last\")"));
  EXPECT_THAT(named("'node_names': {0: 'mine'}"), HasSubstr("loc(\"mine\")"));
}

TEST_F(MappingDict, AValueThatOthersReadIsKeptOnlyOnRequest) {
  const std::string program = Program(Unary(3, "Tanh", 0) + Unary(4, "Exp", 3), "%3, %4",
                                      "tensor<2x4xf32>, tensor<2x4xf32>");
  const auto dict = [](std::string_view more) {
    return Dict("[[(0, 'Tanh'), (1, 'Exp')]]", "[[(0, 'Relu')]]", "{0: [[{0: [0]}], [[0], 1]]}",
                "{0: [[{1: [0]}], [[0], 1]]}", more);
  };
  Parse(program);
  EXPECT_EQ(ApplyText(dict("")), 0u);
  EXPECT_THAT(reason, HasSubstr("intermediate"));
  EXPECT_EQ(ApplyText(dict("'single_use': False")), 1u);
  EXPECT_EQ(Count("onnx.Tanh"), 1u);
}

TEST_F(MappingDict, NodeNameModeMatchesTheNodesThatAreNamed) {
  const std::string program = Returns(
      Unary(3, "Tanh", 0, "a/tanh") + Binary(4, "Sub", 1, 3, "a/sub") + Unary(5, "Tanh", 4, "b"),
      5);
  const auto dict = [](std::string_view first) {
    return fmt::format(
        "{{'patterns': {{'in': [[(0, '{}'), (1, 'a/sub')]], 'out': [[(0, 'Add')]]}},\n"
        "'search_mode': 'node_name', 'node_names': {{0: 1}},\n"
        "'input_tensors': {{0: [[{{0: [0]}}, {{1: [0]}}], [[0, 1], 2]]}},\n"
        "'output_tensors': {{0: [[{{1: [0]}}], [[0], 1]]}}, 'returns': []}}",
        first);
  };
  Parse(program);
  EXPECT_EQ(ApplyText(dict("a/tanh")), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("\"onnx.Add\" (%0, %1) {} : (tensor<2x4xf32>, tensor<2x4xf32>) -> "
                                 "tensor<2x4xf32> loc(\"a/sub\")"));
  EXPECT_EQ(Count("onnx.Tanh"), 1u);
  Parse(program);
  const RuleFile file = Read(dict("a/none"));
  EXPECT_THAT(file.rules, IsEmpty());
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("the program has no node 'a/none'")));
}

TEST_F(MappingDict, AnInputMayComeFromANodeOutsideOfThePattern) {
  const auto dict = [](std::string_view node) {
    return Dict("[[(0, 'Exp')]]", "[[(0, 'Add')]]",
                fmt::format("{{0: [[{{0: [0]}}, {{'{}': [-1]}}], [[0, 1], 2]]}}", node),
                "{0: [[{0: [0]}], [[0], 1]]}");
  };
  Parse(
      Returns(Unary(3, "Tanh", 1, "early") + Unary(4, "Exp", 0) + Unary(5, "Relu", 4, "late"), 5));
  EXPECT_EQ(ApplyText(dict("early")), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("\"onnx.Add\" (%0, %3)"));
  Parse(
      Returns(Unary(3, "Tanh", 1, "early") + Unary(4, "Exp", 0) + Unary(5, "Relu", 4, "late"), 5));
  EXPECT_EQ(ApplyText(dict("late")), 0u);
  EXPECT_EQ(reason, "node 'late' is gone or comes too late");
  EXPECT_THAT(Mistake(dict("nowhere")), HasSubstr("the program has no node 'nowhere'"));
  program.reset();
  EXPECT_THAT(Mistake(dict("early")), HasSubstr("there is none"));
}

TEST_F(MappingDict, ChecksRefuseOtherAttributesAndConstants) {
  const std::string constant =
      "(%3) = \"builtin.constant\" () {value:dense<tensor<2x4xf32>, [2.0,2.0,2.0,2.0,2.0,2.0,2.0,"
      "2.0]>} : () -> tensor<2x4xf32>\n";
  const auto leaky = [](double alpha) {
    return fmt::format(
        "(%4) = \"onnx.LeakyRelu\" (%0) {{alpha:{}}} : (tensor<2x4xf32>) -> "
        "tensor<2x4xf32>\n",
        alpha);
  };
  const auto dict = [](std::string_view number) {
    return Dict("[[(0, 'LeakyRelu'), (1, 'Mul')]]", "[[(0, 'Relu')]]",
                "{0: [[{0: [0]}], [[0], 1]]}", "{0: [[{1: [0]}], [[0], 1]]}",
                fmt::format("'checks': {{0: {{'attrs': {{'alpha': 0.5}}}}, 1: {{'inputs': {{1: "
                            "{}}}}}}}",
                            number));
  };
  Parse(Returns(constant + leaky(0.5) + Binary(5, "Mul", 3, 4), 5));
  EXPECT_EQ(ApplyText(dict("3")), 0u);
  EXPECT_THAT(reason, HasSubstr("input 1 of node 1 is 3"));
  EXPECT_EQ(ApplyText(dict("2.0")), 1u) << reason;
  Parse(Returns(constant + leaky(0.25) + Binary(5, "Mul", 3, 4), 5));
  EXPECT_EQ(ApplyText(dict("2.0")), 0u);
}

TEST_F(MappingDict, AttributesComeFromTheFileOrFromNodesThatAreReturned) {
  const std::string constant =
      "(%3) = \"builtin.constant\" () {value:dense<tensor<f32>, [0.75]>} : () -> tensor<f32>\n";
  const std::string program =
      constant +
      "(%4) = \"onnx.LeakyRelu\" (%0) {alpha:0.5} : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"
      "(%5) = \"onnx.Mul\" (%4, %3) {} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>\n";
  Parse(Returns(program, 5));
  std::string dict =
      Dict("[[(0, 'LeakyRelu'), (1, 'Mul')]]", "[[(0, 'HardSigmoid')]]",
           "{0: [[{0: [0]}], [[0], 1]]}", "{0: [[{1: [0]}], [[0], 1]]}",
           "'attrs': {0: {'alpha': [0, 'alpha'], 'beta': {'return': 1, 'input': 1}}}");
  dict.replace(dict.find("'returns': []"), 13, "'returns': [0, 1]");
  EXPECT_EQ(ApplyText(dict), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("\"onnx.HardSigmoid\" (%0) {alpha:0.5,beta:0.75}"));
}

// MatMul + Add => fused.linear, of which the reference body is looked at.
constexpr std::string_view kLinear =
    "{'patterns': {'in': [[(0, 'MatMul'), (1, 'Add')]], 'out': [[(0, 'InnerProduct')]]},\n"
    "'input_tensors': {0: [[{0: [0]}, {0: [1]}, {1: [0, 1]}], [[0, 1, 2], 3]]},\n"
    "'output_tensors': {0: [[{1: [0]}], [[0], 1]]}, 'returns': []}";

TEST_F(MappingDict, TheReferenceBodyTellsABiasFromASum) {
  const std::string product =
      "(%3) = \"builtin.constant\" () {value:dense<tensor<4x4xf32>, [1.0,2.0,3.0,4.0,1.0,2.0,3.0,"
      "4.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0]>} : () -> tensor<4x4xf32>\n"
      "(%4) = \"onnx.MatMul\" (%0, %3) {} : (tensor<2x4xf32>, tensor<4x4xf32>) -> "
      "tensor<2x4xf32>\n";
  Parse(Returns(product + Binary(5, "Add", 2, 4), 5));
  EXPECT_EQ(ApplyText(kLinear), 1u) << reason;
  EXPECT_THAT(Print(), HasSubstr("\"fused.linear\" (%0, %3, %2) {activation:\"none\",activation_"
                                 "params:floats[],transpose_w:false}"));
  Parse(Returns(product + Binary(5, "Add", 4, 1), 5));
  EXPECT_EQ(ApplyText(kLinear), 0u);
  EXPECT_THAT(reason, HasSubstr("bias is [2,4] but must be [4]"));
}

TEST_F(MappingDict, JsonAndPythonSayTheSame) {
  const std::string json =
      R"({"my-rule": [{"patterns": {"in": [[[0, "Tanh"], [1, ["Exp", "Relu"]]]], "out": [[[0, "Abs"]]]},
 "input_tensors": {"0": [[{"0": [0]}], [[0], 1]]}, "output_tensors": {"0": [[{"1": [0]}], [[0], 1]]}}]})";
  Parse(Returns(Unary(3, "Tanh", 0) + Unary(4, "Relu", 3), 4));
  const RuleFile file = Read(json);
  ASSERT_EQ(file.rules.size(), 1u);
  EXPECT_EQ(file.rules[0]->name, "my-rule");
  EXPECT_EQ(file.rules[0]->benefit, 2);
  EXPECT_EQ(Apply(file), 1u);
}

TEST_F(MappingDict, WarnsAboutKeysThatMeanNothingAndInputsThatAreDropped) {
  const RuleFile file =
      Read(Dict("[[(0, 'Tanh'), (1, 'Add')]]", "[[(0, 'Exp')]]", "{0: [[{0: [0]}], [[0], 1]]}",
                "{0: [[{1: [0]}], [[0], 1]]}", "'singel_use': True"));
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_THAT(file.warnings,
              ElementsAre("rules.py:6:1: warning: the key 'singel_use' means nothing here; did you "
                          "mean 'single_use'?",
                          "rules.py:1:36: warning: nothing checks or reads an input of node 1: the "
                          "rule drops it"));
}

TEST_F(MappingDict, NamesEveryMistakeWithItsPlace) {
  const std::string in = "[[(0, 'Tanh'), (1, 'Div')]]", out = "[[(0, 'Sub')]]";
  const std::string outputs = "{0: [[{1: [0]}], [[0], 1]]}";
  const std::string inputs(kEitherSide);
  const auto mistake = [&](std::string_view in_, std::string_view out_, std::string_view inputs_,
                           std::string_view outputs_, std::string_view more = "") {
    return Mistake(Dict(in_, out_, inputs_, outputs_, more));
  };
  EXPECT_EQ(mistake("[[(0, 'Tanh'), (1, 'Dvi')]]", out, inputs, outputs),
            "rules.py:1:36: error: no op is called 'Dvi'; did you mean 'Div'?");
  EXPECT_EQ(mistake("[[(0, 'Ta\\nh'), (1, 'Div')]]", out, inputs, outputs),
            "rules.py:1:23: error: no op is called 'Ta\\x0ah'; did you mean 'Tanh'?");
  EXPECT_EQ(mistake(in, "[[(0, 'fused.nothing_alike')]]", inputs, outputs),
            "rules.py:1:59: error: no op is called 'fused.nothing_alike'");
  EXPECT_EQ(mistake("[]", out, inputs, outputs),
            "rules.py:1:21: error: 'in' must be a list of chains, not an empty list");
  EXPECT_EQ(mistake("[[(0, 'Tanh', 3)]]", out, inputs, outputs),
            "rules.py:1:23: error: expected (index, type) but found a tuple");
  EXPECT_EQ(
      mistake("[[(0, 'Tanh'), (2, 'Div')], [(), (3, 'Exp'), (2, 'Div')]]", out, inputs, outputs),
      "rules.py:1:21: error: there is no node 1, but a node 3");
  EXPECT_EQ(
      mistake("[[(0, 'Tanh'), (1, 'Div')], [(), (2, 'Exp'), (1, 'Div')]]", out, inputs, outputs),
      "rules.py:1:21: error: the last node of the first chain must have the highest index, "
      "2, not 1");
  EXPECT_EQ(mistake("[[(0, 'Tanh'), (2, 'Div')], [(1, 'Exp'), (2, 'Div')]]", out, inputs, outputs),
            "rules.py:1:50: error: node 1 is not in the first chain; a chain whose head is outside "
            "starts with ()");
  EXPECT_EQ(mistake("[[(0, 'Tanh'), (1, 'Exp'), (3, 'Div')], [(1, 'Exp'), (2, 'Exp'), (0, "
                    "'Tanh')]]",
                    out, inputs, outputs),
            "rules.py:1:21: error: node 0 reads its own result");
  EXPECT_EQ(mistake(in, out, "{0: [[{5: [0]}], [[0], 1]]}", outputs),
            "rules.py:3:25: error: 5 is not a node of 'in': they are 0 to 1");
  EXPECT_EQ(mistake(in, out, "{0: [[{0: [0]}], [[0, 1], 2]]}", outputs),
            "rules.py:3:35: error: 1 tensors but 2 places");
  EXPECT_EQ(mistake(in, out, "{0: [[{0: [0]}], [[0], 2]]}", outputs),
            "rules.py:3:22: error: node 0 of 'out' has 2 inputs, but 1 are given");
  EXPECT_EQ(mistake(in, out, "{0: [[{0: [0]}], [[0], 1]]}", outputs),
            "rules.py:3:22: error: onnx.Sub takes 2 to 2 inputs, not 1");
  EXPECT_EQ(mistake(in, out, "{0: [[{0: [3]}, {1: [0]}], [[0, 1], 2]]}", outputs),
            "rules.py:1:23: error: onnx.Tanh has no input 3");
  EXPECT_EQ(
      mistake(in, out, "{0: [[{1: [1]}, {1: [0]}], [[0, 1], 2]]}", outputs),
      "rules.py:1:36: error: node 1 reads 1 nodes of the pattern, but has no operand left for "
      "it");
  EXPECT_EQ(mistake(in, out, inputs, "{}"),
            "rules.py:1:59: error: no node of 'out' gives what node 1, the last of 'in', gave; see "
            "'output_tensors'");
  EXPECT_EQ(mistake(in, out, inputs, "{0: [[{1: [4]}], [[0], 1]]}"),
            "rules.py:1:36: error: onnx.Div has no output 4");
  EXPECT_EQ(mistake(in, "[[(0, 'Softmax')]]", "{0: [[{0: [0]}], [[0], 1]]}", outputs),
            "rules.py:1:59: error: onnx.Softmax has no reference body to read its attributes off: "
            "give 'attrs' for node 0 of 'out' ({} for the defaults)");
  EXPECT_EQ(mistake(in, "[[(0, 'Softmax')]]", "{0: [[{0: [0]}], [[0], 1]]}", outputs,
                    "'attrs': {0: {'axsi': 1}}"),
            "rules.py:6:15: error: onnx.Softmax has no attribute 'axsi'; did you mean 'axis'?");
  EXPECT_EQ(mistake(in, "[[(0, 'Softmax')]]", "{0: [[{0: [0]}], [[0], 1]]}", outputs,
                    "'attrs': {0: {'axis': 'last'}}"),
            "rules.py:6:23: error: attribute 'axis' must be an integer, not 'last'");
  EXPECT_EQ(mistake(in, out, inputs, outputs, "'operands': {0: {1: 0}}"),
            "rules.py:6:18: error: no chain leads from node 1 to node 0");
  EXPECT_EQ(mistake(in, out, inputs, outputs, "'numerics': 'fast'"),
            "rules.py:6:13: error: 'numerics' must be 'exact', 'reassociates', 'approximate' or "
            "'changes-meaning', not "
            "'fast'");
  EXPECT_EQ(mistake(in, out, inputs, outputs, "'node_names': {0: 7}"),
            "rules.py:6:19: error: 7 is not a node of 'in': they are 0 to 1");
  EXPECT_EQ(Mistake("[1]"), "rules.py:1:2: error: expected a mapping dict but found 1");
  EXPECT_EQ(Mistake("{'patterns': {'in': 1}}"),
            "rules.py:1:14: error: 'patterns' must be a dict with 'in' and 'out'");
  EXPECT_EQ(Mistake("{'patterns': {'in': [[(0, 'Concat')]], 'out': [[(0, 'Add')]]}, "
                    "'input_tensors': {}, 'output_tensors': {}}"),
            "rules.py:1:23: error: onnx.Concat takes any number of operands, which chains cannot "
            "say");
}

TEST_F(MappingDict, NamesAllMistakesAtOnce) {
  const RuleFile read = Read(
      "[{'patterns': {'in': [[(0, 'Tahn'), (1, ['Dvi', 'Sub'])]], 'out': [[(0, 'Ralu')]]},\n"
      "'search_mode': 'op_tpye', 'numerics': 'fast', 'node_names': {0: 7},\n"
      "'input_tensors': {0: [[{5: [0]}], [[0], 1]]},\n"
      "'output_tensors': {0: [[{1: [0]}], [[0], 1]]}},\n"
      "{'patterns': {'in': [[(0, 'Tahn', 1)]], 'out': [[(1, 'Relu')]]}, 'benefit': 0},\n"
      "{'patterns': {'in': [[(0, 'Tanh'), (1, 'Div')]], 'out': [[(0, 'Softmax'), (1, 'Sub')]]},\n"
      "'input_tensors': {0: [[{0: [3]}], [[0], 1]], 1: [[], [[], 1]]},\n"
      "'output_tensors': {1: [[{1: [4]}], [[0], 1]]}}]");
  EXPECT_TRUE(read.rules.empty());
  EXPECT_THAT(
      read.errors,
      testing::UnorderedElementsAre(
          HasSubstr(":1:24: error: no op is called 'Tahn'; did you mean 'Tan'?"),
          HasSubstr(":1:37: error: no op is called 'Dvi'; did you mean 'Div'?"),
          HasSubstr(":1:69: error: no op is called 'Ralu'; did you mean 'Relu'?"),
          HasSubstr(":2:16: error: 'search_mode' must be 'op_type' or 'node_name', not 'op_tpye'"),
          HasSubstr(":2:39: error: 'numerics' must be"),
          HasSubstr(":2:65: error: 7 is not a node of 'in': they are 0 to 1"),
          HasSubstr(":3:25: error: 5 is not a node of 'in': they are 0 to 1"),
          HasSubstr(":5:23: error: expected (index, type) but found a tuple"),
          HasSubstr(":5:50: error: the next new node must be number 0, not 1"),
          HasSubstr(":5:77: error: 0 is not a benefit"),
          HasSubstr(":6:23: error: onnx.Tanh has no input 3"),
          HasSubstr(":6:36: error: onnx.Div has no output 4"),
          HasSubstr(":6:59: error: onnx.Softmax has no reference body"),
          HasSubstr(":7:49: error: onnx.Sub takes 2 to 2 inputs, not 1")));
}

}  // namespace
}  // namespace weft::drr::text
