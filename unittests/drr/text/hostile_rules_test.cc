// Rule files are input like any other: whatever they hold, reading them ends in rules or in
// messages of one line, and rules that were read do not crash where they are tried.
#include <random>

#include "drr/text/rule_text.h"
#include "unittests/drr/text/text_rule_test_util.h"

namespace weft::drr::text {
namespace {

constexpr std::string_view kSeeds[] = {
    R"({'patterns': {'in': [[(0, 'ReduceMean'), (1, 'Sub'), (2, 'Pow'), (3, 'ReduceMean'), (4, 'Add'),
 (5, 'Sqrt'), (6, 'Div'), (7,'Mul'), (8, 'Add')]], 'out': [[(0, 'LayerNorm')]]},
 'search_mode': 'op_type', 'node_names': {0: 8},
 'input_tensors': {0: [[{0: [0]}, {7: [1]}, {8: [1]}], [[0, 1, 2], 3]]},
 'output_tensors': {0: [[{8: [0]}], [[0], 1]]}, 'returns': [4]})",
    R"({"a": [{"patterns": {"in": [[[0, "Tanh"], [2, ["Mul", "Add"]]], [[], [1, "Relu"], [2, ["Mul", "Add"]]]],
 "out": [[[0, "Tanh"], [1, "LeakyRelu"]]]}, "input_tensors": {"0": [[{"0": [0]}], [[0], 1]], "1": [[], [[], 1]]},
 "output_tensors": {"0": [[], [[], 1]], "1": [[{"2": [0]}], [[0], 1]]}, "node_names": {"1": "x"},
 "attrs": {"1": {"alpha": {"return": 0, "input": 0}}}, "returns": [0], "single_use": false,
 "checks": {"2": {"inputs": {"0": 2.5}, "attrs": {}}}, "operands": {"2": {"0": 1}}}]})",
    R"(rule all {
  algebra "a => b" numerics exact benefit 7
  source {
    %0 = onnx.Relu | onnx.LeakyRelu{alpha: in(0.5, 0.25)}(%x)
    %1 = onnx.Gemm{..., alpha: $alpha, beta: default}(%0, %w, %b)
    %2 = any[pure elementwise](%1)
    %4 = repeat 0..4 onnx.Tanh | onnx.Sigmoid(%2)
    %6 = onnx.Abs(%4)
    %9 = either(%6, %4)
    %10 = skip(%9, onnx.Identity, onnx.Cast same_type)
    %11 = onnx.Neg(%10)
    optional %b keep %4 outside %x
  }
  require "w is a constant" constant(%w)
  require "" splat_is(%b, 0.5)
  result {
    !0 = onnx.LeakyRelu{alpha: = splat(%b)}(%x)
    !1 = onnx.Gemm{attrs of %1, beta: 0.5}(!0, %w, none) at %4
    !2 = like %0(!1) named "gate"
  }
  replace %11 with !2
}
)",
};

class HostileRules : public TextRuleTest {
 protected:
  HostileRules() {
    Parse(
        R"(module {input_names:strings["x","w"],output_names:strings["y"]} (%0: tensor<2x4xf32>, %1: tensor<4x4xf32>) {
 (%2) = "onnx.Relu" (%0) {} : (tensor<2x4xf32>) -> tensor<2x4xf32>
 (%3) = "onnx.MatMul" (%2, %1) {} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
 (%4) = "onnx.Tanh" (%3) {} : (tensor<2x4xf32>) -> tensor<2x4xf32>
 (%5) = "onnx.Mul" (%4, %2) {} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
 (%6) = "onnx.Add" (%5, %0) {} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
 () = "builtin.return" (%6) {} : (tensor<2x4xf32>) ->
}
)");
  }

  // Reads; what is read must print, and read back as it was printed; and may be tried.
  void Try(const std::string& text) {
    const RuleFile file = ReadRules(text, "f", &context, program.get());
    EXPECT_TRUE(file.errors.empty() || file.rules.empty());
    for (const std::string& error : file.errors) {
      EXPECT_EQ(error.substr(0, 2), "f:") << error;
      EXPECT_LT(error.size(), 600u) << error;
      EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
    for (const auto& rule : file.rules) {
      const std::string printed = PrintRule(*rule);
      const RuleFile again = ReadRules(printed, "g", &context, program.get());
      ASSERT_EQ(again.rules.size(), 1u) << printed << testing::PrintToString(again.errors);
      EXPECT_EQ(PrintRule(*again.rules[0]), printed);
    }
    ++(file.rules.empty() ? refused : read);
    std::unique_ptr<ir::Program> whole = program->Clone();
    if (file.errors.empty()) Apply(file);
    program = std::move(whole);
  }

  int read = 0, refused = 0;
};

TEST_F(HostileRules, DamagedFilesAreReadOrRefused) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return random() % n; };
  constexpr std::string_view kBytes = "{}[]()%$!:,.=*|#'\"\\0123456789-abx \n";
  for (std::string_view seed : kSeeds) {
    Try(std::string(seed));
    for (int i = 0; i < 1500; ++i) {
      std::string text(seed);
      for (size_t k = 0; k <= below(3); ++k) {
        const size_t at = below(text.size());
        switch (below(4)) {
          case 0:
            text[at] = kBytes[below(kBytes.size())];
            break;
          case 1:
            text.erase(at, 1 + below(12));
            break;
          case 2:
            text.insert(at, text.substr(below(text.size()), 1 + below(30)));
            break;
          default:
            text[at] = static_cast<char>(below(256));
        }
        if (text.empty()) text = "{";
      }
      Try(text);
    }
  }
  EXPECT_GT(read, 20);  // how many depends on the order in which a compiler evaluates arguments
  EXPECT_GT(refused, 2000);
}

TEST_F(HostileRules, EveryPrefixOfAFileIsRefused) {
  for (std::string_view seed : kSeeds)
    for (size_t length = 0; length + 2 < seed.size(); length += 3)
      Try(std::string(seed.substr(0, length)));
  EXPECT_EQ(read, 0);
}

TEST_F(HostileRules, LongChainsAndManyWaysAreRefusedInTime) {
  std::string chain, sub;
  for (int i = 0; i < 190; ++i) chain += "(" + std::to_string(i) + ", 'Sub'), ";
  Try("{'patterns': {'in': [[" + chain +
      "]], 'out': [[(0, 'Relu')]]}, 'input_tensors': {0: [[{0: "
      "[0]}], [[0], 1]]}, 'output_tensors': {0: [[{189: [0]}], [[0], 1]]}}");
  for (int i = 0; i < 5000; ++i) chain += "(" + std::to_string(i) + ", 'Sub'), ";
  Try("{'patterns': {'in': [[" + chain +
      "]], 'out': [[(0, 'Relu')]]}, 'input_tensors': {}, "
      "'output_tensors': {}}");
  for (int i = 0; i < 20; ++i)
    sub += "(" + std::to_string(i) + ", ['Relu', 'Add', 'Clip', 'Where']), ";
  Try("{'patterns': {'in': [[" + sub +
      "]], 'out': [[(0, 'Relu')]]}, 'input_tensors': {0: [[{0: "
      "[0]}], [[0], 1]]}, 'output_tensors': {0: [[{19: [0]}], [[0], 1]]}}");
  std::string ops = "rule r { source {";
  for (int i = 0; i < 2000; ++i)
    ops += " %" + std::to_string(i + 1) + " = onnx.Relu(%" + std::to_string(i) + ")";
  Try(ops + "} replace %2000 with %0 }");
  std::string either = "rule r { source { %y = onnx.Relu(%x)";
  for (int i = 0; i < 30; ++i)
    either += " %e" + std::to_string(i + 1) + " = either(%e" + std::to_string(i) + ", %y)";
  Try(either + "} replace %e30 with %x }");
  EXPECT_EQ(read, 0);
}

}  // namespace
}  // namespace weft::drr::text
