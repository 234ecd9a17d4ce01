// A program that a test builds, and the session that runs it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/analysis/shape_inference.h"
#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/runtime/session.h"

namespace weft::kernels {

class SessionFixture : public testing::Test {
 protected:
  SessionFixture() { ir::LoadFusedDialect(context); }

  ir::Type Of(ir::DataType dtype, const ir::Shape& dims) { return context.TensorType(dtype, dims); }
  ir::Type F(const ir::Shape& dims) { return Of(ir::DataType::kF32, dims); }
  ir::Value Input(ir::Type type) {
    return builder.AddInput("x" + std::to_string(num_inputs_++), type);
  }
  ir::Value Exp(ir::Value x) { return builder.Make<ir::ops::Exp>({x}); }
  ir::Value Concat(const std::vector<ir::Value>& parts, int64_t axis) {
    return builder.Make<ir::ops::Concat>(parts, {.axis = axis});
  }
  ir::Value Flag() { return Input(Of(ir::DataType::kBool, {})); }

  // Ends the program with these outputs. Empty, or why no session runs it.
  std::string MakeSession(const std::vector<ir::Value>& results) {
    std::vector<std::pair<std::string, ir::Value>> outputs;
    for (const ir::Value v : results) outputs.emplace_back("y" + std::to_string(outputs.size()), v);
    builder.Return(std::move(outputs));
    if (absl::Status status = ir::PropagateTypes(program); !status.ok())
      return std::string(status.message());
    auto created = Session::Create(program, {.provider = "auto"});
    if (!created.ok()) return std::string(created.status().message());
    session = *std::move(created);
    return "";
  }

  // A session of the program, which has been ended.
  std::unique_ptr<Session> Load(const SessionOptions& options = {.provider = "reference"}) {
    auto created = Session::Create(program, options);
    EXPECT_TRUE(created.ok()) << created.status();
    return created.ok() ? *std::move(created) : nullptr;
  }
  static Plan* PlanOf(Session& session, const std::vector<ir::Shape>& shapes) {
    const std::vector<std::span<const int64_t>> dims(shapes.begin(), shapes.end());
    const auto plan = session.PlanFor(dims);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *plan : nullptr;
  }

  ir::IrContext context;
  ir::Program program{&context};
  ir::Builder builder{&program};
  std::unique_ptr<Session> session;

 private:
  int num_inputs_ = 0;
};

}  // namespace weft::kernels
