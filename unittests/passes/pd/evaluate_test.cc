// The evaluator of evaluate.h.
#include "unittests/passes/pd/evaluate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unordered_map>

#include "ir/analysis/constant.h"
#include "ir/base/status.h"
#include "ir/builder.h"
#include "ir/walk.h"
#include "unittests/passes/pd/kernels.h"

namespace weft::passes {
namespace {

namespace pd = ir::pd;
using ir::Operation;
using ir::Value;

std::map<std::string_view, PdKernel>& Kernels() {
  static auto* kernels = new std::map<std::string_view, PdKernel>;
  return *kernels;
}

PdTensor Dense(ir::Attribute dense) {
  PdTensor t{dense.dense_type().shape(), {}};
  for (int64_t i = 0; i < Count(t.dims); ++i) t.data.push_back(ir::DenseElement(dense, i));
  return t;
}

class Evaluator {
 public:
  explicit Evaluator(PdTensors given) : given_(std::move(given)) {}

  PdList Run(ir::Program& program, const std::vector<PdTensor>& inputs = {}) {
    for (uint32_t i = 0; i < inputs.size(); ++i)
      values_[program.body().argument(i).id()] = {inputs[i]};
    for (Operation op : program.body()) {
      PdList in;
      for (Value v : op.operands())
        if (v) in.insert(in.end(), values_[v.id()].begin(), values_[v.id()].end());
      if (op.HasTrait(ir::kTerminator)) return in;
      if (op.Is<pd::Fetch>()) fetched_[op.attrs_of<pd::Fetch>().name] = in[0];
      Store(op, Evaluate(op, in));
      if (!error_.empty()) return {};
    }
    return {};
  }
  const PdTensors& fetched() const { return fetched_; }
  // Why the run ended early: the types of the program do not say what its ops make.
  const std::string& error() const { return error_; }

 private:
  PdTensor Given(const std::string& name) {
    EXPECT_EQ(given_.count(name), 1u) << name;
    return given_[name];
  }
  PdList Evaluate(Operation op, const PdList& in) {
    if (op.Is<ir::ConstantOp>()) return {Dense(op.attr("value"))};
    if (op.Is<ir::GetParameterOp>())
      return {Given(op.attrs_of<ir::GetParameterOp>().parameter_name)};
    if (op.Is<pd::Feed>()) return {Given(op.attrs_of<pd::Feed>().name)};
    if (op.Is<pd::Fetch>() || op.Is<ir::CombineOp>() || op.Is<ir::SplitOp>()) return in;
    const auto kernel = Kernels().find(op.name());
    if (kernel != Kernels().end()) return kernel->second(op, in);
    ADD_FAILURE() << "no evaluation of " << op.name();
    return {};
  }
  void Store(Operation op, PdList out) {
    if (op.num_results() == 1 && op.result().type().IsVector()) {
      values_[op.result().id()] = std::move(out);
      return;
    }
    for (uint32_t i = 0; i < op.num_results() && i < out.size(); ++i) {
      const ir::Type type = op.result(i).type();
      const bool is_as_typed = !type.IsStatic() || op.result(i).IsUnused() ||
                               (out[i].dims == type.shape() &&
                                static_cast<int64_t>(out[i].data.size()) == Count(out[i].dims));
      if (!is_as_typed) error_ = fmt::format("{}: result {} is not of its type", op.name(), i);
      values_[op.result(i).id()] = {std::move(out[i])};
    }
  }

  PdTensors given_, fetched_;
  std::string error_;
  std::unordered_map<uint32_t, PdList> values_;
};

// Of one size each: some loops read the type for it.
bool HasLoops(ir::Program& program) {
  bool has = true;
  ir::Walk(program, [&](Operation op) {
    has &= op.Is<ir::ConstantOp>() || op.Is<ir::CombineOp>() || op.Is<ir::SplitOp>() ||
           op.HasTrait(ir::kTerminator) || Kernels().count(op.name()) > 0;
    for (const Value result : op.results())
      has &= result.type().IsVector() || result.type().IsStatic();
  });
  return has;
}

ir::Attribute DenseOf(ir::IrContext& context, ir::Type type, const PdTensor& tensor) {
  std::vector<std::byte> bytes;
  for (const double value : tensor.data) {
    const std::vector<std::byte> element = ir::ElementBytes(type.dtype(), value);
    bytes.insert(bytes.end(), element.begin(), element.end());
  }
  return context.DenseAttr(context.TensorType(type.dtype(), tensor.dims), bytes);
}

}  // namespace

bool AddPdKernel(std::string_view op_name, PdKernel kernel) {
  return Kernels().emplace(op_name, kernel).second;
}

std::vector<PdTensor> EvaluatePd(ir::Program& program, const std::vector<PdTensor>& inputs) {
  Evaluator evaluator({});
  std::vector<PdTensor> results = evaluator.Run(program, inputs);
  EXPECT_EQ(evaluator.error(), "");
  return results;
}

absl::StatusOr<std::vector<ir::Attribute>> PdRunner::Run(const ir::Program& program,
                                                         std::span<const ir::Attribute> inputs,
                                                         Kernels) {
  const std::unique_ptr<ir::Program> copy = program.Clone();
  if (!HasLoops(*copy)) return ir::Unsupported("an op has no loop, or no static type");
  std::vector<PdTensor> tensors;
  for (const ir::Attribute input : inputs) tensors.push_back(Dense(input));
  Evaluator evaluator({});
  const std::vector<PdTensor> results = evaluator.Run(*copy, tensors);
  if (!evaluator.error().empty()) return ir::InvalidArgument(evaluator.error());
  const Operation end = copy->body().Terminator();
  std::vector<ir::Attribute> outputs;
  for (uint32_t i = 0; i < end.num_operands(); ++i)
    outputs.push_back(DenseOf(*copy->context(), end.operand(i).type(), results[i]));
  return outputs;
}

PdTensors FetchPd(ir::Program& program, const PdTensors& given) {
  Evaluator evaluator(given);
  evaluator.Run(program);
  EXPECT_EQ(evaluator.error(), "");
  return evaluator.fetched();
}

}  // namespace weft::passes
