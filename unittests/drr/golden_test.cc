// The rule language by example: golden/ has a folder per feature, with a rule as text (rule.weft),
// programs where it fires and near misses (unittests/fixtures/golden.h), and in golden/mistakes rules that
// do not build. Rules that only C++ can write are here.
#include "unittests/fixtures/golden.h"

#include <filesystem>
#include <fstream>

#include "drr/drr.h"
#include "drr/rule_file.h"
#include "drr/text/rule_text.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"
#include "passes/rule_registry.h"
#include "unittests/test_paths.h"

namespace weft::drr {
namespace {

namespace ops = ir::ops;

// max(x, slope * x) => leaky_relu(x, slope)
class GoldenLeakyRelu : public DrrPatternBase<GoldenLeakyRelu> {
 public:
  static constexpr std::string_view kName = "golden-leaky-relu";

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), slope = src.Tensor("slope");
    auto out = src.Op<ops::Max>()(x, src.Op<ops::Mul>()(x, slope));
    src.RequireNativeCall("the slope is a number from 0 to 1", [=](const MatchContext& m) {
      const auto number = m[slope].splat();
      return number && *number >= 0 && *number <= 1 && m[slope].rank() == 0;
    });

    ResultPattern res = src.ResultPattern();
    auto alpha = [=](const MatchContext& m) { return static_cast<float>(*m[slope].splat()); };
    res.Tensor(out) = res.Op<ops::LeakyRelu>({.alpha = alpha})(x);
  }
};
WEFT_REGISTER_RULE(GoldenLeakyRelu, "golden");

// (x * c) * d => x * (c * d)
class GoldenFoldFactors : public DrrPatternBase<GoldenFoldFactors> {
 public:
  static constexpr std::string_view kName = "golden-fold-factors";

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x"), c = src.Tensor("c"), d = src.Tensor("d");
    auto out = src.Op<ops::Mul>()(src.Op<ops::Mul>()(x, c), d);

    ResultPattern res = src.ResultPattern();
    auto factor = res.Constant([=](const MatchContext& m) -> ir::Attribute {
      const ir::Attribute first = m[c].constant(), second = m[d].constant();
      if (!first || !second || m[c].type() != m[d].type()) return {};
      if (m[c].dtype() != ir::DataType::kF32) return {};
      std::vector<float> product;
      for (size_t i = 0; i < first.elements<float>().size(); ++i)
        product.push_back(first.elements<float>()[i] * second.elements<float>()[i]);
      return m.context()->DenseAttrOf<float>(m[c].type(), product);
    });
    res.Tensor(out) = res.Op<ops::Mul>()(x, factor);
  }
};
WEFT_REGISTER_RULE(GoldenFoldFactors, "golden");

// softmax(transpose(x, [1, 0]), 0) => transpose(softmax(x, -1), [1, 0]), with a name
class GoldenNameSoftmax : public DrrPatternBase<GoldenNameSoftmax> {
 public:
  static constexpr std::string_view kName = "golden-name-softmax";

  void operator()(DrrPatternContext* ctx) const override {
    SourcePattern src = ctx->SourcePattern();
    auto x = src.Tensor("x");
    auto out = src.Op<ops::Softmax>({.axis = 0})(src.Op<ops::Transpose>({.perm = {1, 0}})(x));

    ResultPattern res = src.ResultPattern();
    auto softmax = res.Op<ops::Softmax>()(x);
    res.Tensor(out) = res.Op<ops::Transpose>({.perm = {1, 0}})(softmax);
    res.PostProcess(
        [=](PostContext& p) { p.rewriter().program()->SetName(p[softmax], "probabilities"); });
  }
};
WEFT_REGISTER_RULE(GoldenNameSoftmax, "golden");

const std::string kFolder = fixtures::TestData("/drr/golden");

WEFT_GOLDEN_TESTS(LanguageByExample, kFolder);

// --- rules as text ----------------------------------------------------------------------

std::vector<std::string> RuleFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder))
    if (entry.path().extension() == ".weft")
      files.push_back(std::filesystem::relative(entry.path(), kFolder).string());
  std::sort(files.begin(), files.end());
  return files;
}

class RuleByExample : public testing::TestWithParam<std::string> {};

// The rules of a file, printed, are the file but for its comments; or `// ERROR:` lines say all
// that is wrong with them.
TEST_P(RuleByExample, IsReadAndPrintsAsItIsWritten) {
  const std::filesystem::path path = std::filesystem::path(kFolder) / GetParam();
  std::ifstream in(path);
  ASSERT_TRUE(in) << path;
  constexpr std::string_view kError = "// ERROR: ";
  std::string line, text, rules;
  std::vector<std::string> errors;
  while (std::getline(in, line)) {
    text += line + "\n";
    if (line.starts_with(kError)) errors.push_back(line.substr(kError.size()));
    if (!line.starts_with("//")) rules += line + "\n";
  }
  ir::IrContext context;
  ir::LoadFusedDialect(context);
  const text::RuleFile file = text::ReadRules(text, path.filename().string(), &context);
  EXPECT_EQ(file.errors, errors);
  if (!errors.empty()) return;
  std::string printed;
  for (const auto& rule : file.rules) printed += text::PrintRule(*rule);
  EXPECT_EQ(printed, rules);
}

INSTANTIATE_TEST_SUITE_P(Golden, RuleByExample, testing::ValuesIn(RuleFiles()),
                         [](const auto& info) {
                           std::string name = info.param.substr(0, info.param.rfind(".weft"));
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace weft::drr
