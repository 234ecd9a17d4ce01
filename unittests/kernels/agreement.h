// Kernels against the reference: one op on random data, with one thread and with two.
//
//   Agreement<ops::Softmax>({Random({5, 7}, 1)}, {.axis = 0}, {kF32, {5, 7}}).Of("native");
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {

class AgreementOf {
 public:
  explicit AgreementOf(OpProgram program) : program_(std::move(program)) {}

  // That provider runs the op, and its results are within `tolerance` of the largest.
  void Of(const std::string& provider, double tolerance = 1e-6) const {
    const bool is_choice = provider == "xnnpack" || provider == "native";
    const std::string choice = is_choice ? provider : "auto";
    const auto expected = program_.Run({.provider = "reference"});
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (const int threads : {1, 2}) {
      SCOPED_TRACE("threads: " + std::to_string(threads));
      EXPECT_EQ(program_.ProviderOf({.provider = choice, .threads = threads}), provider);
      const auto actual = program_.Run({.provider = choice, .threads = threads});
      ASSERT_TRUE(actual.ok()) << actual.status();
      ASSERT_EQ(actual->size(), expected->size());
      for (size_t i = 0; i < actual->size(); ++i)
        EXPECT_LE(RelativeDifference((*actual)[i].view(), (*expected)[i].view()), tolerance)
            << "result " << i;
    }
  }

 private:
  OpProgram program_;
};

template <class O>
AgreementOf Agreement(std::vector<Operand> operands,
                      const typename O::template Attrs<ir::BuilderSlot>& attrs,
                      const std::vector<ResultType>& results) {
  return AgreementOf(OpProgram::Make<O>(std::move(operands), attrs, results));
}

inline ResultType FloatResult(ir::Shape dims) { return {DataType::kF32, std::move(dims)}; }

// Random values moved into [low, high).
inline Tensor RandomIn(ir::Shape dims, uint64_t seed, float low, float high) {
  Tensor tensor = Random(std::move(dims), seed);
  for (float& value : tensor.values<float>()) value = low + (value + 1) / 2 * (high - low);
  return tensor;
}

}  // namespace weft::kernels
