// The transposes around an op that computes in NHWC.
#pragma once

#include "passes/rules.h"

namespace weft::passes {

inline ResultTensor ToNhwc(ResultPattern& res, Tensor x) {
  return res.Op<ops::Transpose>({.perm = {0, 2, 3, 1}})(x);
}
inline ResultTensor ToNchw(ResultPattern& res, ResultTensor x) {
  return res.Op<ops::Transpose>({.perm = {0, 3, 1, 2}})(x);
}

}  // namespace weft::passes
