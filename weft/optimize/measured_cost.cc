#include "weft/optimize/measured_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/clone.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/session.h"

namespace weft {
namespace {

constexpr int kLeastRuns = 3, kMostRuns = 50;
constexpr double kSecondsForRuns = 0.02;
constexpr int64_t kSmallBytes =
    1024;  // of a constant whose contents may matter: axes, a clip's limits

void AppendValue(ir::Value value, std::vector<uint64_t>* key) {
  if (!value) {
    key->push_back(0);
    return;
  }
  const ir::Attribute constant = ir::ConstantValue(value);
  key->push_back(value.type().id());
  key->push_back(!constant ? 0 : value.type().NumBytes() <= kSmallBytes ? constant.id() + 2 : 1);
}

// Operations with equal keys run equally long.
std::vector<uint64_t> KeyOf(ir::Operation op) {
  std::vector<uint64_t> key = {op.opcode().id(), op.attrs().id(), op.num_operands()};
  for (const ir::Value v : op.operands()) AppendValue(v, &key);
  for (const ir::Value v : op.results()) key.push_back(v.type().id());
  return key;
}

// The operation alone; what it reads are inputs, or constants where they are.
std::unique_ptr<ir::Program> ProgramOf(ir::Operation op) {
  auto program = std::make_unique<ir::Program>(op.context());
  ir::Builder builder(program.get());
  ir::ValueMap map;
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    const ir::Value operand = op.operand(i);
    if (!operand || !(map.Get(operand) == operand)) continue;
    const ir::Attribute constant = ir::ConstantValue(operand);
    map.Set(operand, constant ? builder.Constant(constant)
                              : builder.AddInput("x" + std::to_string(i), operand.type()));
  }
  const ir::Operation copy = ir::CloneOperation(builder, op, map);
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value v : copy.results())
    outputs.emplace_back("y" + std::to_string(outputs.size()), v);
  builder.Return(std::move(outputs));
  return program;
}

int64_t Nanoseconds(const kernels::Plan& plan) {
  int64_t sum = 0;
  for (const kernels::Step& step : plan.steps()) sum += step.nanoseconds;
  return sum;
}

// Of its operands and results; what a machine of today holds.
constexpr double kMostBytes = 2e9;

bool IsTooLarge(ir::Operation op) {
  double bytes = 0;
  const auto add = [&](ir::Value v) {
    if (v && v.type().IsTensor() && v.type().IsStatic())
      bytes += static_cast<double>(v.type().NumElements()) *
               static_cast<double>(ir::ElementSize(v.type().dtype()));
  };
  for (const ir::Value v : op.operands()) add(v);
  for (const ir::Value v : op.results()) add(v);
  return bytes > kMostBytes;
}

// Ones where inputs are numbers.
absl::StatusOr<std::vector<kernels::Tensor>> Ones(std::span<const kernels::TensorInfo> inputs) {
  std::vector<kernels::Tensor> ones;
  for (const kernels::TensorInfo& input : inputs) {
    const ir::DataType dtype = input.type.dtype();
    std::optional<kernels::ValueRange> range;
    if (ir::IsFloat(dtype) || ir::IsInteger(dtype)) range = {1, 1};
    WEFT_ASSIGN_OR_RETURN(kernels::Tensor tensor,
                          kernels::RandomTensor(dtype, input.type.shape(), 1, ones.size(), range));
    ones.push_back(std::move(tensor));
  }
  return ones;
}

// The shortest of several runs.
absl::StatusOr<double> SecondsOn(std::span<const kernels::Tensor> inputs,
                                 kernels::Session* session) {
  std::vector<kernels::TensorView> views;
  std::vector<std::span<const int64_t>> dims;
  for (const kernels::Tensor& input : inputs) {
    views.push_back(input.view());
    dims.emplace_back(input.dims());
  }
  WEFT_ASSIGN_OR_RETURN(const kernels::Plan* const plan, session->PlanFor(dims));
  WEFT_RETURN_IF_ERROR(session->Run(views).status());  // the first one warms up
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int i = 0; i < kMostRuns && (i < kLeastRuns || all < kSecondsForRuns); ++i) {
    const int64_t before = Nanoseconds(*plan);
    WEFT_RETURN_IF_ERROR(session->Run(views).status());
    const double seconds = static_cast<double>(Nanoseconds(*plan) - before) * 1e-9;
    best = std::min(best, seconds);
    all += seconds;
  }
  return best;
}

// Some operations refuse some values: a division of integers 0, Bernoulli what is no probability.
// What refuses ones too is not worth giving up on the program.
absl::StatusOr<double> Measure(ir::Operation op) {
  if (IsTooLarge(op))
    return ir::Unsupported(fmt::format("{} is too large to be measured", op.name()));
  const std::unique_ptr<ir::Program> program = ProgramOf(op);
  WEFT_ASSIGN_OR_RETURN(const auto session,
                        kernels::Session::Create(*program, {.threads = 1, .profile = true}));
  WEFT_ASSIGN_OR_RETURN(const std::vector<kernels::Tensor> random,
                        kernels::RandomInputs(session->inputs(), 1));
  absl::StatusOr<double> seconds = SecondsOn(random, session.get());
  if (seconds.ok()) return seconds;
  WEFT_ASSIGN_OR_RETURN(const std::vector<kernels::Tensor> ones, Ones(session->inputs()));
  seconds = SecondsOn(ones, session.get());
  return seconds.ok() ? seconds : passes::AnalyticCostModel().Seconds(op);
}

}  // namespace

absl::StatusOr<double> MeasuredCostModel::Seconds(ir::Operation op) {
  std::vector<uint64_t> key = KeyOf(op);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  WEFT_ASSIGN_OR_RETURN(const double seconds, Measure(op));
  known_.emplace(std::move(key), seconds);
  return seconds;
}

}  // namespace weft
