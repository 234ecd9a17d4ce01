// What a match is of is made again from the decisions that are read from it.
#include "passes/verify/match_assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "drr/engine/matcher.h"
#include "ir/text/parser.h"
#include "ir/walk.h"
#include "passes/rule_registry.h"
#include "passes/verify/instance_builder.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using fixtures::ReadGoldenFile;

// What ops of these names a program has, in order.
std::string Names(ir::Program& program) {
  std::string names;
  ir::Walk(program, [&](ir::Operation op) { names += std::string(op.name()) + " "; });
  return names;
}

struct Reread {
  bool is_read = false;
  std::vector<ir::Shape> shapes;  // of leaves
  std::string original, made;
  bool matches = false;
};

Reread RereadMatch(const std::string& rule_name, const std::string& text) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const drr::BuildResult built = FindRule(rule_name)->build(&context);
  const auto program = ir::ParseProgram(context, text, {});
  Reread result;
  std::optional<Assignment> assignment;
  if (!built.ok() || !program.ok()) {
    ADD_FAILURE() << rule_name << ": " << program.status();
    return result;
  }
  ir::Walk(**program, [&](ir::Operation op) {
    drr::MatchContext match(built.rule.get());
    if (!assignment && drr::Matcher(*built.rule).Match(op, &match))
      assignment = AssignmentOf(match);
  });
  if (!assignment) return result;
  result.is_read = true;
  for (const auto& leaf : assignment->leaves)
    if (leaf) result.shapes.push_back(leaf->type.shape());
  Draw draw(built.rule->graph, 1);
  InstanceBuilder builder(built.rule->graph, draw, *assignment);
  EXPECT_TRUE(builder.Build()) << builder.error();
  drr::MatchContext match(built.rule.get());
  result.matches = drr::Matcher(*built.rule).Match(builder.site(), &match);
  result.original = Names(**program);
  result.made = Names(builder.program());
  return result;
}

std::string Golden(const std::string& path) {
  const auto file = ReadGoldenFile(fixtures::TestData("/passes/") + path);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? file->program_text : "";
}

class MatchAssignment : public testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(MatchAssignment, MakesWhatItWasReadFrom) {
  const auto& [rule, path] = GetParam();
  const Reread reread = RereadMatch(rule, Golden(path));
  ASSERT_TRUE(reread.is_read);
  EXPECT_TRUE(reread.matches);
  const auto count = [](const std::string& names) {
    return std::count(names.begin(), names.end(), ' ');
  };
  // Of what the rule matches, which is the program but for its constants.
  EXPECT_GE(count(reread.made), 3) << reread.made;
  EXPECT_LE(count(reread.made), count(reread.original));
}

INSTANTIATE_TEST_SUITE_P(
    All, MatchAssignment,
    testing::Values(std::pair("merge-transposes", "canonicalize/golden/merge-transposes/pair.ir"),
                    std::pair("merge-concats", "canonicalize/golden/merge-concats/middle.ir"),
                    std::pair("fuse-multi-head-attention",
                              "targets/onnxruntime/golden/fuse-multi-head-attention/mask.ir"),
                    std::pair("fuse-rms-norm", "fusion/golden/fuse-rms-norm/reciprocal.ir")),
    [](const auto& info) {
      std::string name = info.param.first;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(MatchAssignment, GivesSymbolsOneSizeEach) {
  const Reread reread = RereadMatch("merge-transposes", R"(module {} (%0: tensor<"N"x"M"x"N"xf32>) {
    (%1) = "onnx.Transpose" (%0) {perm:array[1,2,0]} : (tensor<"N"x"M"x"N"xf32>) -> tensor<"M"x"N"x"N"xf32>
    (%2) = "onnx.Transpose" (%1) {perm:array[1,2,0]} : (tensor<"M"x"N"x"N"xf32>) -> tensor<"N"x"N"x"M"xf32>
    () = "builtin.return" (%2) {} : (tensor<"N"x"N"x"M"xf32>) -> 
  })");
  ASSERT_TRUE(reread.is_read);
  EXPECT_TRUE(reread.matches);
  ASSERT_EQ(reread.shapes.size(), 1u);
  for (const ir::Shape& shape : reread.shapes) {
    ASSERT_EQ(shape.size(), 3u);
    EXPECT_EQ(shape[0], shape[2]);
    EXPECT_NE(shape[0], shape[1]);
  }
}

TEST(MatchAssignment, IsNoneOfUnknownRanks) {
  const Reread reread = RereadMatch("merge-transposes", R"(module {} (%0: tensor<*xf32>) {
    (%1) = "onnx.Transpose" (%0) {perm:array[1,0]} : (tensor<*xf32>) -> tensor<?x?xf32>
    (%2) = "onnx.Transpose" (%1) {perm:array[1,0]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
    () = "builtin.return" (%2) {} : (tensor<?x?xf32>) -> 
  })");
  EXPECT_FALSE(reread.is_read);
}

}  // namespace
}  // namespace weft::passes
