#include "passes/superopt/generator/evaluate.h"

#include <algorithm>

namespace weft::passes::substitution {
namespace {

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

uint64_t Reduce(uint64_t x) {
  x = (x & kPrime) + (x >> 61);
  return x >= kPrime ? x - kPrime : x;
}
uint64_t AddMod(uint64_t a, uint64_t b) { return Reduce(a + b); }
uint64_t MulMod(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return Reduce(static_cast<uint64_t>(product & kPrime) + static_cast<uint64_t>(product >> 61));
}

bool MatMul(const Matrix& a, const Matrix& b, Matrix* out) {
  if (a.columns != b.rows) return false;
  *out = {a.rows, b.columns, {}, {a.splits[0], b.splits[1]}};
  out->values.assign(static_cast<size_t>(a.rows) * b.columns, 0);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j) {
      uint64_t sum = 0;
      for (int k = 0; k < a.columns; ++k)
        sum = AddMod(sum, MulMod(a.values[i * a.columns + k], b.values[k * b.columns + j]));
      out->values[i * b.columns + j] = sum;
    }
  return true;
}

constexpr uint64_t kAddKey = 1, kMulKey = 2;

bool Broadcasts(const Op& op, const EvaluateOptions& options) {
  return options.broadcast || op.kind == OpKind::kScale;
}

std::array<uint8_t, 2> CommonSplits(const Matrix& a, const Matrix& b) {
  return {std::min(a.splits[0], b.splits[0]), std::min(a.splits[1], b.splits[1])};
}

template <class F>
bool Elementwise(const Matrix& a, const Matrix& b, bool broadcast, F&& f, Matrix* out) {
  if (!a.SameShape(b)) {
    const auto fit = [](int m, int n) { return m == n || m == 1 || n == 1; };
    if (!broadcast || !fit(a.rows, b.rows) || !fit(a.columns, b.columns)) return false;
  }
  *out = {std::max(a.rows, b.rows), std::max(a.columns, b.columns), {}, {}};
  out->splits = b.values.size() == 1 ? a.splits : CommonSplits(a, b);
  const auto at = [](const Matrix& m, int i, int j) {
    return m.values[(m.rows == 1 ? 0 : i) * m.columns + (m.columns == 1 ? 0 : j)];
  };
  for (int i = 0; i < out->rows; ++i)
    for (int j = 0; j < out->columns; ++j) out->values.push_back(f(at(a, i, j), at(b, i, j)));
  return true;
}

void Transpose(const Matrix& a, Matrix* out) {
  *out = {a.columns, a.rows, {}, {a.splits[1], a.splits[0]}};
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) out->values.push_back(a.values[i * a.columns + j]);
}

bool Concat(const Matrix& a, const Matrix& b, int axis, Matrix* out) {
  if (a.size(1 - axis) != b.size(1 - axis)) return false;
  const auto common = a.SameShape(b) ? CommonSplits(a, b) : std::array<uint8_t, 2>{};
  *out = {a.rows, a.columns, {}, common};
  (axis == 0 ? out->rows : out->columns) += b.size(axis);
  if (a.SameShape(b)) ++out->splits[axis];
  for (int i = 0; i < out->rows; ++i)
    for (int j = 0; j < out->columns; ++j) {
      const bool in_a = axis == 0 ? i < a.rows : j < a.columns;
      const int row = axis == 0 && !in_a ? i - a.rows : i;
      const int column = axis == 1 && !in_a ? j - a.columns : j;
      const Matrix& from = in_a ? a : b;
      out->values.push_back(from.values[row * from.columns + column]);
    }
  return true;
}

bool Split(const Matrix& a, int axis, Matrix* first, Matrix* second) {
  if (a.size(axis) % 2 != 0 || a.size(axis) == 0) return false;
  for (int half = 0; half < 2; ++half) {
    Matrix* out = half == 0 ? first : second;
    *out = {a.rows, a.columns, {}, a.splits};
    (axis == 0 ? out->rows : out->columns) /= 2;
    if (out->splits[axis] > 0) --out->splits[axis];
    const int row = axis == 0 ? half * out->rows : 0, column = axis == 1 ? half * out->columns : 0;
    for (int i = 0; i < out->rows; ++i)
      for (int j = 0; j < out->columns; ++j)
        out->values.push_back(a.values[(row + i) * a.columns + column + j]);
  }
  return true;
}

}  // namespace

Matrix RandomMatrix(int rows, int columns, uint64_t seed, uint64_t stream) {
  Matrix matrix{rows, columns, {}, {}};
  const uint64_t key = Mix(Mix(seed) ^ stream);
  for (int i = 0; i < rows * columns; ++i)
    matrix.values.push_back(Reduce(Mix(key + static_cast<uint64_t>(i))));
  return matrix;
}

bool Evaluate(const Op& op, const std::array<Matrix, kMaxTensors>& tensors,
              const EvaluateOptions& options, Matrix* first, Matrix* second) {
  const Matrix& a = tensors[op.a];
  const auto hashed = [](uint64_t key) {
    return [key](uint64_t x, uint64_t y) { return Reduce(Mix(Mix(x) + Mix(y) + key)); };
  };
  switch (op.kind) {
    case OpKind::kMatMul:
      return MatMul(a, tensors[op.b], first);
    case OpKind::kAdd:
      if (options.uninterpreted)
        return Elementwise(a, tensors[op.b], options.broadcast, hashed(kAddKey), first);
      return Elementwise(a, tensors[op.b], options.broadcast, AddMod, first);
    case OpKind::kMul:
    case OpKind::kScale:
      if (options.uninterpreted)
        return Elementwise(a, tensors[op.b], Broadcasts(op, options), hashed(kMulKey), first);
      return Elementwise(a, tensors[op.b], Broadcasts(op, options), MulMod, first);
    case OpKind::kRelu:
      *first = a;
      for (uint64_t& value : first->values) value = Reduce(Mix(value ^ Mix(options.seed)));
      return true;
    case OpKind::kTranspose:
      Transpose(a, first);
      return true;
    case OpKind::kConcat0:
      return Concat(a, tensors[op.b], 0, first);
    case OpKind::kConcat1:
      return Concat(a, tensors[op.b], 1, first);
    case OpKind::kSplit0:
      return Split(a, 0, first, second);
    case OpKind::kSplit1:
      return Split(a, 1, first, second);
  }
  return false;
}

std::vector<Matrix> EvaluateGraph(const Graph& graph, const std::vector<int>& outputs,
                                  const std::array<Matrix, kNumVariables>& variables,
                                  const EvaluateOptions& options) {
  std::array<Matrix, kMaxTensors> tensors;
  std::copy(variables.begin(), variables.end(), tensors.begin());
  int next = kNumVariables;
  for (const Op& op : graph.operators()) {
    Matrix first, second;
    if (!Evaluate(op, tensors, options, &first, &second)) return {};
    tensors[next++] = std::move(first);
    if (IsSplit(op.kind)) tensors[next++] = std::move(second);
  }
  std::vector<Matrix> results;
  results.reserve(outputs.size());
  for (int output : outputs) results.push_back(std::move(tensors[output]));
  return results;
}

uint64_t Fingerprint(const Matrix& matrix) {
  uint64_t hash =
      Mix(static_cast<uint64_t>(matrix.rows) << 32 | static_cast<uint32_t>(matrix.columns));
  for (uint64_t value : matrix.values) hash = Mix(hash ^ value);
  return hash;
}

}  // namespace weft::passes::substitution
