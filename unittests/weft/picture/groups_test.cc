#include "weft/picture/groups.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weft/io/dialects.h"
#include "weft/io/model_io.h"
#include "weft/picture/levels.h"
#include "weft/picture/repeats.h"

namespace weft::picture {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class PictureGroups : public testing::Test {
 protected:
  // A chain of unary operations at these places.
  Graph Chain(const std::vector<std::pair<std::string, std::string>>& ops) {
    std::string text =
        "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: tensor<4xf32>) {\n";
    size_t value = 0;
    for (const auto& [op, place] : ops) {
      text += fmt::format("(%{}) = \"onnx.{}\" (%{}) {{}} : (tensor<4xf32>) -> tensor<4xf32>",
                          value + 1, op, value);
      text += place.empty() ? "\n" : fmt::format(" loc(\"{}\")\n", place);
      ++value;
    }
    return Read(
        text + fmt::format("() = \"builtin.return\" (%{}) {{}} : (tensor<4xf32>) ->\n}}\n", value));
  }
  Graph Read(const std::string& text) {
    auto program = LoadModelText(context_, text);
    EXPECT_TRUE(program.ok()) << program.status();
    program_ = *std::move(program);
    return MakeGraph(*program_);
  }
  static std::vector<std::string> Paths(const GroupTree& tree) {
    std::vector<std::string> paths;
    for (const Group& group : tree.groups) paths.push_back(group.path);
    return paths;
  }

  ir::IrContext context_;
  std::unique_ptr<ir::Program> program_;
};

TEST(PictureScopes, AreThePartsOfAName) {
  EXPECT_THAT(ScopesOf("/encoder/layer.0/MatMul"), ElementsAre("encoder", "layer.0"));
  EXPECT_THAT(ScopesOf("encoder/MatMul"), ElementsAre("encoder"));
  EXPECT_THAT(ScopesOf("MatMul_3"), IsEmpty());
  EXPECT_THAT(ScopesOf("models/bert.ir:12:3"), IsEmpty());  // where it was read
  EXPECT_THAT(ScopesOf(""), IsEmpty());
}

TEST_F(PictureGroups, AreScopesOfThreeOperationsOrMore) {
  const GroupTree tree = GroupNodes(Chain({{"Relu", "/a/b/1"},
                                           {"Exp", "/a/b/2"},
                                           {"Neg", "/a/b/3"},
                                           {"Abs", "/c/1"},
                                           {"Relu", "/c/2"}}));
  EXPECT_THAT(Paths(tree), ElementsAre("", "/a/b"));
  EXPECT_EQ(tree.groups[1].operations, 3u);
  EXPECT_EQ(tree.groups[0].items.size(), 5u);  // input, group, two operations, output
  EXPECT_TRUE(tree.groups[1].open);
}

TEST_F(PictureGroups, PutAlikeLayersTogether) {
  std::vector<std::pair<std::string, std::string>> ops;
  for (int layer = 0; layer < 5; ++layer)
    for (const char* op : {"Relu", "Exp", "Neg"})
      ops.emplace_back(op, fmt::format("/layer.{}/{}", layer, op));
  ops.emplace_back("Abs", "/last");
  const GroupTree tree = GroupNodes(Chain(ops));
  ASSERT_EQ(tree.groups.size(), 7u);
  EXPECT_EQ(tree.groups[1].kind, Group::kRepeats);
  EXPECT_EQ(tree.groups[1].name, "layer.0 … layer.4");
  EXPECT_TRUE(tree.groups[1].alike);
  EXPECT_THAT(Paths(tree), Contains("/layer.3"));  // as if they were not put together
  EXPECT_TRUE(tree.groups[2].open);                // the first is an example
  EXPECT_FALSE(tree.groups[3].open);
}

TEST_F(PictureGroups, FindLayersWithoutNames) {
  std::vector<std::pair<std::string, std::string>> ops = {{"Abs", ""}};
  for (int layer = 0; layer < 10; ++layer)
    for (const char* op : {"Relu", "Exp", "Neg", "Sqrt"}) ops.emplace_back(op, "");
  const GroupTree tree = GroupNodes(Chain(ops));
  ASSERT_GE(tree.groups.size(), 12u);
  EXPECT_EQ(tree.groups[1].kind, Group::kRepeats);
  EXPECT_EQ(tree.groups[1].items.size(), 10u);
  EXPECT_EQ(tree.groups[2].kind, Group::kBlock);
  EXPECT_EQ(tree.groups[2].items.size(), 4u);
}

TEST_F(PictureGroups, HoldWhatRegionsHold) {
  const Graph graph = Read(R"(module {} (%0: tensor<bool>, %1: tensor<4xf32>) {
 (%2) = "onnx.Exp" (%1) {} : (tensor<4xf32>) -> tensor<4xf32>
 (%3) = "onnx.If" (%0) {} : (tensor<bool>) -> tensor<4xf32> ({
  (%4) = "onnx.Relu" (%2) {} : (tensor<4xf32>) -> tensor<4xf32>
  () = "builtin.return" (%4) {} : (tensor<4xf32>) ->
 }, {
  (%5) = "onnx.Neg" (%2) {} : (tensor<4xf32>) -> tensor<4xf32>
  () = "builtin.return" (%5) {} : (tensor<4xf32>) ->
 })
 () = "builtin.return" (%3) {} : (tensor<4xf32>) ->
}
)");
  const FoldedGraph folded = Fold(graph);
  EXPECT_THAT(Paths(folded.tree), UnorderedElementsAre("", "/If", "/If/region 1", "/If/region 2"));
  EXPECT_EQ(folded.tree.groups[1].kind, Group::kHolder);
  EXPECT_EQ(graph.nodes[folded.tree.groups[1].node].title, "If");
  // The value that both capture comes in once at the rim of each.
  for (size_t i = 1; i < folded.levels.size(); ++i)
    EXPECT_EQ(folded.levels[i].layout.inputs.size(), 1u) << i;
}

TEST(PictureRepeats, AreTheLongestOfTheShortestPeriod) {
  const auto found = [](std::vector<uint64_t> sequence) { return LongestRepetition(sequence); };
  const Repetition abc = found({9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8});
  EXPECT_EQ(abc.first, 1u);
  EXPECT_EQ(abc.period, 3u);
  EXPECT_EQ(abc.times, 3u);
  EXPECT_EQ(found({5, 5, 5, 5, 5, 5}).period, 1u);
  EXPECT_EQ(found({1, 2, 1, 2, 3}).size(), 0u);  // twice is no repetition
  EXPECT_EQ(found({}).size(), 0u);
}

}  // namespace
}  // namespace weft::picture
