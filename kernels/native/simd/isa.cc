#include "kernels/native/simd/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <atomic>

namespace weft::kernels::simd {
namespace {

constexpr Isa kAllIsas[] = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512};

#if defined(__x86_64__)
// clang 14 has no __builtin_cpu_supports("f16c").
bool HasF16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

int CountSupported() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !HasF16c()) return 1;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return 2;
  }
  return 3;
#else
  return 1;
#endif
}

std::atomic<Isa>& Current() {
  static std::atomic<Isa> isa{SupportedIsas().back()};
  return isa;
}

}  // namespace

std::string_view IsaName(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

std::span<const Isa> SupportedIsas() {
  static const int count = CountSupported();
  return {kAllIsas, static_cast<size_t>(count)};
}

Isa CurrentIsa() { return Current().load(std::memory_order_relaxed); }

void SetIsa(Isa isa) { Current().store(isa, std::memory_order_relaxed); }

}  // namespace weft::kernels::simd
