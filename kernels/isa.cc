#include "kernels/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>

namespace weft::kernels {
namespace {

constexpr Isa kAllIsas[] = {Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kAmx};

#if defined(__x86_64__)
// clang 14 has no __builtin_cpu_supports("f16c").
bool HasF16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

// AMX-TILE and AMX-BF16 are bits 24 and 22 of edx (Intel's manual, volume 2A, CPUID leaf 7). The
// state of the tiles, 8 KB per thread, is a feature that Linux gives to processes that ask for it
// (Documentation/arch/x86/xstate.rst); it refuses where signal stacks are too small for it.
bool MayUseAmx() {
#if defined(__linux__)
  constexpr unsigned kTile = 1u << 24, kBf16 = 1u << 22;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & kTile) == 0 || (d & kBf16) == 0) return false;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
// AVX512-VNNI is bit 11 of ecx of that leaf, AMX-INT8 bit 25 of edx.
bool HasFeature(bool in_edx, unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && ((in_edx ? d : c) & bit) != 0;
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
  return MayUseAmx() ? 4 : 3;
#else
  return 1;
#endif
}

std::atomic<Isa>& OfProcess() {
  static std::atomic<Isa> isa{SupportedIsas().back()};
  return isa;
}

thread_local std::optional<Isa> of_thread;
thread_local MatmulPrecision precision_of_thread = MatmulPrecision::kFloat32;

}  // namespace

std::string_view IsaName(Isa isa) {
  switch (isa) {
    case Isa::kPortable:
      return "portable";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAmx:
      return "amx";
    case Isa::kEmulatedAmx:
      return "emulated amx";
  }
  return "unknown";
}

std::string_view MatmulPrecisionName(MatmulPrecision precision) {
  switch (precision) {
    case MatmulPrecision::kFloat32:
      return "float32";
    case MatmulPrecision::kBf16x2:
      return "bf16x2";
    case MatmulPrecision::kBf16:
      return "bf16";
  }
  return "unknown";
}

std::optional<MatmulPrecision> FindMatmulPrecision(std::string_view name) {
  for (const MatmulPrecision precision : kMatmulPrecisions)
    if (MatmulPrecisionName(precision) == name) return precision;
  return std::nullopt;
}

std::span<const Isa> SupportedIsas() {
  static const int count = CountSupported();
  return {kAllIsas, static_cast<size_t>(count)};
}

std::optional<Isa> FindIsa(std::string_view name) {
  for (const Isa isa : SupportedIsas())
    if (IsaName(isa) == name) return isa;
  return std::nullopt;
}

bool HasVnni() {
#if defined(__x86_64__)
  static const bool has = FindIsa("avx512").has_value() && HasFeature(false, 1u << 11);
  return has;
#else
  return false;
#endif
}
bool HasInt8Tiles() {
#if defined(__x86_64__)
  static const bool has = FindIsa("amx").has_value() && HasFeature(true, 1u << 25);
  return has;
#else
  return false;
#endif
}

Isa BestChainIsa() {
  const std::span<const Isa> isas = SupportedIsas();
  return isas.back() == Isa::kAmx ? isas[isas.size() - 2] : isas.back();
}

Isa CurrentIsa() { return of_thread ? *of_thread : OfProcess().load(std::memory_order_relaxed); }

void SetIsa(Isa isa) { OfProcess().store(isa, std::memory_order_relaxed); }

ScopedIsa::ScopedIsa(std::optional<Isa> isa) : before_(of_thread) {
  if (isa) of_thread = isa;
}
ScopedIsa::~ScopedIsa() { of_thread = before_; }

MatmulPrecision CurrentMatmulPrecision() { return precision_of_thread; }

ScopedComputeMode::ScopedComputeMode(const ComputeMode& mode)
    : isa_(mode.isa), before_(precision_of_thread) {
  precision_of_thread = mode.precision;
}
ScopedComputeMode::~ScopedComputeMode() { precision_of_thread = before_; }

}  // namespace weft::kernels
