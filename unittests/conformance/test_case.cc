#include "unittests/conformance/test_case.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "unittests/conformance/model_ops.h"

namespace weft::conformance {
namespace {

namespace fs = std::filesystem;

constexpr auto kIgnoreCase = std::regex::ECMAScript | std::regex::icase;

// Values that are random by the operator's definition.
const std::regex& RandomTests() {
  static const std::regex regex("^test_bernoulli.*|^test_training_dropout(?!.*zero_ratio).*");
  return regex;
}

// Data that depends on the machine that made it, or that ONNX Runtime contradicts and skips.
const std::regex& DisputedTests() {
  static const std::regex regex(
      "^test_resize_downsample_scales_(cubic|linear)_align_corners(__opset\\d+)?$"
      "|^test_maxunpool_export_with_output_shape|^test_cast(like)?_FLOAT_to_STRING"
      "|^test_attention_.*window|strnorm.*(_lower|_upper|empty_output|twodim)");
  return regex;
}

struct WiderTolerance {
  std::regex name;
  Tolerance tolerance;
};

// As ONNX's own runner and ONNX Runtime's have them.
const std::vector<WiderTolerance>& WiderTolerances() {
  static const std::vector<WiderTolerance> list = {
      {std::regex("^test_adam_multiple"), {.relative = 1e-2}},
      {std::regex("^test_(dft|stft)"), {.absolute = 1e-3}},
      {std::regex("densenet121"), {.relative = 2e-3}},
      {std::regex("float16|fp16|bf16", kIgnoreCase), {.relative = 1e-2, .absolute = 1e-3}},
  };
  return list;
}

// N of PREFIX_N or PREFIX_N.pb.
std::optional<int> NumberOf(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  int number = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, number);
  if (error != std::errc() || (rest != end && std::string(rest, end) != ".pb")) return std::nullopt;
  return number;
}

std::vector<fs::path> Children(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The children called PREFIX_N, by N.
std::vector<std::string> Numbered(const fs::path& folder, const std::string& prefix) {
  std::map<int, std::string> files;
  for (const fs::path& path : Children(folder))
    if (const auto number = NumberOf(path.filename().string(), prefix))
      files.emplace(*number, path.string());
  std::vector<std::string> paths;
  for (auto& [number, path] : files) paths.push_back(std::move(path));
  return paths;
}

void FindSuite(const fs::path& folder, std::vector<TestCase>* cases) {
  for (const fs::path& path : Children(folder)) {
    if (!fs::exists(path / "model.onnx")) continue;
    TestCase test = {.suite = folder.filename().string(),
                     .name = path.filename().string(),
                     .model = (path / "model.onnx").string()};
    for (const std::string& set : Numbered(path, "test_data_set_"))
      test.data_sets.push_back({Numbered(set, "input_"), Numbered(set, "output_")});
    if (!test.data_sets.empty()) cases->push_back(std::move(test));
  }
}

void FindLightModels(const fs::path& folder, std::vector<TestCase>* cases) {
  for (const fs::path& path : Children(folder)) {
    const std::string stem = path.stem().string();
    const fs::path output = folder / (stem + "_output_0.pb");
    if (!stem.starts_with("light_") || path.extension() != ".onnx" || !fs::exists(output)) continue;
    cases->push_back({.suite = "light",
                      .name = "test_" + stem,
                      .model = path.string(),
                      .data_sets = {{{}, {output.string()}}},
                      .made_inputs = true});
  }
}

// "SoftmaxCrossEntropyLoss" and "softmax_cross_entropy_loss" alike.
std::string Folded(const std::string& name) {
  std::string folded;
  for (const char c : name)
    if (c != '_') folded += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

// The longest of `ops` that the name of the test begins with; empty if none.
template <class Ops>
std::string OpInName(const std::string& test, const Ops& ops) {
  const std::string name = Folded(test.substr(std::min<size_t>(test.size(), 5)));  // past "test_"
  std::string best;
  for (const std::string& op : ops)
    if (op.size() > best.size() && name.starts_with(Folded(op))) best = op;
  return best;
}

}  // namespace

void JudgeByName(TestCase* test) {
  test->random = std::regex_search(test->name, RandomTests());
  test->disputed = std::regex_search(test->name, DisputedTests());
  for (const auto& [name, tolerance] : WiderTolerances()) {
    if (!std::regex_search(test->name, name)) continue;
    test->tolerance.relative = std::max(test->tolerance.relative, tolerance.relative);
    test->tolerance.absolute = std::max(test->tolerance.absolute, tolerance.absolute);
  }
}

void NameOps(std::vector<TestCase>* cases) {
  constexpr const char* kExpanded = "_expanded";
  std::map<std::string, std::string> by_name;
  std::set<std::string> known;
  for (TestCase& test : *cases) {
    const std::vector<std::string>& ops = test.graph_ops;
    known.insert(ops.begin(), ops.end());
    if (ops.empty() || test.name.find(kExpanded) != std::string::npos) continue;
    test.op = ops.size() == 1 ? ops[0] : OpInName(test.name, ops);
    by_name[test.name] = test.op;
  }
  for (TestCase& test : *cases) {
    if (test.graph_ops.empty()) continue;
    const size_t expanded = test.name.find(kExpanded);
    if (expanded != std::string::npos) {
      const auto function = by_name.find(test.name.substr(0, expanded));
      if (function != by_name.end()) test.op = function->second;
    }
    if (test.op.empty()) test.op = OpInName(test.name, known);
    if (test.op.empty()) test.op = std::string("?");
  }
}

absl::StatusOr<std::vector<TestCase>> FindCases(const std::string& data,
                                                const std::string& folder) {
  if (!fs::is_directory(folder)) return ir::InvalidArgument(folder + ": not a folder");
  std::vector<TestCase> cases;
  for (const fs::path& suite : Children(folder)) FindSuite(suite, &cases);
  FindLightModels(folder, &cases);
  FindLightModels(fs::path(folder) / "light", &cases);
  if (cases.empty())
    return ir::InvalidArgument(folder + ": no tests; expected SUITE/TEST/model.onnx below it");
  for (TestCase& test : cases) {
    test.data = data;
    if (test.suite == "node") test.graph_ops = OpsOfModel(test.model);
    JudgeByName(&test);
  }
  std::stable_sort(cases.begin(), cases.end(),
                   [](const TestCase& a, const TestCase& b) { return a.Key() < b.Key(); });
  return cases;
}

}  // namespace weft::conformance
