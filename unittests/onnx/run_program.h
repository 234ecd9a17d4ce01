// Optimises and runs imported programs: for tests of what a model computes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/session.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"

namespace weft::onnx {

inline kernels::Tensor F32(const ir::Shape& dims, const std::vector<float>& values) {
  kernels::Tensor tensor = *kernels::Tensor::Create(ir::DataType::kF32, dims);
  std::copy(values.begin(), values.end(), tensor.values<float>().begin());
  return tensor;
}

// The elements of the first output, of type f32; empty with a test failure when it cannot run.
inline std::vector<float> RunProgram(ir::Program& program,
                                     const std::vector<kernels::TensorView>& views,
                                     const std::string& provider = "reference") {
  auto session = kernels::Session::Create(program, {.provider = provider});
  EXPECT_EQ(session.status().message(), "");
  if (!session.ok()) return {};
  auto results = (*session)->Run(views);
  EXPECT_EQ(results.status().message(), "");
  if (!results.ok()) return {};
  const auto values = results->front().values<float>();
  return {values.begin(), values.end()};
}

inline void Optimise(ir::Program& program, const std::string& pipeline) {
  auto evaluator = kernels::KernelEvaluator::Create("reference");
  ASSERT_EQ(evaluator.status().message(), "");
  passes::PassManager manager(program.context());
  manager.pass_context().evaluator = evaluator->get();
  manager.set_verify_each(true);
  for (const std::string& pass : passes::FindPipeline(pipeline)->passes)
    manager.AddPass(passes::MakePass(pass));
  ASSERT_EQ(manager.Run(program).message(), "");
}

}  // namespace weft::onnx
