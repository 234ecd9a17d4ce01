#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

// y = relu(x), and a second relu that nobody reads.
constexpr const char* kDeadRelu =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Tanh" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
}
)";

TEST_F(IrOpt, HelpFitsOneScreen) {
  const Outcome help = Accept({"--help"});
  EXPECT_LE(CountOf(help.out, "\n"), 24u) << help.out;
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  for (const char* option : {"-o OUT",
                             "--pipeline P",
                             "--passes A,B",
                             "--enable-rule R",
                             "--disable-rule R",
                             "--dim NAME=SIZE",
                             "--input-shape NAME=SHAPE",
                             "--overwrite-input-shape NAME=SHAPE",
                             "--print-ir-before P",
                             "--print-ir-after P",
                             "--verify-each",
                             "--stats",
                             "--timing",
                             "--list-passes",
                             "--list-rules",
                             "--list-ops",
                             "--list-constraints",
                             "--export FORM",
                             "--target-opset N",
                             "--full-weights",
                             "--numerics N",
                             "--explain R[@V]",
                             "--analyse-rules",
                             "--paranoid",
                             "--fail-if R<N"})
    EXPECT_THAT(help.out, HasSubstr(option));
}

TEST_F(IrOpt, SuggestsTheOptionThatWasMeant) {
  const std::string in = Write("a.ir", kDeadRelu);
  EXPECT_THAT(Refusal({in, "--pipelin", "fuse"}),
              HasSubstr("unknown option '--pipelin'; did you mean '--pipeline'?"));
  EXPECT_THAT(Refusal({in, "--pases=x"}), HasSubstr("did you mean '--passes'?"));
  EXPECT_THAT(Refusal({in, "--zzzzzzzzzz"}), Not(HasSubstr("did you mean")));
  for (const char* option : {"-o", "--output-dir", "--extract", "--explain", "--html"})
    EXPECT_THAT(Refusal({in, option, ""}), HasSubstr(std::string(option) + ": the value is empty"));
}

TEST_F(IrOpt, SuggestsThePipelinePassOrRuleThatWasMeant) {
  const std::string in = Write("a.ir", kDeadRelu);
  EXPECT_THAT(Refusal({in, "--pipeline", "simplfy"}),
              HasSubstr("unknown pipeline 'simplfy'; did you mean 'simplify'?"));
  EXPECT_THAT(Refusal({in, "--passes", "constant-folding,dead-code-elimintion"}),
              HasSubstr("unknown pass 'dead-code-elimintion'; did you mean "
                        "'dead-code-elimination'?"));
  EXPECT_THAT(Refusal({in, "--print-ir-after", "canonicalise"}),
              HasSubstr("did you mean 'canonicalize'?"));
  EXPECT_THAT(Refusal({in, "--disable-rule", "no-such-rule"}),
              HasSubstr("unknown rule 'no-such-rule'"));
  EXPECT_THAT(Refusal({in, "--enable-rule", "no-such-rule"}),
              HasSubstr("unknown rule 'no-such-rule'"));
  EXPECT_THAT(Refusal({in, "--numerics", "exakt"}), HasSubstr("did you mean 'exact'?"));
  EXPECT_THAT(Refusal({in, "--export", "inlined"}), HasSubstr("did you mean 'inline'?"));
}

TEST_F(IrOpt, RefusesPassesThatUndoEachOther) {
  const std::string in = Write("a.ir", kDeadRelu);
  for (const char* passes :
       {"fuse-matmuls,split-qkv-matmul", "split-qkv-matmul,dead-code-elimination,fuse-matmuls"})
    EXPECT_THAT(Refusal({in, "--passes", passes}),
                HasSubstr("'fuse-matmuls' and 'split-qkv-matmul' undo each other"));
  EXPECT_EQ(Run({in, "--passes", "fuse-matmuls"}).code, 0);
  EXPECT_EQ(Run({in, "--passes", "split-qkv-matmul"}).code, 0);
}

TEST_F(IrOpt, RefusesBadUsage) {
  const std::string in = Write("a.ir", kDeadRelu);
  EXPECT_THAT(Refusal({}), HasSubstr("no model given"));
  EXPECT_THAT(Refusal({in, in}), HasSubstr("need --output-dir DIR"));
  EXPECT_THAT(Refusal({in, "-o"}), HasSubstr("-o"));
  EXPECT_THAT(Refusal({in, "--passes", "canonicalize", "--pipeline", "none"}),
              HasSubstr("--pipeline"));
  EXPECT_THAT(Refusal({Path("a.txt")}), HasSubstr(".onnx or .ir"));
  EXPECT_THAT(Refusal({in, "-o", Path("b.pb")}), HasSubstr(".onnx or .ir"));
}

TEST_F(IrOpt, RefusesFilesThatCannotBeRead) {
  EXPECT_THAT(Refusal({Path("missing.ir")}), HasSubstr("missing.ir"));
  EXPECT_THAT(Refusal({Path("missing.onnx")}), HasSubstr("missing.onnx"));
  EXPECT_THAT(Refusal({Write("bad.ir", "{\n (%0) = onnx.Relu\n}\n")}), HasSubstr("bad.ir:2:"));
  EXPECT_THAT(Refusal({Write("bad.onnx", "no protobuf at all")}), HasSubstr("bad.onnx"));
  EXPECT_THAT(Refusal({Write("empty.onnx", "")}), HasSubstr("empty.onnx"));
}

TEST_F(IrOpt, RefusesATypeThatInferenceRefusesInOneLineWithItsPlace) {
  const std::string head = "module {} (%0: tensor<2x3xf32>, %1: tensor<4xf32>) {\n";
  EXPECT_THAT(
      Refusal({Write("sum.ir", head + " (%2) = \"onnx.Add\" (%0,%1) {} : "
                                      "(tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>\n}")}),
      AllOf(HasSubstr("sum.ir:2:2: error: onnx.Add"), Not(HasSubstr("warning"))));
  EXPECT_THAT(Refusal({Write("stated.ir", head + " (%2) = \"onnx.Relu\" (%0) {} : "
                                                 "(tensor<2x3xf32>) -> tensor<2x5xf32>\n}")}),
              HasSubstr("stated.ir:2:2: error: onnx.Relu: result 0 is stated as tensor<2x5xf32>"));
}

TEST_F(IrOpt, RefusesToOverwriteItsInputByAnyName) {
  const std::string in = Write("a.ir", kDeadRelu);
  std::filesystem::create_symlink(in, Path("soft.ir"));
  std::filesystem::create_hard_link(in, Path("hard.ir"));
  for (const std::string& out : {in, Path("./a.ir"), Path("soft.ir"), Path("hard.ir")})
    EXPECT_THAT(Refusal({in, "-o", out}), HasSubstr("would overwrite the input"));
  EXPECT_EQ(ReadFile(in), kDeadRelu);
}

TEST_F(IrOpt, LeavesNothingBehindWhenWritingFails) {
  const std::string in = Write("a.ir", kDeadRelu);
  EXPECT_THAT(Refusal({in, "-o", Path("missing/b.ir")}), HasSubstr("missing/b.ir"));
  EXPECT_THAT(Refusal({in, "-o", Path("missing/b.onnx")}), HasSubstr("missing/b.onnx"));
  std::filesystem::create_directory(Path("folder.ir"));
  EXPECT_THAT(Refusal({in, "-o", Path("folder.ir")}), HasSubstr("folder.ir"));
  EXPECT_THAT(Files(), ElementsAre("a.ir", "folder.ir"));
}

TEST_F(IrOpt, PrintsTheOptimisedProgramOnStdout) {
  const std::string in = Write("a.ir", kDeadRelu);
  for (const auto& arguments : {std::vector<std::string>{in}, {in, "-o", "-"}}) {
    const Outcome outcome = Accept(arguments);
    EXPECT_THAT(outcome.out, HasSubstr("onnx.Relu"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("onnx.Tanh")));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
  EXPECT_THAT(Accept({in, "--pipeline", "none"}).out, HasSubstr("onnx.Tanh"));
  EXPECT_THAT(Accept({in, "--passes", "canonicalize,dead-code-elimination"}).out,
              Not(HasSubstr("onnx.Tanh")));
}

TEST_F(IrOpt, PrintsTheProgramAroundAPassUnderABanner) {
  const std::string in = Write("a.ir", kDeadRelu);
  const Outcome outcome = Accept({in, "--passes", "dead-code-elimination", "--print-ir-before",
                                  "dead-code-elimination", "--print-ir-after", "all"});
  const std::string title = "IRPrinting on builtin.module before dead-code-elimination pass";
  const std::string rule = "===" + std::string(73, '-') + "===";
  EXPECT_THAT(outcome.err, StartsWith(rule + "\n "));
  EXPECT_THAT(outcome.err, HasSubstr(" " + title + "\n" + rule + "\n"));
  EXPECT_THAT(outcome.err,
              HasSubstr("IRPrinting on builtin.module after dead-code-elimination pass"));
  EXPECT_EQ(CountOf(outcome.err, "onnx.Tanh"), 1u);  // before, not after
  EXPECT_EQ(CountOf(outcome.err, "onnx.Relu"), 2u);
  EXPECT_EQ(CountOf(outcome.out, "IRPrinting"), 0u);
}

TEST_F(IrOpt, PrintsAfterAChangeOnlyWhenThereIsOne) {
  const std::string in = Write("a.ir", kDeadRelu);
  const Outcome outcome = Accept({in, "--passes", "dead-code-elimination,dead-code-elimination",
                                  "--print-ir-after", "change"});
  EXPECT_EQ(CountOf(outcome.err, "IRPrinting"), 1u) << outcome.err;
}

TEST_F(IrOpt, StatisticsHaveARowForEveryPassAndRuleThatMatched) {
  const std::string err =
      Accept({kBertTiny, "--stats", "--pipeline", "fuse", "-o", Path("a.onnx")}).err;
  EXPECT_THAT(err, ContainsRegex("\n +fuse-erf-gelu +[0-9]+ +2 +0 +2 "));
  EXPECT_THAT(err, HasSubstr("\ndead-code-elimination"));
  EXPECT_THAT(err, Not(HasSubstr("drop-noop-split")));
  EXPECT_THAT(err,
              ContainsRegex("--stats=all has the [0-9]+ rules that matched nothing, and why\n"));
}

TEST_F(IrOpt, TellsSizesBeforeAndAfterOnATerminalAndInStatistics) {
  const std::vector<std::string> fuse = {"ir-opt", kBertTiny, "--pipeline",
                                         "fuse",   "-o",      Path("a.onnx")};
  const auto with = [&](const std::string& flag) {
    std::vector<std::string> arguments = fuse;
    arguments.push_back(flag);
    return RunProgram(arguments).err;
  };
  const char* const table =
      "\noperations +170 +[0-9]+\nparameters +395,789 +[0-9,]+\nFLOPs +119.2 M +[0-9.]+ M\n"
      "file +1.52 MiB +[0-9.]+ MiB\narena +0.56 MiB +0.[0-9]+ MiB\n$";
  EXPECT_THAT(with("--stats"), ContainsRegex(table));
  EXPECT_THAT(with("--stats=all"), ContainsRegex(table));
  EXPECT_THAT(with("--timing"), Not(HasSubstr("FLOPs")));
  EXPECT_EQ(RunProgram(fuse).err, "");
  std::string terminal = RunInShell("script -qec \"$*\" /dev/null", fuse).out;
  std::erase(terminal, '\r');
  EXPECT_THAT(terminal, ContainsRegex(table));
}

TEST_F(IrOpt, SaysWhichSizesAreUnknown) {
  const std::string err =
      Accept({Write("a.ir",
                    "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: "
                    "tensor<\"N\"xf32>) {\n (%1) = \"onnx.Relu\" (%0) {} : "
                    "(tensor<\"N\"xf32>) -> tensor<\"N\"xf32>\n () = \"builtin.return\" "
                    "(%1) {} : (tensor<\"N\"xf32>) ->\n}\n"),
              "--stats"})
          .err;
  EXPECT_THAT(err, ContainsRegex("FLOPs +0 and 1 of unknown size +0 and 1 of unknown size\n"));
  EXPECT_THAT(err, ContainsRegex("arena +unknown +unknown\n"));
}

TEST_F(IrOpt, FullStatisticsHaveARowForEveryPassAndRule) {
  const Outcome outcome =
      Accept({Write("a.ir", kDeadRelu), "--stats=all", "--pipeline", "simplify"});
  EXPECT_THAT(outcome.err,
              MatchesRegex("pass +rule +tried +matched +declined +applied +time +ops.*"));
  EXPECT_EQ(CountOf(outcome.err, "\nconstant-folding"), 4u);
  EXPECT_THAT(outcome.err, HasSubstr("\ncanonicalize"));
  EXPECT_THAT(outcome.err, HasSubstr("dead-code-elimination"));
  EXPECT_THAT(outcome.err, HasSubstr("3 -> 2"));
  std::istringstream rules(Accept({"--list-rules"}).out);
  for (std::string name, group, line; rules >> name >> group && std::getline(rules, line);)
    if (group == "canonicalize") {
      EXPECT_THAT(outcome.err, HasSubstr(" " + name + " "));
    }
}

TEST_F(IrOpt, TimesEveryPass) {
  const Outcome outcome =
      Accept({Write("a.ir", kDeadRelu), "--timing", "--passes", "canonicalize"});
  EXPECT_THAT(outcome.err, MatchesRegex("pass +time +share\ncanonicalize +[0-9.]+ ms +[0-9.]+ %\n"
                                        "total +[0-9.]+ ms +[0-9.]+ %\n"));
}

TEST_F(IrOpt, ListsPassesRulesAndOps) {
  EXPECT_THAT(Accept({"--list-passes"}).out, AllOf(HasSubstr("dead-code-elimination"),
                                                   HasSubstr("\nsimplify"), HasSubstr("\nfuse")));
  EXPECT_THAT(Accept({"--list-rules"}).out,
              MatchesRegex("rule +seed +group +numerics +judged +runs +what becomes what\n.*"));
  EXPECT_THAT(Accept({"--list-ops"}).out,
              AllOf(HasSubstr("onnx.MatMul"), HasSubstr("fused.linear"), HasSubstr("pd.")));
}

TEST_F(IrOpt, ListsConstraintsWithNamesParametersAndMeaning) {
  EXPECT_THAT(
      Accept({"--list-constraints"}).out,
      AllOf(HasSubstr("SameDim(value, integer, value, integer)"),
            HasSubstr("same_dim(value, integer, value, integer)"),
            HasSubstr("the two axes have one size"), HasSubstr("the same symbol is the same size"),
            HasSubstr("splat_is(value, number[, number])"),
            HasSubstr("Compose(attribute variable, attribute variable)")));
}

TEST_F(IrOpt, LeadsFromTheNameOfARuleToItsSourceAndTests) {
  const std::string rule = Accept({"--list-rules", "lower-conv-to-nhwc"}).out;
  EXPECT_THAT(
      rule, MatchesRegex(
                "name +lower-conv-to-nhwc\naliases +conv-to-nhwc\ngroup +layout\nnumerics +exact\n"
                "judged +proved\nruns +default\nbecomes +conv.*=>.*\n"
                "source +passes/layout/[a-z_]+\\.cc:[0-9]+\n"
                "golden +unittests/passes/layout/golden/lower-conv-to-nhwc\n"
                "tests +ctest --preset release -R "
                "'\\^passes/Golden\\.\\*/layout_lower_conv_to_nhwc_'\n"))
      << rule;
  EXPECT_THAT(Accept({"--list-rules=gather-to-split"}).out, HasSubstr("group     (pass)\n"));
}

TEST_F(IrOpt, SuggestsTheRuleThatWasMeantToBeListed) {
  EXPECT_THAT(Refusal({"--list-rules", "lower-conv-to-nhcw"}),
              HasSubstr("unknown rule 'lower-conv-to-nhcw'; did you mean 'lower-conv-to-nhwc'?"));
}

TEST_F(IrOpt, FixesSymbolicDimsAndInputShapes) {
  const std::string in = Write("a.ir", R"(
module {input_names:strings["a:0"],output_names:strings["y"]} (%0: tensor<"batch"x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<"batch"x3xf32>) -> tensor<"batch"x3xf32>
 () = "builtin.return" (%1) {} : (tensor<"batch"x3xf32>) ->
}
)");
  EXPECT_EQ(CountOf(Accept({in, "--dim", "batch=7"}).out, "tensor<7x3xf32>"), 4u);
  EXPECT_EQ(CountOf(Accept({in, "--input-shape", "a:0=5x3"}).out, "tensor<5x3xf32>"), 4u);
  EXPECT_THAT(Refusal({in, "--dim", "bach=7"}), HasSubstr("did you mean 'batch'?"));
  EXPECT_THAT(Refusal({in, "--dim", "batch"}), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(Refusal({in, "--dim", "batch=-1"}), HasSubstr("'-1' is not a size"));
  EXPECT_THAT(Refusal({in, "--dim", "batch=99999999999999999999"}), HasSubstr("is not a size"));
  EXPECT_THAT(Refusal({in, "--input-shape", "b=1x3"}), HasSubstr("unknown input 'b'"));
  EXPECT_THAT(Refusal({in, "--input-shape", "a:0=1xx3"}), HasSubstr("'' is not a size"));
  EXPECT_THAT(Refusal({in, "--input-shape", "a:0=1x4"}), HasSubstr("a:0"));
  EXPECT_THAT(Refusal({in, "--input-shape", "a:0=1x3x1"}), HasSubstr("a:0"));
  EXPECT_EQ(CountOf(Accept({in, "--input-shape", "a:0:5,3"}).out, "tensor<5x3xf32>"), 4u);
  EXPECT_EQ(CountOf(Accept({in, "--overwrite-input-shape", "a:0:5,4"}).out, "tensor<5x4xf32>"), 4u);
  EXPECT_THAT(Refusal({in, "--overwrite-input-shape", "a:0:5,4,1"}), HasSubstr("another rank"));
}

TEST_F(IrOpt, SolvesTheSizesOfExpressions) {
  const std::string in = Write("a.ir", R"(
module {input_names:strings["a","b"],output_names:strings["y"]} (%0: tensor<"2*n + 1"xf32>, %1: tensor<"n"xf32>) {
 (%2) = "onnx.Concat" (%0, %1) {axis:0} : (tensor<"2*n + 1"xf32>, tensor<"n"xf32>) -> tensor<"3*n + 1"xf32>
 () = "builtin.return" (%2) {} : (tensor<"3*n + 1"xf32>) ->
}
)");
  for (const char* flag : {"--input-shape", "--overwrite-input-shape"}) {
    EXPECT_THAT(Accept({in, flag, "a:7"}).out, HasSubstr("tensor<10xf32>"));
    EXPECT_THAT(Refusal({in, flag, "a:6"}), HasSubstr("2*n + 1 is 6 for no size of n"));
    EXPECT_THAT(Refusal({in, flag, "a:7", "--dim", "n=2"}), HasSubstr("n is 3, not 2"));
  }
  EXPECT_THAT(Refusal({in, "--dim", "n=2", "--dim", "n=3"}), HasSubstr("'n' is given twice"));
  EXPECT_THAT(Refusal({in, "--dim-range", "n=1..2", "--dim-range", "n=4..8"}),
              HasSubstr("'n' is given twice"));
  EXPECT_THAT(Refusal({in, "--input-shape", "a:7", "--input-shape", "b:4"}), HasSubstr("b"));
  const std::string twice = "--overwrite-input-shape";  // parts what shared a symbol
  EXPECT_THAT(Accept({in, twice, "a:7", twice, "b:4"}).out, HasSubstr("tensor<11xf32>"));
}

TEST_F(IrOpt, GoesFromOnnxToTextAndBack) {
  const auto convert = [&](const std::string& from, const std::string& to) {
    Accept({from, "--pipeline", "none", "-o", Path(to)});
  };
  convert(kBertTiny, "a.ir");
  convert(Path("a.ir"), "b.onnx");
  convert(Path("b.onnx"), "c.ir");  // constants first, as ONNX has them
  convert(Path("c.ir"), "d.onnx");
  EXPECT_THAT(Files(),
              ElementsAre("a.ir", "a.ir.weights", "b.onnx", "c.ir", "c.ir.weights", "d.onnx"));
  EXPECT_TRUE(ReadFile(Path("b.onnx")) == ReadFile(Path("d.onnx")));
  const auto run = [](const std::string& model) {
    return RunProgram({"ir-run", model, "--random-inputs", "1", "--pipeline", "none"}).out;
  };
  const std::string outputs = run(kBertTiny);
  EXPECT_THAT(outputs, HasSubstr("f32[1,128,128]"));
  EXPECT_EQ(run(Path("a.ir")), outputs);
  EXPECT_EQ(run(Path("b.onnx")), outputs);
}

TEST_F(IrOpt, ElidesLongWeightsUnlessAskedForThem) {
  const Outcome elided = Accept({kBertTiny, "--pipeline", "none"});
  EXPECT_THAT(elided.out, HasSubstr("elided"));
  EXPECT_LT(elided.out.size(), 200000u);
  const Outcome full = Accept({kBertTiny, "--pipeline", "none", "--full-weights"});
  EXPECT_THAT(full.out, Not(HasSubstr("elided")));
  EXPECT_GT(full.out.size(), std::filesystem::file_size(kBertTiny));
  Accept({kBertTiny, "--pipeline", "none", "--full-weights", "-o", Path("full.ir")});
  EXPECT_THAT(Files(), ElementsAre("full.ir"));  // no side file
  EXPECT_EQ(Accept({Path("full.ir"), "--pipeline", "none"}).out, elided.out);
}

TEST_F(IrOpt, WritesFusedOpsAsFunctionsOrInline) {
  Accept({kBertTiny, "--pipeline", "fuse", "-o", Path("functions.onnx")});
  Accept({kBertTiny, "--pipeline", "fuse", "--export", "inline", "-o", Path("inline.onnx")});
  EXPECT_THAT(Accept({Path("functions.onnx"), "--pipeline", "none"}).out, HasSubstr("fused."));
  EXPECT_THAT(Accept({Path("inline.onnx"), "--pipeline", "none"}).out, Not(HasSubstr("fused.")));
}

TEST_F(IrOpt, WritesFusedOpsAsOperatorsOfOnnxRuntime) {
  for (const char* pipeline : {"fuse", "ort"}) {
    const std::string file = Path(std::string(pipeline) + ".onnx");
    Accept({kBertTiny, "--pipeline", pipeline, "--export", "ort", "-o", file, "--check"});
    const std::string text = Accept({file, "--pipeline", "none"}).out;
    for (const char* op : {"MultiHeadAttention", "SkipLayerNormalization", "BiasGelu"})
      EXPECT_THAT(text, HasSubstr(std::string("\"com.microsoft.") + op + "\""));
    EXPECT_THAT(text, Not(HasSubstr("fused.")));
    EXPECT_THAT(text, HasSubstr(":17\""));  // the first opset with LayerNormalization
    // A second run finds nothing to do, and our own kernels compute the same from it.
    EXPECT_EQ(Accept({file, "--pipeline", "ort"}).out, text);
    Accept({file, "--pipeline", "fuse", "--check", "-o", Path("ours.onnx")});
  }
}

TEST_F(IrOpt, WritesForOnnxRuntimeInTheOpsetThatIsAskedFor) {
  Accept({kBertTiny, "--export", "ort", "--target-opset", "14", "-o", Path("old.onnx")});
  const std::string text = Accept({Path("old.onnx"), "--pipeline", "none"}).out;
  EXPECT_THAT(text, HasSubstr("\":14\""));
  EXPECT_THAT(text, HasSubstr("com.microsoft.SkipLayerNormalization"));
}

TEST_F(IrOpt, RunsTheChosenPipelineForOnnxRuntime) {
  Accept({kBertTiny, "--pipeline", "none", "--export", "ort", "-o", Path("same.onnx")});
  EXPECT_THAT(Accept({Path("same.onnx"), "--pipeline", "none"}).out, Not(HasSubstr("microsoft.")));
}

}  // namespace
}  // namespace weft::tools
