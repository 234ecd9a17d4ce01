#include "weft/picture/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/onnx/origins.h"
#include "unittests/test_paths.h"
#include "weft/io/model_io.h"
#include "weft/optimize/run_passes.h"
#include "weft/picture/weights.h"

namespace weft::picture {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::string_literals;  // NOLINT

class PictureTest : public testing::Test {
 protected:
  // The page of a run of the pipeline.
  std::string Draw(std::unique_ptr<ir::Program> program, const std::string& pipeline,
                   const PictureInfo& info = {}) {
    program_ = std::move(program);
    onnx::RecordNodeOrigins(*program_);
    Picture picture(*program_);
    PassRun run;
    run.trace.emplace();
    run.trace->on_rewrite = [&](const passes::TracedRewrite& it) { picture.Record(it); };
    run.hook = picture.hook();
    const absl::Status status = RunSelectedPasses({.pipeline = pipeline}, *program_, &run);
    EXPECT_TRUE(status.ok()) << status;
    return picture.Html(info);
  }
  std::unique_ptr<ir::Program> Load(const std::string& model) {
    auto program = LoadModel(context_, fixtures::TestData("/models/" + model));
    EXPECT_TRUE(program.ok()) << program.status();
    return *std::move(program);
  }
  std::unique_ptr<ir::Program> Read(const std::string& text) {
    auto program = LoadModelText(context_, text);
    EXPECT_TRUE(program.ok()) << program.status();
    return *std::move(program);
  }
  static json DataOf(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const size_t at = page.find(begin) + begin.size();
    const std::string text = page.substr(at, page.find("</script>", at) - at);
    json data = json::parse(text, nullptr, false);
    EXPECT_FALSE(data.is_discarded());
    return data;
  }
  // Numbers of nodes with that title.
  static std::vector<size_t> NodesCalled(const json& data, int side, const std::string& title) {
    std::vector<size_t> found;
    const json& nodes = data["graphs"][side]["nodes"];
    for (size_t i = 0; i < nodes.size(); ++i)
      if (data["texts"][nodes[i]["t"].get<size_t>()] == title) found.push_back(i);
    return found;
  }

  ir::IrContext context_;
  std::unique_ptr<ir::Program> program_;
};

TEST_F(PictureTest, ShowsWhatBecameWhat) {
  const json data = DataOf(Draw(Load("bert_tiny.onnx"), "fuse"));
  const json& before = data["graphs"][0]["nodes"];
  const json& after = data["graphs"][1]["nodes"];
  const std::vector<size_t> gelus = NodesCalled(data, 0, "Erf");
  ASSERT_EQ(gelus.size(), 2u);
  for (const size_t erf : gelus) {
    ASSERT_EQ(before[erf]["m"].size(), 1u);
    const json& fused = after[before[erf]["m"][0].get<size_t>()];
    EXPECT_EQ(data["texts"][fused["o"].get<size_t>()], "fused.linear");
    EXPECT_EQ(fused["m"].size(), 7u);         // MatMul, Add, and five of GELU
    EXPECT_EQ(before[erf]["l"], fused["l"]);  // one colour
    EXPECT_THAT(fused["m"], testing::Contains(erf));
    EXPECT_GE(fused["z"].size(), 3u);
  }
  // What nothing came in place of.
  for (const size_t identity : NodesCalled(data, 0, "Identity")) {
    EXPECT_FALSE(before[identity].contains("m"));
    EXPECT_EQ(data["rules"][before[identity]["l"].get<size_t>()]["n"], "constant-folding");
  }
  // Every operation before is as it was, or has become something, or is gone by a rewrite.
  for (const json& node : before)
    if (node["k"] == 1) {
      EXPECT_TRUE(!node.contains("l") || node.contains("m") || node.contains("x"));
    }
}

TEST_F(PictureTest, TellsRewritesAndTheirRules) {
  const json data = DataOf(Draw(Load("bert_tiny.onnx"), "fuse"));
  size_t gelus = 0;
  for (const json& step : data["steps"]) {
    const json& rule = data["rules"][step["l"].get<size_t>()];
    if (rule["n"] != "fuse-erf-gelu") continue;
    ++gelus;
    EXPECT_THAT(rule["a"].get<std::string>(), HasSubstr("=>"));
    EXPECT_TRUE(rule.contains("b"));
    EXPECT_EQ(step["b"].size(), 5u);
    EXPECT_EQ(step["f"].size(), 1u);
    EXPECT_EQ(step["n"], json({5, 1}));
  }
  EXPECT_EQ(gelus, 2u);
}

TEST_F(PictureTest, OfARunWithoutPassesHasTwoEqualGraphs) {
  const json data = DataOf(Draw(Load("bert_tiny.onnx"), "none"));
  EXPECT_TRUE(data["steps"].empty());
  EXPECT_EQ(data["graphs"][0]["groups"], data["graphs"][1]["groups"]);
  for (const json& node : data["graphs"][0]["nodes"]) {
    EXPECT_FALSE(node.contains("l"));
  }
}

TEST_F(PictureTest, IsTheSameEveryTime) {
  const std::string first = Draw(Load("bert_tiny.onnx"), "fuse");
  EXPECT_TRUE(first == Draw(Load("bert_tiny.onnx"), "fuse"));
}

// Names that would end the script, or the string, or the file.
TEST_F(PictureTest, EscapesWhatModelsSay) {
  const std::string evil = "</script><img src=x onerror=alert(1)>'`${1}{{data}}";
  const std::string page = Draw(
      Read(
          R"(module {input_names:strings["</script><!--"],output_names:strings["y"]} (%0: tensor<4xf32>) {
 (%1 ")" + evil +
          R"(") = "onnx.Relu" (%0) {} : (tensor<4xf32>) -> tensor<4xf32> loc("/a/)" + evil + R"(/x")
 () = "builtin.return" (%1) {} : (tensor<4xf32>) ->
}
)"),
      "none", {.model = evil + "<!--"});
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<!--\"")));
  size_t ends = 0;
  for (size_t at = page.find("</script"); at != std::string::npos;
       at = page.find("</script", at + 1))
    ++ends;
  EXPECT_EQ(ends, 2u);
  const json data = DataOf(page);
  EXPECT_EQ(data["model"], evil + "<!--");
  const std::vector<size_t> relu = NodesCalled(data, 0, "Relu");
  ASSERT_EQ(relu.size(), 1u);
  EXPECT_EQ(data["graphs"][0]["nodes"][relu[0]]["r"][0]["n"], evil);
}

TEST_F(PictureTest, TakesNamesOfAnyBytes) {
  std::unique_ptr<ir::Program> program = Load("unit_factor.ir");
  const std::string name = "\0\x01\xff\xc3 \"\\\n\xe2\x80\xa8 é 漢字"s;
  for (ir::Operation op : program->body())
    if (op.name() == "onnx.Relu") {
      program->SetName(op.result(0), name);
      program->SetLocation(op, ir::Name(name));
    }
  const json data = DataOf(Draw(std::move(program), "none"));
  const std::vector<size_t> relu = NodesCalled(data, 0, "Relu");
  ASSERT_EQ(relu.size(), 1u);
  const std::string shown = data["graphs"][0]["nodes"][relu[0]]["r"][0]["n"];
  EXPECT_EQ(shown.substr(0, 2), std::string("\0\x01", 2));
  EXPECT_THAT(shown, HasSubstr("é 漢"));
}

TEST_F(PictureTest, NeedsNothingFromElsewhere) {
  const std::string page = Draw(Load("bert_tiny.onnx"), "fuse");
  for (const char* door :
       {"http:", "https://", "src=", "@import", "url(", "fetch(", "XMLHttpRequest"})
    EXPECT_THAT(page.substr(0, page.find("id=\"data\"")), Not(HasSubstr(door)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_LT(page.size(), 250'000u);
}

TEST_F(PictureTest, HasHistogramsOfWeights) {
  const json data = DataOf(Draw(Load("bert_tiny.onnx"), "fuse"));
  size_t histograms = 0;
  for (const json& constant : data["constants"]) {
    if (!constant.contains("h")) continue;
    ++histograms;
    uint64_t sum = 0;
    for (const json& count : constant["h"]) sum += count.get<uint64_t>();
    EXPECT_EQ(sum, constant["s"][6].get<uint64_t>());
  }
  EXPECT_GE(histograms, 12u);
}

TEST(PictureWeights, AreCountedInBinsOfEqualWidth) {
  ir::IrContext context;
  const std::vector<float> values = {-1, 0, 0, 1, 1, 1, 3, std::numeric_limits<float>::infinity()};
  const ir::Attribute dense = context.DenseAttr(context.TensorType(ir::DataType::kF32, {8}),
                                                std::as_bytes(std::span(values)));
  const auto statistics = StatisticsOf(dense);
  ASSERT_TRUE(statistics.has_value());
  EXPECT_EQ(statistics->min, -1);
  EXPECT_EQ(statistics->max, 3);
  EXPECT_NEAR(statistics->mean, 5.0 / 7, 1e-12);
  EXPECT_EQ(statistics->zeros, 0.25);
  EXPECT_EQ(statistics->not_finite, 1u);
  EXPECT_EQ(statistics->seen, 8u);
  EXPECT_EQ(statistics->histogram[0], 1u);
  EXPECT_EQ(statistics->histogram[10], 2u);
  EXPECT_EQ(statistics->histogram[20], 3u);
  EXPECT_EQ(statistics->histogram[39], 1u);
}

}  // namespace
}  // namespace weft::picture
