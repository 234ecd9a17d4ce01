// A kernel of one's own and those of Weft, with weft-kernels.
#include <cstdio>

#include "gain_dialect.h"
#include "ir/dialects/onnx.h"
#include "kernels/runtime/registry.h"

int main() {
  using weft::ir::kOpcodeOf;
  if (weft::kernels::ProvidersOf(kOpcodeOf<gain::Scale>).size() != 1)
    return std::puts("our kernel is not there"), 1;
  if (weft::kernels::ProvidersOf(kOpcodeOf<weft::ir::ops::MatMul>).size() < 2)
    return std::puts("kernels of Weft are not there"), 1;
  return 0;
}
