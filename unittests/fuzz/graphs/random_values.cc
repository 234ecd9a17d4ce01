#include "unittests/fuzz/graphs/random_values.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/reference/reference.h"

namespace weft::fuzz {
namespace {

double SpecialFloat(Random& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kSpecials[] = {std::numeric_limits<double>::quiet_NaN(),
                                  kInf,
                                  -kInf,
                                  -0.0,
                                  0.0,
                                  1,
                                  -1,
                                  0x1p-140,   // a denormal of f32
                                  -0x1p-126,  // its smallest normal
                                  0x1.8p127,
                                  -0x1.fffffep127,
                                  65504};  // the largest of f16
  return random.Pick(kSpecials);
}

double FloatOf(Contents contents, Random& random) {
  const double tame = 4 * random.Unit() - 2;
  if (contents == Contents::kLattice) return static_cast<double>(random.Below(9)) - 4;
  return contents == Contents::kSpecial && random.Chance(25) ? SpecialFloat(random) : tame;
}

template <class T>
T IntegerOf(Contents contents, Random& random) {
  if (contents == Contents::kSpecial && random.Chance(30)) {
    constexpr T kExtremes[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                               static_cast<T>(-1)};
    return random.Pick(kExtremes);
  }
  return static_cast<T>(random.Below(sizeof(T) == 1 ? 120 : 2));
}

double UnitOf(ir::DataType dtype) {
  switch (dtype) {
    case ir::DataType::kF64:
      return 0x1p-50;
    case ir::DataType::kF16:
      return 0x1p-10;
    case ir::DataType::kBF16:
      return 0x1p-7;
    default:
      return 0x1p-21;
  }
}

}  // namespace

absl::StatusOr<kernels::Tensor> MakeTensor(ir::DataType dtype, ir::Shape dims, Contents contents,
                                           Random& random) {
  WEFT_ASSIGN_OR_RETURN(kernels::Tensor tensor, kernels::Tensor::Create(dtype, std::move(dims)));
  if (dtype == ir::DataType::kBool) {
    for (bool& value : tensor.values<bool>()) value = random.Chance(50);
    return tensor;
  }
  if (ir::IsFloat(dtype)) {
    std::vector<double> values(static_cast<size_t>(tensor.NumElements()));
    for (double& value : values) value = FloatOf(contents, random);
    kernels::reference::WriteDoubles(values, tensor.view());
    return tensor;
  }
  const bool is_integer = kernels::reference::VisitInteger(dtype, [&](auto tag) {
    using T = decltype(tag);
    for (T& value : tensor.values<T>()) value = IntegerOf<T>(contents, random);
  });
  if (!is_integer) return ir::Unsupported("no numbers of this element type");
  return tensor;
}

kernels::Tensor Perturbed(const kernels::Tensor& tensor, Random& random) {
  kernels::Tensor copy = *kernels::Tensor::Create(tensor.dtype(), tensor.dims());
  std::memcpy(copy.view().data, tensor.view().data, tensor.view().NumBytes());
  if (!ir::IsFloat(tensor.dtype())) return copy;
  std::vector<double> values = kernels::reference::ReadDoubles(tensor.view());
  const double unit = 4 * UnitOf(tensor.dtype());
  for (double& value : values) {
    const double sign = random.Chance(50) ? 1 : -1;
    value += sign * unit * (std::fabs(value) + 0x1p-10);
  }
  kernels::reference::WriteDoubles(values, copy.view());
  return copy;
}

}  // namespace weft::fuzz
