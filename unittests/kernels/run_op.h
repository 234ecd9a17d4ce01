// Runs one op in a session of its own, for kernel tests.
//
//   Tensor y = RunOp<ops::Softmax>({Random({2, 3}, 1)}, {.axis = 0}, {{kF32, {2, 3}}});
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/onnx.h"
#include "kernels/reference/compare.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/session.h"

namespace weft::kernels {

using ir::DataType;
namespace ops = ir::ops;
namespace fused = ir::fused;

template <class T>
Tensor MakeTensor(DataType dtype, ir::Shape dims, const std::vector<T>& values) {
  Tensor tensor = *Tensor::Create(dtype, std::move(dims));
  EXPECT_EQ(tensor.values<T>().size(), values.size());
  std::copy(values.begin(), values.end(), tensor.values<T>().begin());
  return tensor;
}
inline Tensor F32(ir::Shape dims, const std::vector<float>& values) {
  return MakeTensor(DataType::kF32, std::move(dims), values);
}
inline Tensor F64(ir::Shape dims, const std::vector<double>& values) {
  return MakeTensor(DataType::kF64, std::move(dims), values);
}
inline Tensor I64(ir::Shape dims, const std::vector<int64_t>& values) {
  return MakeTensor(DataType::kI64, std::move(dims), values);
}
inline Tensor I32(ir::Shape dims, const std::vector<int32_t>& values) {
  return MakeTensor(DataType::kI32, std::move(dims), values);
}
inline Tensor Bool(ir::Shape dims, const std::vector<uint8_t>& values) {
  return MakeTensor(DataType::kBool, std::move(dims), values);
}
inline Tensor Random(ir::Shape dims, uint64_t seed) {
  return *RandomTensor(DataType::kF32, std::move(dims), seed, 0);
}

// A tensor given at run time, a constant of the program, or (default) an operand that is not given.
struct Operand {
  Operand() = default;
  Operand(Tensor t, bool is_constant = false)
      : tensor(std::make_shared<Tensor>(std::move(t))), constant(is_constant) {}
  std::shared_ptr<const Tensor> tensor;
  bool constant = false;
};
inline Operand Constant(Tensor tensor) { return {std::move(tensor), true}; }

struct ResultType {
  DataType dtype;
  ir::Shape dims;
};

struct RunOptions {
  std::string provider = "reference";
  int threads = 1;
  // That many threads on a machine of one CPU, too.
  SessionOptions ForSession() const {
    return {.threads = threads, .provider = provider, .oversubscribe = true};
  }
};

// A program of one op, its operands and what it returns.
class OpProgram {
 public:
  template <class O>
  static OpProgram Make(std::vector<Operand> operands,
                        const typename O::template Attrs<ir::BuilderSlot>& attrs,
                        const std::vector<ResultType>& results) {
    OpProgram p;
    ir::LoadFusedDialect(*p.context);
    ir::LoadLitertDialect(*p.context);
    p.program = std::make_unique<ir::Program>(p.context.get());
    ir::Builder builder(p.program.get());
    ir::OperationState state{.opcode = ir::kOpcodeOf<O>,
                             .attrs = ir::MakeAttrs<O>(*p.context, attrs)};
    for (const Operand& operand : operands)
      state.operands.push_back(p.AddOperand(builder, operand));
    for (const ResultType& result : results)
      state.result_types.push_back(p.context->TensorType(result.dtype, result.dims));
    const ir::Operation op = builder.Create(std::move(state));
    std::vector<std::pair<std::string, ir::Value>> outputs;
    for (uint32_t i = 0; i < op.num_results(); ++i)
      outputs.emplace_back("y" + std::to_string(i), op.result(i));
    builder.Return(std::move(outputs));
    return p;
  }

  absl::StatusOr<std::vector<Tensor>> Run(const RunOptions& options) const {
    auto session = Session::Create(*program, options.ForSession());
    if (!session.ok()) return session.status();
    std::vector<TensorView> views;
    for (const Tensor& input : inputs) views.push_back(input.view());
    return (*session)->Run(views);
  }
  // The provider that runs the op.
  std::string ProviderOf(const RunOptions& options) const {
    auto session = Session::Create(*program, options.ForSession());
    if (!session.ok()) return std::string(session.status().message());
    std::vector<std::span<const int64_t>> dims;
    for (const Tensor& input : inputs) dims.emplace_back(input.dims());
    const auto plan = (*session)->PlanFor(dims);
    if (!plan.ok()) return std::string(plan.status().message());
    return (*plan)->steps().empty() ? "none" : (*plan)->steps()[0].provider;
  }

  std::unique_ptr<ir::IrContext> context = std::make_unique<ir::IrContext>();
  std::unique_ptr<ir::Program> program;
  std::vector<Tensor> inputs;

 private:
  ir::Value AddOperand(ir::Builder& builder, const Operand& operand) {
    if (operand.tensor == nullptr) return {};
    const Tensor& t = *operand.tensor;
    const ir::Type type = context->TensorType(t.dtype(), t.dims());
    if (operand.constant)
      return builder.Constant(context->DenseAttr(type, {t.view().data, t.view().NumBytes()}));
    Tensor copy = *Tensor::Create(t.dtype(), t.dims());
    std::memcpy(copy.view().data, t.view().data, t.view().NumBytes());
    inputs.push_back(std::move(copy));
    return builder.AddInput("x" + std::to_string(inputs.size() - 1), type);
  }
};

template <class O>
absl::StatusOr<std::vector<Tensor>> TryRunOp(
    std::vector<Operand> operands, const typename O::template Attrs<ir::BuilderSlot>& attrs,
    const std::vector<ResultType>& results, const RunOptions& options = {}) {
  return OpProgram::Make<O>(std::move(operands), attrs, results).Run(options);
}

// The first result.
template <class O>
Tensor RunOp(std::vector<Operand> operands,
             const typename O::template Attrs<ir::BuilderSlot>& attrs, ResultType result,
             const RunOptions& options = {}) {
  auto results = TryRunOp<O>(std::move(operands), attrs, {std::move(result)}, options);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? std::move((*results)[0]) : Tensor();
}

template <class T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  const std::span<T> values = tensor.values<T>();
  return {values.begin(), values.end()};
}

// What float results may differ by, of the largest one.
inline void ExpectNear(const Tensor& actual, const Tensor& expected, double tolerance = 1e-6) {
  EXPECT_LE(RelativeDifference(actual.view(), expected.view()), tolerance);
}

}  // namespace weft::kernels
