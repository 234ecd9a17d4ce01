// ir-opt --rules-file, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "unittests/drr/neural_engine/layer_norm_dict.h"
#include "unittests/test_paths.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using drr::text::kLayerNormDict;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kLayerNorm =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x4xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<4xf32>, [1.5,-0.5,2.0,0.25]>} : () -> tensor<4xf32>
 (%2) = "builtin.constant" () {value:dense<tensor<4xf32>, [0.5,1.0,-1.0,3.0]>} : () -> tensor<4xf32>
 (%3) = "builtin.constant" () {value:dense<tensor<f32>, [2.0]>} : () -> tensor<f32>
 (%4) = "builtin.constant" () {value:dense<tensor<f32>, [0.25]>} : () -> tensor<f32>
 (%5) = "onnx.ReduceMean" (%0) {axes:array[-1],keepdims:1} : (tensor<2x4xf32>) -> tensor<2x1xf32>
 (%6) = "onnx.Sub" (%0, %5) {} : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
 (%7) = "onnx.Pow" (%6, %3) {} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
 (%8) = "onnx.ReduceMean" (%7) {axes:array[-1],keepdims:1} : (tensor<2x4xf32>) -> tensor<2x1xf32>
 (%9) = "onnx.Add" (%8, %4) {} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
 (%10) = "onnx.Sqrt" (%9) {} : (tensor<2x1xf32>) -> tensor<2x1xf32>
 (%11) = "onnx.Div" (%6, %10) {} : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
 (%12) = "onnx.Mul" (%11, %1) {} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
 (%13) = "onnx.Add" (%12, %2) {} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
 () = "builtin.return" (%13) {} : (tensor<2x4xf32>) ->
}
)";

// relu(relu(x)), twice.
constexpr const char* kRelus =
    R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<2x4xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2x4xf32>) -> tensor<2x4xf32>
 (%2) = "onnx.Tanh" (%1) {} : (tensor<2x4xf32>) -> tensor<2x4xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<2x4xf32>) -> tensor<2x4xf32>
 (%4) = "onnx.Tanh" (%3) {} : (tensor<2x4xf32>) -> tensor<2x4xf32>
 () = "builtin.return" (%2, %4) {} : (tensor<2x4xf32>, tensor<2x4xf32>) ->
}
)";

// Tanh(Relu(x)) => Sigmoid(x): the file is believed, since Sigmoid has no reference body.
constexpr const char* kToSigmoid =
    R"([{"patterns": {"in": [[[0, "Relu"], [1, "Tanh"]]], "out": [[[0, "Sigmoid"]]]},
  "search_mode": "op_type", "node_names": {"0": "gate"}, "numerics": "approximate", "name": "to-sigmoid",
  "input_tensors": {"0": [[{"0": [0]}], [[0], 1]]}, "output_tensors": {"0": [[{"1": [0]}], [[0], 1]]}, "returns": []}])";

// How files are read and their rules applied; rule_trust_test.cc has what is judged before.
class IrOptRulesFile : public IrOpt {
 protected:
  static Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ir-opt", "--pipeline", "none", "--trust-rules"});
    return RunProgram(std::move(arguments));
  }
};

TEST_F(IrOptRulesFile, AppliesTheLayerNormOfTheDocumentationAsItIsPrintedThere) {
  const Outcome outcome = Run({Write("a.ir", kLayerNorm), "--rules-file",
                               Write("layer_norm.py", std::string(kLayerNormDict))});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, HasSubstr("\"fused.layer_norm\" (%0, %1, %2) {axis:-1,epsilon:0.25}"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("onnx.Sub")));
}

// The elements of a tensor file of 2x4 floats, which end it.
std::vector<float> Elements(const std::string& file) {
  std::vector<float> elements(8);
  if (file.size() > 32) std::memcpy(elements.data(), file.data() + file.size() - 32, 32);
  return elements;
}

TEST_F(IrOptRulesFile, TheLayerNormComputesWhatItsPartsDid) {
  const std::string before = Write("a.ir", kLayerNorm), after = Path("b.ir");
  EXPECT_EQ(Run({before, "--rules-file", Write("layer_norm.py", std::string(kLayerNormDict)), "-o",
                 after})
                .code,
            0);
  std::vector<std::vector<float>> results;
  for (const std::string& model : {before, after}) {
    const Outcome outcome = RunProgram({"ir-run", model, "--pipeline", "none", "--random-inputs",
                                        "3", "--output-dir", Path("out")});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    results.push_back(Elements(ReadFile(Path("out/output_0.pb"))));
  }
  EXPECT_NE(results[0][0], results[0][1]);
  EXPECT_THAT(results[1], ::testing::Pointwise(::testing::FloatNear(1e-5f), results[0]));
}

TEST_F(IrOptRulesFile, NumbersTheNamesOfSeveralNewNodes) {
  const Outcome outcome = Run({Write("a.ir", kRelus), "--rules-file", Write("r.json", kToSigmoid),
                               "--numerics", "approximate", "-o", Path("b.onnx")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string onnx = ReadFile(Path("b.onnx"));
  EXPECT_THAT(onnx, AllOf(HasSubstr("gate_0"), HasSubstr("gate_1"), Not(HasSubstr("gate_2"))));
}

TEST_F(IrOptRulesFile, KeepsToTheNumericContractOfTheRun) {
  const Outcome outcome = Run({Write("a.ir", kRelus), "--rules-file", Write("r.json", kToSigmoid)});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("onnx.Sigmoid")));
}

TEST_F(IrOptRulesFile, CountsInTheStatistics) {
  const Outcome outcome = Run({Write("a.ir", kLayerNorm), "--rules-file",
                               Write("layer_norm.py", std::string(kLayerNormDict)), "--stats"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("rules-file"), HasSubstr("layer-norm")));
}

TEST_F(IrOptRulesFile, RefusesABadFileLineByLineAndWritesNothing) {
  std::string bad(kToSigmoid);
  bad.replace(bad.find("{\"0\": \"gate\"}"), 13, "{\"9\": \"gate\"}");
  bad.replace(bad.find("\"approximate\""), 13, "\"approximat\"");
  const Outcome outcome =
      Run({Write("a.ir", kRelus), "--rules-file", Write("bad.json", bad), "-o", Path("b.ir")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              HasSubstr("bad.json:2:44: error: 9 is not a node of 'out': they are 0 to 0\n"));
  EXPECT_THAT(outcome.err, HasSubstr("bad.json:2:70: error: 'numerics' must be 'exact', "));
  EXPECT_EQ(CountOf(outcome.err, "\n"), 2u) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(Files(), ElementsAre("a.ir", "bad.json"));
}

TEST_F(IrOptRulesFile, NamesAnOpThatDoesNotExistWithThePlace) {
  std::string bad(kToSigmoid);
  bad.replace(bad.find("\"Relu\""), 6, "\"Rellu\"");
  const Outcome outcome = Run({Write("a.ir", kRelus), "--rules-file", Write("bad.json", bad)});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("bad.json:1:24: error: no op is called 'Rellu'; did you mean "
                                     "'Relu'?"));
}

// Attention with a mask, and a linear layer whose bias comes first.
constexpr const char* kAttention =
    R"(module {input_names:strings["q","k","v","m","x","w"],output_names:strings["y","z"]} (%0: tensor<1x2x4x8xf32>, %1: tensor<1x2x4x8xf32>, %2: tensor<1x2x4x8xf32>, %3: tensor<4x4xf32>, %4: tensor<4x8xf32>, %5: tensor<8x3xf32>) {
 (%6) = "builtin.constant" () {value:dense<tensor<f32>, [4.0]>} : () -> tensor<f32>
 (%7) = "onnx.Transpose" (%1) {perm:array[0,1,3,2]} : (tensor<1x2x4x8xf32>) -> tensor<1x2x8x4xf32>
 (%8) = "onnx.MatMul" (%0, %7) {} : (tensor<1x2x4x8xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x4x4xf32>
 (%9) = "onnx.Div" (%8, %6) {} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
 (%10) = "onnx.Add" (%9, %3) {} : (tensor<1x2x4x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4x4xf32>
 (%11) = "onnx.Softmax" (%10) {axis:3} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
 (%12) = "onnx.MatMul" (%11, %2) {} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
 (%13) = "builtin.constant" () {value:dense<tensor<3xf32>, [4.0,1.0,0.5]>} : () -> tensor<3xf32>
 (%14) = "onnx.MatMul" (%4, %5) {} : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
 (%15) = "onnx.Add" (%13, %14) {} : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
 (%16) = "onnx.Tanh" (%15) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
 () = "builtin.return" (%12, %16) {} : (tensor<1x2x4x8xf32>, tensor<4x3xf32>) ->
}
)";

// A file of the library.
std::string Dicts(const std::string& name) {
  return fixtures::TestData("/../passes/targets/neural_engine/") + name;
}

TEST_F(IrOptRulesFile, SeveralFilesRunTogether) {
  const std::vector<std::string> dicts = {"--rules-file", Dicts("attention.json"), "--rules-file",
                                          Dicts("matmul.json")};
  const auto run = [&](const std::string& model) {
    std::vector<std::string> arguments = dicts;
    arguments.push_back(model);
    return Run(arguments);
  };
  const Outcome attention = run(Write("b.ir", kAttention));
  EXPECT_THAT(attention.err, IsEmpty());
  EXPECT_THAT(attention.out,
              HasSubstr("\"fused.attention\" (%0, %1, %2, %3) {fill:0.0,layout:\"bhsd\","
                        "scale:0.25,zero_nan:false}"));
  EXPECT_THAT(attention.out, HasSubstr("{activation:\"tanh\","));
  std::string other(kAttention);  // softmax over the queries
  other.replace(other.find("axis:3"), 6, "axis:2");
  EXPECT_THAT(run(Write("c.ir", other)).out, Not(HasSubstr("fused.attention")));
}

TEST_F(IrOptRulesFile, RefusesTwoFilesWithRulesOfOneName) {
  const Outcome outcome = Run({Write("a.ir", kRelus), "--rules-file", Write("1.json", kToSigmoid),
                               "--rules-file", Write("2.json", kToSigmoid)});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("2.json: a rule before it is called 'to-sigmoid' too"));
}

TEST_F(IrOptRulesFile, ListsTheRulesOfFiles) {
  const Outcome outcome = Run({"--list-rules", "--rules-file", Dicts("rms_norm.json"),
                               "--rules-file", Dicts("qkv_merge.weft")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("rms-norm-div +rms_norm.json +reassociates +default +Pow, "
                                         "ReduceMean, Add, Sqrt, Div, Mul => fused.rms_norm\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("merge-qkv-matmul +qkv_merge.weft +reassociates +default "
                                         "+x . wq, x . wk, x . wv => split"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("fuse-attention")));  // built in
  EXPECT_EQ(Run({"--list-rules", "--rules-file", Path("missing.json")}).code, 2);
}

TEST_F(IrOptRulesFile, MergedProductsAreNotSplitAgain) {
  const std::string model = Write("a.ir", kAttention);
  const Outcome outcome = RunProgram(
      {"ir-opt", model, "--rules-file", Dicts("qkv_merge.weft"), "--passes", "split-qkv-matmul"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("'merge-qkv-matmul' and 'split-qkv-matmul' undo each other"));
  EXPECT_EQ(Run({model, "--rules-file", Dicts("qkv_merge.weft")}).code, 0);
}

TEST_F(IrOptRulesFile, ReadsRuleText) {
  const std::string rules = Write("r.weft", R"weft(rule tanh-of-relu {
  numerics approximate
  source {
    %0 = onnx.Relu(%x)
    %1 = onnx.Tanh(%0)
  }
  require "x has two rows" dim_is(%x, 0, 2)
  result { !0 = onnx.LeakyRelu{alpha: 0.5}(%x) }
  replace %1 with !0
}
)weft");
  const Outcome outcome =
      Run({Write("a.ir", kRelus), "--rules-file", rules, "--numerics", "approximate"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(CountOf(outcome.out, "onnx.LeakyRelu"), 2u) << outcome.out;
  EXPECT_THAT(outcome.out, Not(HasSubstr("onnx.Tanh")));
}

TEST_F(IrOptRulesFile, NamesEveryWrongRuleOfATextAndWritesNothing) {
  const std::string rules = Write("r.weft", R"weft(rule good {
  source { %y = onnx.Relu(%x) }
  replace %y with %x
}
rule misspelt {
  source { %y = onnx.Rellu(%x) }
  replace %y with %x
}
rule unknown-constraint {
  source { %y = onnx.Relu(%x) }
  require "x is large" is_large(%x)
  replace %y with %x
}
rule forgotten {
  source { %y = onnx.Relu(%x) %z = onnx.Tanh(%x) }
  replace %y with %x
}
)weft");
  const Outcome outcome = Run({Write("a.ir", kRelus), "--rules-file", rules, "-o", Path("b.ir")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("r.weft:6:17: error: no op is called 'onnx.Rellu'"));
  EXPECT_THAT(outcome.err, HasSubstr("r.weft:11:24: error: unknown constraint 'is_large'"));
  EXPECT_THAT(outcome.err,
              HasSubstr("r.weft:15: error: [forgotten] onnx.Tanh ends the source block "
                        "but nothing replaces %z; add 'replace %z with ...'"));
  EXPECT_EQ(CountOf(outcome.err, "\n"), 3u) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(Files(), ElementsAre("a.ir", "r.weft"));
}

TEST_F(IrOptRulesFile, RefusesAFileThatIsNotThere) {
  const Outcome outcome = Run({Write("a.ir", kRelus), "--rules-file", Path("missing.py")});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("missing.py"));
}

}  // namespace
}  // namespace weft::tools
