// Evaluating graphs in the integers modulo p = 2^61 - 1. A sum of products there is a polynomial, so
// two graphs that differ agree on random values with a probability of at most degree / p (Schwartz
// and Zippel). relu is a keyed hash of each element: of it is known only that it works elementwise.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "passes/superopt/generator/graph.h"
#include "passes/superopt/mix.h"

namespace weft::passes::substitution {

struct Matrix {
  int rows = 0, columns = 0;
  std::vector<uint64_t> values;  // row by row
  // How often it may be split along each axis into what was joined.
  std::array<uint8_t, 2> splits = {0, 0};

  int size(int axis) const { return axis == 0 ? rows : columns; }
  bool SameShape(const Matrix& other) const {
    return rows == other.rows && columns == other.columns;
  }
  friend bool operator==(const Matrix& a, const Matrix& b) {
    return a.SameShape(b) && a.values == b.values;
  }
};

// A matrix of random values; `stream` tells the variables of one seed apart.
Matrix RandomMatrix(int rows, int columns, uint64_t seed, uint64_t stream);

struct EvaluateOptions {
  uint64_t seed = 1;       // of what is not interpreted
  bool broadcast = false;  // elementwise operators stretch a size of 1, as ONNX does
  // Addition and multiplication are known to commute, and no more: what is equal then is the same
  // in floating-point arithmetic, bit for bit. Products of matrices are not for this.
  bool uninterpreted = false;
};

// The results of `op`; false when shapes do not fit.
bool Evaluate(const Op& op, const std::array<Matrix, kMaxTensors>& tensors,
              const EvaluateOptions& options, Matrix* first, Matrix* second);

// The outputs of a graph for these variables; empty when shapes do not fit.
std::vector<Matrix> EvaluateGraph(const Graph& graph, const std::vector<int>& outputs,
                                  const std::array<Matrix, kNumVariables>& variables,
                                  const EvaluateOptions& options);

uint64_t Fingerprint(const Matrix& matrix);

}  // namespace weft::passes::substitution
