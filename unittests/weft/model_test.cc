#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ir/dialects/onnx.h"
#include "ir/infer.h"
#include "ir/op_def.h"
#include "ir/rewriter.h"
#include "unittests/temp_dir.h"
#include "unittests/test_paths.h"
#include "unittests/tools/faults/wrong_rules.h"
#include "weft/weft.h"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// y = relu(relu(x * 1))
constexpr const char* kRelus =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"N"x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2) = "onnx.Mul" (%0, %1) {} : (tensor<"N"x3xf32>, tensor<f32>) -> tensor<"N"x3xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<"N"x3xf32>) -> tensor<"N"x3xf32>
 () = "builtin.return" (%3) {} : (tensor<"N"x3xf32>) -> 
}
)";

class ModelTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Model Loaded(absl::StatusOr<Model> model) {
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
  static Model Bert() { return Loaded(Model::Load(fixtures::TestData("/models/bert_tiny.onnx"))); }
  static Model Relus() { return Loaded(Model::FromText(kRelus)); }
  static std::string Refusal(const absl::Status& status, absl::StatusCode code) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(ir::Message(status)), testing::Not(HasSubstr("\n")));
    return std::string(ir::Message(status));
  }

 private:
  const fixtures::TempDir folder_;
};

TEST_F(ModelTest, HasItsRulesAndKernels) { EXPECT_EQ(RegisterAll(), absl::OkStatus()); }

TEST_F(ModelTest, IsOptimisedAndSavedAndReadAgain) {
  Model model = Bert();
  const size_t before = model.num_operations();
  const auto report = model.Optimize({.pipeline = "fuse", .check = 2});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->ops_before, before);
  EXPECT_EQ(report->ops_after, model.num_operations());
  EXPECT_LT(report->ops_after, before / 2);
  ASSERT_EQ(model.Save(Path("fused.onnx")), absl::OkStatus());
  const Model again = Loaded(Model::Load(Path("fused.onnx")));
  EXPECT_EQ(again.num_operations(), model.num_operations());
}

TEST_F(ModelTest, ReportsRulesAndOutputs) {
  Model model = Bert();
  const auto report = model.Optimize({.pipeline = "fuse", .check = 1, .record_rewrites = true});
  ASSERT_TRUE(report.ok()) << report.status();
  uint64_t gelus = 0;
  for (const RuleReport& rule : report->rules)
    if (rule.rule == "fuse-erf-gelu") gelus += rule.applied;
  EXPECT_EQ(gelus, 2u);
  uint64_t rewritten = 0;
  for (const RewriteReport& rewrite : report->rewrites)
    rewritten += rewrite.rule == "fuse-erf-gelu";
  EXPECT_EQ(rewritten, gelus);
  for (size_t i = 0; i < report->rewrites.size(); ++i) EXPECT_EQ(report->rewrites[i].number, i + 1);
  ASSERT_FALSE(report->outputs.empty());
  for (const OutputReport& output : report->outputs) {
    EXPECT_LT(output.difference, 5e-6) << output.name;
    EXPECT_THAT(output.verdict, HasSubstr("the original"));
  }
  EXPECT_THAT(report->ToString(), HasSubstr("fuse-erf-gelu applied 2 times"));
}

TEST_F(ModelTest, DrawsAPictureOfWhatWasDone) {
  Model model = Bert(), same = Bert();
  const auto report = model.Optimize({.pipeline = "fuse", .check = 1, .picture = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->rewrites.empty());
  EXPECT_THAT(report->html, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(report->html, HasSubstr("\"n\":\"fuse-erf-gelu\""));
  EXPECT_THAT(report->html, HasSubstr("\"outputs\":[{\"n\":\"182\""));
  const auto without = same.Optimize({.pipeline = "fuse"});
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->html, "");
  EXPECT_EQ(model.ToText(), same.ToText());
}

TEST_F(ModelTest, IsTheSameInBytesAndInAFile) {
  const Model model = Bert();
  const auto bytes = model.ToBytes();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  ASSERT_EQ(model.Save(Path("a.onnx")), absl::OkStatus());
  EXPECT_EQ(*bytes, Read(Path("a.onnx")));
  const Model again = Loaded(Model::FromBytes(*bytes));
  EXPECT_EQ(again.ToText(), Loaded(Model::Load(Path("a.onnx"))).ToText());
}

TEST_F(ModelTest, IsReadFromTextAndPrinted) {
  Model model = Relus();
  EXPECT_EQ(model.ToText(), kRelus);
  ASSERT_TRUE(model.Optimize().ok());
  EXPECT_THAT(model.ToText(), testing::Not(HasSubstr("onnx.Mul")));
}

TEST_F(ModelTest, TakesSizesOfDimensionsAndShapesOfInputs) {
  Model model = Relus();
  ASSERT_TRUE(model.Optimize({.pipeline = "none", .dims = {{"N", 7}}}).ok());
  EXPECT_THAT(model.ToText(), HasSubstr("tensor<7x3xf32>"));
  model = Relus();
  ASSERT_TRUE(model.Optimize({.pipeline = "none", .input_shapes = {{"x", {5, 3}}}}).ok());
  EXPECT_THAT(model.ToText(), HasSubstr("tensor<5x3xf32>"));
  model = Relus();
  EXPECT_THAT(
      Refusal(model.Optimize({.dims = {{"M", 7}}}).status(), absl::StatusCode::kInvalidArgument),
      HasSubstr("unknown dimension 'M'"));
  EXPECT_THAT(
      Refusal(model.Optimize({.dims = {{"N", -1}}}).status(), absl::StatusCode::kInvalidArgument),
      HasSubstr("N=-1: not a size"));
  EXPECT_THAT(Refusal(model.Optimize({.input_shapes = {{"x", {5, 4}}}}).status(),
                      absl::StatusCode::kInvalidArgument),
              HasSubstr("x"));
  EXPECT_EQ(model.ToText(), kRelus);
}

TEST_F(ModelTest, RefusesWhatIsWrongInALine) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(Refusal(Model::Load(Path("no.onnx")).status(), kInvalid), HasSubstr("no.onnx"));
  EXPECT_THAT(Refusal(Model::Load("model.pt").status(), kInvalid), HasSubstr(".onnx or .ir"));
  EXPECT_THAT(Refusal(Model::FromBytes("not a model").status(), kInvalid), HasSubstr("byte"));
  EXPECT_THAT(Refusal(Model::FromText("module {").status(), kInvalid), HasSubstr("<text>:1:"));
  Model model = Relus();
  EXPECT_THAT(Refusal(model.Optimize({.pipeline = "simplfy"}).status(), kInvalid),
              HasSubstr("did you mean 'simplify'"));
  EXPECT_THAT(Refusal(model.Optimize({.numerics = "fast"}).status(), kInvalid),
              HasSubstr("'fast'"));
  EXPECT_THAT(Refusal(model.Optimize({.check = 1001}).status(), kInvalid), HasSubstr("0 to 1000"));
  EXPECT_THAT(Refusal(model.Optimize({.target_opset = 99}).status(), kInvalid), HasSubstr("13 to"));
  EXPECT_THAT(Refusal(model.Save(Path("model.pt")), kInvalid), HasSubstr(".onnx or .ir"));
  EXPECT_THAT(Refusal(model.ToBytes({.target_opset = 5}).status(), kInvalid), HasSubstr("opset"));
}

TEST_F(ModelTest, DoesNotApplyARefutedRuleAndShowsWhy) {
  Model model = Relus();
  const std::string rules = Write("wrong.weft", tools::kReluToTanh);
  std::string shown, errors;
  const Notices notices = {.error = [&](const std::string& line) { errors += line; },
                           .text = [&](const std::string& lines) { shown += lines; }};
  const auto report = model.Optimize({.rules_files = {rules}, .notices = notices});
  EXPECT_THAT(Refusal(report.status(), absl::StatusCode::kFailedPrecondition),
              HasSubstr("1 rule refuted: relu-to-tanh"));
  EXPECT_THAT(errors, HasSubstr("relu-to-tanh is refuted"));
  EXPECT_THAT(shown, HasSubstr("onnx.Relu"));
  EXPECT_EQ(model.ToText(), kRelus);
}

TEST_F(ModelTest, ATrustedRuleThatIsWrongIsFoundByTheCheck) {
  Model model = Relus();
  const std::string rules = Write("wrong.weft", tools::kReluToTanh);
  OptimizeOptions options = {.rules_files = {rules}, .trust_rules = true, .check = 1};
  EXPECT_THAT(Refusal(model.Optimize(options).status(), absl::StatusCode::kFailedPrecondition),
              HasSubstr("outputs differ by"));
  EXPECT_EQ(model.ToText(), kRelus);
  options.check_tolerance = 10;
  ASSERT_TRUE(model.Optimize(options).ok());
  EXPECT_THAT(model.ToText(), HasSubstr("onnx.Tanh"));
}

// neg(neg(x)) => x, where x fits
constexpr const char* kNegNeg = R"(rule neg-neg {
  numerics exact
  source {
    %0 = onnx.Neg(%x)
    %1 = onnx.Neg(%0)
  }
  require "x fits" native fits(%x)
  result {}
  replace %1 with %x
}
)";
constexpr const char* kNegs =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<4x3xf32>) {
 (%1) = "onnx.Neg" (%0) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
 (%2) = "onnx.Neg" (%1) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<4x3xf32>) -> tensor<4x3xf32>
 () = "builtin.return" (%3) {} : (tensor<4x3xf32>) -> 
}
)";

TEST_F(ModelTest, RulesInMemoryAskTheirFunctionsWhenTheyAreJudgedAndApplied) {
  for (const bool fits : {true, false}) {
    std::atomic<int> of_the_model = 0, of_others = 0;
    RuleText rules = {.text = kNegNeg};
    rules.functions.push_back({"fits", [&](std::span<const drr::NativeArgument> given) {
                                 const ir::Type type = given[0].value.type();
                                 ++(type.ToString() == "tensor<4x3xf32>" ? of_the_model
                                                                         : of_others);
                                 return fits || type.ToString() != "tensor<4x3xf32>";
                               }});
    Model model = Loaded(Model::FromText(kNegs));
    const auto report = model.Optimize({.pipeline = "none", .rules = {rules}});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->ops_after, fits ? 2u : 4u);
    EXPECT_GT(of_the_model, 0);
    EXPECT_GT(of_others, 0);
    const auto explained = model.Explain("neg-neg", {.pipeline = "none", .rules = {rules}});
    ASSERT_TRUE(explained.ok()) << explained.status();
    EXPECT_EQ(explained->find("does not hold: x fits") == std::string::npos, fits);
  }
}

TEST_F(ModelTest, JudgesRulesInMemoryUntilItIsStopped) {
  RuleText rules = {.text = kNegNeg, .origin = "mine"};
  EXPECT_THAT(Refusal(Judge(rules).status(), absl::StatusCode::kInvalidArgument),
              HasSubstr("mine:7:"));
  rules.functions.push_back({"fits", [](std::span<const drr::NativeArgument>) { return true; }});
  const auto judged = Judge(rules);
  ASSERT_TRUE(judged.ok()) << judged.status();
  ASSERT_EQ(judged->size(), 1u);
  EXPECT_EQ((*judged)[0].verdict, "tested");
  EXPECT_THAT((*judged)[0].badge, HasSubstr("native: tested"));
  int asked = 0;
  const auto stop = [&] { return ++asked > 3; };
  EXPECT_THAT(Refusal(Judge(rules, {.stop = stop}).status(), absl::StatusCode::kCancelled),
              HasSubstr("while rules were judged"));
  EXPECT_LT(asked, 20);
  const auto wrong = Judge({.text = tools::kReluToTanh});
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  EXPECT_EQ((*wrong)[0].verdict, "refuted");
  EXPECT_THAT((*wrong)[0].counterexample, HasSubstr("onnx.Relu"));
}

TEST_F(ModelTest, CountsOperatorsBeforeAndAfter) {
  Model model = Relus();
  const ModelSummary summary = model.Summary();
  EXPECT_THAT(summary.inputs, ElementsAre(std::pair("x", "tensor<\"N\"x3xf32>")));
  EXPECT_THAT(summary.outputs, ElementsAre(std::pair("y", "tensor<\"N\"x3xf32>")));
  EXPECT_EQ(summary.operators.at("onnx.Mul"), 1u);
  const auto report = model.Optimize();
  ASSERT_TRUE(report.ok()) << report.status();
  size_t before = 0, after = 0;
  std::vector<std::string> gone;
  for (const OperatorReport& it : report->operators) {
    before += it.before;
    after += it.after;
    if (it.after == 0) gone.push_back(it.name);
  }
  EXPECT_THAT(gone, ElementsAre("builtin.constant", "onnx.Mul"));
  EXPECT_EQ(before, report->ops_before);
  EXPECT_EQ(after, report->ops_after);
}

TEST_F(ModelTest, ReportsSizesBeforeAndAfter) {
  Model model = Relus();
  auto report = model.Optimize({.dims = {{"N", 2}}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->before.operations, report->ops_before);
  EXPECT_EQ(report->before.parameters, 1u);
  EXPECT_EQ(report->before.parameter_bytes, sizeof(float));
  EXPECT_EQ(report->before.flops, 2 * 6.0);  // Mul and Relu
  EXPECT_EQ(report->before.arena_bytes, 64u);
  EXPECT_EQ(report->after.parameters, 0u);
  EXPECT_EQ(report->after.flops, 6.0);
  EXPECT_EQ(report->after.arena_bytes, 0u);
  model = Relus();
  report = model.Optimize();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->after.uncounted_operations, 1u);  // N is open
  EXPECT_EQ(report->after.arena_bytes, std::nullopt);
}

TEST_F(ModelTest, TellsOfEveryPassAndStops) {
  Model model = Bert();
  const std::string before = model.ToText();
  std::vector<size_t> numbers;
  size_t count = 0;
  OptimizeOptions options;
  options.progress = [&](const Progress& progress) {
    EXPECT_FALSE(progress.pass.empty());
    EXPECT_GT(progress.operations, 0u);
    numbers.push_back(progress.number);
    count = progress.count;
  };
  options.stop = [&] { return numbers.size() == 2; };
  EXPECT_THAT(Refusal(model.Optimize(options).status(), absl::StatusCode::kCancelled),
              HasSubstr("stopped before"));
  EXPECT_THAT(numbers, ElementsAre(1, 2));
  EXPECT_EQ(model.ToText(), before);
  options.stop = nullptr;
  numbers.clear();
  ASSERT_TRUE(model.Optimize(options).ok());
  EXPECT_EQ(numbers.size(), count);
}

// A product of constants rounds otherwise on other kernels.
TEST_F(ModelTest, FoldsAsItIsCheckedWhereNumbersAreExact) {
  std::string numbers;
  for (int i = 0; i < 64; ++i) numbers += fmt::format("{}{:.4f}", i == 0 ? "" : ",", std::sin(i));
  const std::string type = "tensor<8x8xf32>";
  Model model = *Model::FromText(
      "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: " + type +
      ") {\n (%1) = \"builtin.constant\" () {value:dense<" + type + ", [" + numbers +
      "]>} : () -> " + type + "\n (%2) = \"onnx.MatMul\" (%1, %1) {} : (" + type + ", " + type +
      ") -> " + type + "\n (%3) = \"onnx.Add\" (%0, %2) {} : (" + type + ", " + type + ") -> " +
      type + "\n () = \"builtin.return\" (%3) {} : (" + type + ") ->\n}\n");
  EXPECT_EQ(model.Optimize({.numerics = "exact", .check = 1}).status(), absl::OkStatus());
  EXPECT_EQ(model.num_operations(), 3u);
}

// The last time behind the check, whose runs may take long.
TEST_F(ModelTest, StopsWheneverItIsAsked) {
  Model model = Bert();
  const std::string before = model.ToText();
  int asked = 0, last = INT_MAX;
  const auto optimize = [&](Model& any) {
    asked = 0;
    return any.Optimize({.check = 3, .stop = [&] { return ++asked == last; }}).status();
  };
  Model clone = model.Clone();
  ASSERT_EQ(optimize(clone), absl::OkStatus());
  EXPECT_NE(clone.ToText(), before);
  for (const int back : {0, 1, 2, 5, 8}) {  // three runs before passes, three behind them
    last = 1'000'000;
    Model copy = model.Clone();
    ASSERT_EQ(optimize(copy), absl::OkStatus());
    last = asked - back;
    EXPECT_THAT(Refusal(optimize(model), absl::StatusCode::kCancelled), HasSubstr("stopped"));
    EXPECT_EQ(model.ToText(), before);
  }
}

TEST_F(ModelTest, AClonedModelIsAnotherOne) {
  const Model model = Relus();
  Model clone = model.Clone();
  ASSERT_TRUE(clone.Optimize().ok());
  EXPECT_EQ(model.ToText(), kRelus);
  EXPECT_NE(clone.ToText(), kRelus);
}

// One whose operands come later, as a rewriter makes it that was told no place.
TEST_F(ModelTest, AProgramThatIsNoneIsRefusedByAllThatTakeIt) {
  Model model = Relus();
  ir::Rewriter rewriter(&model.program());
  for (const ir::Operation op : model.program().body())
    if (op.name() == "onnx.Mul") {
      const ir::Value late = rewriter.Make<ir::ops::Abs>({op.operand(0)});
      rewriter.Replace(op, {late});
      break;
    }
  const std::string wrong = "used before it is defined";
  const auto refused = [&](const absl::Status& status) {
    EXPECT_THAT(Refusal(status, absl::StatusCode::kInvalidArgument), HasSubstr(wrong));
  };
  refused(model.Optimize().status());
  refused(model.Explain("drop-identity").status());
  refused(Session::Create(model).status());
  refused(model.Save(Path("m.ir")));
  refused(model.Save(Path("m.onnx")));
  EXPECT_FALSE(std::filesystem::exists(Path("m.ir")));
}

struct Twice {
  static constexpr ir::OpInfo kInfo = {
      .name = "acme.twice", .operands = {"x"}, .traits = ir::kPure, .doc = "2 * x"};
  template <template <class> class Slot>
  using Attrs = ir::NoAttrs<Slot>;
  static bool Infer(ir::InferContext& c) { return c.SetResult(0, c.operand_type(0)); }
};

TEST_F(ModelTest, KnowsOperatorsThatTheUserAdds) {
  const std::string text =
      R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xf32>) {
 (%1) = "acme.twice" (%0) {} : (tensor<2xf32>) -> tensor<3xf32>
 () = "builtin.return" (%1) {} : (tensor<3xf32>) -> 
}
)";
  EXPECT_TRUE(Model::FromText(text).ok());  // opaque: nobody knows its type
  const LoadOptions with = {
      .add_dialects = [](ir::IrContext& context) { ir::AddOps<Twice>(context); }};
  EXPECT_THAT(Refusal(Model::FromText(text, with).status(), absl::StatusCode::kInvalidArgument),
              HasSubstr("acme.twice"));
}

}  // namespace
}  // namespace weft
