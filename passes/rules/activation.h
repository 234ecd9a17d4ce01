// Which fused activation an activation op is.
#pragma once

#include <limits>

#include "drr/drr.h"
#include "ir/dialects/fused/activation.h"
#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/elementwise.h"

namespace weft::passes {

// `f` is a OneOf over some of Relu, Sigmoid, Tanh, HardSwish, HardSigmoid and Gelu.
template <class F>
ir::fused::Activation ActivationOf(const drr::MatchContext& m, F f) {
  namespace ops = ir::ops;
  using ir::fused::Activation;
  if (m.template Is<ops::Relu>(f)) return Activation::kRelu;
  if (m.template Is<ops::Sigmoid>(f)) return Activation::kSigmoid;
  if (m.template Is<ops::Tanh>(f)) return Activation::kTanh;
  if (m.template Is<ops::HardSwish>(f)) return Activation::kHardSwish;
  if (m.template Is<ops::HardSigmoid>(f)) return Activation::kHardSigmoid;
  return Activation::kGelu;
}

template <class F>
ir::Floats ActivationParamsOf(const drr::MatchContext& m, F f) {
  namespace ops = ir::ops;
  if (!m.template Is<ops::HardSigmoid>(f)) return {};
  const auto attrs = m.template As<ops::HardSigmoid>(f);
  return {attrs.alpha, attrs.beta};
}

// {min, max} of a Clip whose bounds are constants or not given.
inline ir::Floats ClipParams(const drr::MatchContext& m, drr::Tensor low, drr::Tensor high) {
  return {m.Has(low) ? static_cast<float>(*m[low].splat()) : std::numeric_limits<float>::lowest(),
          m.Has(high) ? static_cast<float>(*m[high].splat()) : std::numeric_limits<float>::max()};
}

}  // namespace weft::passes
