#include "passes/verify/rounding_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string_view>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"

namespace weft::passes {
namespace {

using ir::Attribute;
using ir::DataType;
using ir::Operation;
using ir::Value;

constexpr int kRuns = 3;
// To the largest that may be, from the largest of a few runs.
constexpr double kMargin = 4;
constexpr double kFunction = 8;
constexpr double kUnknownElements = 125;  // more than most tensors of instances have

// Elements of the result are elements of operands, negated perhaps, or whole numbers.
constexpr std::array<std::string_view, 42> kExact = {"onnx.Abs",       "onnx.Cast",
                                                     "onnx.CastLike",  "onnx.Ceil",
                                                     "onnx.Clip",      "onnx.Compress",
                                                     "onnx.Concat",    "onnx.DepthToSpace",
                                                     "onnx.Expand",    "onnx.EyeLike",
                                                     "onnx.Flatten",   "onnx.Floor",
                                                     "onnx.Gather",    "onnx.GatherElements",
                                                     "onnx.GatherND",  "onnx.GlobalMaxPool",
                                                     "onnx.Identity",  "onnx.Max",
                                                     "onnx.MaxPool",   "onnx.Min",
                                                     "onnx.Neg",       "onnx.OneHot",
                                                     "onnx.Pad",       "onnx.ReduceMax",
                                                     "onnx.ReduceMin", "onnx.Relu",
                                                     "onnx.Reshape",   "onnx.ReverseSequence",
                                                     "onnx.Round",     "onnx.ScatterElements",
                                                     "onnx.ScatterND", "onnx.Sign",
                                                     "onnx.Slice",     "onnx.SpaceToDepth",
                                                     "onnx.Split",     "onnx.Squeeze",
                                                     "onnx.Tile",      "onnx.TopK",
                                                     "onnx.Transpose", "onnx.Trilu",
                                                     "onnx.Unsqueeze", "onnx.Where"};

// Rounded once (IEEE 754).
constexpr std::array<std::string_view, 6> kArithmetic = {
    "onnx.Add", "onnx.Div", "onnx.Mul", "onnx.Reciprocal", "onnx.Sqrt", "onnx.Sub"};

template <size_t kSize>
bool Contains(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsDouble(Value v) { return v && v.type().IsTensor() && v.type().dtype() == DataType::kF64; }

double RoundingsOf(Operation op) {
  if (op.num_regions() > 0 || op.HasTrait(ir::kConstantLike) || op.HasTrait(ir::kTerminator) ||
      Contains(kExact, op.name()))
    return 0;
  if (Contains(kArithmetic, op.name())) return 1;
  if (op.HasTrait(ir::kElementwise)) return kFunction;
  double elements = 1;
  for (const Value v : op.operands())
    if (v && v.type().IsTensor())
      elements =
          std::max(elements, v.type().IsStatic() ? static_cast<double>(v.type().NumElements())
                                                 : kUnknownElements);
  return kFunction + elements;
}

// Puts errors into a program, each with a phase of its own.
class Perturbation {
 public:
  Perturbation(ir::Program& program, double unit, double phase)
      : rewriter_(&program), unit_(unit), phase_(phase) {}

  void AddErrors(Operation op) {
    const double error = RoundingsOf(op) * unit_;
    if (error == 0) return;
    rewriter_.SetInsertionPoint(op);
    const uint32_t data = op.def() != nullptr ? op.def()->info->data : ir::kEveryOperand;
    for (uint32_t i = 0; i < op.num_operands(); ++i)
      if (IsDouble(op.operand(i)) && (data >> std::min(i, 31U) & 1U) != 0)
        rewriter_.SetOperand(op, i, WithError(op.operand(i), error));
    rewriter_.SetInsertionPointAfter(op);
    for (uint32_t i = 0; i < op.num_results(); ++i) {
      const Value result = op.result(i);
      if (!IsDouble(result) || result.IsUnused()) continue;
      std::vector<Operation> own;
      const Value with_error = WithError(result, error, &own);
      rewriter_.ReplaceUsesIf(result, with_error, [&](ir::OpOperand use) {
        return std::find(own.begin(), own.end(), use.owner()) == own.end();
      });
    }
  }

 private:
  // x (1 + error sin(w x + phase)): the sign changes from element to element. An infinite x stays.
  Value WithError(Value x, double error, std::vector<Operation>* readers = nullptr) {
    constexpr double kFrequency = 12345.678, kLargest = 1e6;
    const auto number = [&](double value) {
      return rewriter_.ConstantScalar(DataType::kF64, value);
    };
    phase_ += 1;
    namespace ops = ir::ops;
    const Value finite = rewriter_.Make<ops::Clip>({x, number(-kLargest), number(kLargest)});
    const Value angle = rewriter_.Make<ops::Add>(
        {rewriter_.Make<ops::Mul>({finite, number(kFrequency)}), number(phase_)});
    const Value factor = rewriter_.Make<ops::Add>(
        {rewriter_.Make<ops::Mul>({rewriter_.Make<ops::Sin>({angle}), number(error)}), number(1)});
    const Value y = rewriter_.Make<ops::Mul>({x, factor});
    if (readers) *readers = {finite.DefiningOp(), y.DefiningOp()};
    return y;
  }

  ir::Rewriter rewriter_;
  double unit_, phase_;
};

// Where the first is a number.
double Distance(Attribute results, Attribute others) {
  if (!ir::IsFloat(results.dense_type().dtype())) return 0;
  if (!(results.dense_type() == others.dense_type()))
    return std::numeric_limits<double>::infinity();
  double distance = 0;
  for (int64_t i = 0, n = results.dense_type().NumElements(); i < n; ++i) {
    const double x = ir::DenseElement(results, i), y = ir::DenseElement(others, i);
    if (!std::isfinite(x)) continue;
    if (!std::isfinite(y)) return std::numeric_limits<double>::infinity();
    distance = std::max(distance, std::fabs(x - y));
  }
  return distance;
}

}  // namespace

double UnitRoundoff(ir::Program& program) {
  double unit = 0x1p-24;
  const auto see = [&](Value v) {
    if (!v.type().IsTensor()) return;
    if (v.type().dtype() == DataType::kF16) unit = std::max(unit, 0x1p-11);
    if (v.type().dtype() == DataType::kBF16) unit = std::max(unit, 0x1p-8);
  };
  for (const Value v : program.body().arguments()) see(v);
  for (const Operation op : program.body())
    for (const Value v : op.results()) see(v);
  return unit;
}

std::vector<double> RoundingBounds(const ir::Program& in_double, std::span<const Attribute> inputs,
                                   std::span<const Attribute> results, double unit,
                                   ir::ProgramRunner& runner) {
  std::vector<double> bounds(results.size(), 0);
  std::vector<double> unknown(results.size(), std::numeric_limits<double>::infinity());
  for (int run = 0; run < kRuns; ++run) {
    const std::unique_ptr<ir::Program> with_errors = in_double.Clone();
    std::vector<Operation> ops;
    for (const Operation op : with_errors->body()) ops.push_back(op);
    Perturbation perturbation(*with_errors, unit, 100.0 * run);
    for (const Operation op : ops) perturbation.AddErrors(op);
    const auto others = runner.Run(*with_errors, inputs, ir::ProgramRunner::Kernels::kReference);
    if (!others.ok() || others->size() != results.size()) return unknown;
    for (size_t i = 0; i < results.size(); ++i)
      bounds[i] = std::max(bounds[i], kMargin * Distance(results[i], (*others)[i]));
  }
  return bounds;
}

}  // namespace weft::passes
