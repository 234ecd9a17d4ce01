// A model of a file, rewritten by a pipeline, with a session, random inputs and memory for outputs: what
// benchmarks run.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/session.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "tools/onnx/import.h"

namespace weft::bench {

// The shipped models, and those in $WEFT_MODELS (a folder of .onnx files, made by
// benchmarks/models/export.py), by name.
inline std::vector<std::filesystem::path> ModelFiles() {
  std::vector<std::string> folders = {WEFT_TEST_DATA_DIR "/models"};
  if (const char* more = std::getenv("WEFT_MODELS")) folders.emplace_back(more);
  std::vector<std::filesystem::path> files;
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().extension() == ".onnx") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.filename() < b.filename(); });
  const auto same = [](const auto& a, const auto& b) { return a.filename() == b.filename(); };
  files.erase(std::unique(files.begin(), files.end(), same), files.end());
  return files;
}

class LoadedModel {
 public:
  static absl::StatusOr<std::unique_ptr<LoadedModel>> Load(const std::filesystem::path& path,
                                                           std::string_view pipeline) {
    std::unique_ptr<LoadedModel> model(new LoadedModel);
    WEFT_ASSIGN_OR_RETURN(model->program_, onnx::ImportOnnx(model->context_, path.string()));
    WEFT_ASSIGN_OR_RETURN(const auto evaluator, kernels::KernelEvaluator::Create("auto"));
    passes::PassManager manager(&model->context_);
    manager.pass_context().evaluator = evaluator.get();
    manager.AddPass(passes::MakePass("widen-floats"));  // as ir-run begins: fused ops are f32
    for (const std::string& pass : passes::FindPipeline(pipeline)->passes)
      manager.AddPass(passes::MakePass(pass));
    WEFT_RETURN_IF_ERROR(manager.Run(*model->program_));
    return model;
  }

  // A session for these options, which has run once; the one before is gone.
  absl::Status Open(const kernels::SessionOptions& options) {
    session_ = nullptr;
    outputs_.clear();
    input_views_.clear();
    output_views_.clear();
    WEFT_ASSIGN_OR_RETURN(session_, kernels::Session::Create(*program_, options));
    WEFT_ASSIGN_OR_RETURN(inputs_, kernels::RandomInputs(session_->inputs(), 1));
    std::vector<std::span<const int64_t>> dims;
    for (const kernels::Tensor& input : inputs_) {
      dims.emplace_back(input.dims());
      input_views_.push_back(input.view());
    }
    WEFT_ASSIGN_OR_RETURN(plan_, session_->PlanFor(dims));
    outputs_.reserve(plan_->output_types().size());  // views point at their dims
    for (const ir::Type type : plan_->output_types()) {
      WEFT_ASSIGN_OR_RETURN(auto output, kernels::Tensor::Create(type.dtype(), type.shape()));
      outputs_.push_back(std::move(output));
      output_views_.push_back(outputs_.back().view());
    }
    return Run();
  }

  absl::Status Run() { return session_->Run(input_views_, output_views_); }
  const kernels::Plan& plan() const { return *plan_; }

 private:
  LoadedModel() = default;

  ir::IrContext context_;
  std::unique_ptr<ir::Program> program_;
  std::unique_ptr<kernels::Session> session_;
  std::vector<kernels::Tensor> inputs_, outputs_;
  std::vector<kernels::TensorView> input_views_, output_views_;
  kernels::Plan* plan_ = nullptr;
};

}  // namespace weft::bench
