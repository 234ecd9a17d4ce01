#include "tools/cli/option_texts.h"

#include <algorithm>

namespace weft::tools {
namespace {

struct Text {
  std::string_view program;  // empty: of both
  std::string_view option, text;
};

constexpr Text kTexts[] = {
    {"", "--help", "Print the options on one screen and exit."},
    {"", "--version", "Print the version and exit."},
    {"", "--json",
     "Give every answer that has a JSON form as JSON, of the schemas in share/doc/weft/schemas."},

    // What is read and written.
    {"ir-opt", "IN", "Models to read: .onnx or .ir files, folders of such files, or - for stdin."},
    {"ir-opt", "-o",
     "Where to write the model: .onnx or .ir, or - for stdout. Without it the IR is printed."},
    {"ir-opt", "--output-dir",
     "A folder for the models, each under its own name; for several models, and folders."},
    {"ir-opt", "-j", "How many models are optimised at once, each in a process of its own (1)."},
    {"", "--format", "What stdin and stdout are, onnx or ir; with --output-dir, what is written."},
    {"ir-opt", "--print-origins",
     "Print with each operation the operations of the model and the rules that it comes from."},
    {"ir-opt", "--extract",
     "Take the part of the model between two values: from A, which becomes an input, to B, an "
     "output."},
    {"ir-opt", "--full-weights",
     "Print large constants, too, which the text of a program otherwise leaves out."},
    {"ir-opt", "--export",
     "How fused operations are written to ONNX: functions (ONNX local functions, the default), "
     "inline (plain ONNX), "
     "ort (operators of ONNX Runtime, com.microsoft)."},
    {"ir-opt", "--target-opset",
     "The opset of ONNX to write, 13 to 27. Without it, that of the model."},
    {"ir-run", "MODEL", "The model to run: an .onnx or .ir file, or - for stdin."},
    {"ir-run", "--input", "Read the input NAME from a .pb or .npy file. Repeatable."},
    {"ir-run", "--random-inputs",
     "Fill all inputs without a file with random values of this seed."},
    {"ir-run", "--input-range", "Bounds of the random values of an input. Repeatable."},
    {"ir-run", "--output-dir", "Write each output to DIR/output_<i>.pb."},
    {"ir-run", "--save-inputs", "Write each input to DIR/input_<i>.pb, so that --input reads it."},
    {"", "--allow-hard-links", "Read external data also from files that have several names."},
    {"", "--load",
     "Load a plugin: rules, passes, operators and kernels of yours, built for this version of "
     "Weft. Repeatable."},

    // Shapes.
    {"", "--dim", "The size of a symbolic dimension. Repeatable."},
    {"", "--dim-range",
     "Bounds of a symbolic dimension, which is a multiple of STEP, for the pass "
     "sampled-dynamic-reshape. Repeatable."},
    {"", "--input-shape",
     "The shape of an input, x=1x3x8 or x:1,3,8; one that the model states must agree. "
     "Repeatable."},
    {"", "--overwrite-input-shape", "The same, whatever the model states. Repeatable."},
    {"", "--fold-default-inputs",
     "Make constants of inputs that have an initializer, which is their default."},

    // Passes and rules.
    {"", "--pipeline",
     "The passes to run, by name: none, simplify (the default of ir-opt), layout, fuse (that of "
     "ir-run), paddle, ascend, "
     "litert, ort or superopt. See --list-passes."},
    {"", "--passes", "Single passes in place of a pipeline, parted by commas."},
    {"", "--enable-rule", "Run a rule or pass that only runs on request, too. Repeatable."},
    {"", "--disable-rule", "Do not run a rule or pass. Repeatable."},
    {"", "--numerics",
     "How numbers may change: exact (not a bit), reassociates (rounding only, the default), "
     "approximate, "
     "changes-meaning."},
    {"", "--rules-file",
     "Run the rules of a file first. They are judged before; one that changes numbers ends the run "
     "with exit code 1."},
    {"", "--trust-rules", "Do not judge the rules of --rules-file."},
    {"", "--require-judged",
     "Exit with 1 where a rule of --rules-file could not be judged in the time for that."},
    {"", "--print-ir-before", "Print the program on stderr before a pass, or before all of them."},
    {"", "--print-ir-after",
     "The same after a pass, all, or each that changed something (change)."},
    {"", "--verify-each", "Verify the program after every pass."},
    {"", "--paranoid",
     "Verify the program after every single rewrite, and that a rule which refused left it alone. "
     "Slow; --check compares numbers."},
    {"", "--stats",
     "Say on stderr what passes and rules did, and sizes before and after. =all has the rules that "
     "did nothing, and why; "
     "=json is JSON."},
    {"", "--timing", "Say on stderr how long each pass took."},
    {"", "--fail-if",
     "Exit with 1, and write nothing, where this holds of how often a rule was applied; also <=, "
     "=, >=, >. Repeatable."},
    {"", "--max-rewrites", "Stop after so many rewrites, which finds the one that is wrong."},
    {"", "--print-rewrites",
     "Print a line on stderr for each rewrite: its number, rule and place, what went and what "
     "came. =diff adds the lines "
     "of IR that changed."},
    {"", "--search-budget", "End superopt after so many programs (1000)."},
    {"", "--search-seconds",
     "End superopt after so many seconds (60). So does ^C, and the best program is written."},
    {"", "--search-alpha",
     "Superopt looks at programs that cost at most so many times the best one (1.05)."},
    {"", "--search-seed", "The seed of superopt's choices."},
    {"", "--search-cost",
     "What superopt takes for the cost of a program: measured, or analytic (a model of it)."},
    {"ir-opt", "--convert", "Convert the floats of the model to f16, bf16 or f32."},
    {"ir-opt", "--keep-io", "With --convert: inputs and outputs stay of their types."},
    {"ir-opt", "--keep",
     "With --convert: operators or nodes of these names stay of their types. Parted by commas."},
    {"ir-opt", "--quantize",
     "Make an 8-bit model: dynamic (products; scales are computed in the model), static (scales "
     "from inputs). The error of "
     "each output goes to stderr."},
    {"ir-opt", "--calibrate",
     "Take the scales of --quantize static from the inputs in a folder, not from random ones."},

    // Checks.
    {"ir-opt", "--check",
     "Run the model before and after on random inputs (=N: so many sets of them), and exit with 1, "
     "with nothing written, "
     "when outputs differ more than --numerics allows."},
    {"ir-opt", "--tolerance",
     "The difference that --check allows, of the largest element of an output."},
    {"ir-opt", "--bisect",
     "Find the first rewrite, pass, fused kernel or folded constant after which the check, or the "
     "command of --test, "
     "fails, and write its surroundings to OUT, which must be given, as a small model."},
    {"ir-opt", "--reduce",
     "Make the model as small as it gets while the command of --test ends as it does with the "
     "whole "
     "model."},
    {"ir-opt", "--test",
     "The command of --bisect and --reduce: run with a model's path at its end."},
    {"ir-opt", "--explain",
     "Say why a rule did not apply, or where it did: at its nearest match, or at one value (R@V)."},
    {"ir-opt", "--analyse-rules",
     "Look for rules that undo, shadow or never end one another, among those that the run has."},
    {"ir-opt", "--verify-rules",
     "Judge rules: run each on programs made for it, and prove it where that is possible."},
    {"ir-run", "--compare",
     "Compare the outputs with those of another model on the same inputs, or with those of the "
     "model as it is on "
     "reference kernels (reference). Exit code 1 when they differ."},
    {"ir-run", "--expect", "Compare an output with a .pb or .npy file. Repeatable."},
    {"ir-run", "--tolerance",
     "The difference that comparisons allow, of the largest element of an output (f32 5e-6, f16 "
     "1e-3, bf16 8e-3, "
     "integers 0)."},
    {"ir-run", "--can-run",
     "Run nothing, but name every operation and type that no kernel runs; exit code 3 if there is "
     "one."},

    // Running.
    {"ir-run", "--provider",
     "Whose kernels run: auto (the default: ours, then XNNPACK's, then reference kernels), native "
     "(without convolutions by Winograd, whose sums have another order), xnnpack, reference."},
    {"ir-run", "--isa",
     "The instructions that kernels may use: portable, avx2, avx512 or amx. Without it, all that "
     "the machine has."},
    {"ir-run", "--matmul-precision",
     "How precise factors of products and convolutions are on tiles of AMX: float32 (the default), "
     "bf16x2 (16 bits) or bf16 (8 bits), which --numerics approximate must allow. --report prints "
     "the error. With other instructions than amx products are of float32."},
    {"ir-run", "--threads",
     "How many threads run kernels. The default, and the limit, is the CPUs that the process may "
     "use."},
    {"ir-run", "--oversubscribe", "Allow more threads than CPUs."},
    {"ir-run", "--bench",
     "Time runs for two seconds: least, mean and quantiles, and the size of the arena. =json is "
     "JSON."},
    {"ir-run", "--bench-blocks",
     "Read numbers of runs from stdin, and answer each with the milliseconds of every run."},
    {"ir-run", "--profile",
     "Time each operation, with its kernel, the nodes it comes from, and the rules. =json is "
     "JSON."},
    {"ir-run", "--tune",
     "Run the model after several lists of passes and, of the best, each operation on each kernel "
     "that runs it, all in turns on the inputs; print what was measured and write to F what is "
     "faster beyond noise, for this machine, --isa and --threads."},
    {"ir-run", "--tuned",
     "Use the passes and kernels that --tune wrote to F. On another machine than it was made on it "
     "is not used, with a warning; there is one, too, where no kernel of it is of the model."},
    {"ir-run", "--report",
     "Compare the fused with the unfused model: rules, latency, difference. =json is JSON."},

    // Pictures and lists.
    {"", "--html",
     "Write a page with the graphs before and after, what became what, and of ir-run the time of "
     "each operation. It needs "
     "no network."},
    {"", "--svg", "Write a drawing of the graph after the passes."},
    {"", "--dot", "Write the graph after the passes for Graphviz."},
    {"ir-opt", "--list-passes",
     "Print passes and pipelines and exit. =json is JSON; so is it for the other lists."},
    {"ir-opt", "--list-rules", "Print the rules, or all about one, and exit."},
    {"ir-opt", "--list-ops", "Print the operators and exit."},
    {"ir-opt", "--list-constraints",
     "Print what rules may require of a match and compute, and exit."},
};

}  // namespace

std::string_view OptionText(std::string_view program, std::string_view option) {
  const Text* const it = std::find_if(std::begin(kTexts), std::end(kTexts), [&](const Text& text) {
    return text.option == option && (text.program.empty() || text.program == program);
  });
  return it == std::end(kTexts) ? "" : it->text;
}

std::string FirstPartOf(std::string_view text) {
  const size_t end = std::min({text.find(". "), text.find("; "), text.find(": "), text.size()});
  text = text.substr(0, end);
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace weft::tools
