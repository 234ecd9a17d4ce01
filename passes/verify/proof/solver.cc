#include "passes/verify/proof/solver.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::passes {
namespace {

// The first five are known, the last three of real numbers; else they are some function of their operands.
constexpr std::array<std::string_view, 17> kArithmetic = {
    "onnx.Add",     "onnx.Sub",  "onnx.Mul",        "onnx.Div", "onnx.Neg", "onnx.Exp",
    "onnx.Log",     "onnx.Sqrt", "onnx.Tanh",       "onnx.Erf", "onnx.Sin", "onnx.Relu",
    "onnx.Sigmoid", "onnx.Cos",  "onnx.Reciprocal", "onnx.Min", "onnx.Max"};
constexpr std::array<std::string_view, 4> kLogic = {"onnx.And", "onnx.Or", "onnx.Xor", "onnx.Not"};

SolverFactory& Factory() {
  static SolverFactory factory = nullptr;
  return factory;
}

}  // namespace

SolverRegistrar::SolverRegistrar(SolverFactory factory) { Factory() = factory; }

bool HasSolver() { return Factory() != nullptr; }
std::unique_ptr<Solver> MakeSolver(const Terms& terms, unsigned milliseconds) {
  return HasSolver() ? Factory()(terms, milliseconds) : nullptr;
}

bool IsArithmetic(const std::string& function) {
  return std::find(kArithmetic.begin(), kArithmetic.end(), function) != kArithmetic.end();
}
bool IsLogic(const std::string& function) {
  return std::find(kLogic.begin(), kLogic.end(), function) != kLogic.end();
}

}  // namespace weft::passes
