// Twenty programs of different rules, loaded, fused, run and dropped again, as tests of many threads
// and of many runs need them.
#pragma once

#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/runtime/session.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/test_paths.h"

namespace weft {

using Bytes = std::vector<std::vector<std::byte>>;  // of every output

// A program of its own context and all that runs it, as one thread has it.
class LoadedModel {
 public:
  static absl::StatusOr<std::unique_ptr<LoadedModel>> Load(const std::string& path) {
    auto model = std::make_unique<LoadedModel>();
    WEFT_ASSIGN_OR_RETURN(fixtures::GoldenFile file, fixtures::ReadGoldenFile(path));
    WEFT_ASSIGN_OR_RETURN(model->program_, fixtures::ParseGoldenProgram(file, model->context_));
    WEFT_RETURN_IF_ERROR(fixtures::FillElidedConstants(*model->program_, 1));
    WEFT_ASSIGN_OR_RETURN(model->inputs_, fixtures::SmallRandomInputs(*model->program_, 1));
    file.rules.clear(), file.rules_file.clear();
    file.passes = passes::FindPipeline("fuse")->passes;
    WEFT_RETURN_IF_ERROR(fixtures::RunGoldenPasses(file, *model->program_, nullptr));
    WEFT_ASSIGN_OR_RETURN(model->session_, kernels::Session::Create(*model->program_, {}));
    return model;
  }

  absl::StatusOr<std::vector<kernels::Tensor>> Run() {
    std::vector<kernels::TensorView> views;
    for (const kernels::Tensor& input : inputs_) views.push_back(input.view());
    return session_->Run(views);
  }

  absl::StatusOr<Bytes> RunForBytes() {
    WEFT_ASSIGN_OR_RETURN(const std::vector<kernels::Tensor> outputs, Run());
    Bytes all;
    for (const kernels::Tensor& output : outputs) {
      all.emplace_back(output.view().NumBytes());
      if (!all.back().empty())
        std::memcpy(all.back().data(), output.view().data, all.back().size());
    }
    return all;
  }

 private:
  ir::IrContext context_;
  std::unique_ptr<ir::Program> program_;
  std::vector<kernels::Tensor> inputs_;
  std::unique_ptr<kernels::Session> session_;
};

// The first golden program that runs, of each of the first twenty rules and passes that have one.
inline std::vector<std::string> TwentyModels() {
  constexpr size_t kModels = 20;
  const std::string folder = fixtures::TestData("/passes/fusion/golden");
  std::set<std::string> of_rules;
  std::vector<std::string> paths;
  for (const std::string& name : fixtures::FiringGoldenFiles(folder)) {
    const std::string rule = name.substr(0, name.find('/'));
    const std::string path = folder + "/" + name;
    if (paths.size() == kModels || of_rules.count(rule) > 0) continue;
    const auto model = LoadedModel::Load(path);
    if (!model.ok() || !(*model)->Run().ok()) continue;
    of_rules.insert(rule);
    paths.push_back(path);
  }
  EXPECT_EQ(paths.size(), kModels);
  return paths;
}

}  // namespace weft
