#include "weft/picture/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "unittests/test_paths.h"
#include "weft/io/model_io.h"
#include "weft/optimize/run_passes.h"
#include "weft/picture/picture.h"

namespace weft::picture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

size_t CountOf(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

class PictureDrawing : public testing::Test {
 protected:
  std::unique_ptr<ir::Program> Bert() {
    auto program = LoadModel(context_, fixtures::TestData("/models/bert_tiny.onnx"));
    EXPECT_TRUE(program.ok()) << program.status();
    return *std::move(program);
  }
  void Optimise(ir::Program& program, Picture& picture) {
    PassRun run;
    run.trace.emplace();
    run.trace->on_rewrite = [&](const passes::TracedRewrite& it) { picture.Record(it); };
    run.hook = picture.hook();
    ASSERT_EQ(RunSelectedPasses({.pipeline = "fuse"}, program, &run), absl::OkStatus());
  }
  ir::IrContext context_;
};

TEST_F(PictureDrawing, InDotHasAllOperationsOfBothGraphs) {
  auto program = Bert();
  Picture picture(*program);
  Optimise(*program, picture);
  const std::string dot = picture.Dot();
  EXPECT_EQ(CountOf(dot, "  n0_\\d+ \\[label"), 117u + 2 + 1);  // operations, inputs, an output
  EXPECT_EQ(CountOf(dot, "  n1_\\d+ \\[label"), 27u + 2 + 1);
  EXPECT_EQ(CountOf(dot, "\\{\n"), CountOf(dot, "\\}\n"));
  EXPECT_EQ(CountOf(dot, "label=\"Erf\\\\n1×128×512\", fillcolor=\"#[0-9a-f]{6}\""), 2u);
  EXPECT_THAT(dot, HasSubstr("tooltip=\"fuse-erf-gelu\""));
  EXPECT_THAT(dot, HasSubstr("style=\"filled,rounded,dashed\""));  // what nothing came in place of
}

TEST_F(PictureDrawing, InSvgHasBothGraphsAndALegend) {
  auto program = Bert();
  Picture picture(*program);
  Optimise(*program, picture);
  const std::string svg = picture.Svg();
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width="));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr(">fused.attention</text>"));
  EXPECT_THAT(svg, HasSubstr(">fuse-attention-transposes</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  // Nothing is drawn beside the picture.
  std::smatch size;
  ASSERT_TRUE(std::regex_search(svg, size, std::regex("width=\"(\\d+)\" height=\"(\\d+)\"")));
  const std::regex box("<rect x=\"(-?\\d+)\" y=\"(-?\\d+)\" width=\"(\\d+)\" height=\"(\\d+)\"");
  for (std::sregex_iterator it(svg.begin(), svg.end(), box), end; it != end; ++it) {
    EXPECT_GE(std::stoi((*it)[1]), 0);
    EXPECT_LE(std::stoi((*it)[1]) + std::stoi((*it)[3]), std::stoi(size[1]));
    EXPECT_LE(std::stoi((*it)[2]) + std::stoi((*it)[4]), std::stoi(size[2]));
  }
}

TEST_F(PictureDrawing, EscapesNames) {
  auto program = LoadModel(context_, fixtures::TestData("/models/unit_factor.ir"));
  ASSERT_TRUE(program.ok());
  (*program)->module();
  Graph graph = MakeGraph(**program);
  for (Node& node : graph.nodes) node.title = "<a href=\"x\">&\\\"\n";
  const FoldedGraph folded = Fold(std::move(graph));
  const std::vector<NodeLineage> lineage(folded.graph.nodes.size());
  const std::vector<Side> sides = {{"<b>", folded, lineage}};
  const std::string svg = DrawSvg(sides, {}), dot = DrawDot(sides, {});
  EXPECT_THAT(svg, Not(HasSubstr("<a ")));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;</text>"));
  EXPECT_THAT(dot, HasSubstr("label=\"<a href=\\\"x\\\">&\\\\\\\" \\n2×3\""));
}

TEST(PicturePalette, RanksRulesByWhatTheyRewrote) {
  Lineage lineage;
  for (int i = 0; i < 14; ++i) lineage.labels.push_back("rule " + std::to_string(i));
  lineage.before.resize(5);
  for (const int node : {0, 1, 2}) lineage.before[node].label = 13;
  lineage.before[3].label = 4;
  const std::vector<RuleColour> colours = ColoursOf(lineage);
  EXPECT_EQ(colours[13].rank, 0u);
  EXPECT_EQ(colours[4].rank, 1u);
  EXPECT_EQ(colours[0].rank, 2u);
  EXPECT_FALSE(colours[13].is_pale);
  EXPECT_TRUE(
      colours[12].is_pale);  // the last of fourteen, of which twelve have a hue of their own
  EXPECT_EQ(FillOf({0, 0, false}), "#f7bfbf");
}

}  // namespace
}  // namespace weft::picture
