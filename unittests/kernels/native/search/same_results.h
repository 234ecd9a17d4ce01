// Native kernels whose results are exactly those of the reference kernel, with any number of threads and on every
// instruction set.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/isa.h"
#include "kernels/reference/reference.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {

// Whether all bytes of two tensors are the same.
inline bool AreSame(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims() &&
         std::memcmp(a.view().data, b.view().data, a.view().NumBytes()) == 0;
}

inline void ExpectSameAsReference(const OpProgram& program) {
  const auto expected = program.Run({.provider = "reference"});
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(program.ProviderOf({.provider = "native", .threads = threads}), "native");
    for (const Isa isa : SupportedIsas()) {
      const ScopedIsa scope(isa);
      SCOPED_TRACE(std::string(IsaName(isa)) + ", threads: " + std::to_string(threads));
      const auto actual = program.Run({.provider = "native", .threads = threads});
      ASSERT_TRUE(actual.ok()) << actual.status();
      ASSERT_EQ(actual->size(), expected->size());
      for (size_t i = 0; i < actual->size(); ++i)
        EXPECT_TRUE(AreSame((*actual)[i], (*expected)[i])) << "result " << i;
    }
  }
}

template <class O>
void ExpectSameAsReference(std::vector<Operand> operands,
                           const typename O::template Attrs<ir::BuilderSlot>& attrs,
                           const std::vector<ResultType>& results) {
  ExpectSameAsReference(OpProgram::Make<O>(std::move(operands), attrs, results));
}

// Random elements of any type, of which many are equal: from -3, or 0 without signs, to `high`. Floats have NaN, the
// infinities and both zeros among them.
inline Tensor WithTies(DataType dtype, ir::Shape dims, uint64_t seed, int64_t high = 20) {
  Tensor tensor = *Tensor::Create(dtype, dims);
  const bool is_unsigned = dtype == DataType::kU8 || dtype == DataType::kU16 ||
                           dtype == DataType::kU32 || dtype == DataType::kU64;
  const ValueRange range = {is_unsigned ? 0 : -3, high};
  const Tensor integers = *RandomTensor(DataType::kI32, std::move(dims), seed, 0, range);
  std::vector<double> values = reference::ReadDoubles(integers.view());
  if (ir::IsFloat(dtype)) {
    const double special[] = {NAN, -0.0, INFINITY, -INFINITY, -NAN, 0.0};
    for (size_t i = 2; i < values.size(); i += 5 + i % 7) values[i] = special[i % 6];
  }
  reference::WriteDoubles(values, tensor.view());
  return tensor;
}

}  // namespace weft::kernels
