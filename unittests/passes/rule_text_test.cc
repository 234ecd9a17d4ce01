// Every rule of the library prints as text, and is read back where it has no native code.
#include "drr/text/rule_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/rule_file.h"
#include "ir/base/source_path.h"
#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/pd.h"
#include "passes/rule_registry.h"
#include "unittests/drr/engine/toy_ops.h"

namespace weft::passes {
namespace {

TEST(PrintedRuleLibrary, IsReadBackWhereThereIsNoNativeCode) {
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadPdDialect(context);
  drr::toy::Load(context);  // other tests of this program register rules on it
  size_t read = 0;
  for (const RegisteredRule& registered : RegisteredRules()) {
    const drr::BuildResult built = registered.build(&context);
    ASSERT_TRUE(built.ok()) << registered.name;
    const std::string text = drr::text::PrintRule(*built.rule);
    const drr::text::RuleFile file = drr::text::ReadRules(text, "printed", &context);
    if (text.find("native") != std::string::npos) {
      ASSERT_EQ(file.errors.size(), 1u) << text;
      EXPECT_THAT(file.errors[0], testing::HasSubstr("native code")) << text;
      continue;
    }
    ASSERT_EQ(file.rules.size(), 1u) << text << testing::PrintToString(file.errors);
    EXPECT_EQ(drr::text::PrintRule(*file.rules[0]), text);
    EXPECT_EQ(file.rules[0]->benefit, built.rule->benefit);
    EXPECT_EQ(file.rules[0]->graph.ops.size(), built.rule->graph.ops.size());
    read += ir::SourcePath(registered.loc.file).starts_with("passes/");
  }
  EXPECT_GE(read, 53u);  // of the library's own
}

}  // namespace
}  // namespace weft::passes
