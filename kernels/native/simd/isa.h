// The instruction sets that the kernels of this folder are compiled for, and the one in use.
//
// Every kernel body is compiled once per Isa and picked at run time, so one binary runs on every
// CPU of the architecture. On other architectures than x86-64 there is kBaseline alone (vector
// extensions of the compiler).
#pragma once

#include <span>
#include <string_view>

namespace weft::kernels::simd {

enum class Isa {
  kBaseline,  // 4 floats: what the compiler may assume anyway (SSE2 on x86-64)
  kAvx2,      // 8 floats, AVX2, FMA and F16C
  kAvx512,    // 16 floats, AVX-512 F, BW, DQ and VL
};

std::string_view IsaName(Isa isa);

// The instruction sets this machine has, best last.
std::span<const Isa> SupportedIsas();

// The one in use: the best, unless SetIsa chose another.
Isa CurrentIsa();

// For tests and comparisons. `isa` must be supported. Weights packed before keep working.
void SetIsa(Isa isa);

}  // namespace weft::kernels::simd
