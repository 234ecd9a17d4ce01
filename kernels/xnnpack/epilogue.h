// Bias, residual and activation of fused ops: what an XNNPACK operator does itself (a constant
// bias, clamping) and what is left for a second pass over its result.
#pragma once

#include <string>
#include <vector>

#include "ir/dialects/fused/activation.h"
#include "kernels/kernel.h"
#include "kernels/native/simd/activation.h"

namespace weft::kernels::xnnpack {

class Epilogue {
 public:
  // `bias` and `residual` are operand numbers.
  static absl::StatusOr<Epilogue> Make(const KernelContext& context, size_t bias, size_t residual,
                                       ir::fused::Activation activation, const ir::Floats& params);

  // For the operator.
  const float* bias() const { return bias_.empty() ? nullptr : bias_.data(); }  // null for none
  ir::Attribute bias_constant() const { return bias_constant_; }
  float min() const { return min_; }
  float max() const { return max_; }
  // Tells operators with different parameters apart, but for the bias.
  std::string Key() const;

  // The second pass: result = activation(result + residual). Nothing, where the operator did all.
  void Finish(const KernelArgs& args) const;

 private:
  std::vector<float> bias_;
  ir::Attribute bias_constant_;
  float min_, max_;
  size_t residual_ = 0;  // operand number; 0 for none
  simd::Activation activation_ = {};
  int64_t elements_ = 0;
};

}  // namespace weft::kernels::xnnpack
