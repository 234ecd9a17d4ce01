#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "unittests/kernels/one_cpu.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

// A name with ':' and '/', as TensorFlow's exporter writes them.
constexpr const char* kRelu =
    R"(module {input_names:strings["in/x:0"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
}
)";
constexpr const char* kSymbolicAdd =
    R"__(module {input_names:strings["a","b"],output_names:strings["y"]} (%0: tensor<"n"x3xf32>, %1: tensor<"n"x3xf32>) {
 (%2) = "onnx.Add" (%0, %1) {} : (tensor<"n"x3xf32>, tensor<"n"x3xf32>) -> tensor<"n"x3xf32>
 () = "builtin.return" (%2) {} : (tensor<"n"x3xf32>) ->
}
)__";
constexpr const char* kOpaque =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "acme.Frobnicate" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
}
)";

// y = x + w, where w may be given.
constexpr const char* kDefault =
    R"(parameters {
 w: dense<tensor<2xf32>, [1.0,2.0]>
}
module {default_inputs:strings["w"],input_names:strings["x","w"],output_names:strings["y"]} (%0: tensor<2xf32>, %1: tensor<2xf32>) {
 (%2) = "onnx.Add" (%0, %1) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%2) {} : (tensor<2xf32>) ->
}
)";

class IrRun : public ProgramTest {
 protected:
  IrRun() : ProgramTest("ir-run") {}
  std::string Accept(const std::vector<std::string>& arguments,
                     const std::string& input = "") const {
    const Outcome outcome = ProgramTest::Accept(arguments, input);
    EXPECT_THAT(outcome.err, IsEmpty());
    return outcome.out;
  }
};

TEST_F(IrRun, HelpFitsOneScreen) {
  const std::string help = Accept({"--help"});
  EXPECT_LE(CountOf(help, "\n"), 24u) << help;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  for (const char* option : {"--input NAME=FILE",
                             "--random-inputs SEED",
                             "--can-run",
                             "--output-dir DIR",
                             "--pipeline P",
                             "--provider K",
                             "--isa I",
                             "--matmul-precision P",
                             "--threads N",
                             "--oversubscribe",
                             "--bench",
                             "--profile",
                             "--compare WITH",
                             "--expect NAME=FILE",
                             "--dim NAME=SIZE",
                             "--tolerance T",
                             "--input-shape NAME=SHAPE",
                             "--input-range NAME=LOW,HIGH",
                             "--bench-blocks",
                             "--report"})
    EXPECT_THAT(help, HasSubstr(option));
}

TEST_F(IrRun, RefusesWhatItWouldDrop) {
  const std::vector<std::string> run = {Write("a.ir", kRelu), "--random-inputs", "1"};
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), run.begin(), run.end());
    return Refusal(arguments);
  };
  EXPECT_THAT(refusal({"--bench-blocks", "--profile"}), HasSubstr("without --profile"));
  EXPECT_THAT(refusal({"--bench-blocks", "--bench=json"}), HasSubstr("without --profile"));
  Accept({run[0], "--random-inputs", "1", "--save-inputs", Path("in")});
  EXPECT_THAT(
      refusal({"--input", "in/x:0=" + Path("in/input_0.pb"), "--input-range", "in/x:0=5,5"}),
      HasSubstr("--input-range is for random inputs, and input 'in/x:0' is read from a file"));
}

// The longest name by which a flag begins.
TEST_F(IrRun, TakesNamesWithAnEqualsSign) {
  const std::string model = Write(
      "a.ir",
      R"(module {input_names:strings["a","a=b"],output_names:strings["y=z"]} (%0: tensor<2xi64>, %1: tensor<3xi64>) {
 (%2) = "onnx.Concat" (%0, %1) {axis:0} : (tensor<2xi64>, tensor<3xi64>) -> tensor<5xi64>
 () = "builtin.return" (%2) {} : (tensor<5xi64>) ->
}
)");
  Accept({model, "--random-inputs", "1", "--input-range", "a=4,4", "--input-range", "a=b=7,7",
          "--save-inputs", Path("v"), "--output-dir", Path("v")});
  EXPECT_THAT(Accept({model, "--input", "a=" + Path("v/input_0.pb"), "--input",
                      "a=b=" + Path("v/input_1.pb"), "--expect", "y=z=" + Path("v/output_0.pb")}),
              HasSubstr("differs from what is expected by 0 "));
  EXPECT_THAT(
      Accept({model, "--random-inputs", "1", "--input-range", "a:4,4", "--input-range", "a=b:7,7"}),
      HasSubstr("min 4 mean 5.8 max 7"));
}

// y = table[ids], of symbolic sizes.
constexpr const char* kSymbolicGather =
    R"__(module {input_names:strings["ids:0","table"],output_names:strings["y"]} (%0: tensor<"n"xi64>, %1: tensor<"2*n + 1"x3xf32>) {
 (%2) = "onnx.Gather" (%1, %0) {axis:0} : (tensor<"2*n + 1"x3xf32>, tensor<"n"xi64>) -> tensor<"n"x3xf32>
 () = "builtin.return" (%2) {} : (tensor<"n"x3xf32>) ->
}
)__";

TEST_F(IrRun, GivesRandomInputsTheirShapesAndRanges) {
  const std::string in = Write("a.ir", kSymbolicGather);
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {in, "--random-inputs", "1"});
    return arguments;
  };
  EXPECT_THAT(Accept(run({"--input-shape", "ids:0:4"})), HasSubstr("y: f32[4,3]"));
  EXPECT_THAT(Accept(run({"--input-shape", "ids:0=5"})), HasSubstr("y: f32[5,3]"));
  EXPECT_THAT(Accept(run({"--dim", "n=6"})), HasSubstr("y: f32[6,3]"));
  EXPECT_THAT(Accept(run({"--dim", "n=2", "--input-range", "ids:0=-5,-1"})),
              HasSubstr("y: f32[2,3]"));
  EXPECT_THAT(Refusal(run({"--dim", "n=2", "--input-range", "ids:0=5,5"})), HasSubstr("Gather"));
  EXPECT_THAT(Refusal(run({"--dim", "n=2", "--input-range", "ids:0=5"})), HasSubstr("LOW,HIGH"));
  EXPECT_THAT(Refusal(run({"--dim", "n=2", "--input-range", "ids:0=a,5"})), HasSubstr("'a'"));
  EXPECT_THAT(Refusal(run({"--dim", "n=2", "--input-range", "x=1,5"})), HasSubstr("unknown input"));
  EXPECT_THAT(Refusal(run({})), HasSubstr("give --dim n=SIZE"));
}

// The size of an expression says what its symbol is, and must agree with all else that is said.
TEST_F(IrRun, SolvesTheSizesOfExpressions) {
  const std::string in = Write("a.ir", kSymbolicGather);
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {in, "--random-inputs", "1"});
    return arguments;
  };
  EXPECT_THAT(Accept(run({"--input-shape", "table:5,3"})), HasSubstr("y: f32[2,3]"));
  EXPECT_THAT(Accept(run({"--input-shape", "table:5,3", "--dim", "n=2"})),
              HasSubstr("y: f32[2,3]"));
  EXPECT_THAT(Accept(run({"--input-shape", "table:5,3", "--input-shape", "ids:0:2"})),
              HasSubstr("y: f32[2,3]"));
  const char* const no_size = "2*n + 1 is 4 for no size of n";
  EXPECT_THAT(Refusal(run({"--input-shape", "table:4,3"})), HasSubstr(no_size));
  EXPECT_THAT(Refusal(run({"--input-shape", "table:4,3", "--dim", "n=2"})), HasSubstr(no_size));
  EXPECT_THAT(Refusal(run({"--overwrite-input-shape", "table:4,3"})), HasSubstr(no_size));
  EXPECT_THAT(Refusal(run({"--input-shape", "table:5,3", "--dim", "n=3"})),
              HasSubstr("dimension n=3: n is 2, not 3"));
  EXPECT_THAT(Refusal(run({"--input-shape", "table:5,3", "--input-shape", "ids:0:3"})),
              HasSubstr("dimension 0 cannot be 3"));
  EXPECT_THAT(Refusal(run({"--dim", "n=2", "--dim", "n=2"})),
              HasSubstr("dimension 'n' is given twice"));

  const std::string five = WriteNpy("five.npy", "(5, 3)", std::vector<float>(15, 1.5f)),
                    four = WriteNpy("four.npy", "(4, 3)", std::vector<float>(12, 1.5f));
  EXPECT_THAT(Accept(run({"--input", "table=" + five})), HasSubstr("y: f32[2,3]"));
  EXPECT_THAT(Refusal(run({"--input", "table=" + four})), HasSubstr(no_size));
  EXPECT_THAT(Refusal(run({"--input", "table=" + five, "--dim", "n=3"})), HasSubstr("table"));
}

TEST_F(IrRun, RunsOnTheInstructionSetThatIsAskedFor) {
  const std::string in = Write("in.ir", kRelu);
  EXPECT_THAT(Accept({in, "--random-inputs", "1", "--isa", "portable", "--numerics", "exact"}),
              HasSubstr("y: f32[2,3]"));
  EXPECT_THAT(Refusal({in, "--random-inputs", "1", "--isa", "sse9"}),
              HasSubstr("'sse9': this machine has portable"));
  // Where there is AMX and where there is none.
  EXPECT_THAT(Refusal({in, "--random-inputs", "1", "--isa", "amx", "--numerics", "exact"}),
              HasSubstr("amx"));
}

TEST_F(IrRun, MultipliesWithThePrecisionThatIsAskedForWhereNumericsAllowIt) {
  const std::string in = Write("in.ir", kRelu);
  const auto run = [&](const char* precision, const char* numerics) {
    return std::vector<std::string>{in,         "--random-inputs", "1",
                                    "--report", "--json",          "--matmul-precision",
                                    precision,  "--numerics",      numerics};
  };
  EXPECT_THAT(Accept(run("float32", "exact")), HasSubstr(R"("precision_error": null)"));
  EXPECT_THAT(Accept(run("bf16x2", "approximate")), HasSubstr(R"("precision_error": 0.0)"));
  EXPECT_THAT(Accept({in, "--random-inputs", "1", "--report", "--matmul-precision", "bf16",
                      "--numerics", "approximate"}),
              HasSubstr("error of bf16 products       0 of the largest output"));
  EXPECT_THAT(Refusal(run("bf16", "reassociates")),
              HasSubstr("matmul precision bf16 rounds factors: it needs numerics approximate"));
  EXPECT_THAT(Refusal(run("bf16x3", "approximate")), HasSubstr("bf16x3"));
}

TEST_F(IrRun, RefusesBadUsage) {
  const std::string in = Write("a.ir", kRelu);
  EXPECT_THAT(Refusal({}), HasSubstr("no model given"));
  EXPECT_THAT(Refusal({in, "--random-input", "1"}), HasSubstr("did you mean '--random-inputs'?"));
  EXPECT_THAT(Refusal({in, "--provider", "xnpack"}), HasSubstr("did you mean 'xnnpack'?"));
  EXPECT_THAT(Refusal({in, "--compare", "onnxruntime"}), HasSubstr("unknown comparison"));
  EXPECT_THAT(Refusal({in, "--pipeline", "layuot"}), HasSubstr("did you mean 'layout'?"));
  EXPECT_THAT(Refusal({in, "--threads", "0"}), HasSubstr("--threads 0"));
  EXPECT_THAT(Refusal({in, "--threads", "two"}), HasSubstr("--threads"));
  EXPECT_THAT(Refusal({in, "--random-inputs", "-1"}),
              HasSubstr("--random-inputs: -1: expected a number of at least 0"));
  EXPECT_THAT(Refusal({in, "--random-inputs", "18446744073709551616"}),
              HasSubstr("--random-inputs: 18446744073709551616: expected a number of at most"));
  Accept({in, "--random-inputs", "18446744073709551615"});
  EXPECT_THAT(Refusal({Path("missing.onnx")}), HasSubstr("missing.onnx"));
}

TEST_F(IrRun, PrintsNoControlCharactersOfNames) {
  std::string text = kRelu;
  text.replace(text.find(R"("y")"), 3, R"("y\x1b[1m\nforged")");
  const std::string in = Write("a.ir", text), name = R"(y\x1b[1m\x0aforged: )";
  EXPECT_THAT(Accept({in, "--random-inputs", "1"}), StartsWith(name + "f32[2,3] min "));
  EXPECT_THAT(Accept({in, "--random-inputs", "1", "--compare", "reference"}), StartsWith(name));
}

TEST_F(IrRun, ComputesOutputsFromNpyAndWritesThemAsPb) {
  const std::string in = Write("a.ir", kRelu);
  const std::string x = WriteNpy("x.npy", "(2, 3)", {-1, 2, -3, 4, -5, 6});
  const std::string y = WriteNpy("y.npy", "(2, 3)", {0, 2, 0, 4, 0, 6});
  EXPECT_THAT(Accept({in, "--input", "in/x:0=" + x}), HasSubstr("y: f32[2,3] min 0 mean 2 max 6"));
  const std::string out = Path("made/here");
  EXPECT_THAT(Accept({in, "--input", "in/x:0=" + x, "--output-dir", out, "--expect", "y=" + y}),
              HasSubstr("y: differs from what is expected by 0 of"));
  // What was written is read back: relu of it is itself.
  EXPECT_THAT(Accept({in, "--input", "in/x:0=" + out + "/output_0.pb", "--expect", "y=" + y}),
              HasSubstr("differs from what is expected by 0 of"));
}

TEST_F(IrRun, TakesDefaultsUnlessInputsAreGiven) {
  const std::string in = Write("d.ir", kDefault);
  const std::string x = "x=" + WriteNpy("x.npy", "(2,)", {10, 20});
  const std::string w = "w=" + WriteNpy("w.npy", "(2,)", {5, 5});
  const std::string by_default = "y=" + WriteNpy("d.npy", "(2,)", {11, 22});
  const std::string given = "y=" + WriteNpy("g.npy", "(2,)", {15, 25});
  const Outcome run = ProgramTest::Accept({in, "--input", x, "--expect", by_default});
  EXPECT_THAT(run.out, HasSubstr("by 0 of"));
  EXPECT_THAT(run.err, AllOf(HasSubstr("1 input may be overridden and is not folded, w first"),
                             HasSubstr("--fold-default-inputs")));
  EXPECT_THAT(
      ProgramTest::Accept({in, "--random-inputs", "1", "--input", x, "--expect", by_default}).out,
      HasSubstr("by 0 of"));
  EXPECT_THAT(ProgramTest::Accept(
                  {in, "--input", x, "--input", w, "--expect", given, "--compare", "reference"})
                  .out,
              HasSubstr("differs from what is expected by 0 of"));
  EXPECT_THAT(Accept({in, "--fold-default-inputs", "--input", x, "--expect", by_default}),
              HasSubstr("by 0 of"));
  EXPECT_THAT(Refusal({in, "--fold-default-inputs", "--input", x, "--input", w}),
              HasSubstr("unknown input 'w'"));
}

TEST_F(IrRun, ExitsWithOneWhenAnOutputIsNotAsExpected) {
  const std::string in = Write("a.ir", kRelu);
  const std::string x = WriteNpy("x.npy", "(2, 3)", {-1, 2, -3, 4, -5, 6});
  const std::string near = WriteNpy("near.npy", "(2, 3)", {0, 2, 0, 4, 0, 6.001f});
  const std::string other = WriteNpy("other.npy", "(3, 2)", {0, 2, 0, 4, 0, 6});
  const std::string nan(WriteNpy("nan.npy", "(2, 3)", std::vector<float>(6, NAN)));
  const std::string input = "in/x:0=" + x;
  EXPECT_THAT(Refusal({in, "--input", input, "--expect", "y=" + near}, 1),
              HasSubstr("allowed are 5e-06"));
  EXPECT_THAT(Accept({in, "--input", input, "--expect", "y=" + near, "--tolerance", "1e-3"}),
              HasSubstr("0.000167"));
  EXPECT_THAT(Refusal({in, "--input", input, "--expect", "y=" + other}, 1),
              HasSubstr("output 'y' is f32[2,3], expected f32[3,2]"));
  EXPECT_THAT(Refusal({in, "--input", input, "--expect", "y=" + nan}, 1),
              HasSubstr("nothing is compared"));
  EXPECT_THAT(Refusal({in, "--input", input, "--expect", "z=" + near}),
              HasSubstr("unknown output 'z'"));
}

TEST_F(IrRun, ChecksInputsAgainstTheModel) {
  const std::string in = Write("a.ir", kRelu);
  const std::string x = WriteNpy("x.npy", "(2, 3)", {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Refusal({in}), HasSubstr("input 'in/x:0' (tensor<2x3xf32>) is not given"));
  EXPECT_THAT(Refusal({in, "--input", "in/x:1=" + x}), HasSubstr("did you mean 'in/x:0'?"));
  EXPECT_THAT(Refusal({in, "--input", "in/x:0=" + x, "--input", "in/x:0=" + x}),
              HasSubstr("given twice"));
  EXPECT_THAT(Refusal({in, "--input", "in/x:0"}), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(Refusal({in, "--input", "in/x:0=" + Path("none.pb")}), HasSubstr("none.pb"));
  EXPECT_THAT(Refusal({in, "--input", "in/x:0=" + Write("bad.npy", "\x93NUMPY")}),
              HasSubstr("bad.npy"));
  EXPECT_THAT(Refusal({in, "--input", "in/x:0=" + WriteNpy("r.npy", "(6,)", {1, 2, 3, 4, 5, 6})}),
              HasSubstr("input 'in/x:0' has type f32[6], expected tensor<2x3xf32>"));
}

TEST_F(IrRun, BindsSymbolicDims) {
  const std::string in = Write("a.ir", kSymbolicAdd);
  const std::string a = WriteNpy("a.npy", "(2, 3)", {1, 2, 3, 4, 5, 6});
  const std::string b = WriteNpy("b.npy", "(1, 3)", {1, 2, 3});
  EXPECT_THAT(Refusal({in, "--random-inputs", "1"}), HasSubstr("give --dim n=SIZE"));
  EXPECT_THAT(Accept({in, "--random-inputs", "1", "--dim", "n=5"}), HasSubstr("y: f32[5,3]"));
  EXPECT_THAT(Accept({in, "--input", "a=" + a, "--random-inputs", "1"}), HasSubstr("y: f32[2,3]"));
  EXPECT_THAT(
      Refusal({in, "--input", "a=" + a, "--input", "b=" + b}),
      HasSubstr("input 'b' has type f32[1,3], expected tensor<\"n\"x3xf32>: n is 2, not 1"));
}

TEST_F(IrRun, RandomInputsDependOnTheSeedAlone) {
  const std::string in = Write("a.ir", kRelu);
  const std::string one = Accept({in, "--random-inputs", "1"});
  EXPECT_EQ(one, Accept({in, "--random-inputs", "1", "--threads", "1"}));
  EXPECT_NE(one, Accept({in, "--random-inputs", "2"}));
}

TEST_F(IrRun, RunsOnNoMoreThreadsThanTheProcessHasCpus) {
  const OneCpu pinned;
  const std::string in = Write("a.ir", kRelu);
  const auto report = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {in, "--random-inputs", "1", "--report"});
    return ProgramTest::Accept(arguments);
  };
  const Outcome by_default = report({}), two = report({"--threads", "2"}),
                anyway = report({"--threads", "2", "--oversubscribe"});
  EXPECT_THAT(by_default.out, HasSubstr(", 1 thread\n"));
  EXPECT_THAT(by_default.err, IsEmpty());
  EXPECT_THAT(two.out, HasSubstr(", 1 thread\n"));
  EXPECT_THAT(two.err, StartsWith("ir-run: warning: --threads 2: this process may use 1 CPU"));
  EXPECT_EQ(CountOf(two.err, "\n"), 1u);
  EXPECT_THAT(anyway.out, HasSubstr(", 2 threads\n"));
  EXPECT_THAT(anyway.err, IsEmpty());
}

TEST_F(IrRun, ExitsWithThreeAndNamesTheOpThatNoKernelRuns) {
  EXPECT_THAT(Refusal({Write("a.ir", kOpaque), "--random-inputs", "1"}, 3),
              HasSubstr("acme.Frobnicate"));
}

TEST_F(IrRun, EveryPipelineAndProviderAgreesWithTheReference) {
  for (const char* pipeline : {"none", "simplify", "layout", "fuse"})
    for (const char* provider : {"auto", "xnnpack", "reference"}) {
      SCOPED_TRACE(std::string(pipeline) + " on " + provider);
      EXPECT_THAT(Accept({kBertTiny, "--random-inputs", "1", "--pipeline", pipeline, "--provider",
                          provider, "--compare", "reference"}),
                  HasSubstr("differs from the reference by"));
    }
  EXPECT_THAT(
      Refusal({kBertTiny, "--random-inputs", "1", "--compare", "reference", "--tolerance", "1e-12"},
              1),
      HasSubstr("allowed are 1e-12"));
}

TEST_F(IrRun, BenchPrintsQuantiles) {
  EXPECT_THAT(Accept({Write("a.ir", kRelu), "--random-inputs", "1", "--bench", "--threads", "1"}),
              MatchesRegex("runs +min +mean +p50 +p90 +p99 +arena\n"
                           "[0-9]+ +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ ms "
                           "+0.00 MiB\n"));
}

TEST_F(IrRun, BenchBlocksAnswersEveryCountWithThatManyTimes) {
  const std::vector<std::string> arguments = {
      Write("a.ir", kRelu), "--random-inputs", "1", "--bench", "--threads", "1", "--bench-blocks"};
  std::istringstream lines(Accept(arguments, "3\n1\n"));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_THAT(line, MatchesRegex("[0-9]+\\.[0-9]+ [0-9]+\\.[0-9]+ [0-9]+\\.[0-9]+"));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_THAT(line, MatchesRegex("[0-9]+\\.[0-9]+"));
  EXPECT_FALSE(std::getline(lines, line));
  for (const char* bad : {"0\n", "x\n", "-1\n", "1 2\n", "\n"}) {
    const Outcome outcome = Run(arguments, bad);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("is not a positive count"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(IrRun, ProfileNamesOpsKernelsAndRules) {
  EXPECT_THAT(Accept({Write("a.ir", kRelu), "--random-inputs", "1", "--profile", "--threads", "1",
                      "--pipeline", "none"}),
              AllOf(MatchesRegex("op +time +share +kernel +place +rules\n.*"),
                    HasSubstr("onnx.Relu"), HasSubstr("100.0 %")));
  const std::string fused =
      Accept({kBertTiny, "--random-inputs", "1", "--profile", "--threads", "1"});
  EXPECT_THAT(
      fused,
      MatchesRegex(
          ".*fused.layer_norm [^\n]* /ln/ReduceMean\\+[^\n ]*\\+/ln/Div +fuse-layer-norm\n.*"));
}

// Unique is known to have so many results only when it has run; Neg, which stands behind it, runs before.
constexpr const char* kUnique =
    R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<4xf32>) {
 (%1) = "onnx.Unique" (%0) {axis:0} : (tensor<4xf32>) -> tensor<?xf32> loc("distinct")
 (%2) = "onnx.Neg" (%0) {} : (tensor<4xf32>) -> tensor<4xf32> loc("before")
 (%3) = "onnx.Abs" (%1) {} : (tensor<?xf32>) -> tensor<?xf32> loc("after")
 () = "builtin.return" (%2, %3) {} : (tensor<4xf32>, tensor<?xf32>) ->
}
)";

TEST_F(IrRun, ProfileHasOpsThatSizeTheirResults) {
  const std::string model = Write("a.ir", kUnique);
  EXPECT_THAT(Accept({model, "--random-inputs", "1", "--profile", "--threads", "1"}),
              AllOf(HasSubstr(" distinct"), HasSubstr(" before"), HasSubstr(" after")));
  Accept({model, "--random-inputs", "1", "--html", Path("a.html"), "--threads", "1"});
  const std::string page = ReadFile(Path("a.html"));
  const std::string data = page.substr(page.find("\"run\":{\"steps\":["));
  EXPECT_THAT(data.substr(0, data.find(']')),
              AllOf(HasSubstr("\"f\":1}"), HasSubstr("\"f\":2}"), HasSubstr("\"f\":3}")));
}

TEST_F(IrRun, ReportShowsRulesLatenciesAndTheDifference) {
  const std::string report =
      Accept({kBertTiny, "--random-inputs", "1", "--report", "--threads", "1"});
  for (const char* part :
       {"operations, optimised by the pipeline fuse", "applied", "unfused (layout rules only)",
        "fused", "speed-up", "MiB unfused", "largest difference"})
    EXPECT_THAT(report, HasSubstr(part));
}

// Two ops that nobody knows, one of them twice, and one that somebody does.
constexpr const char* kMissing =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "acme.Frobnicate" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("first")
 (%2) = "acme.Frobnicate" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%3) = "onnx.ImageDecoder" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%4) = "onnx.Relu" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%4) {} : (tensor<2x3xf32>) ->
}
)";

TEST_F(IrRun, NamesAllThatAModelNeedsAtOnce) {
  const Outcome missing = Run({Write("a.ir", kMissing), "--can-run"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(missing.out,
            "acme.Frobnicate: no kernel runs this op; 2 ops, first first\n"
            "onnx.ImageDecoder: no kernel runs this op; 1 op\n");
  EXPECT_THAT(missing.err, HasSubstr("3 ops cannot run"));
  const Outcome all = Run({Write("b.ir", kRelu), "--can-run"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.out, "every op has a kernel\n");
}

// Nobody shall take a check that was never made for one that came out well.
TEST_F(IrRun, RefusesWhatReportsAndCanRunWouldLeaveUndone) {
  const std::string in = Write("a.ir", kRelu);
  const std::vector<std::vector<std::string>> all = {{"--compare", "reference"},
                                                     {"--expect", "y=none.pb"},
                                                     {"--output-dir", Path("out")},
                                                     {"--save-inputs", Path("inputs")},
                                                     {"--bench"},
                                                     {"--profile"},
                                                     {"--fail-if", "drop-unit-factor<1"}};
  for (const std::vector<std::string>& flags : all) {
    std::vector<std::string> report = {in, "--random-inputs", "1", "--report"};
    report.insert(report.end(), flags.begin(), flags.end());
    EXPECT_THAT(Refusal(report),
                HasSubstr("--report compares two pipelines, " + flags[0] + " is for another run"));
    if (flags[0] == "--fail-if") continue;  // which passes alone can answer
    report[3] = "--can-run";
    EXPECT_THAT(Refusal(report),
                HasSubstr("--can-run runs nothing, " + flags[0] + " is for another run"));
  }
  EXPECT_THAT(Refusal({in, "--can-run", "--report"}), HasSubstr("--report is for another run"));
  EXPECT_EQ(Run({in, "--can-run", "--fail-if", "drop-unit-factor<1"}).code, 1);
}

// Types that no plan holds are no kernel's either.
TEST_F(IrRun, NamesWhatRunsOnNoKernelForItsTypes) {
  const Outcome unknown =
      Run({Write("a.ir", R"(module {input_names:strings["x"]} (%0: tensor<4x?>) {
 (%1) = "builtin.constant" () {value:dense<tensor<2xi64>, [1,3]>} : () -> tensor<2xi64>
 (%2, %3) = "onnx.Split" (%0, %1) {axis:0} : (tensor<4x?>, tensor<2xi64>) -> tensor<1x?>, tensor<3x?>
 () = "builtin.return" (%2, %3) {} : (tensor<1x?>, tensor<3x?>) ->
}
)"),
           "--can-run"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_EQ(unknown.out, "onnx.Split: elements of type ?; 1 op\n");
  const Outcome deep =
      Run({Write("b.ir", R"(module {input_names:strings["x"]} (%0: tensor<2x1x1x1x1x1x1x3x6xf32>) {
 (%1) = "onnx.Transpose" (%0) {} : (tensor<2x1x1x1x1x1x1x3x6xf32>) -> tensor<6x3x1x1x1x1x1x1x2xf32>
 () = "builtin.return" (%1) {} : (tensor<6x3x1x1x1x1x1x1x2xf32>) ->
}
)"),
           "--can-run"});
  EXPECT_EQ(deep.code, 3);
  EXPECT_EQ(deep.out, "onnx.Transpose: more than 8 dimensions; 1 op\n");
}

}  // namespace
}  // namespace weft::tools
