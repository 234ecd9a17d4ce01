// Determinants, by Gaussian elimination with the largest pivot of each column.
#include <algorithm>
#include <cmath>

#include "ir/dialects/onnx/math.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Overwrites the n x n matrix.
double Determinant(double* matrix, int64_t n) {
  double product = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(matrix[row * n + column]) > std::fabs(matrix[pivot * n + column])) pivot = row;
    }
    if (pivot != column) {
      std::swap_ranges(matrix + pivot * n, matrix + (pivot + 1) * n, matrix + column * n);
      product = -product;
    }
    const double* top = matrix + column * n;
    product *= top[column];
    if (top[column] == 0) continue;  // and so is what lies below
    for (int64_t row = column + 1; row < n; ++row) {
      double* below = matrix + row * n;
      const double factor = below[column] / top[column];
      for (int64_t i = column; i < n; ++i) below[i] -= factor * top[i];
    }
  }
  return product;
}

absl::Status Det(const AttrsOf<ops::Det>&, const KernelArgs& args) {
  const TensorView& x = args.inputs[0];
  const int64_t n = x.dims.back();
  std::vector<double> matrices = ReadDoubles(x);
  std::vector<double> results(static_cast<size_t>(args.outputs[0].NumElements()));
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = Determinant(matrices.data() + static_cast<int64_t>(i) * n * n, n);
  WriteDoubles(results, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckDet(const KernelContext& context) {
  const std::span<const int64_t> dims = context.dims(0);
  if (dims.size() < 2 || dims[dims.size() - 1] != dims[dims.size() - 2])
    return context.InvalidArgument("x is " + ir::ToString(dims) + ", no square matrices");
  return SameFloats(context);
}
const RegisterReference<ops::Det> kDet(&Det, &CheckDet);

}  // namespace
}  // namespace weft::kernels::reference
