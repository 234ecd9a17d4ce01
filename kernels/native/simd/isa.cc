#include "kernels/native/simd/isa.h"

#include <atomic>

namespace weft::kernels::simd {
namespace {

constexpr Isa kAllIsas[] = {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512};

int CountSupported() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
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
