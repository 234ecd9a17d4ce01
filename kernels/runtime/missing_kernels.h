// What a program needs and kernels lack, all at once; a session names the first only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/program.h"

namespace weft::kernels {

struct MissingKernel {
  std::string op;     // "onnx.StringConcat"
  std::string why;    // "no kernel runs this op"
  std::string where;  // location of the first of them; may be empty
  size_t count = 0;   // ops of this name that lack a kernel for this reason
};

// In the order of the program, ops in regions too. An op whose types are not fully known is asked
// for a kernel of any type only, and for each of its results: what its types lack shows when they are known.
std::vector<MissingKernel> MissingKernels(ir::Program& program,
                                          const std::vector<std::string>& providers);
// The operations themselves.
std::vector<ir::Operation> OpsWithoutKernel(ir::Program& program,
                                            const std::vector<std::string>& providers);

}  // namespace weft::kernels
