// ir-opt --pipeline superopt and substitution-generator, as a user runs them.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kChain = R"(
module {input_names:strings["a","b","c"],output_names:strings["y"]} (%0: tensor<64x64xf32>, %1: tensor<64x64xf32>, %2: tensor<64x1xf32>) {
 (%3) = "onnx.MatMul" (%0, %1) {} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
 (%4) = "onnx.MatMul" (%3, %2) {} : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
 () = "builtin.return" (%4) {} : (tensor<64x1xf32>) ->
}
)";
constexpr const char* kBetterChain = R"("onnx.MatMul" (%1, %2) {})";

// A sum that can be taken in more orders than a search can see.
std::string LongSum() {
  constexpr int kTerms = 24;
  const std::string type = "tensor<4x4xf32>";
  std::string names, arguments, body, last = "%0";
  for (int i = 0; i < kTerms; ++i) {
    const std::string comma = i ? "," : "", n = std::to_string(i);
    names += comma + "\"x" + n + "\"";
    arguments += comma + "%" + n + ": " + type;
    if (i == 0) continue;
    const std::string sum = "%" + std::to_string(kTerms + i);
    body += " (" + sum + ") = \"onnx.Add\" (" + last + ", %" + n + ") {} : (" + type + ", " + type +
            ") -> " + type + "\n";
    last = sum;
  }
  return "module {input_names:strings[" + names + "],output_names:strings[\"y\"]} (" + arguments +
         ") {\n" + body + " () = \"builtin.return\" (" + last + ") {} : (" + type + ") ->\n}\n";
}

class IrOptSuperopt : public IrOpt {};

TEST_F(IrOptSuperopt, FindsTheCheaperOrderByEitherCost) {
  const std::string model = Write("chain.ir", kChain);
  for (const char* cost : {"analytic", "measured"}) {
    const Outcome run = Accept({model, "--pipeline", "superopt", "--search-cost", cost, "--stats"});
    EXPECT_THAT(run.err, HasSubstr(std::string(cost) + " nanoseconds after"));
    EXPECT_THAT(run.err, HasSubstr("substitution-"));
  }
  const Outcome run = Accept({model, "--pipeline", "superopt", "--search-cost", "analytic"});
  EXPECT_THAT(run.out, HasSubstr(kBetterChain));
  EXPECT_EQ(run.err, "");  // no progress where nobody looks
}

// Random inputs have zeros, and numbers that are no probabilities. The last refuses every input.
TEST_F(IrOptSuperopt, MeasuresOperationsThatRefuseRandomInputs) {
  const std::vector<const char*> ops = {
      R"( (%4) = "onnx.Div" (%3, %3) {} : (tensor<64x64xi64>, tensor<64x64xi64>) -> tensor<64x64xi64>
 (%5) = "onnx.Cast" (%4) {to:float32} : (tensor<64x64xi64>) -> tensor<64x64xf32>
)",
      R"( (%4) = "onnx.Sigmoid" (%0) {} : (tensor<64x64xf32>) -> tensor<64x64xf32>
 (%5) = "onnx.Bernoulli" (%4) {} : (tensor<64x64xf32>) -> tensor<64x64xf32>
)",
      R"( (%4) = "builtin.constant" () {value:dense<tensor<i64>, [0]>} : () -> tensor<i64>
 (%8) = "onnx.Div" (%3, %4) {} : (tensor<64x64xi64>, tensor<i64>) -> tensor<64x64xi64>
 (%5) = "onnx.Cast" (%8) {to:float32} : (tensor<64x64xi64>) -> tensor<64x64xf32>
)"};
  for (const char* op : ops) {
    const std::string model = Write("model.ir", std::string(R"(
module {input_names:strings["a","b","c","d"],output_names:strings["y"]} (%0: tensor<64x64xf32>, %1: tensor<64x64xf32>, %2: tensor<64x1xf32>, %3: tensor<64x64xi64>) {
)") + op + R"( (%6) = "onnx.MatMul" (%5, %1) {} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
 (%7) = "onnx.MatMul" (%6, %2) {} : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
 () = "builtin.return" (%7) {} : (tensor<64x1xf32>) ->
}
)");
    const Outcome run = Accept({model, "--pipeline", "superopt", "--search-cost", "measured"});
    EXPECT_THAT(run.out, HasSubstr(kBetterChain));
    EXPECT_EQ(run.err, "");
  }
}

// The 64 floats of the output for one random input: the end of the file that ir-run writes.
std::vector<float> Outputs(const std::string& model, const std::string& folder) {
  const Outcome run = RunProgram({"ir-run", model, "--random-inputs", "1", "--output-dir", folder});
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string file = ReadFile(folder + "/output_0.pb");
  std::vector<float> values(64);
  EXPECT_GT(file.size(), values.size() * sizeof(float));
  if (file.size() > values.size() * sizeof(float))
    std::memcpy(values.data(), file.data() + file.size() - values.size() * sizeof(float),
                values.size() * sizeof(float));
  return values;
}

TEST_F(IrOptSuperopt, KeepsTheNumbersOfAnOnnxModel) {
  const std::string model = Path("chain.onnx"), best = Path("best.onnx");
  Accept({Write("chain.ir", kChain), "-o", model, "--pipeline", "none"});
  Accept({model, "-o", best, "--pipeline", "superopt", "--search-cost", "analytic"});
  EXPECT_THAT(Accept({best, "--pipeline", "none"}).out, HasSubstr(kBetterChain));
  const std::vector<float> before = Outputs(model, Path("before"));
  const std::vector<float> after = Outputs(best, Path("after"));
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-3) << i;
  EXPECT_GT(*std::max_element(before.begin(), before.end()), 1.0f);
}

TEST_F(IrOptSuperopt, GivesTheSameWithTheSameSeed) {
  const std::string model = Write("chain.ir", kChain);
  const auto run = [&](const char* seed) {
    return Accept({model, "--pipeline", "superopt", "--search-cost", "analytic", "--search-seed",
                   seed})
        .out;
  };
  EXPECT_EQ(run("3"), run("3"));
  EXPECT_THAT(run("4"), HasSubstr(kBetterChain));
}

TEST_F(IrOptSuperopt, EndsAtAnInterruptWithTheBestSoFar) {
  const std::string model = Write("sum.ir", LongSum()), out = Path("out.ir");
  bool sent = false;
  // The pass begins behind what is printed; the rest of the search would take ten minutes.
  const Outcome run = RunProgram(
      {"ir-opt", model, "-o", out, "--pipeline", "superopt", "--search-cost", "analytic",
       "--search-seconds", "600", "--search-budget", "1000000000", "--print-ir-before", "superopt"},
      "", [&](pid_t program, const std::string& err) {
        if (sent || err.find("builtin.return") == std::string::npos) return;
        sent = true;
        kill(program, SIGINT);
      });
  EXPECT_TRUE(sent);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("superopt: interrupted: the best program found so far is the result"));
  EXPECT_THAT(run.err, Not(HasSubstr("candidates,")));
  const Outcome checked = Run({out, "--pipeline", "none"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(CountOf(checked.out, "onnx.Add"), 23u);
}

TEST_F(IrOptSuperopt, SaysWhyItLeavesAModelAlone) {
  const std::string model = Write("relu.ir", R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<?x64xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<?x64xf32>) -> tensor<?x64xf32>
 () = "builtin.return" (%1) {} : (tensor<?x64xf32>) ->
}
)");
  const Outcome run = Accept({model, "--pipeline", "superopt"});
  EXPECT_THAT(run.err, HasSubstr("superopt: warning: the program stays as it is: %1 of onnx.Relu"));
  EXPECT_THAT(run.err, HasSubstr("static shapes only"));
  EXPECT_EQ(CountOf(run.err, "\n"), 1u) << run.err;
}

TEST_F(IrOptSuperopt, RefusesLimitsThatMakeNoSense) {
  const std::string model = Write("chain.ir", kChain);
  EXPECT_THAT(Refusal({model, "--search-budget", "0"}), HasSubstr("--search-budget"));
  EXPECT_THAT(Refusal({model, "--search-seconds", "-1"}), HasSubstr("--search-seconds"));
  EXPECT_THAT(Refusal({model, "--search-seconds", "nan"}), HasSubstr("--search-seconds"));
  EXPECT_THAT(Refusal({model, "--search-alpha", "0.9"}), HasSubstr("--search-alpha"));
  EXPECT_THAT(Refusal({model, "--search-seed", "-2"}), HasSubstr("--search-seed"));
  EXPECT_THAT(Refusal({model, "--search-seed", "x"}), HasSubstr("--search-seed"));
  EXPECT_THAT(Refusal({model, "--search-cost", "guess"}), HasSubstr("measured"));
}

class SubstitutionGenerator : public ProgramTest {
 protected:
  SubstitutionGenerator() : ProgramTest("substitution-generator") {}
};

TEST_F(SubstitutionGenerator, WritesRulesThatIrOptReads) {
  const std::string rules = Path("rules.weft"), model = Write("chain.ir", kChain);
  const Outcome run = Accept({"--depth", "2", "-o", rules});
  EXPECT_EQ(run.err, "substitution-generator: 6054 graphs, 65 pairs, 0 refuted, 15 kept\n");
  EXPECT_THAT(ReadFile(rules), HasSubstr("rule substitution-15-back {"));
  const Outcome none = RunProgram({"ir-opt", model, "--rules-file", rules, "--trust-rules",
                                   "--pipeline", "none", "--disable-rule", "substitution-4"});
  EXPECT_THAT(none.out + none.err, HasSubstr("onnx.MatMul"));
}

TEST_F(SubstitutionGenerator, RefusesWhatDoesNotFit) {
  EXPECT_THAT(Refusal({"--depth", "5"}),
              HasSubstr("--depth: Value 5 not in range"));  // CLI11's text
  EXPECT_THAT(Refusal({"--depth", "3", "--max-megabytes", "2"}), HasSubstr("more than 2 MiB"));
  EXPECT_THAT(Refusal({"-o", "/no/such/folder/rules.weft"}), HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace weft::tools
